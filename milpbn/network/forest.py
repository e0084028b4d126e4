"""Summing out missing features in forests, row by row.

If every feature has at most one feature as a parent (naive Bayes, TAN, and all of
``max_parents=2`` with the class among the parents), and no missing feature is a parent of the
class, one pass from the leaves to the roots sums out all missing features of a row. A feature
i with feature parent p sends, for each class c and each possible state v of p,

    m_i(v) = sum over the states x of i that are possible: theta_i[x | v, c] prod_j m_j(x)

with j over the children of i. The cost of a row is quadratic in the numbers of states, and
rows need not be grouped by their missing features. This is a loop in numba because there may
be as many patterns of missing features as rows, and then the call overhead of an array
library dominates.

Messages are logarithms, because products over many children underflow. The sum is taken over
numbers that are scaled by the largest; if it underflows, or every state is impossible, it is
computed in logarithms instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn._types import Codes, FloatArray
from milpbn.compiled import jit
from milpbn.families.candidates import CLASS
from milpbn.network.factors import TINY
from milpbn.network.network import Network

_jit = jit()


@dataclass(frozen=True)
class Forest:
    """The features' tables in one array, children before parents.

    Attributes
    ----------
    order
        The features, from the leaves to the roots.
    parent
        ``(n,)``: the feature parent of each feature, or -1.
    cards
        States of every variable.
    tables, base
        ``log theta_i[c, v, x]`` flat; feature i begins at ``base[i]``.
    by_class, by_parent
        ``(n,)``: the strides of the class and of the parent's state in a table; zero if the
        table does not depend on them.
    """

    order: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]
    cards: npt.NDArray[np.int64]
    tables: FloatArray
    base: npt.NDArray[np.int64]
    by_class: npt.NDArray[np.int64]
    by_parent: npt.NDArray[np.int64]

    @classmethod
    def of(cls, network: Network) -> Forest | None:
        """The features as a forest, or None if one of them has several feature parents."""
        network = network.finest
        n = len(network.variables)
        cards = np.array([v.card for v in network.variables], dtype=np.int64)
        parent = np.full(n, -1, dtype=np.int64)
        by_class, by_parent = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for i, parents in enumerate(network.structure.parents):
            features = [p for p in parents if p != CLASS]
            if i == CLASS:
                continue
            if len(features) > 1:
                return None
            # The class has the smallest index, so it is the first axis of a table.
            if features:
                parent[i], by_parent[i] = features[0], cards[i]
            if CLASS in parents:
                by_class[i] = network.log_cpts[i][0].size
        order = [i for i in reversed(network.structure.order) if i != CLASS]
        sizes = [0 if i == CLASS else t.size for i, t in enumerate(network.log_cpts)]
        tables = [t.ravel() for t in network.log_cpts[1:]]
        return cls(
            np.array(order, dtype=np.int64),
            parent,
            cards,
            np.concatenate([np.zeros(0), *tables]),
            np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
            by_class,
            by_parent,
        )

    def log_evidence(self, features: Codes) -> FloatArray:
        """``(M, |C|)``: log P(observed features | c), up to the class's own factor."""
        out = np.zeros((len(features), int(self.cards[CLASS])))
        _sum_out(np.ascontiguousarray(features, dtype=np.int64), *self._arrays(), out)
        return out

    def expected_terms(self, features: Codes) -> FloatArray:
        """``(M, n, |C|)``: the expected log term of every observed feature; 0 for the others.

        The expectation is over the missing features given the observed ones and the class.
        """
        out = np.zeros((len(features), len(self.cards), int(self.cards[CLASS])))
        _expect(np.ascontiguousarray(features, dtype=np.int64), *self._arrays(), out)
        return out

    def _arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arguments of the kernels."""
        return (
            *(self.order, self.parent, self.cards, self.tables, np.exp(self.tables)),
            *(self.base, self.by_class, self.by_parent),
        )


@_jit
def _log_sum(table, below):  # type: ignore[no-untyped-def]
    """``log sum_x exp(table[x] + below[x])``, -inf where every state is impossible."""
    top = -np.inf
    for s in range(len(table)):
        top = max(top, table[s] + below[s])
    if top == -np.inf:
        return top
    total = 0.0
    for s in range(len(table)):
        total += np.exp(table[s] + below[s] - top)
    return top + np.log(total)


@_jit
def _pass_up(  # type: ignore[no-untyped-def]
    row, c, order, parent, cards, tables, thetas, base, by_class, by_parent, below, sent, scaled
):
    """Messages from the leaves to the roots for one row and class; return their total.

    ``sent[i, v]`` becomes ``log m_i(v)``, and ``below[i, x]`` the sum of the messages of the
    children of i.
    """
    below[:] = 0.0
    total = 0.0
    for i in order:
        p, r, x = parent[i], cards[i], row[i - 1]
        first = base[i] + c * by_class[i]
        top = 0.0
        if x < 0:
            top = below[i, 0]
            for s in range(1, r):
                top = max(top, below[i, s])
            for s in range(r):
                scaled[s] = np.exp(below[i, s] - top)
        v0, v1 = _possible(row, p, cards)
        for v in range(v0, v1):
            at = first + v * by_parent[i]
            if x >= 0:
                message = tables[at + x] + below[i, x]
            else:
                sum_ = 0.0
                for s in range(r):
                    sum_ += thetas[at + s] * scaled[s]
                # False also if `top` is -inf: the sum is then not a number.
                if sum_ > TINY:
                    message = top + np.log(sum_)
                else:
                    message = _log_sum(tables[at : at + r], below[i])
            sent[i, v] = message
            if p >= 0:
                below[p, v] += message
            else:
                total += message
    return total


@_jit
def _possible(row, p, cards):  # type: ignore[no-untyped-def]
    """The range of possible states of a parent: one if it is observed or there is no parent."""
    if p < 0:
        return 0, 1
    v = row[p - 1]
    if v < 0:
        return 0, cards[p]
    return v, v + 1


@_jit
def _sum_out(  # type: ignore[no-untyped-def]
    codes, order, parent, cards, tables, thetas, base, by_class, by_parent, out
):
    n, largest = len(cards), cards.max()
    below, sent = np.empty((n, largest)), np.empty((n, largest))
    scaled = np.empty(largest)
    for u in range(codes.shape[0]):
        for c in range(out.shape[1]):
            out[u, c] = _pass_up(
                codes[u], c, order, parent, cards, tables, thetas,
                base, by_class, by_parent, below, sent, scaled,
            )  # fmt: skip


@_jit
def _expect(  # type: ignore[no-untyped-def]
    codes, order, parent, cards, tables, thetas, base, by_class, by_parent, out
):
    n, largest = len(cards), cards.max()
    below, sent = np.empty((n, largest)), np.empty((n, largest))
    belief = np.empty((n, largest))  # P(state | observed features, c) of missing features
    scaled = np.empty(largest)
    for u in range(codes.shape[0]):
        row = codes[u]
        for c in range(out.shape[2]):
            _pass_up(
                row, c, order, parent, cards, tables, thetas,
                base, by_class, by_parent, below, sent, scaled,
            )  # fmt: skip
            for k in range(len(order) - 1, -1, -1):
                i = order[k]
                p, x = parent[i], row[i - 1]
                belief[i] = 0.0
                v0, v1 = _possible(row, p, cards)
                for v in range(v0, v1):
                    weight = belief[p, v] if v1 - v0 > 1 else 1.0
                    if weight == 0.0:
                        continue
                    at = base[i] + c * by_class[i] + v * by_parent[i]
                    if x >= 0:
                        out[u, i, c] += weight * tables[at + x]
                        continue
                    for s in range(cards[i]):
                        # P(s | v, everything observed below i, c)
                        own = np.exp(tables[at + s] + below[i, s] - sent[i, v])
                        belief[i, s] += weight * own
