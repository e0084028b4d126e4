"""Which families may be exchanged without closing a cycle."""

from __future__ import annotations

import numpy as np

from milpbn._types import IntArray
from milpbn.families.candidates import FamilySpace

# Up to this number of variables, a set of variables fits into one machine word.
_WORD = 63


class Acyclicity:
    """Which families of a variable keep a given structure acyclic.

    Sets of variables are integers, with bit i for variable i, because searches ask this
    before every exchange.
    """

    def __init__(self, space: FamilySpace) -> None:
        self._space = space
        self.contains = space.contains
        self._parents = [sum(1 << p for p in s) for s in space.parent_sets]
        self._words: IntArray | None = None
        if space.n_variables <= _WORD:
            self._words = np.array(self._parents, dtype=np.int64)

    def descendants(self, families: IntArray, variable: int) -> int:
        """The set of the variable and its descendants."""
        parents = [self._parents[f] for f in families.tolist()]
        below, before = 1 << variable, 0
        while below != before:
            before = below
            for i, above in enumerate(parents):
                if above & below:
                    below |= 1 << i
        return below

    def candidates(self, families: IntArray, variable: int) -> IntArray:
        """The families of `variable` without a parent among its descendants."""
        own = self._space.of(variable)
        below = self.descendants(families, variable)
        if self._words is not None:
            return own.start + np.flatnonzero((self._words[own.start : own.stop] & below) == 0)
        return np.array([f for f in own if not self._parents[f] & below], dtype=np.int64)

    def is_acyclic(self, families: IntArray) -> bool:
        """Whether a choice of families, one per variable, has no cycle."""
        left = (1 << self._space.n_variables) - 1
        parents = [self._parents[f] for f in families.tolist()]
        while left:
            free = sum(
                1 << i for i, above in enumerate(parents) if left >> i & 1 and not above & left
            )
            if not free:
                return False
            left &= ~free
        return True
