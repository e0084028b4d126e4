"""Scores: one file per score, and a registry by name.

A built-in score is one file with its class and one line in :mod:`milpbn.scores.registry`. The
attributes of :class:`Score` say what it can be used for.
"""

from milpbn.scores.base import (
    DecomposableScore,
    LinearObjective,
    Objective,
    Score,
    ScoreReport,
    SearchState,
)
from milpbn.scores.bdeu import BDeu
from milpbn.scores.cll import ConditionalLogLikelihood, PosteriorObjective
from milpbn.scores.concave import ConcaveObjective, ConcaveScore
from milpbn.scores.cr import ClassificationRate
from milpbn.scores.margin import MarginObjective, MarginScore
from milpbn.scores.mdl import MDL
from milpbn.scores.registry import (
    SCORES,
    applicable_settings,
    make_score,
    score_class,
    score_names,
)
from milpbn.scores.rows import RowObjective, RowScore
from milpbn.scores.sbm import SoftBinaryMargin
from milpbn.scores.sm import SoftMargin

__all__ = [
    "MDL",
    "SCORES",
    "BDeu",
    "ClassificationRate",
    "ConcaveObjective",
    "ConcaveScore",
    "ConditionalLogLikelihood",
    "DecomposableScore",
    "LinearObjective",
    "MarginObjective",
    "MarginScore",
    "Objective",
    "PosteriorObjective",
    "RowObjective",
    "RowScore",
    "Score",
    "ScoreReport",
    "SearchState",
    "SoftBinaryMargin",
    "SoftMargin",
    "applicable_settings",
    "make_score",
    "score_class",
    "score_names",
]
