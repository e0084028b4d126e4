"""Concave cuts: an outer approximation of the soft margin, which is a concave function.

SM(eta) = sum_u w_u min(gamma, min_c d_u(c)) is concave in eta, because every margin is
linear. At any point, with A the rows below the hinge and c*(u) the class that attains the
minimum,

    T <= sum_{u in A} w_u alpha(., u, c*(u)) . eta + gamma w(rows not in A)

holds for every structure and is tight at the point. Rows are divided into groups with one
T each: the linear program has more rows, but needs fewer rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.tables import Slopes
from milpbn.scores import MarginObjective

# Families with less weight than this at a point have a negligible effect on its margins.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class Hinge:
    """What a concave cut is made from: for each row of a group, the class it is compared with.

    Attributes
    ----------
    group
        The group of rows.
    beyond
        The weight of the rows beyond the hinge.
    against
        For each row of the group the class that its own class is compared with; -1 beyond the
        hinge.
    """

    group: int
    beyond: float
    against: npt.NDArray[np.int16] = field(repr=False)


@dataclass(frozen=True)
class ConcaveCut:
    """``T[group] <= coefficients . eta + constant``, valid for every structure.

    The constant is gamma times the weight beyond the hinge, so a cut can be used for any gamma.
    """

    hinge: Hinge
    coefficients: FloatArray

    def constant(self, gamma: float) -> float:
        """The constant for a hinge at `gamma`."""
        return gamma * self.hinge.beyond


class ConcaveOracle:
    """Values and cuts of a soft margin at fractional points.

    Parameters
    ----------
    objective
        The soft margin.
    n_groups
        Number of row groups. Rows are grouped in lexicographic order: rows with the same class
        and similar features, which cross the hinge together, are in the same group.
    checkpoint
        Called from time to time while the tables of all families are counted.
    """

    def __init__(
        self,
        objective: MarginObjective,
        n_groups: int,
        checkpoint: Checkpoint = no_checkpoint,
    ) -> None:
        self.objective = objective
        self.families = np.arange(len(objective.space))
        """The families whose coefficients are computed; the others have been removed for good."""
        self._tables = objective.tables
        self._tables.ensure(self.families, checkpoint)
        rows = objective.rows
        n = len(rows)
        self.n_groups = max(1, min(n_groups, n))
        self.group = np.minimum(np.arange(n) * self.n_groups // n, self.n_groups - 1)
        self.first_row = np.searchsorted(self.group, np.arange(self.n_groups + 1))
        """Group g has the rows from first_row[g] up to first_row[g + 1]."""
        weight = np.bincount(self.group, rows.weights, minlength=self.n_groups)
        self.group_weight = weight.astype(np.float64)

    def margins(self, eta: FloatArray) -> tuple[FloatArray, npt.NDArray[np.intp]]:
        """``(U,)`` smallest margins at a point, and the classes that attain them."""
        chosen = np.flatnonzero(eta > _NEGLIGIBLE)
        total = self._tables.margins(chosen, eta[chosen])
        if self._tables.single:
            return total, np.zeros(len(total), dtype=np.intp)
        against = total.argmin(axis=1)
        return total[np.arange(len(total)), against], against

    def lowest(self) -> float:
        """A lower bound on the soft margin of every structure: each table takes its most."""
        tables, space = self._tables, self.objective.space
        most = np.maximum.reduceat(tables.fall, space.offsets[:-1]).astype(np.float64).sum()
        return -float(most) * self.objective.rows.total

    def group_values(self, least: FloatArray) -> FloatArray:
        """The soft margin of each group, from the smallest margin of each row."""
        weighted = self.objective.rows.weights * np.minimum(least, self.objective.gamma)
        return np.bincount(self.group, weighted, minlength=self.n_groups).astype(np.float64)

    def cuts(self, eta: FloatArray) -> list[ConcaveCut]:
        """The cuts of all groups at `eta`, where they are tight."""
        least, against = self.margins(eta)
        below = least < self.objective.gamma
        slopes = (self._slopes(g, below, against) for g in range(self.n_groups))
        return [self._cut(g, own, below, against) for g, own in enumerate(slopes)]

    def cut(self, group: int, against: npt.NDArray[np.integer]) -> ConcaveCut:
        """The cut that is made from these comparisons, see :class:`Hinge`; raises if they are none.

        It is valid for any comparisons of rows with other classes.
        """
        n_rows = len(self.objective.rows)
        if not 0 <= group < self.n_groups:
            raise ValueError(f"there is no group {group} of rows")
        first, last = self.first_row[group], self.first_row[group + 1]
        classes = 1 if self._tables.single else self.objective.space.n_classes
        own = -2 if self._tables.single else self.objective.rows.labels[first:last]
        if (
            len(against) != last - first
            or not ((against >= -1) & (against < classes) & (against != own)).all()
        ):
            raise ValueError(f"a cut does not fit the rows of group {group}")
        below, compared = np.zeros(n_rows, dtype=bool), np.zeros(n_rows, dtype=np.intp)
        below[first:last], compared[first:last] = against >= 0, np.maximum(against, 0)
        return self._cut(group, self._slopes(group, below, compared), below, compared)

    def violated_cuts(
        self, at: FloatArray, eta: FloatArray, heights: FloatArray
    ) -> tuple[list[ConcaveCut], FloatArray]:
        """Cuts at `at` that (eta, heights) violates, and the soft margin of each group at `at`."""
        least, against = self.margins(at)
        below = least < self.objective.gamma
        values = self.group_values(least)
        groups = list(range(self.n_groups))
        if at is eta:
            # A cut is tight here: the group's value is its right-hand side.
            groups = np.flatnonzero(heights > values).tolist()
        support = np.flatnonzero(eta > 0)
        cuts = []
        for g in groups:
            slopes = self._slopes(g, below, against)
            # The families of the point show whether it violates the cut; few cuts need all.
            height = float(slopes.of(self._tables, support) @ eta[support])
            height += self.objective.gamma * self._beyond(g, slopes)
            if heights[g] > height:
                cuts.append(self._cut(g, slopes, below, against))
        return cuts, values

    def _slopes(
        self, group: int, below: npt.NDArray[np.bool_], against: npt.NDArray[np.intp]
    ) -> Slopes:
        """The rows of a group that are below the hinge."""
        first, last = self.first_row[group], self.first_row[group + 1]
        rows = first + np.flatnonzero(below[first:last])
        tables, weights = self._tables, self.objective.rows.weights[rows]
        codes = np.ascontiguousarray(tables.codes[:, rows])
        return Slopes(weights, against[rows], tables.fold[rows], codes, tables.own[rows])

    def _beyond(self, group: int, slopes: Slopes) -> float:
        """The weight of the rows of a group that are beyond the hinge."""
        return float(self.group_weight[group] - slopes.weights.sum())

    def _cut(
        self,
        group: int,
        slopes: Slopes,
        below: npt.NDArray[np.bool_],
        against: npt.NDArray[np.intp],
    ) -> ConcaveCut:
        out = np.zeros(len(self.objective.space))
        out[self.families] = slopes.of(self._tables, self.families)
        own = slice(self.first_row[group], self.first_row[group + 1])
        compared = np.where(below[own], against[own], -1).astype(np.int16)
        return ConcaveCut(Hinge(group, self._beyond(group, slopes), compared), out)
