"""The supervisor of a distributed run: it owns the tree and gives its nodes to workers.

The root is processed here, and so are the first nodes: most problems are small. Then each worker
gets a task of a few of the best open nodes and some seconds (:mod:`milpbn.engines.subtrees`). Nodes
that are out stay in the tree as nodes that are being processed. So the bound, which is the largest
of all open nodes, is valid at every moment, a checkpoint contains them, and a task that is lost
with its worker is given out again. Structures travel at once: a worker sends a better one as an
event, and the supervisor sends it to all others, which notice it before their next node.
"""

from __future__ import annotations

import atexit
import multiprocessing
import queue
import secrets
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from milpbn.cluster import ClusterLost, cluster_client, require_dask
from milpbn.engines.snapshot import (
    Incumbent,
    incumbent_of,
    load_incumbent,
    load_node,
    save_node,
    take_snapshot,
)
from milpbn.engines.subtrees import (
    Answer,
    SharedProblem,
    Task,
    hear,
    load_everything,
    load_problem,
    work_on,
)
from milpbn.engines.tree import Node, TreeRecord
from milpbn.errors import SolverError

if TYPE_CHECKING:
    from distributed import Client, Future

    from milpbn.engines.branch_and_cut import BranchAndCut

# Local processes are started if the tree is still open after this many seconds of branching, and if
# this many are left. Starting takes some seconds, in which nodes are processed here.
_ALONE_SECONDS = 3.0
_WORTH_STARTING = 10.0
# The end of Python waits this many seconds for them.
_ENDING = 10.0
# Open nodes per worker before nodes are given out; a worker gets at most this many at once.
_NODES_PER_WORKER = 2
_NODES_PER_TASK = 16
# Seconds of a task: if there are few open nodes; otherwise a share of the time so far, from the
# first to the longest. A tree that takes seconds ends soon after its last task was given out.
_SHORT_TASK = 0.1
_TASK_SHARE = 0.1
_FIRST_TASK = 0.3
_TASK = 3.0
# Seconds between two looks at the time, and at the workers of the cluster.
_PATIENCE = 0.2
_ROLL_CALL = 1.0
# The same nodes are not given out again after they were lost with their workers this often.
_LOSSES = 3


def supervise(search: BranchAndCut) -> None:
    """Search the tree with workers."""
    options = search.options
    if options.scheduler is not None:
        # Connect first: a wrong address is reported before the root is processed.
        with cluster_client(0, options.scheduler) as client:
            if _work_alone(search, search.start(), 1, lambda: True):
                _Supervisor(search, client).run()
        return
    require_dask("workers")
    first, alone = search.start(), time.perf_counter() + _ALONE_SECONDS
    if not _work_alone(search, first, 1, lambda: time.perf_counter() >= alone):
        return
    if search.progress.clock.remaining < _WORTH_STARTING:
        search.worker.work(search.tree.next(None))
        return
    processes = _LocalProcesses(options.workers)
    processes.start()
    try:
        if _work_alone(search, None, options.workers, processes.ready.is_set):
            _Supervisor(search, processes.client()).run()
    finally:
        processes.end()


class _LocalProcesses(threading.Thread):
    """Starts worker processes and ends them, both of which takes seconds, beside the run."""

    def __init__(self, workers: int) -> None:
        super().__init__(daemon=True)
        self.ready, self._over = threading.Event(), threading.Event()
        self._workers = workers
        self._others = {child.pid for child in multiprocessing.active_children()}
        self._client: Client | None = None
        self._error: Exception | None = None
        atexit.register(self.join, _ENDING)

    def run(self) -> None:
        """Keep the processes until the run is over."""
        try:
            with cluster_client(self._workers, None) as self._client:
                self._client.run(load_everything)
                self.ready.set()
                self._over.wait()
        except Exception as error:
            self._error = error
        self.ready.set()

    def end(self) -> None:
        """End the processes; those that are starting would complain about a missing parent."""
        self._over.set()
        if not self.ready.is_set():
            for child in multiprocessing.active_children():
                if child.pid not in self._others and child.name.startswith("Dask Worker"):
                    child.kill()

    def client(self) -> Client:
        """The client, when it is ready; raises what went wrong."""
        if self._error is not None:
            raise self._error
        assert self._client is not None
        return self._client


def _work_alone(
    search: BranchAndCut, first: Node | None, workers: int, enough: Callable[[], bool]
) -> bool:
    """Process nodes here until it is enough and each worker can get some; returns whether it is.

    Otherwise the search is over.
    """
    tree, node = search.tree, search.tree.next(first)
    while node is not None:
        if tree.n_waiting >= _NODES_PER_WORKER * workers and enough():
            tree.put([node], [node], TreeRecord(count=-1))  # it was counted, but not processed
            return True
        node = search.worker.step(node)
    return False


def task_seconds(n_waiting: int, workers: int, age: float) -> float:
    """How long a task may take, some seconds after the first was given out."""
    if n_waiting < _NODES_PER_WORKER * workers:
        return _SHORT_TASK
    return min(max(_FIRST_TASK, _TASK_SHARE * age), _TASK)


class _Supervisor:
    """One run with workers.

    Parameters
    ----------
    search
        The run; its tree has open nodes.
    client
        Where the workers are.
    """

    def __init__(self, search: BranchAndCut, client: Client) -> None:
        self.search = search
        self.tree = search.tree
        self.progress = search.progress
        self.client = client
        self.key = f"milpbn-{secrets.token_hex(8)}"
        self._events: queue.SimpleQueue[Future | bytes] = queue.SimpleQueue()
        self._out: dict[str, tuple[Future, list[Node], int]] = {}
        self._lost: list[tuple[list[Node], int]] = []
        self._made = 0
        self._workers = 0
        self._counted = -np.inf
        self._began = time.perf_counter()
        self._known = self.progress.value
        self._problem: Any = None

    def run(self) -> None:
        """Give out nodes until none is open, or the requested gap is reached."""
        try:
            self._begin()
            self.tree.report()
            while not self.tree.done():
                self._give_out()
                if not self.tree.open_nodes:
                    return
                self._wait()
                self.tree.report()
                self.tree.checkpoint()
        except OSError as error:
            # Dask's communication errors are operating system errors.
            raise ClusterLost(str(error)) from None
        finally:
            self._end()

    def _begin(self) -> None:
        problem = SharedProblem(
            self.key,
            self.search.objective,
            take_snapshot(self.search),
            self.search.options.seed,
            self.tree.log.recording,
        )
        self.client.subscribe_topic(self.key, lambda event: self._events.put(event[1]))
        with warnings.catch_warnings():
            # The data are sent once; if the workers that have them are lost, Dask sends them again.
            warnings.filterwarnings("ignore", "Sending large graph")
            packed = problem.packed()
            self._problem = self.client.submit(load_problem, packed, key=f"{self.key}-problem")

    def _call_roll(self) -> None:
        """Count the workers, from time to time: some may have joined, others may be gone."""
        now = time.perf_counter()
        if now >= self._counted + _ROLL_CALL:
            self._workers, self._counted = sum(self.client.nthreads().values()), now

    def _give_out(self) -> None:
        """Give nodes to all workers that have none, those of lost tasks first."""
        self._call_roll()
        while len(self._out) < self._workers:
            nodes, losses = self._lost.pop() if self._lost else (self._take(), 0)
            if not nodes:
                return
            self.tree.log.lend(nodes)
            age = time.perf_counter() - self._began
            seconds = task_seconds(self.tree.n_waiting, self._workers, age)
            task = Task(
                tuple(map(save_node, nodes)),
                incumbent_of(self.progress),
                self.tree.record,
                min(seconds, self.progress.clock.remaining),
            )
            self._made += 1
            key = f"{self.key}-{self._made}"
            packed = msgspec.msgpack.encode(task)
            future = self.client.submit(work_on, self._problem, packed, key=key)
            self._out[key] = future, nodes, losses
            future.add_done_callback(self._events.put)

    def _take(self) -> list[Node]:
        share = self.tree.n_waiting // max(self._workers, 1)
        return self.tree.take(min(max(share, 1), _NODES_PER_TASK))

    def _wait(self) -> None:
        """Deal with what has happened, or wait a little."""
        if self.client.status != "running":
            raise ClusterLost("the connection was closed")
        with suppress(queue.Empty):
            event = self._events.get(timeout=_PATIENCE)
            while True:
                if isinstance(event, bytes):
                    self._offer(msgspec.msgpack.decode(event, type=Incumbent))
                else:
                    self._receive(event)
                event = self._events.get_nowait()
        if self.progress.value > self._known:
            self._known = self.progress.value
            self._tell(msgspec.msgpack.encode(incumbent_of(self.progress)))

    def _offer(self, incumbent: Incumbent) -> None:
        if incumbent.value > self.progress.value:
            families = load_incumbent(incumbent, self.search.objective)
            self.progress.incumbent(families, incumbent.source)

    def _receive(self, future: Future) -> None:
        """Replace the nodes of a task by those that it left."""
        if future.key not in self._out:
            return
        _, nodes, losses = self._out.pop(future.key)
        if future.status != "finished":
            self._deal_with_loss(future, nodes, losses)
            return
        answer = msgspec.msgpack.decode(future.result(), type=Answer)
        self._offer(answer.incumbent)
        left = [load_node(node, self.search.objective.space) for node in answer.nodes]
        # As always, what was discarded counts before the log relies on it.
        self.tree.settle(answer.record.settled)
        self.tree.log.join(nodes, answer.log, left)
        self.tree.put(nodes, left, answer.record)

    def _deal_with_loss(self, future: Future, nodes: list[Node], losses: int) -> None:
        from distributed import KilledWorker

        if self.client.status != "running":
            raise ClusterLost("the connection was closed")
        error = future.exception() if future.status == "error" else None
        if error is not None and not isinstance(error, KilledWorker):
            raise error
        if losses >= _LOSSES:
            raise SolverError(
                "a part of the tree was lost with its worker several times; are the workers "
                "killed because they have too little memory?"
            )
        self._lost.append((nodes, losses + 1))

    def _tell(self, incumbent: bytes | None) -> None:
        """Send a structure to all workers, or None for the end, without waiting for answers."""
        self.client.run(hear, self.key, incumbent, wait=False, on_error="ignore")

    def _end(self) -> None:
        """End what is still running; the nodes of these tasks are open as they were given out."""
        with suppress(OSError, TimeoutError):
            if self.client.status == "running":
                self._tell(None)
                self.client.unsubscribe_topic(self.key)
                self.client.cancel([future for future, _, _ in self._out.values()])
