"""Concave cuts: an outer approximation of a score that is concave in the families.

The margins d_u(c) of a row are linear in eta, and the score of a row is a concave function of
them. So a linear function that is nowhere below it exists at every point, and

    T <= coefficients . eta + constant

holds for every structure and is tight at the point. Rows are divided into groups with one T each:
the linear program has more rows, but needs fewer rounds. What such a cut looks like depends on the
score: see :mod:`~milpbn.engines.branch_and_cut.cuts.hinge` and
:mod:`~milpbn.engines.branch_and_cut.cuts.soft`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.tables import Slopes
from milpbn.scores import ConcaveObjective

# Families with less weight than this at a point have a negligible effect on its margins.
_NEGLIGIBLE = 1e-9

Choices = npt.NDArray[np.int16]
"""What a cut takes from each row of its group: 16 bits per number, whatever the kind of the cut."""


@dataclass(frozen=True, eq=False)
class CutSource(ABC):
    """What a concave cut is made from.

    Attributes
    ----------
    group
        The group of rows.
    rows
        What the cut takes from each row of the group. Any values make a valid cut.
    """

    group: int
    rows: Choices = field(repr=False)

    @abstractmethod
    def constant(self, gamma: float) -> float:
        """The constant of the cut, for a hinge at `gamma` if the score has one."""


@dataclass(frozen=True)
class ConcaveCut:
    """``T[group] <= coefficients . eta + constant``, valid for every structure."""

    source: CutSource
    coefficients: FloatArray

    def constant(self, gamma: float) -> float:
        """See :class:`CutSource`: a cut can be used for any gamma."""
        return self.source.constant(gamma)


class ConcaveOracle(ABC):
    """Values and cuts of a concave score at fractional points.

    Parameters
    ----------
    objective
        The score.
    checkpoint
        Called from time to time while the tables of all families are counted.

    Attributes
    ----------
    near_at_root, near_at_nodes
        Cuts are added until this share of the open gap is left between the bound and the true score
        at the relaxation's point, at the root and at other nodes.
    """

    near_at_root: ClassVar[float] = 0.0
    near_at_nodes: ClassVar[float] = 0.0

    def __init__(self, objective: ConcaveObjective, checkpoint: Checkpoint = no_checkpoint) -> None:
        self.objective = objective
        self.families = np.arange(len(objective.space))
        """The families whose coefficients are computed; the others have been removed for good."""
        self.tables = objective.tables
        self.tables.ensure(self.families, checkpoint)
        rows = objective.rows
        n = len(rows)
        self.n_groups = max(1, min(self.groups_for(n), n))
        # Rows are grouped in lexicographic order: rows with the same class and similar features,
        # whose margins change together, are in the same group.
        self.group = np.minimum(np.arange(n) * self.n_groups // n, self.n_groups - 1)
        self.first_row = np.searchsorted(self.group, np.arange(self.n_groups + 1))
        """Group g has the rows from first_row[g] up to first_row[g + 1]."""
        weight = np.bincount(self.group, rows.weights, minlength=self.n_groups)
        self.group_weight = weight.astype(np.float64)

    @staticmethod
    @abstractmethod
    def groups_for(n_rows: int) -> int:
        """The number of row groups for so many distinct rows."""

    @property
    @abstractmethod
    def height_limits(self) -> FloatArray:
        """The most that each group can score."""

    @abstractmethod
    def row_values(self, margins: FloatArray) -> FloatArray:
        """``(U,)``: the score of each row, from its margins."""

    @abstractmethod
    def lowest(self) -> float:
        """A lower bound on the score of every structure, without costs."""

    @abstractmethod
    def choose(self, margins: FloatArray) -> Choices:
        """What cuts take from all rows, to be tight at these margins."""

    @abstractmethod
    def check(self, group: int, rows: Choices) -> Choices:
        """The numbers of another process or a file in their shape; raises if they are no cut's."""

    @abstractmethod
    def linear(self, group: int, rows: Choices) -> tuple[CutSource, Slopes]:
        """The source of a cut, and the linear function that it is."""

    def own_rows(self, group: int) -> slice:
        """The rows of a group."""
        return slice(int(self.first_row[group]), int(self.first_row[group + 1]))

    def fall(self) -> float:
        """The most that the tables of a structure can take from a margin."""
        most = np.maximum.reduceat(self.tables.fall, self.objective.space.offsets[:-1])
        return float(most.astype(np.float64).sum())

    def margins(self, eta: FloatArray) -> FloatArray:
        """``(U,)`` or ``(U, |C|)``: the margins at a point."""
        chosen = np.flatnonzero(eta > _NEGLIGIBLE)
        return self.tables.margins(chosen, eta[chosen])

    def group_values(self, eta: FloatArray) -> FloatArray:
        """The score of each group at a point."""
        return self._group_values(self.margins(eta))

    def _group_values(self, margins: FloatArray) -> FloatArray:
        weighted = self.objective.rows.weights * self.row_values(margins)
        return np.bincount(self.group, weighted, minlength=self.n_groups).astype(np.float64)

    def cuts(self, eta: FloatArray) -> list[ConcaveCut]:
        """The cuts of all groups at `eta`, where they are tight."""
        rows = self.choose(self.margins(eta))
        return [self._cut(*self.linear(g, rows[self.own_rows(g)])) for g in range(self.n_groups)]

    def cut(self, group: int, rows: Choices) -> ConcaveCut:
        """The cut that is made from these numbers, see :class:`CutSource`; raises if they are none.

        It is valid whatever they are.
        """
        if not 0 <= group < self.n_groups:
            raise ValueError(f"there is no group {group} of rows")
        return self._cut(*self.linear(group, self.check(group, rows)))

    def violated_cuts(
        self, at: FloatArray, eta: FloatArray, heights: FloatArray
    ) -> tuple[list[ConcaveCut], FloatArray]:
        """Cuts at `at` that (eta, heights) violates, and the score of each group at `at`."""
        margins = self.margins(at)
        values = self._group_values(margins)
        groups = list(range(self.n_groups))
        if at is eta:
            # A cut is tight here: the group's value is its right-hand side.
            groups = np.flatnonzero(heights > values).tolist()
        support = np.flatnonzero(eta > 0)
        rows = self.choose(margins)
        cuts = []
        for g in groups:
            source, slopes = self.linear(g, rows[self.own_rows(g)])
            # The families of the point show whether it violates the cut; few cuts need all.
            height = float(slopes.of(self.tables, support) @ eta[support])
            if heights[g] > height + source.constant(self.objective.gamma):
                cuts.append(self._cut(source, slopes))
        return cuts, values

    def _cut(self, source: CutSource, slopes: Slopes) -> ConcaveCut:
        out = np.zeros(len(self.objective.space))
        out[self.families] = slopes.of(self.tables, self.families)
        return ConcaveCut(source, out)
