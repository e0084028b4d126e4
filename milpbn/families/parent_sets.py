"""The parent sets of many families as one array, for search spaces of millions of families."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from milpbn._types import BoolArray, IntArray

ParentSet = tuple[int, ...]
"""Sorted variable indices."""

Members = npt.NDArray[np.int16]
"""Parent sets as rows, padded with -1 at the end."""


class ParentSets(Sequence[ParentSet]):
    """Parent sets by index, read as tuples and stored as an array.

    Attributes
    ----------
    members
        ``(F, k)``: the parents of each family, in ascending order, padded with -1.

    Examples
    --------
    >>> sets = ParentSets.of([(), (0,), (0, 2)])
    >>> sets[2], len(sets), sets.members.tolist()
    ((0, 2), 3, [[-1, -1], [0, -1], [0, 2]])
    """

    def __init__(self, members: Members) -> None:
        self.members = members

    @classmethod
    def of(cls, sets: Sequence[ParentSet]) -> ParentSets:
        """The array of some tuples."""
        width = max(map(len, sets), default=0)
        members = np.full((len(sets), width), -1, dtype=np.int16)
        for f, parents in enumerate(sets):
            members[f, : len(parents)] = parents
        return cls(members)

    @cached_property
    def sizes(self) -> IntArray:
        """``(F,)``: number of parents."""
        out: IntArray = (self.members >= 0).sum(axis=1)
        return out

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, index: SupportsIndex) -> ParentSet: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ParentSet, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> ParentSet | tuple[ParentSet, ...]:
        if isinstance(index, slice):
            return tuple(self._tuples(self.members[index]))
        return tuple(p for p in self.members[index].tolist() if p >= 0)

    def __iter__(self) -> Iterator[ParentSet]:
        return self._tuples(self.members)

    @staticmethod
    def _tuples(members: Members) -> Iterator[ParentSet]:
        for parents in members.tolist():
            yield tuple(p for p in parents if p >= 0)

    def contain(self, variables: BoolArray, part: slice | IntArray = slice(None)) -> BoolArray:
        """Whether parent sets contain one of the variables, given as a mask."""
        # The padding is -1: the last entry.
        return np.asarray(np.append(variables, False)[self.members[part]].any(axis=1))

    def numbers(self, n_variables: int) -> IntArray | list[int]:
        """A number for each parent set: larger sets and later parents have larger numbers."""
        width, base = self.members.shape[1], n_variables + 1
        if base**width < 2**63:
            out = np.zeros(len(self), dtype=np.int64)
            for column in self.members.T:
                out = np.where(column >= 0, out * base + column + 1, out)
            return out
        return [number(s, n_variables) for s in self]


def number(parents: Sequence[int], n_variables: int) -> int:
    """The number of a parent set, see :meth:`ParentSets.numbers`."""
    out = 0
    for p in parents:
        out = out * (n_variables + 1) + p + 1
    return out


class Finder:
    """Looks up the families of a variable by their parents.

    Parameters
    ----------
    sets
        All parent sets.
    offsets
        Variable i owns the sets ``offsets[i]:offsets[i + 1]``.
    """

    def __init__(self, sets: ParentSets, offsets: IntArray) -> None:
        self._n = len(offsets) - 1
        self._offsets = offsets.tolist()
        numbers = sets.numbers(self._n)
        # Spaces made by hand or read from a file may be in any order.
        child = np.repeat(np.arange(self._n), np.diff(offsets))
        order = np.lexsort((np.asarray(numbers), child))
        in_order = bool((order == np.arange(len(order))).all())
        self._place: IntArray | None = None if in_order else order
        self._numbers = numbers if in_order else [numbers[f] for f in order.tolist()]

    def find(self, variable: int, parents: Sequence[int]) -> range:
        """The families with these parents, as places in the order of this object."""
        wanted = number(sorted(parents), self._n)
        first, last = self._offsets[variable], self._offsets[variable + 1]
        at = bisect_left(self._numbers, wanted, first, last)
        if at == last or self._numbers[at] != wanted:
            return range(at, at)
        end = at + 1
        if end < last and self._numbers[end] == wanted:
            end = bisect_right(self._numbers, wanted, end, last)
        return range(at, end)

    def indices(self, places: range) -> IntArray:
        """The indices of families that :meth:`find` has found."""
        if self._place is None:
            return np.arange(places.start, places.stop)
        return self._place[places.start : places.stop]

    def index(self, place: int) -> int:
        """The index of one of these families."""
        return place if self._place is None else int(self._place[place])
