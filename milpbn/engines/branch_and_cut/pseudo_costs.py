"""What branching has learned: by how much bounds fall in the children of each candidate.

A candidate has a number: first come the pairs of variables, then the families, then what a family
sees. So the statistics are arrays, and all candidates of a node are compared at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from milpbn._types import FloatArray, IntArray
from milpbn.engines.branch_and_cut.tree import Candidate, Sight
from milpbn.families.candidates import FamilySpace

# Falls count as at least this where they are multiplied.
LEAST = 1e-6


@dataclass
class SavedCosts:
    """The falls of the bound per unit and their number, in the child with the candidate first."""

    falls: list[float]
    counts: list[int]


class PseudoCosts:
    """Mean falls of the bound per unit, in the child with a candidate and in the one without.

    Parameters
    ----------
    space
        The candidate families.

    Attributes
    ----------
    falls, counts
        ``(2, N)``: the sum of the falls, and their number.
    """

    def __init__(self, space: FamilySpace) -> None:
        self._n, self._n_views = space.n_variables, len(space.views.cards)
        self._first_family = self._n**2
        self._first_sight = self._first_family + len(space)
        sights = 0 if space.resolutions is None else self._n * self._n_views
        self.falls = np.zeros((2, self._first_sight + sights))
        self.counts = np.zeros((2, self._first_sight + sights), dtype=np.int64)

    def number(self, candidate: Candidate) -> int:
        """The number of a candidate."""
        if isinstance(candidate, tuple):
            return candidate[0] * self._n + candidate[1]
        if isinstance(candidate, Sight):
            return self._first_sight + candidate.variable * self._n_views + candidate.view
        return self._first_family + candidate

    def numbers_of_families(self, families: IntArray) -> IntArray:
        """The numbers of families."""
        return self._first_family + families

    def candidate(self, number: int) -> Candidate:
        """The candidate of a number."""
        if number < self._first_family:
            return divmod(number, self._n)
        if number < self._first_sight:
            return number - self._first_family
        return Sight(*divmod(number - self._first_sight, self._n_views))

    def add(self, number: int, side: int, fall: float) -> None:
        """Record the fall of a child, per unit."""
        self.falls[side, number] += fall
        self.counts[side, number] += 1

    def means(self, numbers: IntArray) -> FloatArray:
        """``(2, k)``: mean falls per unit; those of all candidates where there are none yet."""
        with np.errstate(invalid="ignore"):
            mean = self.falls / self.counts
        known = self.counts > 0
        totals = np.where(known, mean, 0.0).sum(axis=1)
        n_known = known.sum(axis=1)
        typical = np.where(n_known > 0, totals / np.maximum(n_known, 1), 1.0)
        own: FloatArray = np.where(known[:, numbers], mean[:, numbers], typical[:, None])
        return own

    def saved(self) -> Iterator[tuple[Candidate, SavedCosts]]:
        """The candidates for which something is known."""
        for number in np.flatnonzero(self.counts.any(axis=0)).tolist():
            falls, counts = self.falls[:, number].tolist(), self.counts[:, number].tolist()
            yield self.candidate(number), SavedCosts(falls, counts)

    def load(self, candidate: Candidate, saved: SavedCosts) -> None:
        """Take over what is known about a candidate."""
        number = self.number(candidate)
        self.falls[:, number], self.counts[:, number] = saved.falls, saved.counts
