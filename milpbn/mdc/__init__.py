"""Multi-dimensional classification: several class variables, predicted jointly."""

from milpbn.mdc.baselines import BinaryRelevance, ClassifierChains, ClassPowerset
from milpbn.mdc.gbnc import GBNCClassifier
from milpbn.mdc.metrics import (
    exact_match_score,
    hamming_score,
    macro_f1_score,
    sub_exact_match_score,
)

__all__ = [
    "BinaryRelevance",
    "ClassPowerset",
    "ClassifierChains",
    "GBNCClassifier",
    "exact_match_score",
    "hamming_score",
    "macro_f1_score",
    "sub_exact_match_score",
]
