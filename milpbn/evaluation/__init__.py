"""How well methods classify new rows: protocols, measures, and resumable runs."""

from typing import TYPE_CHECKING

from milpbn.lazy import lazy_names

if TYPE_CHECKING:
    from milpbn.evaluation.comparison import Comparison
    from milpbn.evaluation.records import FoldRecord
    from milpbn.evaluation.run import evaluate
    from milpbn.evaluation.sets import Evaluations, SetsSummary, evaluate_all
    from milpbn.evaluation.summary import Evaluation, Summary
    from milpbn.selection.validation import ValidationSplit

__all__ = [
    "Comparison",
    "Evaluation",
    "Evaluations",
    "FoldRecord",
    "SetsSummary",
    "Summary",
    "ValidationSplit",
    "evaluate",
    "evaluate_all",
]

# Reports on one model need the measures only, not the learners of other libraries.
__getattr__ = lazy_names(
    __name__,
    {
        "Comparison": "milpbn.evaluation.comparison",
        "Evaluation": "milpbn.evaluation.summary",
        "Evaluations": "milpbn.evaluation.sets",
        "FoldRecord": "milpbn.evaluation.records",
        "SetsSummary": "milpbn.evaluation.sets",
        "Summary": "milpbn.evaluation.summary",
        "ValidationSplit": "milpbn.selection.validation",
        "evaluate": "milpbn.evaluation.run",
        "evaluate_all": "milpbn.evaluation.sets",
    },
)
