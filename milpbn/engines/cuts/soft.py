"""Concave cuts of the conditional log-likelihood.

With q a distribution over the classes, H its entropy and d_u(c_u) = 0,

    log P(c_u | z_u) = -log sum_c exp(-d_u(c)) = min over q of  sum_c q(c) d_u(c) - H(q),

so every q_u gives a function that is linear in eta and nowhere below the score:

    T <= sum_u w_u sum_{c != c_u} q_u(c) alpha(., u, c) . eta - sum_u w_u H(q_u)

holds for every structure. It is tight where q_u is the posterior of the row. The hinge is the case
in which q_u has a single class and no entropy.

A cut stores the margins at its point, rounded to 16 bits, and q is their softmax. Because every q
is valid, rounding only costs tightness, and little: margins that are wrong by delta cost a row
about p (1 - p) delta^2 / 2, where p is the posterior of its class. This is below 1e-7 of what the
row scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from milpbn._types import FloatArray
from milpbn.engines.cuts.concave import Choices, ConcaveOracle, CutSource
from milpbn.families.tables import HardSlopes, SharedSlopes, Slopes

STEPS = 1024
"""Margins are stored in units of one over this."""

# The largest margin that is stored, in these units: a posterior of exp(-32).
_MOST = 2**15 - 1
# A smooth function needs few cuts near its optimum, so groups are large.
_GROUPS = 20


@dataclass(frozen=True, eq=False)
class Soft(CutSource):
    """What a cut of the conditional log-likelihood is made from.

    `rows` has, for each row of the group, the margins against each class in units of
    ``1 / STEPS``, 0 against its own; with two classes, the one margin. `entropy` is the weighted
    sum of the entropies of the rows.
    """

    entropy: float

    def constant(self, gamma: float) -> float:
        """Minus the entropy."""
        return -self.entropy


class SoftOracle(ConcaveOracle):
    """Values and cuts of a conditional log-likelihood at fractional points."""

    near_at_root = 0.02
    near_at_nodes = 0.25

    @staticmethod
    def groups_for(n_rows: int) -> int:
        """See :class:`~milpbn.engines.cuts.concave.ConcaveOracle`."""
        return _GROUPS

    @property
    def height_limits(self) -> FloatArray:
        """See :class:`~milpbn.engines.cuts.concave.ConcaveOracle`: all posteriors are 1."""
        return np.zeros(self.n_groups)

    def row_values(self, margins: FloatArray) -> FloatArray:
        """See :class:`~milpbn.engines.cuts.concave.ConcaveOracle`."""
        with_own = np.column_stack([np.zeros(len(margins)), -margins])
        out: FloatArray = -logsumexp(with_own, axis=1)
        return out

    def lowest(self) -> float:
        """See :class:`~milpbn.engines.cuts.concave.ConcaveOracle`: all margins are the smallest."""
        worst = max(self.fall(), 0.0) + math.log(self.objective.space.n_classes)
        return -worst * self.objective.rows.total

    def choose(self, group: int, margins: FloatArray) -> Choices:
        """See :class:`~milpbn.engines.cuts.concave.ConcaveOracle`."""
        own = self.own_rows(group)
        out = np.clip(np.rint(STEPS * margins[own]), -_MOST, _MOST).astype(np.int16)
        if not self.tables.single:
            out[np.arange(len(out)), self.objective.rows.labels[own]] = 0
        return out

    def check(self, group: int, rows: Choices) -> Choices:
        """See :class:`~milpbn.engines.cuts.concave.ConcaveOracle`."""
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

    def linear(self, group: int, rows: Choices) -> tuple[Soft, Slopes]:
        """See :class:`~milpbn.engines.cuts.concave.ConcaveOracle`."""
        own = self.own_rows(group)
        at, weights = np.arange(own.start, own.stop), self.objective.rows.weights[own]
        margins = rows / STEPS
        with_own = (
            np.column_stack([np.zeros(len(rows)), -margins]) if margins.ndim == 1 else -margins
        )
        norm = logsumexp(with_own, axis=1)
        shares = np.exp(-margins - (norm if margins.ndim == 1 else norm[:, None]))
        # H(q) = -sum_c q(c) log q(c) with log q(c) = -d(c) - norm
        spread = shares * margins if margins.ndim == 1 else (shares * margins).sum(axis=1)
        source = Soft(group, rows, float(weights @ (norm + spread)))
        if margins.ndim == 1:
            return source, HardSlopes.at(self.tables, at, weights * shares, np.zeros_like(at))
        shares[np.arange(len(at)), self.objective.rows.labels[own]] = 0.0
        return source, SharedSlopes.at(self.tables, at, weights[:, None] * shares)
