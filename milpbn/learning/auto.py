"""The candidates that are tried if the user gives none.

Conditional-likelihood parameters are used throughout: their own choice of a prior includes
maximum likelihood. Fixed structures come first, so that the simplest of equals is chosen.
Structures are scored on rows that their parameters have not seen, with a penalty that ranges
from nothing to that of BIC. See the manual for what each group contributes.
"""

from __future__ import annotations

from typing import Any

AUTO = "auto"
"""The name of the default grid."""

AUTO_GRID: list[dict[str, list[Any]]] = [
    {"method": ["nb"], "max_parents": [1], "parameters": ["cl"]},
    {"method": ["tan-cmi"], "parameters": ["cl"]},
    {
        "structure_score": ["sm"],
        "validation": ["loo"],
        "p": [0.7, 0.98],
        "penalty": [0.0, 0.3, "bic"],
        "max_parents": [2, 3],
        "parameters": ["cl"],
    },
    {
        "structure_score": ["cll"],
        "validation": ["loo"],
        "max_parents": [2, 3],
        "parameters": ["cl"],
    },
]
"""The default grid: fixed structures, exact soft margins, and conditional likelihood."""
