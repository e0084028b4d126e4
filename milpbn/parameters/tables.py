"""The parameters that discriminate between classes, as one vector, and look-ups by row.

A table is included if its variable is the class or has the class as a parent; the other terms
of log P(c, z) are the same for every class and cancel. The layout of each table is
``(q, r, k)``: parent configurations without the class, states of the child, and the classes
that it applies to. It is a softmax over the middle axis,

    theta[x | h] = exp(beta[x | h]) / sum_x' exp(beta[x' | h]),

so probabilities are normalised for every beta. (The table of the class is ``(q, |C|, 1)``. In
memory the class is the last axis of both, so the entries of a row for all classes are
contiguous.)

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


@dataclass(frozen=True)
class TableLayout:
    """All tables in one vector of cells.

    Attributes
    ----------
    tables
        The tables, in the order of their cells.
    views
        Through which the tables see the variables, the class first.
    ordered
        How many states of each view have an order, see :class:`milpbn.encoding.Variable`;
        empty if nobody asks for it.
    """

    tables: tuple[ClassTable, ...]
    views: Views
    ordered: tuple[int, ...] = ()

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

    def log_theta(self, beta: FloatArray) -> FloatArray:
        """The logarithm of the softmax of every table row."""
        out = np.empty_like(beta)
        kernels.log_softmax(self.base, self.shapes, beta, out)
        return out

    def to_beta(self, by_cell: FloatArray, log_theta: FloatArray) -> FloatArray:
        """The derivative by beta from that by log theta: d - theta * (sum of d in the row)."""
        out = by_cell.copy()
        kernels.through_softmax(self.base, self.shapes, log_theta, out)
        return out


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
        return self.layout.log_theta(out)

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
        return self.layout.log_theta(out)
