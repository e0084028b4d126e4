"""Concave cuts of the conditional log-likelihood.

With q a distribution over the classes, H its entropy and d_u(c_u) = 0,

    log P(c_u | z_u) = -log sum_c exp(-d_u(c)) = min over q of  sum_c q(c) d_u(c) - H(q),

so every q_u gives a function that is linear in eta and nowhere below the score:

    T <= sum_u w_u sum_{c != c_u} q_u(c) alpha(., u, c) . eta - sum_u w_u H(q_u)

holds for every structure. It is tight where q_u is the posterior of the row. The hinge is the case
in which q_u has a single class and no entropy.

A cut takes from each row the margins at its point against each class, rounded to 16 bits, 0 against
its own; with two classes, the one margin. Their softmax is q. Because every q
is valid, rounding only costs tightness, and little: margins that are wrong by delta cost a row
about p (1 - p) delta^2 / 2, where p is the posterior of its class. This is below 1e-7 of what the
row scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from milpbn._types import FloatArray
from milpbn.compiled import jit
from milpbn.engines.branch_and_cut.cuts.concave import Choices, ConcaveCut, ConcaveOracle
from milpbn.engines.branch_and_cut.cuts.source import Line
from milpbn.families.tables import HardSlopes, SharedSlopes, Slopes
from milpbn.scores.cll import log_posteriors

STEPS = 1024
"""Margins are stored in units of one over this."""

# The largest margin that is stored, in these units: a posterior of exp(-32).
_MOST = 2**15 - 1
# A smooth function needs few cuts near its optimum, so groups are large.
_GROUPS = 20


class SoftOracle(ConcaveOracle):
    """Values and cuts of a conditional log-likelihood at fractional points."""

    near_at_root = 0.02
    near_at_nodes = 0.25

    @staticmethod
    def groups_for(n_rows: int) -> int:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        return _GROUPS

    @property
    def height_limits(self) -> FloatArray:
        """All posteriors are 1."""
        return np.zeros(self.n_groups)

    def row_values(self, margins: FloatArray) -> FloatArray:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        return log_posteriors(margins)

    def lowest(self) -> float:
        """All margins are the smallest."""
        worst = max(self.fall(), 0.0) + math.log(self.objective.space.n_classes)
        return -worst * self.objective.rows.total

    def choose(self, margins: FloatArray) -> Choices:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        out = np.clip(np.rint(STEPS * margins), -_MOST, _MOST).astype(np.int16)
        if not self.tables.single:
            out[np.arange(len(out)), self.objective.rows.labels] = 0
        return out

    def check(self, group: int, rows: Choices) -> Choices:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        own = self.own_rows(group)
        width = 1 if self.tables.single else self.objective.space.n_classes
        n = own.stop - own.start
        if rows.size != n * width:
            raise ValueError(f"a cut does not fit the rows of group {group}")
        if self.tables.single:
            return rows.reshape(n)
        rows = rows.reshape(n, width)
        if rows[np.arange(n), self.objective.rows.labels[own]].any():
            raise ValueError(f"a cut of group {group} has a margin against a row's own class")
        return rows

    def functions(self, cuts: Sequence[ConcaveCut]) -> tuple[Slopes, FloatArray]:
        """Constants are minus entropies."""
        at, which = self.rows_of(cuts)
        rows = np.concatenate([cut.rows for cut in cuts])
        weights = self.objective.rows.weights[at]
        shares, entropies = np.empty(rows.shape), np.empty(len(rows))
        begins = np.searchsorted(which, np.arange(len(cuts) + 1))
        slopes: Slopes
        if self.tables.single:
            _share_two(rows, weights, shares, entropies)
            against = np.zeros(len(rows), dtype=np.intp)
            slopes = HardSlopes.at(self.tables, at, begins, shares, against)
        else:
            _share_many(rows, self.objective.rows.labels[at], weights, shares, entropies)
            slopes = SharedSlopes.at(self.tables, at, begins, shares)
        constants = -np.bincount(which, entropies, minlength=len(cuts))
        return slopes, constants.astype(np.float64)

    def line(self, cut: ConcaveCut) -> Line:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`.

        It has the margins of each row against the other classes, in ascending order.
        """
        others = cut.rows
        if others.ndim == 2:
            labels = self.labels_of(cut)
            others = others[np.arange(others.shape[1])[None, :] != labels[:, None]]
        return {"kind": "soft", "group": cut.group, "margins": others.tolist()}


@jit()
def _share_two(rows, weights, shares, entropies):  # type: ignore[no-untyped-def]
    """The weighted shares of the other class, and the weighted entropies."""
    for u in range(len(rows)):
        margin = rows[u] / STEPS
        small = math.exp(-abs(margin))
        # H(q) = -sum_c q(c) log q(c), where log q(other) = -margin - norm and log q(own) = -norm
        share = (small if margin > 0.0 else 1.0) / (1.0 + small)
        norm = max(-margin, 0.0) + math.log1p(small)
        shares[u] = weights[u] * share
        entropies[u] = weights[u] * (norm + share * margin)


@jit()
def _share_many(rows, labels, weights, shares, entropies):  # type: ignore[no-untyped-def]
    """The weighted shares of all classes but the rows' own, and the weighted entropies."""
    for u in range(len(rows)):
        least = 0
        for c in range(rows.shape[1]):
            least = min(least, rows[u, c])
        total, mean = 0.0, 0.0
        for c in range(rows.shape[1]):
            above = (rows[u, c] - least) / STEPS
            shares[u, c] = math.exp(-above)
            total += shares[u, c]
            mean += shares[u, c] * above
        for c in range(rows.shape[1]):
            shares[u, c] *= weights[u] / total
        shares[u, labels[u]] = 0.0
        entropies[u] = weights[u] * (math.log(total) + mean / total)
