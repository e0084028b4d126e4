"""The branch-and-cut tree: open nodes, their common bound, and the nodes being processed.

A node is a set of families that are still allowed and a set of pairs that must be joined.
Workers take nodes, close or split them (:mod:`milpbn.engines.worker`), and return children.
All Python code runs under one lock. A worker releases it while its linear program is solved,
so that two workers use two cores. With one worker the run is deterministic.
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

# The better child is processed at once if about this many branchings or fewer will close it,
# and if it is no further below the best open node than this share of the gap.
_NEAR_END = 30
_NEAR_TOP = 0.25

Candidate = Edge | int
"""What can be branched on: a pair of variables, or a family."""


@dataclass(frozen=True)
class Origin:
    """The branching that created a node: candidate, side, distance, and the parent's bound."""

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
        """The fall of the bound from parent to node; None if the node is empty."""
        if self.origin is None or not np.isfinite(self.bound):
            return None
        return max(self.origin.bound - self.bound, 0.0)


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
        """Nodes whose bound is not above this are discarded."""
        return self.progress.value + 0.5 * allowed_gap(self.progress.value)

    def settle(self, bound: float) -> None:
        """Record that structures scoring up to `bound` have been discarded."""
        self._settled = max(self._settled, bound)

    def report(self) -> None:
        """Report the bound of the whole tree: open nodes, and what has been discarded."""
        if self._failure is not None:
            return  # the node of a worker that failed may be lost
        open_bounds = [n.bound for n in self._active]
        if self._heap:
            open_bounds.append(self._heap[0].bound)
        bound = max([self._settled, self.progress.value, *open_bounds])
        self.progress.improve_bound(bound, self.count, "branch-and-cut")

    def close(self, node: Node, children: list[Node]) -> Node | None:
        """Replace a node by its children; returns the better one if it should be processed next."""
        self._active.remove(node)
        if node.fall is not None:
            self._falls += node.fall
            self._branchings += 1
        if not children:
            self.settle(node.bound)
        kept = []
        for child in children:
            child.bound = min(child.bound, node.bound)
            if child.bound <= self.cutoff:
                self.settle(child.bound)
            else:
                self._made += 1
                child.number = self._made
                child.__post_init__()
                kept.append(child)
        kept.sort(reverse=True)
        best = kept.pop() if kept and self._should_plunge(kept[-1].bound) else None
        for child in kept:
            heapq.heappush(self._heap, child)
        if best is not None:
            self._active.append(best)
        self._changed.notify_all()
        return best

    def _should_plunge(self, bound: float) -> bool:
        """Whether to continue with a child, from the last basis, rather than with the best node.

        Far from the end, or far below the best open node, this would only delay better nodes,
        and the bound of the tree is theirs.
        """
        left = bound - self.cutoff
        others = [n.bound for n in (*self._active, *self._heap[:1])]
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
            node.__post_init__()  # the bound may have fallen since
        heapq.heapify(self._heap)

    def done(self) -> bool:
        """Whether the requested gap is reached, or a worker has failed."""
        gap = self.progress.bound - self.progress.value
        allowed = max(self.gap * abs(self.progress.value), allowed_gap(self.progress.value))
        return gap <= allowed or self._failure is not None

    def next(self, node: Node | None) -> Node | None:
        """The next node: `node` itself, else the best open one; None if the search is over."""
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
                # Another worker may still add children.
                self._changed.wait(0.1)
                self.progress.clock.checkpoint()

    @contextmanager
    def unlocked(self) -> Iterator[None]:
        """Release the lock for other workers."""
        self._changed.release()
        try:
            yield
        finally:
            self._changed.acquire()

    def run(self, first: Callable[[], object], others: Sequence[Callable[[], object]]) -> None:
        """Run the workers until one finds no node left, which ends the search for all."""
        if not others:
            with self._changed:
                first()
            return
        # This thread only waits, because Ctrl-C arrives here: in a worker it could come between
        # two steps and leave the lock held or a node lost. An interrupted Thread.join regards the
        # thread as finished (CPython 3.11), so each worker sets an event when it ends.
        waiting, started = [first, *others], []
        while True:
            try:
                while waiting and self._failure is None:
                    finished = threading.Event()
                    work = partial(self._guarded, waiting.pop(0), finished)
                    threading.Thread(target=work, daemon=True).start()
                    started.append(finished)
                for finished in started:
                    finished.wait()
                break
            except BaseException as error:
                self._fail(error)
        if self._failure is not None:
            raise self._failure

    def _guarded(self, work: Callable[[], object], finished: threading.Event) -> None:
        with self._changed:
            try:
                work()
                self._ended = True
            except BaseException as error:
                if not (self._ended and isinstance(error, OutOfTime)):
                    self._fail(error)
            self._changed.notify_all()
        finished.set()

    def _fail(self, error: BaseException) -> None:
        # The other workers then end with OutOfTime, which must not replace the cause.
        if self._failure is None or isinstance(self._failure, OutOfTime):
            self._failure = error

    def checkpoint(self) -> None:
        """Raise if the time is over, the search has ended, or a worker has failed."""
        if self._ended or self._failure is not None:
            raise OutOfTime
        self.progress.clock.checkpoint()
