"""The best structures, or all within a tolerance: one tree with a lower cutoff.

A node is discarded if its bound does not exceed the cutoff: the score of the last structure that
is kept, or the lowest score within the tolerance. Fixing by reduced costs uses the same cutoff, so
it removes only families that no structure above it contains. If the relaxation's point is a
structure, it is recorded, and the node is split at it: child i has the structure's families for
the variables before i, and another family for variable i. Hence a node never loses a structure
that has not been recorded, and the largest bound of what was discarded or is still open bounds the
score of every structure that was not found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from milpbn._types import Families
from milpbn.anytime import (
    Progress,
    Run,
    SolveOptions,
    allowed_gap,
    offer_simple_starts,
    simplest_start,
)
from milpbn.clock import OutOfTime
from milpbn.engines.branch_and_cut.engine import BranchAndCut
from milpbn.engines.branch_and_cut.node_processor import NodeProcessor
from milpbn.engines.branch_and_cut.relaxation import RelaxationPoint
from milpbn.engines.branch_and_cut.tree import Node, Tree
from milpbn.errors import OptionError
from milpbn.families.candidates import FamilySpace
from milpbn.families.feasibility import Feasibility
from milpbn.scores import Objective

# Structures whose neighbours are looked at before the root is processed, and then per node.
_COLLECTED = 50
_EXPLORED_PER_NODE = 5
# Relative error of scores in single precision.
_SINGLE = 1e-4


@dataclass(frozen=True)
class PoolLimits:
    """Which structures are wanted.

    Attributes
    ----------
    most
        At most this many: the best ones.
    within
        Only those whose score is within this fraction of the best score, less than 1, so that
        the lowest score rises with the best one; None for any score.
    """

    most: int
    within: float | None = None

    def __post_init__(self) -> None:
        if self.most < 1:
            raise OptionError(f"best must be at least 1, not {self.most}")
        if self.within is not None and not 0 <= self.within < 1:
            raise OptionError(f"within must be at least 0 and less than 1, not {self.within}")

    def floor(self, best: float) -> float:
        """The lowest score that is wanted."""
        return -np.inf if self.within is None else best - self.within * abs(best)


@dataclass(frozen=True)
class PoolResult:
    """The structures that were found, the best first.

    Attributes
    ----------
    families, values
        The structures and their scores.
    rest
        No other structure scores more; minus infinity if there is no other structure.
    more
        Whether others within the tolerance are not ruled out.
    complete
        Whether no structure is missing, at the usual tolerance.
    nodes
        Nodes of the tree.
    interrupted
        Whether Ctrl-C ended the search.
    """

    families: tuple[Families, ...]
    values: tuple[float, ...]
    rest: float
    more: bool
    complete: bool
    nodes: int
    interrupted: bool = False


class StructurePool:
    """The best structures found so far.

    Parameters
    ----------
    limits
        Which structures are wanted.
    scale
        See :attr:`milpbn.scores.Objective.scale`.
    """

    def __init__(self, limits: PoolLimits, scale: float = 1.0) -> None:
        self.limits = limits
        self.scale = scale
        self.lowest = -np.inf
        """No structure scores less."""
        self.best = -np.inf
        self.cutoff = -np.inf
        """Structures up to this score are not needed."""
        self.refused = -np.inf
        """The highest score of a structure that is not in the pool."""
        self._values: dict[bytes, float] = {}
        self._families: dict[bytes, Families] = {}
        self._unexplored: set[bytes] = set()

    def __len__(self) -> int:
        return len(self._values)

    @property
    def floor(self) -> float:
        """The lowest score that is wanted."""
        return self.limits.floor(self.best)

    def add(self, families: Families, value: float) -> None:
        """Record a structure if it is wanted; those that are no longer wanted make room."""
        key = families.tobytes()
        if key in self._values:
            return
        self._values[key], self._families[key] = value, families.copy()
        self._unexplored.add(key)
        if value > self.best:
            self.best = value
            for other in [k for k, v in self._values.items() if v < self.floor]:
                self._drop(other)
        elif value < self.floor:
            self._drop(key)
        if len(self) > self.limits.most:
            self._drop(min(self._values, key=self._values.__getitem__))
        self._update_cutoff()

    def _drop(self, key: bytes) -> None:
        self.refused = max(self.refused, self._values.pop(key))
        self._families.pop(key)
        self._unexplored.discard(key)

    def _update_cutoff(self) -> None:
        """The last score if the pool is full; else a little less than the floor."""
        self.cutoff = self.lowest
        if self.floor > -np.inf:
            self.cutoff = max(self.cutoff, self.floor - 0.5 * allowed_gap(self.floor, self.scale))
        if len(self) >= self.limits.most:
            last = min(self._values.values())
            self.cutoff = max(self.cutoff, last + 0.5 * allowed_gap(last, self.scale))

    def start(self, lowest: float) -> None:
        """Set a lower bound on the score of every structure."""
        self.lowest = lowest
        self._update_cutoff()

    def next_to_explore(self) -> Families | None:
        """The best structure whose neighbours have not been looked at."""
        if not self._unexplored:
            return None
        key = max(self._unexplored, key=self._values.__getitem__)
        self._unexplored.remove(key)
        return self._families[key]

    def sorted(self) -> list[tuple[float, Families]]:
        """The structures, the best first; equal ones in a fixed order."""
        keys = sorted(self._values, key=lambda k: (-self._values[k], self._families[k].tolist()))
        return [(self._values[k], self._families[k]) for k in keys]


class PoolProgress(Progress):
    """The record of a run that also fills a pool."""

    pool: StructurePool
    rest = np.inf
    """A bound on the structures that have not been found."""

    def incumbent(self, families: Families, source: str) -> bool:
        """See :class:`~milpbn.anytime.Progress`; every structure goes to the pool."""
        if not self.objective.space.fits(families):
            return False
        value = self.objective.value(families)
        self.pool.add(np.asarray(families, dtype=np.int64), value)
        return value > self.value and super().incumbent(families, source)


class PoolTree(Tree):
    """A tree that is finished when no structure is missing from the pool."""

    progress: PoolProgress

    @property
    def cutoff(self) -> float:
        """See :class:`Tree`."""
        return self.progress.pool.cutoff

    def report(self) -> None:
        """Update the bound on what has not been found, and on everything."""
        opened = [n.bound for n in (*self._active, *self._heap[:1])]
        self.progress.rest = min(self.progress.rest, max([self._settled, *opened]))
        bound = max(self.progress.rest, self.progress.value)
        self.progress.improve_bound(bound, self.count, "branch-and-cut")

    def done(self) -> bool:
        """The search ends with the last open node."""
        return False


class PoolProcessor(NodeProcessor):
    """Processes nodes; records structures instead of stopping at them."""

    tree: PoolTree

    def process(self, node: Node) -> RelaxationPoint | None:
        """See :class:`NodeProcessor`; first look around the structures found since."""
        self.explore(_EXPLORED_PER_NODE)
        return super().process(node)

    def explore(self, most: int) -> None:
        """Look at the neighbours of structures that are new in the pool, the best first."""
        pool, objective = self.tree.progress.pool, self.oracle.objective
        graph = self.primal.search.feasibility
        for _ in range(most):
            families = pool.next_to_explore()
            if families is None:
                return
            for neighbour in neighbours(objective, graph, families, pool.cutoff):
                self.tree.checkpoint()
                self.tree.progress.incumbent(neighbour, "exchange")

    def settle_last(self, node: Node, families: Families) -> None:
        """Record the last choice of a node: nothing is left in it."""
        if self.oracle.is_structure(families):
            self.tree.progress.incumbent(families, "relaxation")
        node.bound = -np.inf

    def children(self, node: Node, point: RelaxationPoint | None) -> list[Node]:
        """Split the node at the structure of the relaxation's point, if it is one."""
        if point is None or node.bound <= self.cutoff:
            return []
        chosen = self.oracle.structure_at(point.eta)
        if chosen is None:
            return super().children(node, point)
        self.tree.progress.incumbent(chosen, "relaxation")
        return self.split_at(node, point, chosen)

    def split_at(self, node: Node, point: RelaxationPoint, chosen: Families) -> list[Node]:
        """The structures of the node except one: child i differs in variable i, none before.

        The bound of child i is ``L(y) - min loss`` over the other families of variable i.
        Variables with large losses come first: their children are discarded at once, and the
        families of the others are fixed in those that remain.
        """
        loss = np.where(node.allowed, point.loss, np.inf)
        loss[chosen] = np.inf
        least = np.minimum.reduceat(loss, self.space.offsets[:-1])
        children, allowed = [], node.allowed
        for i in np.argsort(-least, kind="stable"):
            own = self.space.of(int(i))
            if not np.isfinite(least[i]):
                continue  # the variable has no other family
            other = allowed.copy()
            other[chosen[i]] = False
            children.append(Node(point.bound - float(least[i]), 0, other, node.edges))
            allowed = allowed.copy()
            allowed[own.start : own.stop] = False
            allowed[chosen[i]] = True
        self.relaxation.remember(self.relaxation.start(), [(c.allowed, c.edges) for c in children])
        return children


def neighbours(
    objective: Objective, graph: Feasibility, families: Families, above: float
) -> Iterator[Families]:
    """Structures with one other family that score above a limit, or with one arc reversed."""
    space, state = objective.space, objective.state(families)
    # Fast scores are in single precision.
    limit = above - _SINGLE * max(1.0, abs(above))
    for v in range(space.n_variables):
        candidates = graph.candidates(families, v)
        for f in candidates[state.scores(v, candidates) > limit]:
            changed = families.copy()
            changed[v] = f
            yield changed
    yield from (f for f in _reversals(space, families) if graph.is_feasible(f))


def _reversals(space: FamilySpace, families: Families) -> Iterator[Families]:
    for child, f in enumerate(families.tolist()):
        for parent in space.parent_sets[f]:
            fewer = space.find(child, [p for p in space.parent_sets[f] if p != parent], f)
            now = int(families[parent])
            more = space.find(parent, list({*space.parent_sets[now], child}), now)
            if fewer is not None and more is not None:
                changed = families.copy()
                changed[child], changed[parent] = fewer, more
                yield changed


class PoolSearch(BranchAndCut):
    """One search for the best structures."""

    tree_type = PoolTree
    processor_type = PoolProcessor
    tree: PoolTree
    processor: PoolProcessor

    def collect(self, run: Run) -> None:
        """Structures to begin with: the start, simple ones, and those around them."""
        pool, space = self.tree.progress.pool, self.objective.space
        costs = np.minimum.reduceat(self.oracle.costs, space.offsets[:-1]).sum()
        margins = 0.0 if self.oracle.concave is None else self.oracle.concave.lowest()
        pool.start(margins + float(costs) - 1.0)
        if run.start is not None:
            self.progress.incumbent(space.families(run.start), run.start_source)
        offer_simple_starts(self.progress)
        self.processor.explore(_COLLECTED)


def best_structures(objective: Objective, limits: PoolLimits, run: Run | None = None) -> PoolResult:
    """The best structures, and a bound on the score of all others.

    Parameters
    ----------
    objective
        The objective over all candidate families. No family may have been pruned: pruning is
        valid for the optimum only.
    limits
        Which structures are wanted.
    run
        Time, start, seed and listener.
    """
    run = run or Run()
    pool = StructurePool(limits, objective.scale)
    bound = min(run.bound, objective.quick_bound())
    progress = PoolProgress(objective, run.clock, run.listener, bound)
    progress.pool = pool
    interrupted = False
    try:
        search = PoolSearch(objective, progress, SolveOptions(seed=run.options.seed))
        search.collect(run)
        search.run()
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        interrupted = True
    if len(pool) == 0:
        progress.incumbent(simplest_start(objective.space)[1], "simple")
    rest = min(progress.rest, progress.bound)
    return _result(pool, rest, progress.nodes, interrupted)


def _result(pool: StructurePool, rest: float, nodes: int, interrupted: bool) -> PoolResult:
    found = pool.sorted()
    values = tuple(value for value, _ in found)
    rest = max(-np.inf if rest <= pool.lowest else rest, pool.refused)
    if len(found) >= pool.limits.most:
        complete = rest <= values[-1] + allowed_gap(values[-1], pool.scale)
    else:
        complete = rest < pool.floor or rest == -np.inf
    return PoolResult(
        families=tuple(families for _, families in found),
        values=values,
        rest=rest,
        more=pool.limits.within is not None and bool(rest >= pool.floor),
        complete=bool(complete),
        nodes=nodes,
        interrupted=interrupted,
    )
