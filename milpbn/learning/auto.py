"""The candidates that are tried if the user gives none.

The grids go from simple to complex: naive Bayes, a tree, and exact soft margins with up to three
parents. Margins are computed on rows that their parameters have not seen (leave-one-out), with a
penalty that ranges from nothing to that of BIC. Parameters maximise the conditional likelihood
throughout; the choice of their prior includes maximum likelihood. The class is a root, which makes
their optimum unique.
"""

from __future__ import annotations

from typing import Any

AUTO = "auto"
"""The name of the default list of grids."""

AUTO_GRID: list[dict[str, list[Any]]] = [
    {"method": ["nb"], "max_parents": [1], "parameters": ["cl"]},
    {"method": ["tan-cmi"], "parameters": ["cl"]},
    {
        "structure_score": ["sm"],
        "validation": ["loo"],
        "p": [0.7, 0.95],
        "penalty": [0.0, 0.5, "bic"],
        "max_parents": [2, 3],
        "class_parents": [False],
        "parameters": ["cl"],
    },
]
"""The default grids."""
