"""The parameters that discriminate between classes, as one vector, and look-ups by row.

A table is included if its variable is the class or has the class as a parent; the other terms
of log P(c, z) are the same for every class and cancel. The layout of each table is
``(q, r, k)``: parent configurations without the class, states of the child, and the classes
that it applies to. It is a softmax over the middle axis,

    theta[x | h] = exp(beta[x | h]) / sum_x' exp(beta[x' | h]),

so probabilities are normalised for every beta. (The table of the class is ``(q, |C|, 1)``. In
memory the class is the last axis of both, so the entries of a row for all classes are
contiguous.) Beta may be a sum of parts, see :mod:`~milpbn.parameters.parts`; the vector of an
optimiser then has the entries of the parts.

References
----------
Greiner, Su, Shen & Zhou (2005), Structural extension to logistic regression:
discriminative parameter learning of belief net classifiers.
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from milpbn._types import Codes, FloatArray, IntArray
from milpbn.families.candidates import CLASS
from milpbn.families.counts import mixed_radix
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Smoothing
from milpbn.families.views import Views
from milpbn.parameters import kernels
from milpbn.parameters.parts import TablePart, smaller_parts


@dataclass(frozen=True)
class ClassTable:
    """One table: the features that form its key, and the classes that it applies to.

    Attributes
    ----------
    key
        The views of the features that form the key: the parents, then the child. For the table
        of the class, its parents only.
    shape
        ``(q, r, k)``, see the module.
    first, width
        The first class that it applies to, and their number; their entries are contiguous.
    """

    key: tuple[int, ...]
    shape: tuple[int, int, int]
    first: int
    width: int

    @classmethod
    def of_class(cls, parents: Sequence[int], cards: Sequence[int]) -> ClassTable:
        """The table of the class; `parents` are views, and `cards` their numbers of states."""
        q, n_classes = prod(cards[p] for p in parents), cards[CLASS]
        return cls(tuple(parents), (q, n_classes, 1), 0, n_classes)

    @classmethod
    def of_feature(
        cls, child: int, parents: Sequence[int], cards: Sequence[int], only: int | None = None
    ) -> ClassTable:
        """The table of a feature for all classes, or for `only` one, with views of features."""
        q = prod(cards[p] for p in parents)
        first, width = (0, cards[CLASS]) if only is None else (only, 1)
        return cls((*parents, child), (q, cards[child], width), first, width)

    @property
    def size(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    @property
    def is_class(self) -> bool:
        """Whether it is the table of the class: its states are the classes."""
        return self.shape[2] < self.width

    @property
    def n_parents(self) -> int:
        """The number of features among the parents of its child."""
        return len(self.key) - (not self.is_class)


@dataclass(frozen=True)
class TableLayout:
    """All tables in one vector of cells, and their parts if they are sums of parts.

    Attributes
    ----------
    tables
        The tables, in the order of their cells.
    views
        Through which the tables see the variables, the class first.
    ordered
        How many states of each view have an order, see :class:`milpbn.encoding.Variable`;
        empty if nobody asks for it.
    nested
        Whether tables are sums of parts. The vector of an optimiser then has these parts: first
        those that depend on all parents, with as many entries as the tables have cells.
    """

    tables: tuple[ClassTable, ...]
    views: Views
    ordered: tuple[int, ...] = ()
    nested: bool = False

    @cached_property
    def base(self) -> IntArray:
        """``(T + 1,)``: table t owns the cells ``base[t]:base[t + 1]``."""
        return np.concatenate([[0], np.cumsum([t.size for t in self.tables], dtype=np.int64)])

    @cached_property
    def first(self) -> IntArray:
        """The first class of each table."""
        return np.array([t.first for t in self.tables], dtype=np.int64)

    @cached_property
    def width(self) -> IntArray:
        """The number of classes of each table."""
        return np.array([t.width for t in self.tables], dtype=np.int64)

    @cached_property
    def shapes(self) -> IntArray:
        """``(T, 3)``: the shapes of the tables."""
        return np.array([t.shape for t in self.tables], dtype=np.int64)

    @cached_property
    def parts(self) -> tuple[TablePart, ...]:
        """The parts of all tables; without nesting, each table is its only part."""
        cards = self.views.cards.tolist()
        whole = [
            TablePart(
                t, table.key, (*(cards[v] for v in table.key), table.width), int(self.base[t])
            )
            for t, table in enumerate(self.tables)
        ]
        smaller = smaller_parts(whole, [t.n_parents for t in self.tables], int(self.base[-1]))
        return (*whole, *smaller) if self.nested else tuple(whole)

    @property
    def size(self) -> int:
        """The length of the vector."""
        return self.parts[-1].base + self.parts[-1].size

    @property
    def n_classes(self) -> int:
        """Number of states of the class."""
        return self.views.finest[CLASS]

    def cells(self, codes: Codes) -> npt.NDArray[np.int32]:
        """``(U, T)``: where the entries of each row begin in each table."""
        out = np.empty((len(codes), len(self.tables)), dtype=np.int32)
        seen, cards = self.views.columns(codes.T).T, self.views.cards.tolist()
        for t, table in enumerate(self.tables):
            out[:, t] = self.base[t] + mixed_radix(seen, table.key, cards) * table.width
        return out

    def split(self, vector: FloatArray) -> list[FloatArray]:
        """The tables ``(q, r, k)`` of a vector of cells, without copying."""
        return [
            vector[self.base[t] : self.base[t + 1]].reshape(table.shape)
            for t, table in enumerate(self.tables)
        ]

    def log_theta(self, vector: FloatArray) -> FloatArray:
        """The logarithm of the softmax of every table row."""
        beta = self._summed(vector) if self.nested else vector
        out = np.empty_like(beta)
        kernels.log_softmax(self.base, self.shapes, beta, out)
        return out

    def to_beta(self, by_cell: FloatArray, log_theta: FloatArray) -> FloatArray:
        """The derivative by the vector from that by log theta.

        By beta it is d - theta * (sum of d in the row), and by an entry of a part the sum over the
        cells that the entry is added to.
        """
        out = by_cell.copy()
        kernels.through_softmax(self.base, self.shapes, log_theta, out)
        if not self.nested:
            return out
        whole, smaller = self.parts[: len(self.tables)], self.parts[len(self.tables) :]
        sums = [
            whole[part.table].of(out).sum(axis=_without(part, whole[part.table])).ravel()
            for part in smaller
        ]
        return np.concatenate([out, *sums])

    def _summed(self, vector: FloatArray) -> FloatArray:
        """Beta: the sums of the parts."""
        beta = vector[: int(self.base[-1])].copy()
        for part in self.parts[len(self.tables) :]:
            table = self.parts[part.table].of(beta)
            table += part.of(vector)
        return beta

    def with_parts(self, beta: FloatArray) -> FloatArray:
        """The vector of beta: the parts with all parents are beta, and the others zero."""
        return np.concatenate([beta, np.zeros(self.size - len(beta))])


def _without(part: TablePart, whole: TablePart) -> tuple[int, ...]:
    """The axes of a table that a part does not have."""
    pairs = zip(part.shape, whole.shape, strict=True)
    return tuple(a for a, (own, all_) in enumerate(pairs) if own != all_)


@dataclass(frozen=True)
class Rows:
    """Distinct rows as cells of the tables, with classes and weights.

    Attributes
    ----------
    layout
        The tables.
    cells
        ``(U, T)``, see :meth:`TableLayout.cells`.
    labels, weights
        ``(U,)``.
    """

    layout: TableLayout
    cells: npt.NDArray[np.int32]
    labels: npt.NDArray[np.integer]
    weights: FloatArray

    @classmethod
    def of(cls, layout: TableLayout, rows: MergedRows) -> Rows:
        """The merged training rows."""
        return cls(layout, layout.cells(rows.codes), rows.labels, rows.weights)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def total(self) -> float:
        """M, the number of rows before merging, or the sum of their weights."""
        return float(self.weights.sum())

    def select(self, mask: npt.NDArray[np.bool_]) -> Rows:
        """The rows selected by `mask`."""
        return Rows(self.layout, self.cells[mask], self.labels[mask], self.weights[mask])

    def log_joint(self, log_theta: FloatArray) -> FloatArray:
        """``(U, |C|)``: log P(c, z_u), up to a term that is the same for every class."""
        out = np.empty((len(self), self.layout.n_classes))
        kernels.gather(self.cells, self.layout.first, self.layout.width, log_theta, out)
        return out

    def counts(self, amounts: FloatArray) -> FloatArray:
        """Sum the amounts ``(U, |C|)`` of the rows by cell."""
        out = np.zeros(int(self.layout.base[-1]))
        kernels.scatter(self.cells, self.layout.first, self.layout.width, amounts, out)
        return out

    def own(self) -> FloatArray:
        """``(U, |C|)``: the weight of the row at its class, zero elsewhere."""
        out = np.zeros((len(self), self.layout.n_classes))
        out[np.arange(len(self)), self.labels] = self.weights
        return out

    def maximum_likelihood(self, smoothing: Smoothing) -> FloatArray:
        """Log-probabilities of the cells from the counts of the rows, normalised.

        With epsilon smoothing, table rows may not sum to one, and are all epsilon if a parent
        configuration never occurs: these become uniform.
        """
        counts = self.counts(self.own())
        out = np.empty_like(counts)
        for table, result in zip(self.layout.split(counts), self.layout.split(out), strict=True):
            result[:] = smoothing.log_theta(table, axis=1)
        return self._normalised(out)

    def independence(self, smoothing: Smoothing) -> FloatArray:
        """Log-probabilities of the cells if no feature depends on the class.

        The tables of features are counted without regard to the class, and that of the class
        without regard to its parents.
        """
        everyone = np.repeat(self.weights[:, None], self.layout.n_classes, axis=1)
        pooled, own = map(self.layout.split, (self.counts(everyone), self.counts(self.own())))
        out = np.empty(int(self.layout.base[-1]))
        for t, result in enumerate(self.layout.split(out)):
            is_class = self.layout.tables[t].is_class
            counts = own[t].sum(axis=0, keepdims=True) if is_class else pooled[t]
            result[:] = smoothing.log_theta(counts, axis=1)
        return self._normalised(out)

    def _normalised(self, beta: FloatArray) -> FloatArray:
        return self.layout.with_parts(self.layout.log_theta(self.layout.with_parts(beta)))
