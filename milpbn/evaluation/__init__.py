"""How well methods classify new rows: protocols, measures, and resumable runs."""

from milpbn.evaluation.comparison import Comparison
from milpbn.evaluation.records import FoldRecord
from milpbn.evaluation.run import evaluate
from milpbn.evaluation.sets import Evaluations, SetsSummary, evaluate_all
from milpbn.evaluation.summary import Evaluation, Summary
from milpbn.learning.validation import ValidationSplit

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
