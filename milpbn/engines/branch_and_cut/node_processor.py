"""Processing a node: solve the relaxation, fix families, add cuts, branch.

Bounds are Lagrangian and do not depend on the solver's tolerances. A family is removed from
the node if no structure with it can be better than the incumbent. Integer points are judged
by their true score, acyclicity and size, never by the relaxation's value.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import Families, FloatArray
from milpbn.anytime.progress import allowed_gap
from milpbn.engines.branch_and_cut.branching import Brancher
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.primal import Primal
from milpbn.engines.branch_and_cut.proof import SINGLE, Proof
from milpbn.engines.branch_and_cut.relaxation import Relaxation, RelaxationPoint
from milpbn.engines.branch_and_cut.tree import Node, Tree
from milpbn.families.candidates import CLASS

# A cut must be violated by this fraction of the objective to be worth a row.
_CUT_VIOLATION = 1e-7
# A cut is dropped after it was slack in this many solves, at the root or at nodes that do not begin
# with the rows of their parents. With many classes, the strongest competitor of a row changes from
# node to node, and comes back.
_PATIENCE_WITH_CUTS = 12
_PATIENCE_WITH_MANY_CLASSES = 24
_MANY_CLASSES = 8
# Where the first separation point of a round lies: 0 is the best point so far, 1 the LP's.
_IN_OUT = 0.4
# A node's last round is one that lowers the bound by less than this share of the open gap.
_WORTHWHILE = 0.01
_ROUNDS_PER_NODE = 12
# Families join the working set until this share of the open gap is left between bound and program;
# at the root, this share of the last fall of the bound.
_PRICED = 0.0005
_PRICED_AT_ROOT = 0.1
_ROUNDS_AT_ROOT = 400
# Rounds per feature tried as a parent of the class, and how many features may be tried without
# success. A trial is a success if it closes this share of the gap.
_ROUNDS_PER_PROBE = 4
_FAILED_PROBES = 8
_PROBE_SUCCESS = 0.25
# The share of the tolerance that a proof of a removed family leaves to the rounding of a checker.
_ROUNDING = 0.1


class NodeProcessor:
    """Processes nodes one after the other, with its own relaxation.

    Parameters
    ----------
    tree
        The open nodes.
    oracle
        Cuts and true scores.
    relaxation
        The linear program.
    brancher
        Chooses what to branch on.
    primal
        Finds structures near the relaxation's points.
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
        many = self.space.n_classes > _MANY_CLASSES
        self.patience = _PATIENCE_WITH_MANY_CLASSES if many else _PATIENCE_WITH_CUTS

    @property
    def cutoff(self) -> float:
        """See :attr:`Tree.cutoff`."""
        return self.tree.cutoff

    def work(self, node: Node | None) -> None:
        """Process a node and all that follow, until the tree has none left."""
        while node is not None:
            node = self.step(node)

    def step(self, node: Node) -> Node | None:
        """Process a node and return the next one."""
        self.primal.search_when_due(self.tree.count)
        point = self.process(node)
        self.brancher.learn(node)
        return self.tree.next(self.tree.close(node, self.children(node, point)))

    def children(self, node: Node, point: RelaxationPoint | None) -> list[Node]:
        """Two children, or none if the node cannot contain a better structure."""
        if point is None or node.bound <= self.cutoff or self.is_settled_choice(node):
            return []
        return self.brancher.children(self.relaxation, node, point, self.cutoff)

    def close_root(self, node: Node) -> RelaxationPoint | None:
        """Add stabilised cuts to the root until no cut is violated."""
        center = None
        if self.oracle.concave is not None:
            assert self.tree.progress.families is not None
            center = self.oracle.vertex(self.tree.progress.families)
            self.relaxation.add(self.oracle.concave.cuts(center))
        point = self.rounds(node, center, _ROUNDS_AT_ROOT, patient=True)
        if point is None or node.bound <= self.cutoff:
            return point
        self.primal.search_at_root()
        self.fix(node, point)
        return point

    def children_of_root(self, root: Node, point: RelaxationPoint | None) -> list[Node]:
        """The children of the root, after probing what parents of the class would cost."""
        if self.oracle.concave is None or point is None or root.bound <= self.cutoff:
            return self.children(root, point)
        if len(self._class_families(root)[1]) == 0:
            return self.children(root, point)
        start = self.relaxation.start()
        best = self.probe_class_parents(root)
        bare, others = self._class_families(root)
        if len(bare) and len(others) and self._is_success(root, best):
            # The bound of all trials together has no multipliers.
            known = root.bound if self.tree.log.recording else best
            parts = [
                self._with_class_families(root, others, known),
                self._with_class_families(root, bare, root.bound),
            ]
            self.relaxation.remember(start, [(part.allowed, part.edges) for part in parts])
            return parts
        self.relaxation.remember(start, [(root.allowed, root.edges)])
        self.relaxation.resume(root.allowed, root.edges)
        return self.children(root, self.rounds(root, None, _ROUNDS_PER_NODE))

    def probe_class_parents(self, root: Node) -> float:
        """Try each feature as a parent of the class, and remove families that cannot be optimal.

        A parent of the class cannot be its child, which costs most features much of their
        score. The relaxation hides this by taking a fraction of many families of the class.
        Returns a bound on structures whose class has parents; the root's after many failures.
        """
        best, failures = -np.inf, 0
        for feature in range(1, self.space.n_variables):
            _, others = self._class_families(root)
            families = others[self.space.contains[others, feature]]
            if len(families) == 0:
                continue
            trial = self._with_class_families(root, families, root.bound)
            self.tree.log.probe(trial, root, feature)
            self.relaxation.restrict(trial.allowed, trial.edges)
            self.rounds(trial, None, _ROUNDS_PER_PROBE)
            if trial.bound <= self.cutoff:
                self.tree.settle(trial.bound)
                self.tree.log.close(trial)
                root.allowed[families] = False
                continue
            self.tree.log.finish_probe(trial)
            root.allowed[families[~trial.allowed[families]]] = False
            best = max(best, trial.bound)
            failures += not self._is_success(root, trial.bound)
            if failures > _FAILED_PROBES:
                return root.bound
        return best

    def _is_success(self, root: Node, bound: float) -> bool:
        """Whether a part of the root with this bound is far enough below the root's."""
        return root.bound - bound >= _PROBE_SUCCESS * (root.bound - self.cutoff)

    def _class_families(self, node: Node) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The allowed families of the class: without parents, and with parents."""
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
        return Node(bound, 0, allowed, node.edges, proof=node.proof)

    def process(self, node: Node) -> RelaxationPoint | None:
        """Process a node: a few rounds of cuts, as long as they are worthwhile."""
        self.relaxation.resume(node.allowed, node.edges)
        point = self.rounds(node, None, _ROUNDS_PER_NODE)
        self.relaxation.purge(self.patience)
        return point

    def rounds(
        self, node: Node, center: FloatArray | None, limit: int, patient: bool = False
    ) -> RelaxationPoint | None:
        """Solve, fix families and add cuts, repeatedly; lowers the bound of the node.

        With `patient`, until no cut is violated, not only as long as cuts are worthwhile. If the
        score is smooth, there is always a violated cut, and the rounds end near the true score.
        """
        best_height = -np.inf
        fall = 0.0
        for k in range(limit):
            self.tree.checkpoint()
            began = self.tree.progress.clock.elapsed
            tolerance = max(_PRICED * (node.bound - self.cutoff), _PRICED_AT_ROOT * fall)
            point = self.relaxation.solve(tolerance=tolerance)
            if point is None:
                node.bound_by(-np.inf, self.relaxation.emptiness)
                return None
            before = node.bound
            node.bound_by(point.bound, point.proof)
            if node.bound <= self.cutoff:
                return point
            self.fix(node, point)
            if k == 0 or (patient and k % 10 == 0):
                self.primal.improve(point.eta)
            if patient:
                self.tree.report()
            if self.is_settled_integer(node, point):
                return None
            # On wide data each of these steps takes a part of a second.
            self.tree.checkpoint()
            added = self.relaxation.add(self.oracle.violated_rows(point.eta))
            if self.is_near(node, point, patient):
                n = 0
            elif center is not None:
                center, best_height, n = self.add_stabilised(point, center, best_height)
            else:
                n, _ = self.add_cuts(point, point.eta)
            if added + n == 0 and patient:
                n = self.add_hidden_clusters(point)
            if added + n == 0:
                return point
            small = before - node.bound < _WORTHWHILE * (node.bound - self.cutoff)
            if not patient and k >= 2 and small:
                return point
            if patient:
                fall = before - node.bound
                self.tree.checkpoint()
                self.relaxation.purge(self.patience)
                self.primal.search_after(self.tree.progress.clock.elapsed - began)
        return point

    def is_near(self, node: Node, point: RelaxationPoint, at_root: bool) -> bool:
        """Whether cuts cannot lower the bound much: the true score at the point is hardly lower."""
        concave = self.oracle.concave
        if concave is None:
            return False
        near = concave.near_at_root if at_root else concave.near_at_nodes
        if near == 0.0:
            return False
        height = concave.group_values(point.eta).sum() + (self.oracle.costs * point.eta).sum()
        return bool(point.bound - height <= near * (node.bound - self.cutoff))

    def fix(self, node: Node, point: RelaxationPoint) -> None:
        """Remove the families whose choice lowers the bound to the cutoff."""
        forced, cutoff = point.bound - point.loss, self.cutoff
        removed = node.allowed & (forced <= cutoff)
        if removed.any():
            self.tree.settle(float(forced[removed].max()))
            self.tree.log.fix(node, point.proof, cutoff + _ROUNDING * allowed_gap(cutoff))
            node.allowed = node.allowed & ~removed
            self.relaxation.restrict(node.allowed, node.edges)

    def is_settled_integer(self, node: Node, point: RelaxationPoint) -> bool:
        """Whether the node is closed by a structure; the relaxation's point may be one."""
        if self.is_settled_choice(node):
            return True
        chosen = self.oracle.structure_at(point.eta)
        if chosen is not None:
            self.tree.progress.incumbent(chosen, "relaxation")
        return node.bound <= self.cutoff

    def is_settled_choice(self, node: Node) -> bool:
        """Whether a single choice of families is left, by which the node is then closed."""
        left = self.oracle.choice_at(node.allowed.astype(np.float64))
        if left is not None:
            self.settle_last(node, left)
        return left is not None

    def settle_last(self, node: Node, families: Families) -> None:
        """Close a node with a single choice left, which may be cyclic or too large."""
        if not self.oracle.is_structure(families):
            node.bound_by(-np.inf, Proof(kind=SINGLE))
            return
        self.tree.progress.incumbent(families, "relaxation")
        node.bound_by(self.oracle.objective.value(families), Proof(kind=SINGLE))

    def add_hidden_clusters(self, point: RelaxationPoint) -> int:
        """Add cluster rows that only an integer program finds; returns how many."""
        seconds = self.tree.progress.clock.remaining
        found = self.oracle.clusters.separate_exactly(point.eta, seconds)
        return self.relaxation.add(found)

    def add_cuts(self, point: RelaxationPoint, at: FloatArray) -> tuple[int, float]:
        """Add cuts at `at` that the point violates; returns how many, and the score at `at`."""
        concave = self.oracle.concave
        if concave is None:
            return 0, -np.inf
        least = _CUT_VIOLATION * max(1.0, abs(self.tree.progress.value)) / concave.n_groups
        cuts, values = concave.violated_cuts(at, point.eta, point.heights - least)
        return self.relaxation.add(cuts), float(values.sum() + (self.oracle.costs * at).sum())

    def add_stabilised(
        self, point: RelaxationPoint, center: FloatArray, best_height: float
    ) -> tuple[FloatArray, float, int]:
        """Add cuts between the best point so far and the relaxation's, or else at the latter."""
        between = _IN_OUT * point.eta + (1 - _IN_OUT) * center
        added, height = self.add_cuts(point, between)
        if height > best_height:
            center, best_height = between, height
        if added == 0:
            self.tree.checkpoint()
            added, _ = self.add_cuts(point, point.eta)
        return center, best_height, added
