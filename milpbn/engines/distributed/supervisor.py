"""The supervisor of a distributed run: it owns the tree and gives its nodes to workers.

The root is processed here, and so are the first nodes: most problems are small. If that takes
seconds, workers that have nothing to do search for better structures meanwhile. Then each worker
gets a task of a few of the best open nodes and some seconds
(:mod:`milpbn.engines.distributed.subtrees`). Nodes that are out stay in the tree as nodes that are
being processed. So the bound, which is the largest of all open nodes, is valid at every moment, a
checkpoint contains them, and a task that is lost with its worker is given out again. Structures
travel at once: a worker sends a better one as an event, and the supervisor sends it to all others,
which notice it before their next node.
"""

from __future__ import annotations

import queue
import secrets
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from milpbn.cluster import ClusterLost, LocalProcesses, cluster_client, require_dask
from milpbn.engines.branch_and_cut.tree import Node, TreeRecord
from milpbn.engines.distributed.snapshot import (
    Incumbent,
    incumbent_of,
    load_incumbent,
    load_node,
    pack_snapshot,
    save_node,
    take_snapshot,
)
from milpbn.engines.distributed.subtrees import (
    Answer,
    SharedProblem,
    Task,
    hear,
    load_everything,
    load_problem,
    load_start,
    look_for,
    work_on,
)
from milpbn.errors import SolverError

if TYPE_CHECKING:
    from distributed import Client, Future

    from milpbn.engines.branch_and_cut.engine import BranchAndCut

# Local processes are started if the tree is still open after this many seconds, and if this many
# are left. Starting takes some seconds, in which nodes are processed here. Workers of a cluster
# search for structures after the same time.
_ALONE_SECONDS = 3.0
_WORTH_STARTING = 10.0
# Open nodes per worker before nodes are given out; a worker gets at most this many at once.
_NODES_PER_WORKER = 2
_NODES_PER_TASK = 16
# Seconds of a task: if there are few open nodes; otherwise a share of the time so far, from the
# first to the longest. A tree that takes seconds ends soon after its last task was given out.
_SHORT_TASK = 0.1
_TASK_SHARE = 0.1
_FIRST_TASK = 0.3
_TASK = 3.0
# Seconds of a local search.
_SEARCH = 5.0
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
            _Supervisor(search, lambda: client).run()
        return
    require_dask("workers")
    processes, clock = LocalProcesses(options.workers, load_everything), search.progress.clock
    due = time.perf_counter() + _ALONE_SECONDS

    def connect() -> Client | None:
        if time.perf_counter() >= due and clock.remaining >= _WORTH_STARTING:
            processes.start_once()
        return processes.client()

    try:
        _Supervisor(search, connect, own=1).run()
    finally:
        processes.end()


def task_seconds(n_waiting: int, workers: int, age: float) -> float:
    """How long a task may take, some seconds after the first was given out."""
    if n_waiting < _NODES_PER_WORKER * workers:
        return _SHORT_TASK
    return min(max(_FIRST_TASK, _TASK_SHARE * age), _TASK)


@contextmanager
def _naming_loss() -> Iterator[None]:
    """Dask's communication errors are operating system errors."""
    try:
        yield
    except OSError as error:
        raise ClusterLost(str(error)) from None


class _Supervisor:
    """One run with workers.

    Parameters
    ----------
    search
        The run.
    connect
        Returns where the workers are, or None as long as they are not ready.
    own
        How many of the workers' processors this process uses as long as it processes nodes.
    """

    def __init__(
        self, search: BranchAndCut, connect: Callable[[], Client | None], own: int = 0
    ) -> None:
        self.search = search
        self.tree = search.tree
        self.progress = search.progress
        self._connect = connect
        self._own = own
        self.key = f"milpbn-{secrets.token_hex(8)}"
        self._events: queue.SimpleQueue[Future | bytes] = queue.SimpleQueue()
        self._out: dict[str, tuple[Future, list[Node], int]] = {}
        self._searching: dict[str, tuple[Future, float]] = {}
        self._lost: list[tuple[list[Node], int]] = []
        self._made = 0
        self._workers = 0
        self._counted = -np.inf
        self._began = time.perf_counter()
        self._known = self.progress.value
        self._problem: Any = None
        self._start: Any = None

    def run(self) -> None:
        """Search until no node is open, or the requested gap is reached."""
        self.tree.after_report.append(self._employ)
        try:
            if self._work_alone(self.search.start()):
                self.tree.after_report.remove(self._employ)
                with _naming_loss():
                    self._share()
        finally:
            self._end()

    @property
    def client(self) -> Client:
        """Where the workers are, when they are ready."""
        client = self._connect()
        assert client is not None
        return client

    def _work_alone(self, first: Node | None) -> bool:
        """Process nodes here until each worker can get some; returns whether it can.

        Otherwise the search is over.
        """
        node = self.tree.next(first)
        while node is not None:
            if self._has_nodes and self._connect() is not None:
                # It was counted, but not processed.
                self.tree.put([node], [node], TreeRecord(count=-1))
                return True
            node = self.search.processor.step(node)
        return False

    @property
    def _has_nodes(self) -> bool:
        """Whether there are nodes for all workers, of a cluster for one."""
        return self.tree.n_waiting >= _NODES_PER_WORKER * max(self.search.options.workers, 1)

    def _employ(self) -> None:
        """Let workers search for structures as long as there are too few nodes for them."""
        early = time.perf_counter() < self._began + _ALONE_SECONDS
        if early or self._has_nodes or self._connect() is None:
            return
        with _naming_loss():
            self._begin()
            self._wait(0)
            self._call_roll()
            for _ in range(self._workers - self._own - len(self._searching)):
                self._send_searching()

    def _share(self) -> None:
        """Give out nodes until none is open."""
        self._begin()
        self._start = self._send_once(load_start, pack_snapshot(take_snapshot(self.search)))
        self._began = time.perf_counter()
        self.tree.report()
        while not self.tree.done():
            self._give_out()
            if not self.tree.open_nodes:
                return
            self._wait(_PATIENCE)
            self.tree.report()
            self.tree.checkpoint()

    def _begin(self) -> None:
        """Send the problem, the first time."""
        if self._problem is None:
            search = self.search
            problem = SharedProblem(
                self.key, search.objective, search.options.seed, self.tree.log.recording
            )
            self.client.subscribe_topic(self.key, lambda event: self._events.put(event[1]))
            self._problem = self._send_once(load_problem, problem.packed())

    def _send_once(self, load: Callable[[bytes], object], packed: bytes) -> Future:
        """Send what all tasks need; if the workers that have it are lost, Dask sends it again."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.client.submit(load, packed, key=f"{self.key}-{load.__name__}")

    def _call_roll(self) -> None:
        """Count the workers, from time to time: some may have joined, others may be gone."""
        now = time.perf_counter()
        if now >= self._counted + _ROLL_CALL:
            self._workers, self._counted = sum(self.client.nthreads().values()), now

    def _give_out(self) -> None:
        """Give nodes to all workers that have none, those of lost tasks first."""
        self._call_roll()
        while len(self._out) + len(self._searching) < self._workers:
            nodes, losses = self._lost.pop() if self._lost else (self._take(), 0)
            if not nodes:
                return
            self.tree.log.lend(nodes)
            age = time.perf_counter() - self._began
            seconds = task_seconds(self.tree.n_waiting, self._workers, age)
            task = self._submit(nodes, seconds, work_on, self._problem, self._start)
            self._out[task.key] = task, nodes, losses

    def _send_searching(self) -> None:
        """Let a worker search for a better structure."""
        task = self._submit([], _SEARCH, look_for, self._problem)
        self._searching[task.key] = task, self.progress.value

    def _submit(self, nodes: list[Node], seconds: float, work: Any, *shared: Future) -> Future:
        task = Task(
            tuple(map(save_node, nodes)),
            incumbent_of(self.progress),
            self.tree.record,
            min(seconds, self.progress.clock.remaining),
        )
        self._made += 1
        packed = msgspec.msgpack.encode(task)
        future = self.client.submit(work, *shared, packed, key=f"{self.key}-{self._made}")
        future.add_done_callback(self._events.put)
        return future

    def _take(self) -> list[Node]:
        share = self.tree.n_waiting // max(self._workers, 1)
        return self.tree.take(min(max(share, 1), _NODES_PER_TASK))

    def _wait(self, seconds: float) -> None:
        """Deal with what has happened, or wait a little."""
        self._check_connection()
        with suppress(queue.Empty):
            event = self._events.get(timeout=seconds)
            while True:
                if isinstance(event, bytes):
                    self._offer(msgspec.msgpack.decode(event, type=Incumbent))
                else:
                    self._receive(event)
                event = self._events.get_nowait()
        if self.progress.value > self._known:
            self._known = self.progress.value
            self._tell(msgspec.msgpack.encode(incumbent_of(self.progress)))

    def _check_connection(self) -> None:
        if self.client.status != "running":
            raise ClusterLost("the connection was closed")

    def _offer(self, incumbent: Incumbent) -> None:
        if incumbent.value > self.progress.value:
            families = load_incumbent(incumbent, self.search.objective)
            self.progress.incumbent(families, incumbent.source)

    def _receive(self, future: Future) -> None:
        """Replace the nodes of a task by those that it left."""
        if future.key in self._searching:
            self._receive_structure(future)
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

    def _receive_structure(self, future: Future) -> None:
        """Continue a search as long as there is something to find."""
        _, before = self._searching.pop(future.key)
        if future.status != "finished":
            self._raise_error(future)
            return
        found = msgspec.msgpack.decode(future.result(), type=Incumbent)
        self._offer(found)
        if found.value > before:
            self._send_searching()

    def _raise_error(self, future: Future) -> None:
        """Raise what went wrong in a task that is not finished, unless its worker was lost."""
        from distributed import KilledWorker

        self._check_connection()
        error = future.exception() if future.status == "error" else None
        if error is not None and not isinstance(error, KilledWorker):
            raise error

    def _deal_with_loss(self, future: Future, nodes: list[Node], losses: int) -> None:
        self._raise_error(future)
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
        if self._problem is None:
            return  # no worker was needed
        with suppress(OSError, TimeoutError):
            if self.client.status == "running":
                self._tell(None)
                self.client.unsubscribe_topic(self.key)
                out = (*self._out.values(), *self._searching.values())
                self.client.cancel([future for future, *_ in out])
