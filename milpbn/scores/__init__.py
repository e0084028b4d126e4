"""Scores, one file each, by name.

``SCORES`` serves the Python interface and the command line; a new score is a file
with a class, a line here, and its plain definition in :mod:`milpbn.network.rescore`.
"""

from milpbn.scores.base import LinearObjective, Objective, Score
from milpbn.scores.bdeu import BDeu
from milpbn.scores.margin import MarginObjective, MarginScore
from milpbn.scores.mdl import MDL
from milpbn.scores.registry import SCORES, make_score
from milpbn.scores.sbm import SoftBinaryMargin
from milpbn.scores.sm import SoftMargin

__all__ = [
    "MDL",
    "SCORES",
    "BDeu",
    "LinearObjective",
    "MarginObjective",
    "MarginScore",
    "Objective",
    "Score",
    "SoftBinaryMargin",
    "SoftMargin",
    "make_score",
]
