"""Counts of many families at once, in compiled passes over the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import CLASS, FamilySpace
from milpbn.families.passes import divided
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import minus

# Counts that are made at once: they fit into the cache of the processor.
_BATCH = 200_000


class ClassRole(IntEnum):
    """What the class is in a family."""

    CHILD = 0
    PARENT = 1
    ABSENT = 2


def mixed_radix(
    codes: npt.NDArray[np.integer], variables: Sequence[int], cards: Sequence[int]
) -> IntArray:
    """One number per row for the joint state of `variables`, the last varying fastest."""
    key = np.zeros(len(codes), dtype=np.int64)
    for v in variables:
        key *= cards[v]
        key += codes[:, v]
    return key


class FamilyCounts:
    """The counts of the families of a space in given rows.

    Parameters
    ----------
    space, rows
        Families and training rows.
    fold, n_folds
        The fold of each row, if there are several.

    Attributes
    ----------
    codes
        ``(V, U)``: the codes of the rows by view.
    cards
        ``(V,)``: the number of states of each view.
    """

    def __init__(
        self,
        space: FamilySpace,
        rows: MergedRows,
        fold: IntArray | None = None,
        n_folds: int = 1,
    ) -> None:
        self.space = space
        self.rows = rows
        self.n_folds = n_folds
        self.fold = np.zeros(len(rows), dtype=np.int32) if fold is None else fold.astype(np.int32)
        self.codes = space.views.columns(rows.columns)
        self.cards = space.views.cards.astype(np.int32)

    @cached_property
    def key(self) -> npt.NDArray[np.int16]:
        """``(F, k)``: the views of the features that form the key of each family, padded with -1.

        These are the parents without the class, then the child unless it is the class.
        """
        members = self.space.parent_views
        out = np.full((len(members), members.shape[1] + 1), -1, dtype=np.int16)
        size = self.space.parent_sets.sizes.copy()
        with_class = self.space.has_class
        out[~with_class, :-1] = members[~with_class]
        out[with_class, :-2] = members[with_class, 1:]
        size[with_class] -= 1
        features = np.arange(self.space.offsets[CLASS + 1], len(members))
        out[features, size[features]] = self.space.child_view[features]
        return out

    def cells(self, families: AnyFamilies) -> IntArray:
        """The number of configurations of each family's key."""
        cards = np.append(self.cards, 1).astype(np.int64)  # the last for the padding
        out: IntArray = cards[self.key[families]].prod(axis=1)
        return out

    def batches(self, families: IntArray) -> Iterator[IntArray]:
        """Families whose tables have the same shape, some at a time."""
        kind = np.where(self.space.has_class[families], ClassRole.PARENT, ClassRole.ABSENT)
        kind[self.space.child[families] == CLASS] = ClassRole.CHILD
        states = self.cards[self.space.child_view[families]]
        shape = np.column_stack([kind, self.cells(families), states])
        order = np.lexsort(shape.T)
        shape = shape[order]
        changes = np.flatnonzero((shape[1:] != shape[:-1]).any(axis=1)) + 1
        for first, last in zip([0, *changes], [*changes, len(order)], strict=True):
            cells = int(shape[first, 1]) * self.n_folds * self.space.n_classes
            step = max(1, _BATCH // cells)
            for at in range(first, last, step):
                yield families[order[at : min(at + step, last)]]

    def of(self, families: IntArray) -> tuple[ClassRole, FloatArray]:
        """The counts of families of the same shape.

        The axes are (family, fold, parent configuration, state of the child, class), without the
        child's axis if the class is the child. With folds, each has the counts of the others.
        """
        from milpbn.families import kernels

        child = int(self.space.child[families[0]])
        cells = int(self.cells(families[:1])[0])
        out = np.zeros((len(families), self.n_folds * cells, self.space.n_classes))

        def count(part: slice) -> None:
            kernels.count_families(
                families[part], self.key, self.cards, self.fold, self.codes, self.rows.weights,
                out[part],
            )  # fmt: skip

        divided(len(families), len(self.rows), self.space.threads, count)
        if child == CLASS:
            kind, inner = ClassRole.CHILD, [cells]
        else:
            with_class = bool(self.space.has_class[families[0]])
            kind = ClassRole.PARENT if with_class else ClassRole.ABSENT
            states = int(self.cards[self.space.child_view[families[0]]])
            inner = [cells // states, states]
        counts = out.reshape(len(families), self.n_folds, *inner, self.space.n_classes)
        if self.n_folds > 1:
            counts = minus(counts.sum(axis=1, keepdims=True), counts)
        return kind, counts


def counts_by_family(
    space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
) -> Iterator[tuple[IntArray, FloatArray]]:
    """``(B, q, r)`` counts, parent configurations by states of the child, for all families."""
    counts = FamilyCounts(space, rows)
    for families in counts.batches(np.arange(len(space))):
        checkpoint()
        kind, found = counts.of(families)
        found = found[:, 0]
        if kind is ClassRole.PARENT:
            # The class is the first parent.
            found = np.moveaxis(found, -1, 1)
        elif kind is ClassRole.ABSENT:
            found = found.sum(axis=-1)
        yield families, found.reshape(len(families), -1, found.shape[-1])
