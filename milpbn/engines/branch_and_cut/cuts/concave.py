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
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.engines.branch_and_cut.cuts.source import Line, RowSource
from milpbn.families.tables import Slopes
from milpbn.scores import ConcaveObjective

if TYPE_CHECKING:
    from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle

# Families with less weight than this at a point have a negligible effect on its margins.
_NEGLIGIBLE = 1e-9

Choices = npt.NDArray[np.int16]
"""What a cut takes from each row of its group: 16 bits per number, whatever the kind of the cut."""


@dataclass(frozen=True, eq=False)
class ConcaveCut(RowSource):
    """What ``T[group] <= coefficients . eta + constant`` is made from.

    Attributes
    ----------
    group
        The group of rows.
    rows
        What the cut takes from each row of the group. Any values make a valid cut; what they mean
        depends on the score.
    """

    group: int
    rows: Choices = field(repr=False)

    @cached_property
    def _content(self) -> tuple[int, bytes]:
        return self.group, self.rows.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConcaveCut) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def height(self) -> int:
        """See :class:`RowSource`."""
        return self.group

    def inequality(self, oracle: CutOracle) -> tuple[FloatArray, float]:
        """See :class:`RowSource`."""
        concave, row = oracle.concave_oracle, np.zeros(len(oracle.space))
        coefficients, constants = concave.linear([self])
        row[concave.families] = -coefficients[0]
        return row, float(constants[0])

    def line(self, oracle: CutOracle) -> Line:
        """See :class:`RowSource`."""
        return oracle.concave_oracle.line(self)


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
    def functions(self, cuts: Sequence[ConcaveCut]) -> tuple[Slopes, FloatArray]:
        """The linear functions that cuts are: their slopes and constants."""

    @abstractmethod
    def line(self, cut: ConcaveCut) -> Line:
        """The line by which a certificate defines a cut."""

    def own_rows(self, group: int) -> slice:
        """The rows of a group."""
        return slice(int(self.first_row[group]), int(self.first_row[group + 1]))

    def rows_of(self, cuts: Sequence[ConcaveCut]) -> tuple[IntArray, IntArray]:
        """The rows of the groups of some cuts, one group after the other, and the cut of each."""
        groups = np.array([cut.group for cut in cuts], dtype=np.int64)
        sizes = self.first_row[groups + 1] - self.first_row[groups]
        which = np.repeat(np.arange(len(cuts)), sizes)
        before = np.cumsum(sizes) - sizes
        return np.arange(len(which)) + (self.first_row[groups] - before)[which], which

    def labels_of(self, cut: ConcaveCut) -> npt.NDArray[np.int32]:
        """The classes of the rows of a cut's group."""
        return self.objective.rows.labels[self.own_rows(cut.group)]

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
        return self._cuts_of(self.margins(eta), range(self.n_groups))

    def _cuts_of(self, margins: FloatArray, groups: Sequence[int]) -> list[ConcaveCut]:
        rows = self.choose(margins)
        return [ConcaveCut(g, rows[self.own_rows(g)].copy()) for g in groups]

    def cut(self, group: int, rows: Choices) -> ConcaveCut:
        """The cut that is made from these numbers; raises if they are none.

        It is valid whatever they are.
        """
        if not 0 <= group < self.n_groups:
            raise ValueError(f"there is no group {group} of rows")
        return ConcaveCut(group, self.check(group, rows))

    def linear(self, cuts: Sequence[ConcaveCut]) -> tuple[FloatArray, FloatArray]:
        """``(k, len(families))`` coefficients and ``(k,)`` constants of some cuts."""
        slopes, constants = self.functions(cuts)
        return slopes.of(self.tables, self.families).T, constants

    def violated_cuts(
        self, at: FloatArray, eta: FloatArray, heights: FloatArray
    ) -> tuple[list[ConcaveCut], FloatArray]:
        """Cuts at `at` that (eta, heights) violates, and the score of each group at `at`."""
        margins = self.margins(at)
        values = self._group_values(margins)
        if at is eta:
            # A cut is tight here: the group's value is its right-hand side.
            return self._cuts_of(margins, np.flatnonzero(heights > values).tolist()), values
        cuts = self._cuts_of(margins, range(self.n_groups))
        # The families of the point show whether it violates a cut; few cuts need all.
        support = np.flatnonzero(eta > 0)
        slopes, constants = self.functions(cuts)
        limits = eta[support] @ slopes.of(self.tables, support) + constants
        return [cuts[g] for g in np.flatnonzero(heights > limits)], values
