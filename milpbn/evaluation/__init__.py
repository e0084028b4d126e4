"""How well methods classify new rows: protocols, measures, and resumable runs."""

from milpbn.evaluation.protocol import ValidationSplit
from milpbn.evaluation.records import FoldRecord
from milpbn.evaluation.run import evaluate
from milpbn.evaluation.summary import Evaluation, Summary

__all__ = ["Evaluation", "FoldRecord", "Summary", "ValidationSplit", "evaluate"]
