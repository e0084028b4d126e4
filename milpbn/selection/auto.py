"""The candidates that are tried if the user gives none.

The grids go from simple to complex: naive Bayes, a forest of the pairs that its residuals ask for,
structures with the smallest leave-one-out log-loss and up to three parents, or four if there are
few features, and soft margins with up to three parents. Parameters maximise the conditional
likelihood. Naive Bayes is also tried with those of maximum likelihood: they need no time, and are
better if there are few rows for many columns. In the first grids the bins of numbers are fine, and
their effects smooth; margins need few states, so those of MDLP come last. The class is a root,
which makes the optimum of the parameters unique.
"""

from __future__ import annotations

from typing import Any

from milpbn.datasets.bins import FINE, MDLP

AUTO = "auto"
"""The name of the default list of grids."""

AUTO_GRID: list[dict[str, list[Any]]] = [
    {"method": ["nb"], "max_parents": [1], "bins": [FINE], "parameters": ["ml", "cl"]},
    {"method": ["tan-residual"], "bins": [FINE], "parameters": ["cl"]},
    {
        "score": ["cll"],
        "validation": ["loo"],
        "max_parents": [2, 3, 4],
        "class_parents": [False],
        "bins": [FINE],
        "parameters": ["cl"],
    },
    {
        "score": ["sm"],
        "validation": ["loo"],
        "p": [0.95],
        "max_parents": [2, 3],
        "class_parents": [False],
        "bins": [MDLP],
        "parameters": ["cl"],
    },
]
"""The default grids."""

AUTO_GRIDS = {AUTO: AUTO_GRID, "auto-ml": [{**grid, "parameters": ["ml"]} for grid in AUTO_GRID]}
"""Lists of grids by name. The second one is for monotone effects, which only `ml` keeps."""

_FEW_FEATURES = 12


def most_parents(n_features: int) -> int:
    """The largest number of parents in the default grids that is tried with so many features."""
    return 4 if n_features <= _FEW_FEATURES else 3
