"""Which families may be exchanged without closing a cycle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn.families.candidates import FamilySpace

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Acyclicity:
    """Answers, for a current structure, which families of a variable keep it acyclic."""

    def __init__(self, space: FamilySpace) -> None:
        self._space = space
        self.contains = space.contains

    def descendants(self, families: IntArray, variable: int) -> BoolArray:
        """The variable and everything below it."""
        parents_of = self.contains[families]
        below = np.zeros(self._space.n_variables, dtype=bool)
        front = below.copy()
        front[variable] = True
        while front.any():
            below |= front
            front = parents_of[:, front].any(axis=1) & ~below
        return below

    def candidates(self, families: IntArray, variable: int) -> IntArray:
        """The families of `variable` without a parent among its descendants."""
        own = self._space.of(variable)
        below = self.descendants(families, variable)
        allowed = ~self.contains[own.start : own.stop][:, below].any(axis=1)
        return own.start + np.flatnonzero(allowed)

    def allows(self, families: IntArray, variable: int, family: int) -> bool:
        """Whether `variable` may take one particular family."""
        return not self.contains[family, self.descendants(families, variable)].any()
