"""How well methods classify new rows: protocols, measures, and resumable runs."""

from milpbn.evaluation.records import FoldRecord
from milpbn.evaluation.run import evaluate
from milpbn.evaluation.summary import Evaluation, Summary
from milpbn.learning.validation import ValidationSplit

__all__ = ["Evaluation", "FoldRecord", "Summary", "ValidationSplit", "evaluate"]
