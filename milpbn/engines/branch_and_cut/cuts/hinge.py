"""Concave cuts of the soft margin.

SM(eta) = sum_u w_u min(gamma, min_c d_u(c)). At any point, with A the rows below the hinge and
c*(u) the class that attains the minimum,

    T <= sum_{u in A} w_u alpha(., u, c*(u)) . eta + gamma w(rows not in A)

holds for every structure and is tight at the point. A cut takes from each row of its group the
class that its own class is compared with, and -1 if it is beyond the hinge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from milpbn._types import FloatArray
from milpbn.engines.branch_and_cut.cuts.concave import Choices, ConcaveCut, ConcaveOracle
from milpbn.engines.branch_and_cut.cuts.source import Line
from milpbn.families.tables import HardSlopes

GROUPS = 40
"""Number of row groups, if there are many rows."""

# Up to this many distinct rows, each is a group of its own: its cuts are its margins, and the
# program stays small.
_FEW_ROWS = 400


class HingeOracle(ConcaveOracle):
    """Values and cuts of a soft margin at fractional points."""

    @staticmethod
    def groups_for(n_rows: int) -> int:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        return n_rows if n_rows <= _FEW_ROWS else GROUPS

    @property
    def height_limits(self) -> FloatArray:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        return self.objective.gamma * self.group_weight

    def row_values(self, margins: FloatArray) -> FloatArray:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        least = margins if self.tables.single else margins.min(axis=1)
        out: FloatArray = np.minimum(least, self.objective.gamma)
        return out

    def lowest(self) -> float:
        """Each table takes its most."""
        return -self.fall() * self.objective.rows.total

    def choose(self, margins: FloatArray) -> Choices:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        gamma = self.objective.gamma
        if self.tables.single:
            return np.where(margins < gamma, 0, -1).astype(np.int16)
        return np.where(margins.min(axis=1) < gamma, margins.argmin(axis=1), -1).astype(np.int16)

    def check(self, group: int, rows: Choices) -> Choices:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        own = self.own_rows(group)
        classes = 1 if self.tables.single else self.objective.space.n_classes
        label = -2 if self.tables.single else self.objective.rows.labels[own]
        if (
            len(rows) != own.stop - own.start
            or not ((rows >= -1) & (rows < classes) & (rows != label)).all()
        ):
            raise ValueError(f"a cut does not fit the rows of group {group}")
        return rows

    def functions(self, cuts: Sequence[ConcaveCut]) -> tuple[HardSlopes, FloatArray]:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`."""
        rows, which = self.rows_of(cuts)
        against = np.concatenate([cut.rows for cut in cuts])
        below = np.flatnonzero(against >= 0)
        rows, which = rows[below], which[below]
        weights = self.objective.rows.weights[rows]
        # Gamma times the weight beyond the hinge.
        all_weight = self.group_weight[[cut.group for cut in cuts]]
        constants = all_weight - np.bincount(which, weights, minlength=len(cuts))
        begins = np.searchsorted(which, np.arange(len(cuts) + 1))
        slopes = HardSlopes.at(self.tables, rows, begins, weights, against[below].astype(np.intp))
        return slopes, self.objective.gamma * constants

    def line(self, cut: ConcaveCut) -> Line:
        """See :class:`~milpbn.engines.branch_and_cut.cuts.concave.ConcaveOracle`.

        It has the class that each row is compared with; tables of two classes need none.
        """
        against = cut.rows
        if self.objective.binary:
            against = np.zeros_like(against)
        elif self.objective.space.n_classes == 2:
            against = (1 - self.labels_of(cut)).astype(np.int16)
        listed = np.where(cut.rows >= 0, against, -1).tolist()
        return {"kind": "cut", "group": cut.group, "against": listed}
