"""How certain is a structure? Arc margins, the best structures, the stability under resampling."""

from typing import TYPE_CHECKING

from milpbn.lazy import lazy_names

if TYPE_CHECKING:
    from milpbn.certainty.alternative_records import Alternatives
    from milpbn.certainty.arc_records import ArcMargins
    from milpbn.certainty.arcs import model_arc_margins
    from milpbn.certainty.stability import model_stability
    from milpbn.certainty.stability_records import Stability

__all__ = ["Alternatives", "ArcMargins", "Stability", "model_arc_margins", "model_stability"]

# Model files hold the records, and the runs need models.
__getattr__ = lazy_names(
    __name__,
    {
        "Alternatives": "milpbn.certainty.alternative_records",
        "ArcMargins": "milpbn.certainty.arc_records",
        "Stability": "milpbn.certainty.stability_records",
        "model_arc_margins": "milpbn.certainty.arcs",
        "model_stability": "milpbn.certainty.stability",
    },
)
