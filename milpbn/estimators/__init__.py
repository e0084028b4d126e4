"""The scikit-learn face of milpbn."""

from milpbn.estimators.bn import BNClassifier

__all__ = ["BNClassifier"]
