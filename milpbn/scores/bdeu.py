"""BDeu: the marginal likelihood under a uniform Dirichlet prior.

With equivalent sample size s, a_h = s / q and a_x = s / (q r):

    w[i, S] = sum_h [ lnG(a_h) - lnG(a_h + n[h]) + sum_x ( lnG(a_x + n[x, h]) - lnG(a_x) ) ]

References
----------
Heckerman, Geiger & Chickering (1995), Learning Bayesian networks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.scores.base import DecomposableScore
from milpbn.scores.definition import observed_counts
from milpbn.settings import check_settings
from milpbn.structure import Structure


@dataclass(frozen=True)
class BDeu(DecomposableScore):
    """Bayesian Dirichlet equivalent uniform score.

    Examples
    --------
    >>> import numpy as np
    >>> round(BDeu(ess=1.0).local(np.array([[1.0, 0.0]]), total=1.0), 6)
    -0.693147
    """

    ess: float = 1.0
    name = "bdeu"
    title = "Bayesian Dirichlet equivalent uniform"
    certified = True

    def __post_init__(self) -> None:
        check_settings({"ess": self.ess})

    def local(self, counts: FloatArray, total: float) -> float:
        """See the module's formula."""
        q, r = counts.shape
        a_h, a_x = self.ess / q, self.ess / (q * r)
        rows = scipy.special.gammaln(a_h) - scipy.special.gammaln(a_h + counts.sum(axis=1))
        cells = scipy.special.gammaln(a_x + counts) - scipy.special.gammaln(a_x)
        return float(rows.sum() + cells.sum())

    def definition(
        self,
        structure: Structure,
        variables: Sequence[Variable],
        codes: Codes,
        weights: FloatArray | None = None,
    ) -> float:
        """See :class:`~milpbn.scores.Score`.

        Only observed configurations need gamma functions: the others contribute log 1 = 0.
        """
        total = 0.0
        for i, parents in enumerate(structure.parents):
            q = math.prod(variables[p].card for p in parents)
            a_h, a_x = self.ess / q, self.ess / (q * variables[i].card)
            n_h, n_xh, _ = observed_counts(codes, i, parents, weights)
            total += float((scipy.special.gammaln(a_h) - scipy.special.gammaln(a_h + n_h)).sum())
            total += float((scipy.special.gammaln(a_x + n_xh) - scipy.special.gammaln(a_x)).sum())
        return total
