"""Multi-dimensional classification: several class variables, predicted jointly."""

from milpbn.evaluation.metrics import (
    exact_match_score,
    hamming_score,
    macro_f1_score,
    macro_recall_score,
    sub_exact_match_score,
)
from milpbn.mdc.classifier import GBNCClassifier
from milpbn.mdc.learn import learn_gbnc
from milpbn.mdc.model import GBNCModel
from milpbn.mdc.other_methods import BinaryRelevance, ClassifierChains, ClassPowerset
from milpbn.mdc.settings import GBNCSettings

__all__ = [
    "BinaryRelevance",
    "ClassPowerset",
    "ClassifierChains",
    "GBNCClassifier",
    "GBNCModel",
    "GBNCSettings",
    "exact_match_score",
    "hamming_score",
    "learn_gbnc",
    "macro_f1_score",
    "macro_recall_score",
    "sub_exact_match_score",
]
