"""The scikit-learn interface of milpbn."""

from milpbn.estimators.bn import BNClassifier

__all__ = ["BNClassifier"]
