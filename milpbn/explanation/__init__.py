"""Why a classifier predicts a class: contributions of features, importance, score cards."""

from milpbn.explanation.contributions import mean_contributions
from milpbn.explanation.explain import ALL_OTHERS, MISSING, Explanation, explain_codes, explain_rows
from milpbn.explanation.importance import importance_table

__all__ = [
    "ALL_OTHERS",
    "MISSING",
    "Explanation",
    "explain_codes",
    "explain_rows",
    "importance_table",
    "mean_contributions",
]
