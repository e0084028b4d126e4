"""Which families may be exchanged without closing a cycle or breaking a budget."""

from __future__ import annotations

import numpy as np

from milpbn._types import IntArray
from milpbn.families.candidates import FamilySpace

# Up to this number of variables, a set of variables fits into one machine word.
_WORD = 63


class Feasibility:
    """Which families of a variable keep a given structure acyclic and within the budgets.

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
        """The families of `variable` with no parent among its descendants, within the budgets."""
        own = self._space.of(variable)
        below = self.descendants(families, variable)
        if self._words is not None:
            found = own.start + np.flatnonzero((self._words[own.start : own.stop] & below) == 0)
        else:
            found = np.array([f for f in own if not self._parents[f] & below], dtype=np.int64)
        return self.within_budgets(families, variable, found)

    def within_budgets(self, families: IntArray, variable: int, candidates: IntArray) -> IntArray:
        """Those families of `variable` that keep the structure within the budgets."""
        if not self._space.budgets:
            return candidates
        return candidates[self._space.budget_use.allows(families, variable, candidates)]

    def is_feasible(self, families: IntArray) -> bool:
        """Whether a choice of families, one per variable, is acyclic and within the budgets."""
        return self._space.fits(families) and self.is_acyclic(families)

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
