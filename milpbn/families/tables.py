"""Counts and log-probabilities of every candidate family, and look-ups by row.

Nothing here is of size rows x families: the entry of a row is looked up in the table of the
family, at a key that is a mixed-radix number of the row's codes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import CLASS, FamilySpace, ParentSet
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Smoothing, minus

if TYPE_CHECKING:
    from milpbn.families.exchange import ExchangeTables

TIE = 1e-9
"""Smaller margins are ties, since sums of logarithms are not exact; a tie is an error."""


def mixed_radix(
    codes: npt.NDArray[np.integer], variables: Sequence[int], cards: Sequence[int]
) -> IntArray:
    """One number per row for the joint state of `variables`, the last varying fastest."""
    key = np.zeros(len(codes), dtype=np.int64)
    for v in variables:
        key *= cards[v]
        key += codes[:, v]
    return key


def joint_counts(rows: MergedRows, variables: Sequence[int], cards: Sequence[int]) -> FloatArray:
    """Weighted counts over the joint states of `variables`, one axis each."""
    shape = tuple(cards[v] for v in variables)
    key = mixed_radix(rows.codes, variables, cards)
    counts: FloatArray = np.bincount(key, rows.weights, minlength=prod(shape)).astype(np.float64)
    return counts.reshape(shape)


def key_variables(child: int, parents: ParentSet) -> tuple[int, ...]:
    """The features that form the key of a family's table; its columns are the classes."""
    return (*(p for p in parents if p != CLASS), *(() if child == CLASS else (child,)))


@dataclass(frozen=True)
class FamilyTables:
    """One table per family, over (feature configuration, class).

    Attributes
    ----------
    values
        ``(K, |C|)``, the tables of all families stacked.
    own
        ``(K, |C|)`` or None: the entries for rows of the class itself, if they differ. With
        leave-one-out these come from the counts without the row.
    base
        ``(F + 1,)``; family f owns rows ``base[f]:base[f + 1]`` of `values`.
    row_offset
        ``(U,)`` or None: where the copy of the tables for each data row begins, if there are
        several copies (cross-validation).
    ratios
        Whether `values` holds log ratios of the row's class to the rest; then each row has one
        competitor.
    """

    space: FamilySpace
    rows: MergedRows
    values: FloatArray
    base: IntArray
    row_offset: IntArray | None = None
    own: FloatArray | None = None
    ratios: bool = False

    @cached_property
    def exchange(self) -> ExchangeTables:
        """The compiled kernels' copy of the tables, shared by all searches."""
        from milpbn.families.exchange import ExchangeTables

        return ExchangeTables(self)

    @classmethod
    def log_probabilities(
        cls,
        space: FamilySpace,
        rows: MergedRows,
        smoothing: Smoothing,
        checkpoint: Checkpoint = no_checkpoint,
        *,
        leave_one_out: bool = False,
    ) -> FamilyTables:
        """Tables of ``log theta``: entry (key, c) is the family's term of log P(c, z).

        With `leave_one_out`, the term of a row comes from the counts without this row, up to
        a term that is the same for all classes. Taking a row away changes the counts of its
        own class; if the class is the child, also the total of the others. So one more table
        for the rows' own classes is enough. Of weighted rows, one unit of weight is taken away,
        or the whole count if it is less.
        """
        tables = (_others_without_one, _own_without_one) if leave_one_out else (_log_probabilities,)
        return cls._build(space, rows, [partial(t, smoothing) for t in tables], checkpoint)

    @classmethod
    def own_against_rest(
        cls,
        space: FamilySpace,
        rows: MergedRows,
        smoothing: Smoothing,
        checkpoint: Checkpoint = no_checkpoint,
        *,
        leave_one_out: bool = False,
    ) -> FamilyTables:
        """Tables of log ratios with the class collapsed to {c, all others} (for SBM).

        Entry (key, c) is ``log theta(c)[class 1] - log theta(c)[class 2]``, where
        theta(c) are the parameters re-estimated with the two-state class. Only rows of class
        c look it up, so with `leave_one_out` the entry itself has one row of class c less.
        """
        table_of = partial(_own_against_rest, smoothing, leave_one_out)
        return replace(cls._build(space, rows, [table_of], checkpoint), ratios=True)

    @classmethod
    def _build(
        cls,
        space: FamilySpace,
        rows: MergedRows,
        tables_of: Sequence[Callable[[int, ParentSet, FloatArray], FloatArray]],
        checkpoint: Checkpoint,
    ) -> FamilyTables:
        keys = [
            key_variables(int(i), s) for i, s in zip(space.child, space.parent_sets, strict=True)
        ]
        sizes = [prod(space.cards[v] for v in key) for key in keys]
        base = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        stacked = [np.empty((int(base[-1]), space.n_classes)) for _ in tables_of]
        for f, key in enumerate(keys):
            checkpoint()
            counts = joint_counts(rows, (*key, CLASS), space.cards)
            for table_of, values in zip(tables_of, stacked, strict=True):
                table = table_of(int(space.child[f]), space.parent_sets[f], counts)
                values[base[f] : base[f + 1]] = table.reshape(-1, space.n_classes)
        for values in stacked:
            values.setflags(write=False)
        return cls(space, rows, stacked[0], base, own=stacked[1] if len(stacked) > 1 else None)

    def keys(self, family: int, rows: slice = slice(None)) -> IntArray:
        """The row of `values` that each data row looks up for `family`."""
        child, parents = int(self.space.child[family]), self.space.parent_sets[family]
        key = mixed_radix(self.rows.codes[rows], key_variables(child, parents), self.space.cards)
        key += self.base[family]
        if self.row_offset is not None:
            key += self.row_offset[rows]
        return key

    def by_row(self, family: int, rows: slice = slice(None)) -> FloatArray:
        """``(U, |C|)``: the entry of the family for each row and class."""
        keys = self.keys(family, rows)
        out: FloatArray = self.values[keys]
        if self.own is not None:
            labels = self.rows.labels[rows]
            out[np.arange(len(out)), labels] = self.own[keys, labels]
        return out

    def total(self, families: npt.NDArray[np.integer] | Sequence[int]) -> FloatArray:
        """``(U, |C|)``: sum over a structure's families; log P(c, z_u) for log-probabilities."""
        out = np.zeros((len(self.rows), self.space.n_classes))
        for f in families:
            out += self.by_row(int(f))
        return out


def _log_probabilities(
    smoothing: Smoothing, child: int, parents: ParentSet, counts: FloatArray
) -> FloatArray:
    if child == CLASS:
        return smoothing.log_theta(counts, axis=-1)
    if CLASS in parents:
        return smoothing.log_theta(counts, axis=-2)
    # Without the class among the parents, the term is the same for every class.
    log_theta = smoothing.log_theta(counts.sum(axis=-1, keepdims=True), axis=-2)
    return np.broadcast_to(log_theta, counts.shape)


def _others_without_one(
    smoothing: Smoothing, child: int, parents: ParentSet, counts: FloatArray
) -> FloatArray:
    """The entries of the classes that a row does not have, without this row."""
    if child == CLASS:
        return smoothing.without_one(counts, axis=-1)[1]
    return _log_probabilities(smoothing, child, parents, counts)


def _own_without_one(
    smoothing: Smoothing, child: int, parents: ParentSet, counts: FloatArray
) -> FloatArray:
    """The entries of the row's own class, without this row."""
    if child == CLASS:
        return smoothing.without_one(counts, axis=-1)[0]
    if CLASS in parents:
        return smoothing.without_own(counts, axis=-2)
    # The same for every class: the margins do not change if the row stays.
    return _log_probabilities(smoothing, child, parents, counts)


def _own_against_rest(
    smoothing: Smoothing,
    leave_one_out: bool,
    child: int,
    parents: ParentSet,
    counts: FloatArray,
) -> FloatArray:
    if child != CLASS and CLASS not in parents:
        return np.zeros_like(counts)
    two = np.stack([counts, minus(counts.sum(axis=-1, keepdims=True), counts)], axis=-1)
    axis = -1 if child == CLASS else -3
    if not leave_one_out:
        own = rest = smoothing.log_theta(two, axis)
    elif child == CLASS:
        own, rest = smoothing.without_one(two, axis)
    else:
        # A feature's distribution given the other classes does not contain the row.
        own, rest = smoothing.without_own(two, axis), smoothing.log_theta(two, axis)
    out: FloatArray = own[..., 0] - rest[..., 1]
    return out
