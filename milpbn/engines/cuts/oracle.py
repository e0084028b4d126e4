"""One oracle for every host: which cuts does a point violate, which structure is it?

It knows the objective and the candidate families, and nothing of the tree it serves.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import Families, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.engines.cuts.clusters import Cluster, ClusterOracle
from milpbn.engines.cuts.concave import ConcaveOracle
from milpbn.scores import LinearObjective, MarginObjective, Objective

GROUPS = 40
"""Row groups of the concave cuts, where there are many rows."""

# With so few distinct rows each is a group of its own: its cuts are its margins, and the
# program stays small.
_FEW_ROWS = 400

# Cluster rows named in one round at the most: the most violated ones.
_CLUSTERS_A_ROUND = 40

# A family counts as chosen from here on.
_CHOSEN = 1 - 1e-6


class CutOracle:
    """Concave cuts, cluster rows and true scores of one objective.

    Parameters
    ----------
    objective
        A soft margin (concave cuts on groups of rows) or a decomposable score (none needed).
    checkpoint
        Called now and then while the rows' ranges are computed.
    """

    def __init__(self, objective: Objective, checkpoint: Checkpoint = no_checkpoint) -> None:
        self.objective = objective
        self.space = objective.space
        self.clusters = ClusterOracle(self.space)
        self.concave: ConcaveOracle | None = None
        self.gamma = 0.0
        none = np.empty(0)
        self.height_bounds = (none, none)
        """Lower and upper ends of each group's T."""
        self.row_bound = np.inf
        """A bound on every structure from the rows alone."""
        if isinstance(objective, LinearObjective):
            self.costs = objective.weights
        elif isinstance(objective, MarginObjective):
            self.costs = np.zeros(len(self.space))
            self._prepare_rows(objective, checkpoint)
        else:
            raise TypeError(f"no relaxation is known for {type(objective).__name__}")

    def _prepare_rows(self, objective: MarginObjective, checkpoint: Checkpoint) -> None:
        n_rows = len(objective.rows)
        self.concave = ConcaveOracle(objective, n_rows if n_rows <= _FEW_ROWS else GROUPS)
        self.gamma = objective.gamma
        lowest, highest = objective.margin_range(checkpoint)
        self.row_bound = objective.row_bound(highest)
        # The lower end stands off: a range within the solver's tolerance would be fixed there.
        low = self.concave.group_values(lowest) - 1.0
        self.height_bounds = (low, self.gamma * self.concave.group_weight)

    def vertex(self, families: npt.NDArray[np.integer] | None) -> FloatArray:
        """A structure as a point."""
        out = np.zeros(len(self.space))
        out[families] = 1.0
        return out

    def structure_at(self, eta: FloatArray) -> Families | None:
        """The structure that a point is, or None where it is none: fractional or cyclic."""
        chosen = self.choice_at(eta)
        return None if chosen is None or self.clusters.cycle(chosen) is not None else chosen

    def choice_at(self, eta: FloatArray) -> Families | None:
        """One family for each variable, or None; a host may ask about any point."""
        chosen = np.flatnonzero(eta > _CHOSEN)
        one_each = np.array_equal(self.space.child[chosen], np.arange(self.space.n_variables))
        return chosen.astype(np.int64) if one_each else None

    def violated_clusters(self, eta: FloatArray) -> list[Cluster]:
        """Violated clusters, most violated first; a cyclic integer point always has one."""
        found = self.clusters.separate(eta)
        chosen = self.choice_at(eta)
        if not found and chosen is not None:
            cycle = self.clusters.cycle(chosen)
            found = [] if cycle is None else [cycle]
        return found[:_CLUSTERS_A_ROUND]
