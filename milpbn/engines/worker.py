"""What happens at a node: solve the relaxation, fix families, add cuts, branch.

Bounds are Lagrangian and do not rest on the solver's tolerances; every family whose forced
choice falls below the incumbent is taken out of the node. Integer points are judged by
their true score and true acyclicity, never by the relaxation's value.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import Families, FloatArray
from milpbn.engines.branching import Brancher
from milpbn.engines.cuts.oracle import CutOracle
from milpbn.engines.primal import Primal
from milpbn.engines.relaxation import Relaxation, RelaxationPoint
from milpbn.engines.tree import Node, Tree
from milpbn.families.candidates import CLASS

# A cut must be violated by this fraction of the objective to be worth a row.
_CUT_VIOLATION = 1e-7
# Solves that a cut may be slack before it is dropped.
_PATIENCE_WITH_CUTS = 12
# How far the first separation point of a round lies from the best point to the LP's.
_IN_OUT = 0.4
# A round that lowers the bound by less than this share of the open gap is the node's last.
_PAYING = 0.01
_ROUNDS_A_NODE = 12
_ROUNDS_AT_ROOT = 400
# Rounds for a feature as a parent of the class, and features tried in vain before the others
# are left alone. A trial pays if it takes this share of the gap away.
_ROUNDS_A_PROBE = 4
_PROBES_IN_VAIN = 8
_WORTH_A_PART = 0.25


class Worker:
    """Works on one node after the other, with a relaxation of its own.

    Parameters
    ----------
    tree
        Where nodes come from and go to.
    oracle
        Cuts and true scores.
    relaxation
        The linear program.
    brancher
        Chooses what to branch on; its knowledge is shared by all workers.
    primal
        Makes structures from points.
    """

    def __init__(
        self,
        tree: Tree,
        oracle: CutOracle,
        relaxation: Relaxation,
        brancher: Brancher,
        primal: Primal,
    ) -> None:
        self.tree = tree
        self.oracle = oracle
        self.relaxation = relaxation
        self.brancher = brancher
        self.primal = primal
        self.space = oracle.space

    @property
    def cutoff(self) -> float:
        """See :attr:`Tree.cutoff`."""
        return self.tree.cutoff

    def start(self) -> Node | None:
        """Close or branch the root; the node to go on with."""
        root = self.tree.root
        point = self.close_root(root)
        return self.tree.close(root, self.children_of_root(root, point))

    def work(self, node: Node | None) -> None:
        """Work on a node and on whatever comes after it."""
        while node is not None:
            nodes = self.tree.count
            with self.tree.unlocked():
                self.primal.search_when_due(nodes)
            point = self.process(node)
            self.brancher.learn(node)
            node = self.tree.next(self.tree.close(node, self.children(node, point)))

    def children(self, node: Node, point: RelaxationPoint | None) -> list[Node]:
        """Two nodes in place of one, or none if nothing better can be inside."""
        if point is None or node.bound <= self.cutoff:
            return []
        return self.brancher.children(self.relaxation, node, point, self.cutoff)

    def close_root(self, node: Node) -> RelaxationPoint | None:
        """The root: stabilised cuts until the bound is that of all possible cuts."""
        center = None
        if self.oracle.concave is not None:
            center = self.oracle.vertex(self.tree.progress.families)
            self.relaxation.add_cuts(self.oracle.concave.cuts(center))
        point = self.rounds(node, center, _ROUNDS_AT_ROOT, patient=True)
        if point is None or node.bound <= self.cutoff:
            return point
        with self.tree.unlocked():
            self.primal.search_at_root()
        return point

    def children_of_root(self, root: Node, point: RelaxationPoint | None) -> list[Node]:
        """As `children`, once it is known what parents of the class would cost."""
        if self.oracle.concave is None or point is None or root.bound <= self.cutoff:
            return self.children(root, point)
        families = int(root.allowed.sum())
        best = self.probe_class_parents(root)
        bare, others = self._class_families(root)
        if len(bare) and len(others) and self._pays(root, best):
            return [
                self._with_class_families(root, others, best),
                self._with_class_families(root, bare, root.bound),
            ]
        if int(root.allowed.sum()) < families:
            self.relaxation.restrict(root.allowed)
            point = self.rounds(root, None, _ROUNDS_A_NODE)
        return self.children(root, point)

    def probe_class_parents(self, root: Node) -> float:
        """Try features as parents of the class, and take out what is hopeless.

        A parent of the class cannot be its child, so most features lose much. Together the
        families of the class hide this in a fraction of each. Returns a bound on structures
        whose class has parents; after many trials in vain that is the root's.
        """
        best, in_vain = -np.inf, 0
        for feature in range(1, self.space.n_variables):
            _, others = self._class_families(root)
            families = others[self.space.contains[others, feature]]
            if len(families) == 0:
                continue
            trial = self._with_class_families(root, families, root.bound)
            self.relaxation.restrict(trial.allowed)
            self.rounds(trial, None, _ROUNDS_A_PROBE)
            if trial.bound <= self.cutoff:
                self.tree.settle(trial.bound)
                root.allowed[families] = False
                continue
            root.allowed[families[~trial.allowed[families]]] = False
            best = max(best, trial.bound)
            in_vain += not self._pays(root, trial.bound)
            if in_vain > _PROBES_IN_VAIN:
                return root.bound
        return best

    def _pays(self, root: Node, bound: float) -> bool:
        """Whether a part of the root that has this bound can wait for a long time."""
        return root.bound - bound >= _WORTH_A_PART * (root.bound - self.cutoff)

    def _class_families(self, node: Node) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The class's families that are allowed: without parents, and with some."""
        own = self.space.of(CLASS)
        allowed = own.start + np.flatnonzero(node.allowed[own.start : own.stop])
        with_parents = self.space.contains[allowed].any(axis=1)
        return allowed[~with_parents], allowed[with_parents]

    def _with_class_families(
        self, node: Node, families: npt.NDArray[np.intp], bound: float
    ) -> Node:
        """The part of a node where the class has one of these families."""
        own = self.space.of(CLASS)
        allowed = node.allowed.copy()
        allowed[own.start : own.stop] = False
        allowed[families] = True
        return Node(bound, 0, allowed)

    def process(self, node: Node) -> RelaxationPoint | None:
        """A node: a few rounds of cuts, as long as they pay."""
        self.relaxation.restrict(node.allowed, node.edges)
        point = self.rounds(node, None, _ROUNDS_A_NODE)
        self.relaxation.purge(_PATIENCE_WITH_CUTS)
        return point

    def rounds(
        self, node: Node, center: FloatArray | None, limit: int, patient: bool = False
    ) -> RelaxationPoint | None:
        """Solve, fix, separate, again; the node's bound falls, its families get fewer.

        With `patient`, until no cut is left, and not only as long as cuts pay.
        """
        best_height = -np.inf
        for k in range(limit):
            self.tree.checkpoint()
            point = self.relaxation.solve()
            if point is None:
                node.bound = -np.inf
                return None
            before = node.bound
            node.bound = min(node.bound, point.bound)
            if node.bound <= self.cutoff:
                return point
            self.fix(node, point)
            if k == 0 or (patient and k % 10 == 0):
                self.primal.improve(point.eta)
            if patient:
                self.tree.report()
            if self.is_settled_integer(node, point):
                return None
            added = self.add_clusters(point)
            if center is not None:
                center, best_height, n = self.add_stabilised(point, center, best_height)
            else:
                n, _ = self.add_cuts(point, point.eta)
            if added + n == 0 and patient:
                n = self.add_hidden_clusters(point)
            if added + n == 0:
                return point
            small = before - node.bound < _PAYING * (node.bound - self.cutoff)
            if not patient and k >= 2 and small:
                return point
            if patient:
                self.relaxation.purge(_PATIENCE_WITH_CUTS)
        return point

    def fix(self, node: Node, point: RelaxationPoint) -> None:
        """Take out the families whose forced choice falls to the cutoff."""
        forced = point.bound - point.loss
        hopeless = node.allowed & (forced <= self.cutoff)
        if hopeless.any():
            self.tree.settle(float(forced[hopeless].max()))
            node.allowed = node.allowed & ~hopeless
            self.relaxation.restrict(node.allowed, node.edges)

    def is_settled_integer(self, node: Node, point: RelaxationPoint) -> bool:
        """Whether the point is a structure that scores what the relaxation promises."""
        left = self.oracle.choice_at(node.allowed.astype(np.float64))
        if left is not None:
            self.settle_last(node, left)
            return True
        chosen = self.oracle.structure_at(point.eta)
        if chosen is None:
            return False
        self.tree.progress.incumbent(chosen, "relaxation")
        return node.bound <= self.cutoff

    def settle_last(self, node: Node, families: Families) -> None:
        """One choice is left in the node: it is a structure, or there is none."""
        if self.oracle.clusters.cycle(families) is not None:
            node.bound = -np.inf
            return
        self.tree.progress.incumbent(families, "relaxation")
        node.bound = min(node.bound, self.oracle.objective.value(families))

    def add_clusters(self, point: RelaxationPoint) -> int:
        """Violated cluster rows; an integer point is checked for cycles exactly."""
        return self.relaxation.add_clusters(self.oracle.violated_clusters(point.eta))

    def add_hidden_clusters(self, point: RelaxationPoint) -> int:
        """Cluster rows that only an integer program finds; none where separation is exact."""
        seconds = self.tree.progress.clock.remaining
        return self.relaxation.add_clusters(
            self.oracle.clusters.separate_exactly(point.eta, seconds)
        )

    def add_cuts(self, point: RelaxationPoint, at: FloatArray) -> tuple[int, float]:
        """Cuts at a point where they cut the relaxation's solution off; and the height there."""
        concave = self.oracle.concave
        if concave is None:
            return 0, -np.inf
        least = _CUT_VIOLATION * max(1.0, abs(self.tree.progress.value)) / concave.n_groups
        cuts, values = concave.violated_cuts(at, point.eta, point.heights - least)
        self.relaxation.add_cuts(cuts)
        return len(cuts), float(values.sum())

    def add_stabilised(
        self, point: RelaxationPoint, center: FloatArray, best_height: float
    ) -> tuple[FloatArray, float, int]:
        """Cuts between the best point so far and the relaxation's, then at the latter."""
        between = _IN_OUT * point.eta + (1 - _IN_OUT) * center
        added, height = self.add_cuts(point, between)
        if height > best_height:
            center, best_height = between, height
        if added == 0:
            added, _ = self.add_cuts(point, point.eta)
        return center, best_height, added
