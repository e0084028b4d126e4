"""One oracle for every host: the cuts that a point violates, and the structure that it is.

It knows the objective and the candidate families, but neither a tree nor a host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from milpbn._types import Families, FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.engines.branch_and_cut.cuts.clusters import Cluster, ClusterOracle
from milpbn.engines.branch_and_cut.cuts.concave import ConcaveOracle
from milpbn.engines.branch_and_cut.cuts.features import FeatureOracle
from milpbn.engines.branch_and_cut.cuts.hinge import HingeOracle
from milpbn.engines.branch_and_cut.cuts.soft import SoftOracle
from milpbn.engines.branch_and_cut.cuts.source import Line, RowSource
from milpbn.families.candidates import CLASS
from milpbn.scores import Objective
from milpbn.scores.base import CLL, HINGE, LINEAR


@dataclass(frozen=True)
class BudgetLimit(RowSource):
    """The row of a budget that is linear in the families, by its name."""

    name: str

    def inequality(self, oracle: CutOracle) -> tuple[FloatArray, float]:
        """See :class:`RowSource`."""
        return oracle.space.budget_use.linear[self.name]

    def line(self, oracle: CutOracle) -> Line:
        """See :class:`RowSource`."""
        return {"kind": "budget", "of": self.name}


# The cuts of a kind of objective; each takes objectives of its kind only.
_CONCAVE: dict[str, Callable[[Any, Checkpoint], ConcaveOracle]] = {
    HINGE: HingeOracle,
    CLL: SoftOracle,
}

# Cluster rows per round: the most violated ones.
_CLUSTERS_PER_ROUND = 40

# A family counts as chosen above this value.
_CHOSEN = 1 - 1e-6


class CutOracle:
    """Concave cuts, rows on the structure and true scores of one objective.

    Parameters
    ----------
    objective
        A concave score (with concave cuts) or a decomposable one (without).
    checkpoint
        Called from time to time while the tables of all families are counted.
    """

    def __init__(self, objective: Objective, checkpoint: Checkpoint = no_checkpoint) -> None:
        self.objective = objective
        self.space = objective.space
        self.families = np.arange(len(self.space))
        """The families that a better structure can contain, in ascending order."""
        self.clusters = ClusterOracle(self.space)
        limits = self.space.budget_use.features if self.space.budgets else {}
        self.features = {name: FeatureOracle(self.space, name) for name in limits}
        self.concave: ConcaveOracle | None = None
        self.height_limits: FloatArray = np.empty(0)
        """Upper bounds of each group's T; there is no lower bound."""
        self.costs = objective.costs
        if objective.kind in _CONCAVE:
            self.concave = _CONCAVE[objective.kind](objective, checkpoint)
            self.height_limits = self.concave.height_limits
        elif objective.kind != LINEAR:
            raise TypeError(f"no cuts are known for {type(objective).__name__}")

    @property
    def concave_oracle(self) -> ConcaveOracle:
        """The oracle of concave cuts; a score that has some cuts has one."""
        assert self.concave is not None
        return self.concave

    def keep(self, families: IntArray) -> None:
        """Continue with fewer families; new relaxations have columns for these only.

        The coefficients of the others are 0 in new cuts, which is valid only without them.
        """
        self.families = families
        if self.concave is not None:
            self.concave.families = families

    def vertex(self, families: Families) -> FloatArray:
        """The point of a structure."""
        out = np.zeros(len(self.space))
        out[families] = 1.0
        return out

    def structure_at(self, eta: FloatArray) -> Families | None:
        """The structure at a point; None if the point is fractional, cyclic or too large."""
        chosen = self.choice_at(eta)
        return chosen if chosen is not None and self.is_structure(chosen) else None

    def is_structure(self, families: Families) -> bool:
        """Whether a choice of families is acyclic and within the budgets."""
        return self.clusters.cycle(families) is None and self.space.fits(families)

    def choice_at(self, eta: FloatArray) -> Families | None:
        """One family per variable, a structure or not; None if the point is fractional."""
        chosen = np.flatnonzero(eta > _CHOSEN)
        one_each = np.array_equal(self.space.child[chosen], np.arange(self.space.n_variables))
        return chosen.astype(np.int64) if one_each else None

    def first_rows(self) -> list[RowSource]:
        """The rows on the structure that are there from the beginning.

        If every feature with parents has the class among them, a parent of the class has none:
        ``sum_{S contains a} eta[C,S] <= eta[a, no parents]``. This is the row of the cluster
        {C, a}, since a has exactly one family.
        """
        space, out = self.space, list[RowSource]()
        of_class = np.array(space.of(CLASS))
        for a in range(1, space.n_variables):
            own = space.of(a)
            parent_sets = space.parent_sets[own.start : own.stop]
            has_parents = all(not s or CLASS in s for s in parent_sets)
            if space.contains[of_class, a].any() and has_parents:
                out.append(Cluster(frozenset((CLASS, a))))
        return [*out, *map(BudgetLimit, space.budget_use.linear)]

    def violated_rows(self, eta: FloatArray) -> list[RowSource]:
        """Violated rows; at least one at an integer point that is no structure.

        The rows of :meth:`first_rows` are not checked, because they hold at every point.
        """
        features = (row for own in self.features.values() for row in own.separate(eta))
        return [*self._violated_clusters(eta), *features]

    def _violated_clusters(self, eta: FloatArray) -> list[Cluster]:
        """Violated clusters, the most violated first; at least one at a cyclic integer point."""
        found = self.clusters.separate(eta)
        chosen = self.choice_at(eta)
        if not found and chosen is not None:
            cycle = self.clusters.cycle(chosen)
            found = [] if cycle is None else [cycle]
        return found[:_CLUSTERS_PER_ROUND]
