"""Worker processes on this machine, or on a Dask cluster that is already running."""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

from milpbn.clock import OutOfTime
from milpbn.errors import OptionError
from milpbn.messages import Message, option

if TYPE_CHECKING:
    from distributed import Client

# Seconds to wait for an answer of a scheduler, and for its goodbye.
_CONNECT = 15.0
_CLOSE = 2.0


class ClusterLost(OutOfTime):
    """The scheduler cannot be reached any more; the run ends with what it has."""


def require_dask(name: str) -> None:
    """Raise an error that names the extra if Dask, which this option needs, is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        message = Message(option(name), " needs Dask: pip install 'milpbn[cluster]'")
        raise OptionError(message) from None


@contextmanager
def cluster_client(workers: int, scheduler: str | None) -> Iterator[Client]:
    """A Dask client for local worker processes, or for the scheduler at an address.

    Local processes end with the block. A cluster that was running before goes on.

    Parameters
    ----------
    workers
        Number of local processes, if there is no scheduler.
    scheduler
        An address, such as ``tcp://10.0.0.5:8786``.
    """
    require_dask("scheduler" if scheduler else "workers")
    from distributed import Client, LocalCluster

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
    with _ctrl_c_blocked(), _nothing_collected():
        local = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,  # Python code runs under one lock per process
            dashboard_address="127.0.0.1:0",  # any free port, for this machine only
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
    with local:
        with _nothing_collected():
            client = Client(local, set_as_default=False)
        with _closing(client):
            yield client


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

    Ctrl-C in a terminal reaches all processes, but the command decides how a run ends.
    """
    resource_tracker.ensure_running()  # its start would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
