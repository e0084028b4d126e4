"""The scikit-learn interface of milpbn."""

from milpbn.estimators.arcs import arc_margins
from milpbn.estimators.bn import BNClassifier
from milpbn.estimators.cv import BNClassifierCV
from milpbn.estimators.discretizer import MDLPDiscretizer

__all__ = ["BNClassifier", "BNClassifierCV", "MDLPDiscretizer", "arc_margins"]
