"""MDL, which equals BIC: log-likelihood minus half of log M per free parameter.

    w[i, S] = sum_{h, x} n[x, h] log(n[x, h] / n[h])  -  (log M / 2) (r_i - 1) q_S

If a family sees its child in coarser states, the finest states x inside a coarse state k have
shares that do not depend on the parents. These are parameters, too:

    sum_x n[x] log(n[x] / n[k])  -  (log M / 2) (finest states - coarse states)

is added, so that all families describe the same finest states. If the rows have weights, M is
their sum, but at least 1.

References
----------
Suzuki (1993), A construction of Bayesian networks from databases on an MDL principle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Coarsening, Variable
from milpbn.network.network import seen_in
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
    certified = True
    resolutions = True

    def local(self, counts: FloatArray, total: float) -> float:
        """See the module's formula."""
        q, r = counts.shape
        per_configuration = counts.sum(axis=1)
        likelihood = _n_log_n(counts) - _n_log_n(per_configuration)
        return float(likelihood - 0.5 * log(max(total, 1.0)) * (r - 1) * q)

    def share(self, counts: FloatArray, coarse: Coarsening, total: float) -> float:
        """See the module's formula."""
        inside = np.bincount(coarse.of, counts)
        likelihood = _n_log_n(counts) - _n_log_n(inside)
        return float(likelihood - 0.5 * log(max(total, 1.0)) * (len(counts) - coarse.card))

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
            seen, rows = seen_in(variables, codes, structure.scope(i), structure.seen(i))
            free += (seen[i].card - 1) * prod(seen[p].card for p in parents)
            n_h, n_xh, h = observed_counts(rows, i, parents, weights)
            total += float((n_xh * np.log(n_xh / n_h[h])).sum())
            if seen[i] is not variables[i]:
                # The finest states inside the coarse ones, as if those were the only parent.
                free += variables[i].card - seen[i].card
                both = np.column_stack([rows[:, i], codes[:, i]])
                n_h, n_xh, h = observed_counts(both, 1, (0,), weights)
                total += float((n_xh * np.log(n_xh / n_h[h])).sum())
        return total - 0.5 * log(max(row_weights(codes, weights).sum(), 1.0)) * free


def _n_log_n(counts: npt.NDArray[Any]) -> float:
    return float(scipy.special.xlogy(counts, counts).sum())
