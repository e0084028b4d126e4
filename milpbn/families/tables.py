"""Tables of the candidate families, computed on demand.

The table of a family has an entry for each configuration of its features and each class: its
term of log P(c, z), from which margins are differences. Nothing here is of size rows x families:
the entry of a row is looked up at a key that is a mixed-radix number of the row's codes.

Tables are kept in the layout of the compiled loops (:mod:`milpbn.families.kernels`), once in
double precision and once in single precision for ranking candidates. If they take more than a
part of the memory that the search space allows, all of them are dropped and counted again on
demand: counting a table takes about as long as scoring a candidate with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.errors import BudgetError
from milpbn.families import tabulate
from milpbn.families.candidates import FamilySpace
from milpbn.families.counts import FamilyCounts, mixed_radix
from milpbn.families.passes import divided
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Smoothing
from milpbn.families.tabulate import TableOf
from milpbn.words import memory

# What is kept between requests takes at most this part of the memory limit, as a divisor.
_SHARE = 8
# Table rows that fit at first; doubled when needed.
_CAPACITY = 1024


class FamilyTables:
    """The tables of the families of a space, for given rows.

    Parameters
    ----------
    space, rows
        Families and training rows.
    smoothing
        How counts become probabilities.
    tables_of
        The entries of all classes and, if they differ, those of the rows' own classes.
    fold, n_folds
        The fold of each row, if there are several: a row looks up the table that was counted
        without its fold.
    ratios
        Whether entries are log ratios of the row's class to the rest; then each row has one
        competitor.

    Attributes
    ----------
    single
        Whether each row has one competitor: log ratios, or two classes. The tables then hold
        margins.
    codes, key, cards, fold
        See :class:`~milpbn.families.counts.FamilyCounts`.
    complete
        Whether the tables of all families are there.
    base
        ``(F,)``: where the table of each family begins, in rows; -1 if it was not counted.
    fall
        ``(F,)``: the most that a table can take from a margin.
    exact, fast
        The tables of all families that were counted: in double precision, and in single
        precision with rows padded to a multiple of 8 entries.
    """

    def __init__(
        self,
        space: FamilySpace,
        rows: MergedRows,
        smoothing: Smoothing,
        tables_of: Sequence[TableOf],
        *,
        fold: IntArray | None = None,
        n_folds: int = 1,
        ratios: bool = False,
    ) -> None:
        counts = self._counts = FamilyCounts(space, rows, fold, n_folds)
        self.space, self.rows, self.codes = space, rows, counts.codes
        self.fold, self.key, self.cards = counts.fold, counts.key, counts.cards
        self.ratios = ratios
        self._smoothing = smoothing
        self._tables_of = tables_of
        self.single = ratios or space.n_classes == 2
        columns = (1 if self.single else len(tables_of)) * space.n_classes
        self.width = columns if self.single else 8 * -(-columns // 8)
        self.base = np.full(len(space), -1, dtype=np.int32)
        self.fall = np.zeros(len(space), dtype=np.float32)
        self._used, self.complete = 0, False
        self.exact = np.empty((_CAPACITY, columns))
        self.fast = np.zeros((_CAPACITY, self.width), dtype=np.float32)
        self._most = min(space.memory_limit // (8 * columns + 4 * self.width), 2**31 // self.width)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the tables, which another process counts again when it needs them."""
        state = {k: v for k, v in vars(self).items() if k != "own"}
        empty = np.empty((0, self.exact.shape[1])), np.empty((0, self.width), dtype=np.float32)
        none = np.full(len(self.space), -1, dtype=np.int32)
        own = {"exact": empty[0], "fast": empty[1], "base": none}
        return {**state, **own, "_used": 0, "complete": False}

    @classmethod
    def log_probabilities(
        cls,
        space: FamilySpace,
        rows: MergedRows,
        smoothing: Smoothing,
        *,
        leave_one_out: bool = False,
        fold: IntArray | None = None,
        n_folds: int = 1,
    ) -> FamilyTables:
        """Tables of ``log theta``: entry (key, c) is the family's term of log P(c, z).

        With `leave_one_out`, the term of a row comes from the counts without this row, up to
        a term that is the same for all classes. Taking a row away changes the counts of its
        own class; if the class is the child, also the total of the others. So one more table
        for the rows' own classes is enough. Of weighted rows, one unit of weight is taken away,
        or the whole count if it is less.
        """
        tables_of: tuple[TableOf, ...] = (tabulate.log_probabilities,)
        if leave_one_out:
            tables_of = (tabulate.others_without_one, tabulate.own_without_one)
        return cls(space, rows, smoothing, tables_of, fold=fold, n_folds=n_folds)

    @classmethod
    def own_against_rest(
        cls,
        space: FamilySpace,
        rows: MergedRows,
        smoothing: Smoothing,
        *,
        leave_one_out: bool = False,
        fold: IntArray | None = None,
        n_folds: int = 1,
    ) -> FamilyTables:
        """Tables of log ratios with the class collapsed to {c, all others} (for SBM).

        Entry (key, c) is ``log theta(c)[class 1] - log theta(c)[class 2]``, where
        theta(c) are the parameters re-estimated with the two-state class. Only rows of class
        c look it up, so with `leave_one_out` the entry itself has one row of class c less.
        """
        table_of = tabulate.own_against_rest
        if leave_one_out:
            table_of = tabulate.own_against_rest_without_one
        return cls(space, rows, smoothing, (table_of,), fold=fold, n_folds=n_folds, ratios=True)

    @cached_property
    def own(self) -> npt.NDArray[np.int32]:
        """``(U,)``: the column of the entry of each row's own class."""
        return self.own_columns(self.rows.labels)

    def own_columns(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Where rows look up the entry of their own class: after the others, if it differs."""
        if self.single or len(self._tables_of) == 1:
            return np.ascontiguousarray(labels)
        return labels + np.int32(self.space.n_classes)

    def ensure(self, families: AnyFamilies, checkpoint: Checkpoint = no_checkpoint) -> None:
        """Count the tables of these families that are not there."""
        if self.complete:
            return
        wanted = np.asarray(families, dtype=np.int64)
        missing = wanted[self.base[wanted] < 0]
        if len(missing) == 0:
            return
        need = self._rows_of(missing)
        if self._used + need > self._most // _SHARE:
            self.base[:] = -1
            self._used, self.complete = 0, False
            missing = wanted
            need = self._rows_of(missing)
        if need > self._most:
            self._refuse(len(wanted), need)
        self._reserve(self._used + need)
        for batch in self._counts.batches(missing):
            checkpoint()
            self._store(batch)
        self.complete = bool((self.base >= 0).all())

    def fits(self, families: AnyFamilies) -> bool:
        """Whether the memory limit has room for the tables of these families together."""
        return self._rows_of(np.asarray(families, dtype=np.int64)) <= self._most

    def _rows_of(self, families: IntArray) -> int:
        return int(self._counts.cells(families).sum()) * self._counts.n_folds

    def _refuse(self, n_families: int, need: int) -> None:
        size = need * self.space.memory_limit / max(self._most, 1)
        raise BudgetError(
            f"the tables of {n_families:,} candidate families have {need:,} rows, about "
            f"{memory(size)}; the memory limit is {memory(self.space.memory_limit)}. "
            "Lower max_parents, limit the parents of single variables, merge rare states, "
            "raise the memory limit, or choose a heuristic, which needs few tables at a time"
        )

    def _reserve(self, rows: int) -> None:
        have = len(self.exact)
        if rows <= have:
            return
        rows = min(max(rows, 2 * have), max(self._most, rows))
        for name in ("exact", "fast"):
            old = getattr(self, name)
            new = np.zeros((rows, old.shape[1]), dtype=old.dtype)
            new[: self._used] = old[: self._used]
            setattr(self, name, new)

    def _by_class(self, families: IntArray) -> list[FloatArray]:
        """``(B, rows, |C|)`` tables of families of the same shape: of all classes, of the own."""
        kind, counts = self._counts.of(families)
        shape = (len(families), -1, self.space.n_classes)
        return [t(self._smoothing, kind, counts).reshape(shape) for t in self._tables_of]

    def table(self, family: int) -> FloatArray:
        """``(rows, |C|)``: the table of one family, counted now."""
        out: FloatArray = self._by_class(np.array([family]))[0][0]
        return out

    def _store(self, families: IntArray) -> None:
        """Add the tables of families of the same shape."""
        tables = self._by_class(families)
        values, own = tables[0], tables[-1]
        if self.single:
            margins = own if self.ratios else own - values[:, :, ::-1]
            entries, fall = margins, -margins.min(axis=(1, 2))
        else:
            entries = np.concatenate(tables, axis=2)
            fall = (values.max(axis=2) - own.min(axis=2)).max(axis=1)
        n, rows = entries.shape[:2]
        place = slice(self._used, self._used + n * rows)
        flat = entries.reshape(n * rows, -1)
        self.exact[place] = flat
        self.fast[place, : flat.shape[1]] = flat
        self.fall[families] = fall
        self.base[families] = self._used + rows * np.arange(n)
        self._used = place.stop

    def margins(self, families: AnyFamilies, weights: FloatArray | None = None) -> FloatArray:
        """``(U,)`` or ``(U, |C|)``: the margins of the rows under a structure.

        The margin against the row's own class is a large number. With `weights`, each family
        counts that often.
        """
        from milpbn.families import kernels

        families = np.asarray(families, dtype=np.int64)
        self.ensure(families)
        out = kernels.no_margins(self.rows.labels, self.space.n_classes, self.single)
        weights = np.ones(len(families)) if weights is None else weights
        add = kernels.add_families_one if self.single else kernels.add_families_many
        add(
            out, families, weights, self.key, self.cards, self.base, self.fold, self.codes,
            self.own, self.exact,
        )  # fmt: skip
        return out

    def alpha(self, family: int, rows: slice = slice(None)) -> FloatArray:
        """``(U, competitors)``: the margins of one family, competitors in ascending order."""
        self.ensure([family])
        key = self.key[family][self.key[family] >= 0].tolist()
        place = mixed_radix(self.codes.T[rows], key, self.cards.tolist())
        place += self.base[family] + self.fold[rows] * self._counts.cells([family])
        entries, labels = self.exact[place], self.rows.labels[rows]
        own: FloatArray = np.take_along_axis(entries, self.own[rows, None].astype(np.intp), axis=1)
        if self.single:
            return own
        others = np.arange(self.space.n_classes - 1)[None, :]
        others = others + (others >= labels[:, None])
        return own - np.take_along_axis(entries, others, axis=1)


@dataclass(frozen=True)
class Slopes(ABC):
    """Rows and what they are compared with: linear functions of the families.

    Attributes
    ----------
    begins
        Function k sums over the rows ``begins[k]:begins[k + 1]``.
    weights
        The weight of each row, or of each row and class.
    fold, codes, own
        What a row looks up, see :class:`FamilyTables`.
    """

    begins: IntArray
    weights: FloatArray
    fold: npt.NDArray[np.int32]
    codes: npt.NDArray[np.unsignedinteger]
    own: npt.NDArray[np.int32]

    @classmethod
    def at(
        cls, tables: FamilyTables, rows: IntArray, begins: IntArray, weights: FloatArray, *more: Any
    ) -> Self:
        """The functions of some rows of the tables; `more` are the other attributes."""
        codes = np.take(tables.codes, rows, axis=1)
        return cls(begins, weights, tables.fold[rows], codes, tables.own[rows], *more)

    @abstractmethod
    def _kernel(self, tables: FamilyTables) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """The compiled loop, and what it takes besides the weights."""

    def of(self, tables: FamilyTables, families: IntArray) -> FloatArray:
        """``(len(families), K)``: the slopes of the families, whose tables must be there."""
        out = np.empty((len(families), len(self.begins) - 1))
        kernel, more = self._kernel(tables)

        def slopes(part: slice) -> None:
            kernel(
                families[part], tables.key, tables.cards, tables.base, self.fold, self.codes,
                tables.exact, self.own, *more, self.weights, self.begins, out[part],
            )  # fmt: skip

        divided(len(families), self.weights.size, tables.space.threads, slopes)
        return out


@dataclass(frozen=True)
class HardSlopes(Slopes):
    """``sum_u weights[u] * alpha(f, u, against[u])``: each row is compared with one class.

    With the rows below the hinge and the class that each margin is smallest against, it is a
    supergradient of the soft margin.
    """

    against: npt.NDArray[np.integer]

    def _kernel(self, tables: FamilyTables) -> tuple[Callable[..., None], tuple[Any, ...]]:
        from milpbn.families import kernels

        if tables.single:
            return kernels.cut_coefficients_one, ()
        return kernels.cut_coefficients_many, (self.against,)


@dataclass(frozen=True)
class SharedSlopes(Slopes):
    """``sum_u sum_c weights[u, c] * alpha(f, u, c)``: each row is compared with all classes.

    With the posteriors of the other classes as weights, it is a gradient of the conditional
    log-likelihood. The weight of a row's own class is 0.
    """

    def _kernel(self, tables: FamilyTables) -> tuple[Callable[..., None], tuple[Any, ...]]:
        from milpbn.families import kernels

        return kernels.cut_coefficients_shared, (self.weights.sum(axis=1),)
