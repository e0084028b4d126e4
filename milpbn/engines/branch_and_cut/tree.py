"""The branch-and-cut tree: open nodes, their common bound, and the nodes being processed.

A node is a set of families that are still allowed and a set of pairs that must be joined.
A processor takes nodes, closes or splits them
(:mod:`milpbn.engines.branch_and_cut.node_processor`), and returns children. Other processes may
work on nodes, too (:mod:`milpbn.engines.distributed.supervisor`): these count as being processed
until an answer has arrived.

Ctrl-C may arrive between any two steps, and the open nodes are saved afterwards. So a node leaves
the tree only when its children are in it, or when its bound has been settled.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from milpbn._types import BoolArray
from milpbn.anytime.progress import Progress
from milpbn.engines.branch_and_cut.proof import TRIVIAL, Proof, ProofLog
from milpbn.engines.branch_and_cut.rows import Edge

# The better child is processed at once if about this many branchings or fewer will close it,
# and if it is no further below the best open node than this share of the gap.
_NEAR_END = 30
_NEAR_TOP = 0.25


@dataclass(frozen=True)
class Sight:
    """Whether the family of a variable sees a view: of one of its parents, or of itself."""

    variable: int
    view: int


Candidate = Edge | int | Sight
"""What can be branched on: a pair of variables, a family, or what a family sees."""


@dataclass(frozen=True)
class Origin:
    """The branching that created a node: candidate, side, distance, and the parent's bound."""

    candidate: Candidate
    side: int
    distance: float
    bound: float


@dataclass(order=True)
class Node:
    """Families that are still allowed, pairs that must be joined, and a bound with its proof."""

    rank: tuple[float, int] = field(init=False)
    bound: float = field(compare=False)
    number: int = field(compare=False)
    allowed: BoolArray = field(compare=False, repr=False)
    edges: frozenset[Edge] = field(compare=False, default=frozenset())
    origin: Origin | None = field(compare=False, default=None)
    proof: Proof = field(compare=False, default=TRIVIAL, repr=False)

    def __post_init__(self) -> None:
        self.place(self.number)

    def place(self, number: int | None = None) -> None:
        """Set the place among the open nodes, by the bound and then by the number."""
        self.number = self.number if number is None else number
        self.rank = (-self.bound, self.number)

    def bound_by(self, bound: float, proof: Proof) -> None:
        """Lower the bound, if this one is lower."""
        if bound < self.bound:
            # The proof first: a run may be interrupted between the two.
            self.proof = proof
            self.bound = bound

    @property
    def fall(self) -> float | None:
        """The fall of the bound from parent to node; None if the node is empty."""
        if self.origin is None or not np.isfinite(self.bound):
            return None
        return max(self.origin.bound - self.bound, 0.0)


@dataclass(frozen=True)
class TreeRecord:
    """What a tree has done so far.

    Attributes
    ----------
    count
        Nodes that were processed.
    settled
        The highest bound of what was discarded.
    falls, branchings
        The sum of the falls of the bound over all branchings, and how many there were.
    """

    count: int = 0
    settled: float = -np.inf
    falls: float = 0.0
    branchings: int = 0


class Tree:
    """Open nodes, and the bound on all structures.

    Parameters
    ----------
    progress
        The best structure and bound so far.
    gap
        Relative gap at which to stop.
    n_families
        Number of families. The root allows all of them; it is being processed from the start.
    log
        Receives everything that the bound rests on.
    """

    def __init__(
        self, progress: Progress, gap: float, n_families: int, log: ProofLog | None = None
    ) -> None:
        self.progress = progress
        self.log = log or ProofLog()
        self.gap = gap
        self.count = 0
        self._heap: list[Node] = []
        self.root = Node(progress.bound, 0, np.ones(n_families, dtype=bool))
        self._active: list[Node] = [self.root]
        self._made = 0
        self._settled = -np.inf
        self._falls, self._branchings = 0.0, 0
        self.after_report: list[Callable[[], object]] = []
        """Called after each report, when all open nodes are in the tree."""

    @property
    def cutoff(self) -> float:
        """Nodes whose bound is not above this are discarded."""
        return self.progress.value + 0.5 * self.progress.slack

    @property
    def root_is_open(self) -> bool:
        """Whether the root is still being processed."""
        return any(node is self.root for node in self._active)

    @property
    def open_nodes(self) -> list[Node]:
        """The nodes that are being processed, the root first, and those that are open."""
        # An interrupted step may leave a node in both lists.
        return list({id(node): node for node in (*self._active, *self._heap)}.values())

    @property
    def record(self) -> TreeRecord:
        """What has been done so far."""
        return TreeRecord(self.count, self._settled, self._falls, self._branchings)

    def restore(self, nodes: Sequence[Node], record: TreeRecord, root: Node | None = None) -> None:
        """Continue with these open nodes; `root` is one of them if it has not been closed."""
        self.count, self._settled = record.count, record.settled
        self._falls, self._branchings = record.falls, record.branchings
        self._active = [] if root is None else [root]
        self.root = self.root if root is None else root
        self._heap = [node for node in nodes if node is not root]
        for number, node in enumerate(self._heap):
            node.place(number)
        self._made = len(self._heap)
        heapq.heapify(self._heap)

    def take(self, most: int) -> list[Node]:
        """Take at most `most` of the best open nodes; they count as being processed."""
        taken: list[Node] = []
        while self._heap and len(taken) < most:
            node = self._heap[0]
            self._active.append(node)
            heapq.heappop(self._heap)
            if node.bound > self.cutoff:
                taken.append(node)
            else:
                self.close(node, [])
        return taken

    def put(self, taken: Sequence[Node], nodes: Sequence[Node], record: TreeRecord) -> None:
        """Replace nodes that were taken by what is left of them; `record` says what was done."""
        self.settle(record.settled)
        for node in nodes:
            self._made += 1
            node.place(self._made)
            heapq.heappush(self._heap, node)
        gone = set(map(id, taken))
        self._active = [node for node in self._active if id(node) not in gone]
        self.count += record.count
        self._falls += record.falls
        self._branchings += record.branchings

    @property
    def n_waiting(self) -> int:
        """The number of open nodes that are not being processed."""
        return len(self._heap)

    def settle(self, bound: float) -> None:
        """Record that structures scoring up to `bound` have been discarded."""
        self._settled = max(self._settled, bound)

    def report(self) -> None:
        """Report the bound of the whole tree: open nodes, and what has been discarded."""
        open_bounds = [n.bound for n in self._active]
        if self._heap:
            open_bounds.append(self._heap[0].bound)
        bound = max([self._settled, self.progress.value, *open_bounds])
        self.progress.improve_bound(bound, self.count, "branch-and-cut")
        for call in self.after_report:
            call()

    def close(self, node: Node, children: list[Node]) -> Node | None:
        """Replace a node by its children; returns the better one if it should be processed next."""
        if node.fall is not None:
            self._falls += node.fall
            self._branchings += 1
        for child in children:
            child.bound_by(node.bound, node.proof)
        if children:
            self.log.branch(node, children)
        else:
            self.settle(node.bound)
            self.log.close(node)
        kept = []
        for child in children:
            if child.bound <= self.cutoff:
                self.settle(child.bound)
                self.log.close(child)
            else:
                self._made += 1
                child.place(self._made)
                kept.append(child)
        kept.sort(reverse=True)
        others = [n for n in self._active if n is not node]
        best = kept.pop() if kept and self._should_plunge(kept[-1].bound, others) else None
        for child in kept:
            heapq.heappush(self._heap, child)
        self._active = others if best is None else [*others, best]
        return best

    def _should_plunge(self, bound: float, active: Sequence[Node]) -> bool:
        """Whether to continue with a child rather than with the best node.

        Far from the end, or far below the best open node, this would only delay better nodes,
        and the bound of the tree is theirs.
        """
        left = bound - self.cutoff
        others = [n.bound for n in (*active, *self._heap[:1])]
        top = max([bound, *others])
        near_top = top - bound <= _NEAR_TOP * (top - self.cutoff)
        return near_top and left * self._branchings <= _NEAR_END * self._falls

    def reopen(self, removed: BoolArray, edges: frozenset[Edge]) -> None:
        """Open the nodes that were being processed, and restrict all open ones.

        Parameters
        ----------
        removed
            Families that no structure above the cutoff contains.
        edges
            Pairs that every structure above the cutoff joins.
        """
        self._heap += self._active
        self._active.clear()
        for node in self._heap:
            node.allowed = node.allowed & ~removed
            node.edges |= edges
            node.place()  # the bound may have fallen since
        heapq.heapify(self._heap)

    def done(self) -> bool:
        """Whether the requested gap is reached."""
        gap = self.progress.bound - self.progress.value
        allowed = max(self.gap * abs(self.progress.value), self.progress.slack)
        return gap <= allowed

    def next(self, node: Node | None) -> Node | None:
        """The next node: `node` itself, else the best open one; None if the search is over."""
        while True:
            self.report()
            if self.done():
                return None
            if node is None and self._heap:
                node = self._heap[0]
                self._active.append(node)
                heapq.heappop(self._heap)
            if node is not None:
                if node.bound > self.cutoff:
                    self.count += 1
                    self.progress.nodes = self.count
                    return node
                node = self.close(node, [])
            else:
                return None

    def checkpoint(self) -> None:
        """Raise if the time is over."""
        self.progress.clock.checkpoint()
