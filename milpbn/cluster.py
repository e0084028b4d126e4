"""Worker processes on this machine, or on a Dask cluster that is already running."""

from __future__ import annotations

import atexit
import gc
import logging
import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from milpbn.clock import OutOfTime
from milpbn.errors import OptionError
from milpbn.messages import Message, option

if TYPE_CHECKING:
    from distributed import Client

# Seconds to wait for an answer of a scheduler, and for its goodbye.
_CONNECT = 15.0
_CLOSE = 2.0
# Seconds that the end of Python waits for local processes.
_ENDING = 10.0


class ClusterLost(OutOfTime):
    """The scheduler cannot be reached any more; the run ends with what it has."""


def require_dask(name: str) -> None:
    """Raise an error that names the extra if what this option needs is not installed.

    Local processes need Dask and keys; the scheduler of a cluster has its own.
    """
    needed = {"distributed": "Dask"}
    if name == "workers":
        needed["cryptography"] = "the package cryptography"
    for module, what in needed.items():
        try:
            import_module(module)
        except ImportError:
            message = Message(option(name), f" needs {what}: pip install 'milpbn[cluster]'")
            raise OptionError(message) from None


def results_as_they_come(tasks: list[Any], n_jobs: int | None) -> Iterator[Any]:
    """Yield results as they come; when the caller stops, unfinished tasks are abandoned.

    `tasks` were made by ``joblib.delayed``.
    """
    from joblib import Parallel  # slow to import

    if not tasks:
        return
    results = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="all")(tasks)
    try:
        yield from results
    finally:
        results.close()


@contextmanager
def cluster_client(workers: int, scheduler: str | None) -> Iterator[Client]:
    """A Dask client for local worker processes, or for the scheduler at an address.

    Local processes end with the block. They accept only connections with keys that are made for
    this block and kept in memory, because whoever reaches a scheduler can run code; and their HTTP
    servers have no pages. A cluster that was running before goes on, with the keys of Dask's
    configuration.

    Parameters
    ----------
    workers
        Number of local processes, if there is no scheduler.
    scheduler
        An address, such as ``tcp://10.0.0.5:8786``.
    """
    require_dask("scheduler" if scheduler else "workers")
    from distributed import Client, LocalCluster, Security

    if scheduler is not None:
        client, reason = None, ""
        try:
            with _nothing_collected():
                client = Client(scheduler, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            reason = str(error)
        if client is None:
            gc.collect()  # the client that failed is closed now, see below
            raise OptionError(f"cannot connect to a Dask scheduler at {scheduler!r}: {reason}")
        with _closing(client):
            yield client
        return
    with _ctrl_c_blocked(), _nothing_collected(), _no_pages():
        local = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,  # Python code runs under one lock per process
            security=Security.temporary(),
            dashboard_address="127.0.0.1:0",  # any free port instead of 8787
            scheduler_kwargs={"dashboard": False},
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
    with local:
        with _nothing_collected():
            client = Client(local, set_as_default=False)
        with _closing(client):
            yield client


class LocalProcesses:
    """Local processes that start and end beside the run, because both take seconds.

    Parameters
    ----------
    workers
        Number of processes.
    load
        Each process runs this coroutine before it is ready.
    """

    def __init__(self, workers: int, load: Callable[[], object]) -> None:
        self._workers, self._load = workers, load
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._ready, self._over = threading.Event(), threading.Event()
        self._others = {child.pid for child in multiprocessing.active_children()}
        self._client: Client | None = None
        self._error: Exception | None = None

    @property
    def _started(self) -> bool:
        return self._thread.ident is not None

    def start_once(self) -> None:
        """Start the processes, unless they have been started."""
        if not self._started:
            atexit.register(self._thread.join, _ENDING)
            self._thread.start()

    def _keep(self) -> None:
        try:
            with cluster_client(self._workers, None) as self._client:
                self._client.run(self._load)
                self._ready.set()
                self._over.wait()
        except Exception as error:
            self._error = error
        self._ready.set()

    def client(self) -> Client | None:
        """The client as soon as it is ready, else None; raises what went wrong at the start."""
        if not self._ready.is_set():
            return None
        if self._error is not None:
            raise self._error
        return self._client

    def end(self) -> None:
        """End the processes; those that are starting would complain about a missing parent."""
        self._over.set()
        if self._started and not self._ready.is_set():
            for child in multiprocessing.active_children():
                if child.pid not in self._others and child.name.startswith("Dask Worker"):
                    child.kill()


@contextmanager
def _no_pages() -> Iterator[None]:
    """Dask's HTTP servers cannot be switched off, but have nothing to show."""
    import dask

    routes: dict[str, list[str]] = {
        f"distributed.{who}.http.routes": [] for who in ("scheduler", "worker")
    }
    with dask.config.set(routes):
        yield


@contextmanager
def _closing(client: Client) -> Iterator[Client]:
    try:
        yield client
    finally:
        # An error: nobody is there any more.
        with suppress(OSError, TimeoutError), _nothing_collected():
            client.close(timeout=_CLOSE)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Keep the garbage collector away while a client starts or ends.

    It may find a client that could not connect, or lost its scheduler. Such a client closes itself
    when it is collected, and then waits for ever for the lock that the other client has.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Block SIGINT for threads and processes that are started in the block.

    Ctrl-C in a terminal reaches all processes, but the command decides how a run ends. Windows
    cannot block it.
    """
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # its start would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
