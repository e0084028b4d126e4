"""The part of a distributed run that happens in a worker process.

A task is a few open nodes and some seconds. The worker searches the trees below these nodes, the
best node first, and returns the nodes that are open at the end. While there are too few nodes for
all workers, a task without nodes is a local search for better structures. A worker's oracle, its
linear program with all cuts, its pseudo-costs and its heuristics stay from one task to the next. A
worker has nothing that others need: if it is lost, its nodes are given to another one.

If the run has a certificate, a worker returns what it has logged with the nodes that it leaves:
both are valid only together. What a lost worker has logged is lost with its nodes.
"""

from __future__ import annotations

import itertools
import pickle
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass

import msgspec
import numpy as np

import milpbn
from milpbn.anytime import Progress, SolveOptions
from milpbn.clock import Clock, OutOfTime
from milpbn.engines.branch_and_cut.engine import BranchAndCut
from milpbn.engines.branch_and_cut.proof import SubtreeLog
from milpbn.engines.branch_and_cut.tree import Node, Tree, TreeRecord
from milpbn.engines.certificates.proof_lines import SubtreeLines
from milpbn.engines.distributed.snapshot import (
    Incumbent,
    SavedNode,
    Snapshot,
    incumbent_of,
    load_node,
    restore_cuts,
    save_node,
)
from milpbn.errors import SolverError
from milpbn.scores import Objective

# A local search ends after this many consecutive failures.
_PATIENCE = 300


@dataclass(frozen=True)
class SharedProblem:
    """What a worker needs once.

    Attributes
    ----------
    key
        The name of the run.
    objective
        The objective; its tables are counted again by the worker.
    seed
        Random seed; each worker adds its own number.
    recording
        Whether workers log their proofs.
    version
        The version of milpbn.
    """

    key: str
    objective: Objective
    seed: int
    recording: bool = False
    version: str = milpbn.__version__

    def packed(self) -> bytes:
        """The problem as bytes."""
        return zlib.compress(pickle.dumps(self), level=1)


class Task(msgspec.Struct, frozen=True):
    """Open nodes, the best structure so far, and the seconds to spend."""

    nodes: tuple[SavedNode, ...]
    incumbent: Incumbent
    record: TreeRecord
    seconds: float


class Answer(msgspec.Struct, frozen=True):
    """The nodes that are open after a task, the best structure, what was done, and its proof."""

    nodes: tuple[SavedNode, ...]
    incumbent: Incumbent
    record: TreeRecord
    log: SubtreeLog | None = None


def load_problem(packed: bytes) -> SharedProblem:
    """The problem, in a worker."""
    problem = pickle.loads(zlib.decompress(packed))
    if not isinstance(problem, SharedProblem) or problem.version != milpbn.__version__:
        raise SolverError(
            f"the workers have milpbn {milpbn.__version__}, but the run was started by "
            f"another version; install the same version everywhere"
        )
    return problem


def load_start(packed: bytes) -> Snapshot:
    """The state of the run after the root, in a worker, which needs its cuts and pseudo-costs."""
    return msgspec.msgpack.decode(zlib.decompress(packed), type=Snapshot)


class _News:
    """What the supervisor says while a task runs; all threads of a process share it."""

    def __init__(self) -> None:
        self.incumbent: Incumbent | None = None
        self.stopped = False


_news: dict[str, _News] = {}
# By run and thread, since a worker may have several threads.
_searches: dict[tuple[str, int], _WorkerSearch] = {}
_numbers = itertools.count(1)


async def hear(key: str, incumbent: bytes | None) -> None:
    """Receive a better structure for the tasks of a run, or None: they shall end.

    Dask runs a coroutine at once, beside the task of the worker, and nobody waits for its end.
    """
    news = _news.setdefault(key, _News())
    if incumbent is None:
        news.stopped = True
        for known in [k for k in _searches if k[0] == key]:
            del _searches[known]
    else:
        news.incumbent = msgspec.msgpack.decode(incumbent, type=Incumbent)


async def load_everything() -> None:
    """Nothing: a process that runs it has imported this module."""


class _Subtrees(Tree):
    """The nodes of a task."""

    news: _News
    tell: Callable[[bytes], None]
    until: float
    told: float
    before: int

    def begin(self, task: Task, tell: Callable[[bytes], None]) -> list[Node]:
        """Replace all nodes by those of a task, which are returned in their order."""
        self.tell, self.until = tell, time.perf_counter() + task.seconds
        nodes = [load_node(node, self.progress.objective.space) for node in task.nodes]
        falls, branchings = task.record.falls, task.record.branchings
        self.restore(nodes, TreeRecord(self.count, -np.inf, falls, branchings))
        self.offer(task.incumbent)
        self.told, self.before = self.progress.value, self.count
        return nodes

    def offer(self, incumbent: Incumbent | None) -> None:
        if incumbent is not None and incumbent.value > self.progress.value:
            families = np.array(incumbent.families, dtype=np.int64)
            self.progress.incumbent(families, incumbent.source)
            self.told = self.progress.value

    def report(self) -> None:
        """Nothing: the bound of some nodes is no bound on all structures."""

    def done(self) -> bool:
        """Whether the time of the task is over; a task processes one node at least.

        A better structure is received here, between two nodes.
        """
        self.offer(self.news.incumbent)
        self.send()
        over = self.count > self.before and time.perf_counter() >= self.until
        return self.news.stopped or over

    def send(self) -> None:
        """Send a structure that is better than the last that was sent or received."""
        if self.progress.value > self.told:
            self.told = self.progress.value
            self.tell(msgspec.msgpack.encode(incumbent_of(self.progress)))

    def checkpoint(self) -> None:
        """Raise if the run is over; send a better structure, if there is one."""
        if self.news.stopped:
            raise OutOfTime
        self.send()


class _WorkerSearch(BranchAndCut):
    tree_type = _Subtrees
    tree: _Subtrees
    has_cuts = False


def look_for(problem: SharedProblem, packed: bytes) -> bytes:
    """Search for better structures for the time of a task without nodes, in a worker."""
    task = msgspec.msgpack.decode(packed, type=Task)
    search = _search_for(problem)
    search.tree.begin(task, _teller(problem.key))
    with suppress(OutOfTime):
        search.processor.primal.search_widely(task.seconds, _PATIENCE)
    return msgspec.msgpack.encode(incumbent_of(search.progress))


def work_on(problem: SharedProblem, start: Snapshot, packed: bytes) -> bytes:
    """Search the trees below the nodes of a task, in a worker."""
    task = msgspec.msgpack.decode(packed, type=Task)
    search = _search_for(problem)
    if not search.has_cuts:
        restore_cuts(search, start)
        search.processor.relaxation.solve(tolerance=np.inf)
        search.processor.relaxation.begin_here()
        search.has_cuts = True
    tree, before = search.tree, search.tree.count
    tree.log.begin(search.oracle, tree.begin(task, _teller(problem.key)))
    with suppress(OutOfTime):
        search.processor.work(tree.next(None))
    now, then = tree.record, task.record
    done = TreeRecord(
        now.count - before, now.settled, now.falls - then.falls, now.branchings - then.branchings
    )
    nodes, log = tree.open_nodes, None
    if isinstance(tree.log, SubtreeLines):
        nodes, log = tree.log.hand_back()
    saved = tuple(map(save_node, nodes))
    return msgspec.msgpack.encode(Answer(saved, incumbent_of(search.progress), done, log))


def _search_for(problem: SharedProblem) -> _WorkerSearch:
    """The search of this thread, created for its first task."""
    own = problem.key, threading.get_ident()
    if own not in _searches:
        # Each thread counts its own tables.
        objective = deepcopy(problem.objective)
        progress = Progress(objective, Clock())
        options = SolveOptions(seed=problem.seed + next(_numbers))
        log = SubtreeLines(objective.space) if problem.recording else None
        search = _searches[own] = _WorkerSearch(objective, progress, options, log=log)
        search.tree.news = _news.setdefault(problem.key, _News())
    return _searches[own]


def _teller(key: str) -> Callable[[bytes], None]:
    """A function that sends a structure to the supervisor."""
    from distributed import get_worker

    worker = get_worker()

    def tell(structure: bytes) -> None:
        worker.log_event(key, structure)

    return tell
