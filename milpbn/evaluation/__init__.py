"""How well methods classify new rows: protocols, measures, and runs that can be resumed."""

from milpbn.evaluation.evaluate import Evaluation, Summary, evaluate
from milpbn.evaluation.protocol import ValidationSplit
from milpbn.evaluation.records import FoldRecord

__all__ = ["Evaluation", "FoldRecord", "Summary", "ValidationSplit", "evaluate"]
