"""Which settings? Plans, candidates, held-out rows, the choice, the grid of p, the penalty path."""

from typing import TYPE_CHECKING

from milpbn.lazy import lazy_names

if TYPE_CHECKING:
    from milpbn.selection.auto import AUTO_GRID
    from milpbn.selection.candidates import Selection
    from milpbn.selection.path import PenaltyPath

__all__ = ["AUTO_GRID", "PenaltyPath", "Selection"]

# Model files hold selections, and runs need models.
__getattr__ = lazy_names(
    __name__,
    {
        "AUTO_GRID": "milpbn.selection.auto",
        "PenaltyPath": "milpbn.selection.path",
        "Selection": "milpbn.selection.candidates",
    },
)
