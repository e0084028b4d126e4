"""MDL, which equals BIC: log-likelihood minus half of log M per free parameter.

    w[i, S] = sum_{h, x} n[x, h] log(n[x, h] / n[h])  -  (log M / 2) (r_i - 1) q_S

If the rows have weights, M is their sum, but at least 1.

References
----------
Suzuki (1993), A construction of Bayesian networks from databases on an MDL principle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np
from scipy.special import xlogy

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.scores.base import DecomposableScore
from milpbn.scores.definition import observed_counts, row_weights
from milpbn.structure import Structure


@dataclass(frozen=True)
class MDL(DecomposableScore):
    """Minimum description length / Bayesian information criterion.

    Examples
    --------
    >>> import numpy as np
    >>> round(MDL().local(np.array([[2.0, 2.0]]), total=4.0), 6)
    -3.465736
    """

    name = "mdl"
    aliases = ("bic",)
    title = "minimum description length (= BIC)"

    def local(self, counts: FloatArray, total: float) -> float:
        """See the module's formula."""
        q, r = counts.shape
        per_configuration = counts.sum(axis=1)
        likelihood = xlogy(counts, counts).sum() - xlogy(per_configuration, per_configuration).sum()
        return float(likelihood - 0.5 * log(max(total, 1.0)) * (r - 1) * q)

    def definition(
        self,
        structure: Structure,
        variables: Sequence[Variable],
        codes: Codes,
        weights: FloatArray | None = None,
    ) -> float:
        """See :class:`~milpbn.scores.Score`."""
        total, free = 0.0, 0
        for i, parents in enumerate(structure.parents):
            free += (variables[i].card - 1) * prod(variables[p].card for p in parents)
            n_h, n_xh, h = observed_counts(codes, i, parents, weights)
            total += float((n_xh * np.log(n_xh / n_h[h])).sum())
        return total - 0.5 * log(max(row_weights(codes, weights).sum(), 1.0)) * free
