"""Branch-and-cut on HiGHS linear programs.

The relaxation holds concave cuts instead of a row per sample, and cluster rows instead of
order rows (see :mod:`milpbn.engines.cuts`). A node is a set of families that are still
allowed. Its bound is Lagrangian and does not rest on the solver's tolerances; every family
whose forced choice falls below the incumbent is taken out of the node. Integer points are
judged by their true score and true acyclicity, never by the relaxation's value.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from milpbn.clock import Clock, OutOfTime
from milpbn.engines.branching import Brancher, Origin
from milpbn.engines.cuts.clusters import ClusterOracle
from milpbn.engines.cuts.concave import ConcaveOracle
from milpbn.engines.cuts.relaxation import Edge, Point, Relaxation
from milpbn.engines.monolithic import SolveOptions
from milpbn.engines.primal import Primal
from milpbn.engines.report import engine_result
from milpbn.families.candidates import CLASS
from milpbn.result import Listener, Result, Status, WarmStart
from milpbn.scores import LinearObjective, MarginObjective, Objective, Score
from milpbn.search.progress import Families, Progress, allowed_gap
from milpbn.search.start import complete_quietly, offer_simple_starts
from milpbn.structure import Structure

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

GROUPS = 40
"""Row groups of the concave cuts."""

# Cluster rows added in one round at the most: the most violated ones.
_CLUSTERS_A_ROUND = 40
# A cut must be violated by this fraction of the objective to be worth a row.
_CUT_VIOLATION = 1e-7
# Solves that a cut may be slack before it is dropped.
_PATIENCE_WITH_CUTS = 12
# How far the first separation point of a round lies from the best point to the LP's.
_IN_OUT = 0.4
# A round that lowers the bound by less than this share of the open gap is the node's last.
_PAYING = 0.01
_ROUNDS_A_NODE = 12


@dataclass(order=True)
class Node:
    """Families that are still allowed, and a bound on what they can score."""

    priority: float
    number: int
    bound: float = field(compare=False)
    depth: int = field(compare=False)
    allowed: BoolArray = field(compare=False, repr=False)
    edges: frozenset[Edge] = field(compare=False, default=frozenset())
    origin: Origin | None = field(compare=False, default=None)


def solve_branch_and_cut(
    objective: Objective,
    score: Score,
    *,
    clock: Clock | None = None,
    options: SolveOptions | None = None,
    start: Structure | None = None,
    start_source: str = "warm-start",
    listener: Listener | None = None,
) -> Result:
    """Solve by branch-and-cut; always returns a structure, a bound and a gap.

    The parameters are those of :func:`~milpbn.engines.monolithic.solve_monolithic`.
    """
    clock, options = clock or Clock(), options or SolveOptions()
    progress = Progress(objective, clock, listener)
    status, warm = Status.TIME_LIMIT, None
    try:
        if start is not None:
            families = objective.space.families(start)
            warm = WarmStart(start_source, objective.value(families), accepted=True)
            progress.incumbent(families, start_source)
        offer_simple_starts(progress)
        tree = Tree(objective, progress, options)
        clock.close_phase("building")
        tree.run()
        status = Status.FEASIBLE
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        complete_quietly(progress)
    clock.close_phase("solving")
    return engine_result("branch-and-cut", progress, score, status, warm)


def root_bound(objective: Objective, families: Families, clock: Clock | None = None) -> float:
    """A bound on every structure, from the root's cuts alone and nothing known but one structure.

    Families that cannot be part of anything better than `families` are taken out on the way.
    """
    progress = Progress(objective, clock or Clock(), None)
    progress.incumbent(np.array(families, dtype=np.int64), "given")
    with suppress(OutOfTime):
        progress.improve_bound(objective.quick_bound(), 0, "quick bound")
        Tree(objective, progress, SolveOptions()).run(nodes=0)
    return progress.bound


class Tree:
    """The search: a heap of nodes, one relaxation that serves them all."""

    def __init__(self, objective: Objective, progress: Progress, options: SolveOptions) -> None:
        self.objective = objective
        self.progress = progress
        self.options = options
        self.space = objective.space
        self.clusters = ClusterOracle(self.space)
        self.oracle: ConcaveOracle | None = None
        self.relaxation = self._relaxation()
        self.primal = Primal(objective, progress, options.seed)
        self.brancher = Brancher(self.space, self.relaxation, self.clusters)
        self.heap: list[Node] = []
        self.current: Node | None = None
        self.count = 0
        self.settled = -np.inf
        """The largest bound of anything that was cut away: part of the final bound."""

    def _relaxation(self) -> Relaxation:
        objective = self.objective
        if isinstance(objective, LinearObjective):
            none = np.empty(0)
            return Relaxation(self.space, self.clusters, objective.weights, (none, none), 0.0)
        if not isinstance(objective, MarginObjective):
            raise TypeError(f"no relaxation is known for {type(objective).__name__}")
        self.oracle = ConcaveOracle(objective, GROUPS)
        lowest, highest = objective.margin_range(self.progress.clock.checkpoint)
        gamma, weights = objective.gamma, objective.rows.weights
        self.progress.improve_bound(float(weights @ np.minimum(highest, gamma)), 0, "row bound")
        low = self.oracle.group_values(lowest)
        bounds = (low - 1.0, gamma * self.oracle.group_weight)
        return Relaxation(self.space, self.clusters, np.zeros(len(self.space)), bounds, gamma)

    @property
    def cutoff(self) -> float:
        """Nothing at or below this is worth looking at."""
        return self.progress.value + 0.5 * allowed_gap(self.progress.value)

    def run(self, nodes: float = np.inf) -> None:
        """Branch until nothing is left, the gap is reached, or so many nodes were looked at."""
        root = Node(0.0, 0, self.progress.bound, 0, np.ones(len(self.space), dtype=bool))
        self.current = root
        point = self.close_root(root)
        self.after(root, point)
        while True:
            self.report()
            if self.good_enough() or not (self.heap or self.current) or self.count >= nodes:
                return
            node = self.current or heapq.heappop(self.heap)
            self.current = node
            if node.bound <= self.cutoff:
                self.settle(node)
                continue
            self.count += 1
            self.progress.nodes = self.count
            point = self.process(node)
            self.brancher.learn(node)
            self.after(node, point)

    def good_enough(self) -> bool:
        """Whether the gap that was asked for is reached."""
        gap = self.progress.bound - self.progress.value
        return gap <= max(
            self.options.gap * abs(self.progress.value), allowed_gap(self.progress.value)
        )

    def report(self) -> None:
        """The bound of the whole tree: open nodes, and what was cut away."""
        open_bounds = [n.bound for n in self.heap]
        if self.current is not None:
            open_bounds.append(self.current.bound)
        bound = max([self.settled, self.progress.value, *open_bounds])
        self.progress.improve_bound(bound, self.count, "branch-and-cut")

    def settle(self, node: Node) -> None:
        """Close a node that cannot hold a better structure."""
        self.settled = max(self.settled, node.bound)
        self.current = None

    def after(self, node: Node, point: Point | None) -> None:
        """Branch, or close the node."""
        if point is None or node.bound <= self.cutoff:
            self.settle(node)
            return
        children: list[Node] = []
        for allowed, edges, bound, origin in self.brancher.children(node, point, self.cutoff):
            number = self.count * 2 + len(children) + 1
            bound = min(bound, node.bound)
            if bound <= self.cutoff:
                self.settled = max(self.settled, bound)
                continue
            children.append(Node(-bound, number, bound, node.depth + 1, allowed, edges, origin))
        # Plunge into the more promising child, keep the other for later.
        children.sort(key=lambda child: child.bound)
        self.current = children.pop() if children else None
        for child in children:
            heapq.heappush(self.heap, child)

    def close_root(self, node: Node) -> Point | None:
        """The root: stabilised cuts until the bound is that of all possible cuts."""
        center = None
        if self.oracle is not None:
            assert self.progress.families is not None
            center = np.zeros(len(self.space))
            center[self.progress.families] = 1.0
            self.relaxation.add_cuts(self.oracle.cuts(center))
        point = self.rounds(node, center, limit=400)
        if point is None or node.bound <= self.cutoff:
            return point
        if self.probe_class_parents(node):
            return self.rounds(node, None, limit=_ROUNDS_A_NODE)
        return point

    def probe_class_parents(self, node: Node) -> bool:
        """Try each feature as a parent of the class; True if that removed any family.

        A parent of the class cannot be its child, so most features lose more than the gap.
        Together the families of the class hide this in a fraction of each.
        """
        own = self.space.of(CLASS)
        removed = False
        for feature in range(1, self.space.n_variables):
            of_class = own.start + np.flatnonzero(node.allowed[own.start : own.stop])
            with_feature = of_class[self.clusters.contains[of_class, feature]]
            if len(with_feature) == 0:
                continue
            allowed = node.allowed.copy()
            allowed[own.start : own.stop] = False
            allowed[with_feature] = True
            trial = Node(0.0, 0, node.bound, 0, allowed)
            self.relaxation.restrict(allowed)
            point = self.rounds(trial, None, limit=_ROUNDS_A_NODE)
            hopeless = with_feature
            if point is not None and trial.bound > self.cutoff:
                hopeless = with_feature[~trial.allowed[with_feature]]
            else:
                self.settled = max(self.settled, trial.bound)
            if len(hopeless):
                node.allowed[hopeless] = False
                removed = True
        self.relaxation.restrict(node.allowed)
        return removed

    def process(self, node: Node) -> Point | None:
        """A node: a few rounds of cuts, as long as they pay."""
        self.relaxation.restrict(node.allowed)
        self.relaxation.require(node.edges)
        point = self.rounds(node, None, limit=_ROUNDS_A_NODE)
        self.relaxation.purge(_PATIENCE_WITH_CUTS)
        return point

    def rounds(self, node: Node, center: FloatArray | None, limit: int) -> Point | None:
        """Solve, fix, separate, again; the node's bound falls, its families get fewer."""
        best_height = -np.inf
        for k in range(limit):
            self.progress.clock.checkpoint()
            point = self.relaxation.solve()
            if point is None:
                node.bound = -np.inf
                return None
            before = node.bound
            node.bound = min(node.bound, point.bound)
            if node.bound <= self.cutoff:
                return point
            self.fix(node, point)
            if k == 0 or (center is not None and k % 10 == 0):
                self.primal.improve(point.eta)
            if center is not None:
                self.report()
            if self.is_settled_integer(node, point):
                return None
            added = self.add_clusters(point)
            if self.oracle is not None:
                if center is not None:
                    center, best_height, n = self.add_stabilised(point, center, best_height)
                else:
                    n, _ = self.add_cuts(point, point.eta)
                added += n
            if added == 0:
                return point
            small = before - node.bound < _PAYING * (node.bound - self.cutoff)
            if center is None and k >= 2 and small:
                return point
            if center is not None:
                self.relaxation.purge(_PATIENCE_WITH_CUTS)
        return point

    def fix(self, node: Node, point: Point) -> None:
        """Take out the families whose forced choice falls to the cutoff."""
        forced = point.bound - point.loss
        hopeless = node.allowed & (forced <= self.cutoff)
        if hopeless.any():
            self.settled = max(self.settled, float(forced[hopeless].max()))
            node.allowed = node.allowed & ~hopeless
            self.relaxation.restrict(node.allowed)

    def is_settled_integer(self, node: Node, point: Point) -> bool:
        """Whether the point is a structure that scores what the relaxation promises."""
        chosen = np.flatnonzero(point.eta > 1 - 1e-6)
        if len(chosen) < self.space.n_variables:
            return False
        if self.clusters.cycle(chosen) is not None:
            return False
        self.progress.incumbent(chosen.astype(np.int64), "relaxation")
        if node.bound <= self.cutoff:
            return True
        # Only this structure is left: nothing more can be hidden in the node.
        if int(node.allowed.sum()) == self.space.n_variables:
            node.bound = min(node.bound, self.objective.value(chosen))
            return True
        return False

    def add_clusters(self, point: Point) -> int:
        """Violated cluster rows; an integer point is checked for cycles exactly."""
        found = self.clusters.separate(point.eta)
        chosen = np.flatnonzero(point.eta > 1 - 1e-6)
        if not found and len(chosen) == self.space.n_variables:
            cycle = self.clusters.cycle(chosen)
            found = [] if cycle is None else [cycle]
        return self.relaxation.add_clusters(found[:_CLUSTERS_A_ROUND])

    def add_cuts(self, point: Point, at: FloatArray) -> tuple[int, float]:
        """Cuts at a point where they cut the relaxation's solution off; and the height there."""
        assert self.oracle is not None
        least = _CUT_VIOLATION * max(1.0, abs(self.progress.value)) / self.oracle.n_groups
        cuts, values = self.oracle.violated_cuts(at, point.eta, point.heights - least)
        self.relaxation.add_cuts(cuts)
        return len(cuts), float(values.sum())

    def add_stabilised(
        self, point: Point, center: FloatArray, best_height: float
    ) -> tuple[FloatArray, float, int]:
        """Cuts between the best point so far and the relaxation's, then at the latter."""
        assert self.oracle is not None
        between = _IN_OUT * point.eta + (1 - _IN_OUT) * center
        added, height = self.add_cuts(point, between)
        if height > best_height:
            center, best_height = between, height
        if added == 0:
            added, _ = self.add_cuts(point, point.eta)
        return center, best_height, added
