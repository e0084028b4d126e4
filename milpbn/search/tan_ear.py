"""TAN by explaining-away residual: features that are more dependent given the class.

    EAR(Xi, Xj) = I(Xi; Xj | C) - I(Xi; Xj)

approximates what an edge adds to the expected log posterior of the class. Edges with a
positive residual are added, the largest first, while they form a forest. Each tree is
directed away from its feature with the largest ``I(C; X)``; the publications do not specify a root.

References
----------
Bilmes (2000), Dynamic Bayesian multinets.
Pernkopf & Bilmes (2005), Discriminative versus generative parameter and structure
learning of Bayesian network classifiers, section 2.2.
"""

from __future__ import annotations

import numpy as np

from milpbn._types import FloatArray
from milpbn.families.information import pairwise_information
from milpbn.families.rows import MergedRows
from milpbn.search.base import Search
from milpbn.search.tan_cmi import TanCMI

# Information below this is a rounding error.
_ROUNDING = 1e-12


class TanEAR(TanCMI):
    """The maximum spanning forest on positive explaining-away residuals.

    Adding edges one by one, the largest first, while no cycle closes, is Kruskal's
    algorithm. Like ``tan-cmi``, it does not use the score that is maximised.
    """

    name = "tan-ear"
    title = "TAN by explaining-away residual"

    def weights(self, search: Search, rows: MergedRows) -> FloatArray:
        """The residuals; NaN where they are not positive."""
        cards = search.space.views.default_cards
        found = pairwise_information(rows, cards, search.checkpoint)
        residual = found.given_class - found.plain
        return np.where(residual > _ROUNDING, residual, np.nan)
