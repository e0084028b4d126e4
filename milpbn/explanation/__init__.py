"""Why a classifier predicts a class: contributions of features, importance, score cards."""

from milpbn.explanation.card import MOST_POINTS, ScoreCard, make_card
from milpbn.explanation.contributions import mean_contributions
from milpbn.explanation.drift import Drift, drift_of
from milpbn.explanation.effects import Effect, effects_of
from milpbn.explanation.explain import ALL_OTHERS, MISSING, Explanation, explain_codes, explain_rows
from milpbn.explanation.importance import importance_table
from milpbn.explanation.reasons import Flip, Reason, flip_of, reason_of
from milpbn.explanation.resolutions import SeenResolutions

__all__ = [
    "ALL_OTHERS",
    "MISSING",
    "MOST_POINTS",
    "Drift",
    "Effect",
    "Explanation",
    "Flip",
    "Reason",
    "ScoreCard",
    "SeenResolutions",
    "drift_of",
    "effects_of",
    "explain_codes",
    "explain_rows",
    "flip_of",
    "importance_table",
    "make_card",
    "mean_contributions",
    "reason_of",
]
