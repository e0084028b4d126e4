"""The scikit-learn interface of milpbn."""

from milpbn.estimators.arcs import arc_margins
from milpbn.estimators.bn import BNClassifier
from milpbn.estimators.cv import BNClassifierCV

__all__ = ["BNClassifier", "BNClassifierCV", "arc_margins"]
