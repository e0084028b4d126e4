"""The width of the terminal, and which columns of a table fit into it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence


def terminal_width() -> int | None:
    """Characters per line of the terminal that stdout goes to; None if it goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def fitting(
    widths: Mapping[str, int], dispensable: Sequence[str], width: int | None, gap: int = 1
) -> dict[str, int]:
    """The columns that a terminal of this width shows, and their widths.

    Columns are separated by `gap` spaces. If they do not fit, the `dispensable` ones are left
    out, in this order, until the others do.

    Examples
    --------
    >>> fitting({"time": 8, "nodes": 8, "gap": 10}, ["nodes"], width=25)
    {'time': 8, 'gap': 10}
    """
    shown = dict(widths)
    for name in dispensable:
        if width is not None and sum(shown.values()) + gap * (len(shown) - 1) > width:
            shown.pop(name, None)
    return shown
