"""Scores, one file each, by name.

``SCORES`` serves the Python interface and the command line; a new score is a file
with a class, a line here, and its plain definition in :mod:`milpbn.network.rescore`.
"""

from milpbn.scores.base import LinearObjective, Objective, Score, ScoreReport, SearchState
from milpbn.scores.bdeu import BDeu
from milpbn.scores.cll import ConditionalLogLikelihood
from milpbn.scores.cr import ClassificationRate
from milpbn.scores.margin import MarginObjective, MarginScore
from milpbn.scores.mdl import MDL
from milpbn.scores.registry import SCORES, make_score
from milpbn.scores.rows import RowObjective, RowScore
from milpbn.scores.sbm import SoftBinaryMargin
from milpbn.scores.sm import SoftMargin

__all__ = [
    "MDL",
    "SCORES",
    "BDeu",
    "ClassificationRate",
    "ConditionalLogLikelihood",
    "LinearObjective",
    "MarginObjective",
    "MarginScore",
    "Objective",
    "RowObjective",
    "RowScore",
    "Score",
    "ScoreReport",
    "SearchState",
    "SoftBinaryMargin",
    "SoftMargin",
    "make_score",
]
