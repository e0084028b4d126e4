"""Node labels: short enough for a box, and different for different variables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from milpbn.words import escaped

LINE = 20  # maximum number of characters in a line of a label; a label has at most two lines


def labels(names: Sequence[str]) -> list[str]:
    """One label for each name, wrapped or shortened if needed.

    Names that would look the same are marked with their position in `names`.

    Examples
    --------
    >>> labels(["age", "capital_run_length_longest"])
    ['age', 'capital_run_\\nlength_longest']
    """
    short = [_label(name) for name in names]
    counts = Counter(short)
    return [
        label if counts[label] == 1 else f"{_label(name, LINE - 6)}\n#{k}"
        for k, (name, label) in enumerate(zip(names, short, strict=True))
    ]


def _label(name: str, room: int = 2 * LINE - 4) -> str:
    name = escaped(" ".join(name.split()))  # a line break would not fit into the box
    if len(name) <= LINE:
        return name if len(name) <= room else _shortened(name, room)
    return _wrapped(_shortened(name, room))


def _shortened(name: str, room: int) -> str:
    """Cut out the middle: beginnings name the group, ends distinguish its members."""
    if len(name) <= room:
        return name
    tail = (room - 1) // 2
    return f"{name[: room - 1 - tail]}…{name[-tail:]}"


def _wrapped(name: str) -> str:
    """Two lines of about the same length, broken after a separator if there is one."""
    if len(name) <= LINE:
        return name
    breaks = [m.end() for m in re.finditer(r"[\s_\-./:,;…]+|(?<=[a-z])(?=[A-Z])", name)]
    usable = [b for b in breaks if b <= LINE and len(name) - b <= LINE]
    middle = len(name) / 2
    cut = min(usable, key=lambda b: abs(b - middle)) if usable else round(middle)
    return f"{name[:cut].rstrip()}\n{name[cut:]}"
