"""Tables as text: columns of equal width, and those that fit into the terminal."""

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


def aligned(lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """Cells as columns of equal width; the first `left` columns are flush left, the others right.

    Examples
    --------
    >>> print(aligned([["method", "size"], ["nb", "23"]]))
    method  size
    nb        23
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def show(value: float | None, form: str, factor: float = 1.0) -> str:
    """A number, or a dash if there is none.

    Examples
    --------
    >>> show(0.25, ".1f", 100), show(None, ".1f")
    ('25.0', '-')
    """
    return "-" if value is None else format(factor * value, form)
