"""How several lines in one chart can be distinguished."""

from __future__ import annotations

from typing import Any

# The colours of Okabe and Ito, which nearly everybody can distinguish.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_MARKERS = "osD^vPX*"


def line_look(k: int) -> dict[str, Any]:
    """Colour, marker and style of the k-th line, as arguments of ``Axes.plot``.

    Examples
    --------
    >>> line_look(1)["color"], line_look(9)["linestyle"]
    ('#D55E00', '--')
    """
    return {
        "color": _COLOURS[k % len(_COLOURS)],
        "marker": _MARKERS[k % len(_MARKERS)],
        "linestyle": "--" if k >= len(_COLOURS) else "-",
        "markersize": 4,
        "linewidth": 1.4,
    }
