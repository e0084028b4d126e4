"""How a picture shows what an arc is worth: thickness and colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt

from milpbn.certainty.arc_records import ArcMargin

# Widths in points, and the colour of arcs that are not proven. Okabe and Ito's vermilion.
_THIN, _THICK = 0.7, 4.0
_OPEN = "#D55E00"
# A loss up to this share of the largest one counts as none.
_NONE = 1e-6


@dataclass(frozen=True)
class ArcLook:
    """The width of an arc, and its colour if it is not the usual one."""

    width: float = 1.0
    color: str | None = None

    @property
    def style(self) -> str:
        """Arcs with a colour of their own are dashed, too."""
        return "-" if self.color is None else "--"


Arcs = Mapping[tuple[str, str], ArcMargin]
"""The margins of arcs, by names of parent and child."""


def arc_looks(arcs: Arcs) -> dict[tuple[str, str], ArcLook]:
    """The look of every arc; the square root of the loss makes small differences visible."""
    losses = {arc: max(margin.strength.low, 0.0) for arc, margin in arcs.items()}
    most = max((x for x in losses.values() if isfinite(x)), default=0.0)
    return {
        arc: ArcLook(
            _THIN + (_THICK - _THIN) * sqrt(min(loss / most, 1.0) if most else 0.0),
            None if loss > _NONE * most else _OPEN,
        )
        for arc, loss in losses.items()
    }


def strength_notes(arcs: Arcs) -> list[str]:
    """What thickness and colour mean, for the legend."""
    looks = arc_looks(arcs)
    losses = [a.strength.low for a in arcs.values() if isfinite(a.strength.low)]
    if not losses:
        return []
    notes = [f"thickness: proven loss of score without the edge, up to {max(losses):.4g}"]
    if any(look.color for look in looks.values()):
        notes.append("dashed: an equally good structure without the edge is not ruled out")
    return notes
