"""MDL, equal to BIC: log-likelihood minus half of log M per free parameter.

    w[i, S] = sum_{h, x} n[x, h] log(n[x, h] / n[h])  -  (log M / 2) (r_i - 1) q_S

References
----------
Suzuki (1993), A construction of Bayesian networks from databases on an MDL principle.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

from scipy.special import xlogy

from milpbn._types import FloatArray
from milpbn.scores.base import DecomposableScore


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
    title = "minimum description length (= BIC)"

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`."""
        return {}

    def local(self, counts: FloatArray, total: float) -> float:
        """See the module's formula."""
        q, r = counts.shape
        per_configuration = counts.sum(axis=1)
        likelihood = xlogy(counts, counts).sum() - xlogy(per_configuration, per_configuration).sum()
        return float(likelihood - 0.5 * log(total) * (r - 1) * q)
