"""Which families may be exchanged without closing a cycle or breaking a budget."""

from __future__ import annotations

import numpy as np

from milpbn._types import BoolArray, IntArray
from milpbn.families.candidates import FamilySpace


class Feasibility:
    """Which families of a variable keep a given structure acyclic and within the budgets.

    The loops are compiled, because searches ask this before every exchange.
    """

    def __init__(self, space: FamilySpace) -> None:
        from milpbn.families import kernels

        self._kernels = kernels
        self._space = space
        self._members = space.parent_sets.members

    def descendants(self, families: IntArray, variable: int) -> BoolArray:
        """The variable and its descendants, as a mask."""
        out: BoolArray = self._kernels.descendants(self._members, families, variable)
        return out

    def candidates(self, families: IntArray, variable: int) -> IntArray:
        """The families of `variable` with no parent among its descendants, within the budgets."""
        own = self._space.of(variable)
        found = self._kernels.free_families(self._members, families, variable, own.start, own.stop)
        return self.within_budgets(families, variable, found)

    def is_free(self, families: IntArray, variable: int, family: int) -> bool:
        """Whether a family is among the :meth:`candidates`."""
        below = self.descendants(families, variable)
        members = self._members[family]
        free = not below[members[members >= 0]].any()
        return free and len(self.within_budgets(families, variable, np.array([family]))) > 0

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
        left = np.ones(self._space.n_variables, dtype=bool)
        own = self._members[families]
        while left.any():
            waiting = left & np.append(left, False)[own].any(axis=1)
            if (waiting == left).all():
                return False
            left = waiting
        return True
