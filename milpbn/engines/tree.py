"""The tree of a branch-and-cut: open nodes, the bound of all of them, and who works on which.

A node is a set of families that are still allowed and a set of pairs that must be joined.
Workers take nodes, close or split them (:mod:`milpbn.engines.worker`), and give children
back. All of Python's part runs under one lock; a worker lets go of it while its linear
program is solved, so that two workers keep two cores busy. With one worker the run is
deterministic.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from milpbn._types import BoolArray
from milpbn.anytime.progress import Progress, allowed_gap
from milpbn.clock import OutOfTime
from milpbn.engines.rows import Edge

# The better child is taken up at once if what is left below it is worth so many branchings at
# most, and if it is no further below the best open node than this share of the gap.
_NEAR_END = 30
_NEAR_TOP = 0.25


Candidate = Edge | int
"""What can be branched on: a pair of variables, or a family."""


@dataclass(frozen=True)
class Origin:
    """The branching that made a node: on what, which side, how far, from which bound."""

    candidate: Candidate
    side: int
    distance: float
    bound: float


@dataclass(order=True)
class Node:
    """Families that are still allowed, pairs that must be joined, and a bound."""

    rank: tuple[float, int] = field(init=False)
    bound: float = field(compare=False)
    number: int = field(compare=False)
    allowed: BoolArray = field(compare=False, repr=False)
    edges: frozenset[Edge] = field(compare=False, default=frozenset())
    origin: Origin | None = field(compare=False, default=None)

    def __post_init__(self) -> None:
        self.rank = (-self.bound, self.number)

    @property
    def fall(self) -> float | None:
        """What the branching brought once the node's own cuts are in; None if nothing is left."""
        if self.origin is None or not np.isfinite(self.bound):
            return None
        return max(self.origin.bound - self.bound, 0.0)


class Tree:
    """Open nodes, and what is known about all structures.

    Parameters
    ----------
    progress
        The best structure and bound so far.
    gap
        The relative gap at which the search may stop.
    n_families
        Of the root, which allows them all. It is open, and being worked on, from the beginning.
    """

    def __init__(self, progress: Progress, gap: float, n_families: int) -> None:
        self.progress = progress
        self.gap = gap
        self.count = 0
        self._heap: list[Node] = []
        self.root = Node(progress.bound, 0, np.ones(n_families, dtype=bool))
        self._active: list[Node] = [self.root]
        self._made = 0
        self._settled = -np.inf
        self._falls, self._branchings = 0.0, 0
        self._changed = threading.Condition(threading.Lock())
        self._failure: BaseException | None = None
        self._ended = False

    @property
    def cutoff(self) -> float:
        """Nothing at or below this is worth looking at."""
        return self.progress.value + 0.5 * allowed_gap(self.progress.value)

    def settle(self, bound: float) -> None:
        """Note that something was cut away which could have scored up to `bound`."""
        self._settled = max(self._settled, bound)

    def report(self) -> None:
        """The bound of the whole tree: open nodes, and what was cut away."""
        if self._failure is not None:
            return  # a worker that failed may have held a node
        open_bounds = [n.bound for n in self._active]
        if self._heap:
            open_bounds.append(self._heap[0].bound)
        bound = max([self._settled, self.progress.value, *open_bounds])
        self.progress.improve_bound(bound, self.count, "branch-and-cut")

    def close(self, node: Node, children: list[Node]) -> Node | None:
        """Replace a node by its children; the better one is returned to go on with."""
        self._active.remove(node)
        if node.fall is not None:
            self._falls += node.fall
            self._branchings += 1
        if not children:
            self.settle(node.bound)
        hopeful = []
        for child in children:
            child.bound = min(child.bound, node.bound)
            if child.bound <= self.cutoff:
                self.settle(child.bound)
            else:
                self._made += 1
                child.number = self._made
                child.__post_init__()
                hopeful.append(child)
        # Plunge into the more promising child, keep the other for later.
        hopeful.sort(reverse=True)
        best = hopeful.pop() if hopeful and self._is_worth_a_plunge(hopeful[-1].bound) else None
        for child in hopeful:
            heapq.heappush(self._heap, child)
        if best is not None:
            self._active.append(best)
        self._changed.notify_all()
        return best

    def _is_worth_a_plunge(self, bound: float) -> bool:
        """Whether to go on below a node while the program is still warm.

        Far from the end, or far below the best open node, that only leaves better nodes
        waiting, and their bound is that of the tree.
        """
        left = bound - self.cutoff
        others = [n.bound for n in (*self._active, *self._heap[:1])]
        top = max([bound, *others])
        near_top = top - bound <= _NEAR_TOP * (top - self.cutoff)
        return near_top and left * self._branchings <= _NEAR_END * self._falls

    def done(self) -> bool:
        """Whether the gap that was asked for is reached, or a worker has failed."""
        gap = self.progress.bound - self.progress.value
        allowed = max(self.gap * abs(self.progress.value), allowed_gap(self.progress.value))
        return gap <= allowed or self._failure is not None

    def next(self, node: Node | None) -> Node | None:
        """The node to work on: `node` itself, else the best open one; None when all is done."""
        while True:
            self.report()
            if self.done():
                return None
            if node is None and self._heap:
                node = heapq.heappop(self._heap)
                self._active.append(node)
            if node is not None:
                if node.bound > self.cutoff:
                    self.count += 1
                    self.progress.nodes = self.count
                    return node
                node = self.close(node, [])
            elif not self._active:
                return None
            else:
                # Another worker may still bring children.
                self._changed.wait(0.1)
                self.progress.clock.checkpoint()

    @contextmanager
    def unlocked(self) -> Iterator[None]:
        """Let another worker go on meanwhile."""
        self._changed.release()
        try:
            yield
        finally:
            self._changed.acquire()

    def run(self, first: Callable[[], object], others: Sequence[Callable[[], object]]) -> None:
        """Run the workers until one has nothing left: then none has."""
        if not others:
            with self._changed:
                first()
            return
        # This thread only waits. Ctrl-C comes here, and a worker that it hit between two steps
        # could leave the lock, or a node, in nobody's hands. An interrupted Thread.join takes
        # the thread for dead (CPython 3.11), so workers say themselves when they are gone.
        waiting, begun = [first, *others], []
        while True:
            try:
                while waiting and self._failure is None:
                    gone = threading.Event()
                    work = partial(self._guarded, waiting.pop(0), gone)
                    threading.Thread(target=work, daemon=True).start()
                    begun.append(gone)
                for gone in begun:
                    gone.wait()
                break
            except BaseException as error:
                self._fail(error)
        if self._failure is not None:
            raise self._failure

    def _guarded(self, work: Callable[[], object], gone: threading.Event) -> None:
        with self._changed:
            try:
                work()
                self._ended = True
            except BaseException as error:
                if not (self._ended and isinstance(error, OutOfTime)):
                    self._fail(error)
            self._changed.notify_all()
        gone.set()

    def _fail(self, error: BaseException) -> None:
        # Others that are stopped for it end as if time were over; the reason comes first.
        if self._failure is None or isinstance(self._failure, OutOfTime):
            self._failure = error

    def checkpoint(self) -> None:
        """Raise where the time is over, all is done, or another worker has failed."""
        if self._ended or self._failure is not None:
            raise OutOfTime
        self.progress.clock.checkpoint()
