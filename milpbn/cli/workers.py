"""Worker processes of a command: local ones that end with it, or those of a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from milpbn.cli.grouping import Decorator, Group, option, option_group
from milpbn.cli.options import setting_option
from milpbn.cli.params import Jobs

# The command exits without shutting down the interpreter, so joblib never withdraws the temporary
# folders that it has announced. Its resource tracker removes them, and should not complain.
_SILENT = "ignore:resource_tracker:UserWarning"


def jobs_options(what: str) -> Decorator:
    """The options --jobs and --scheduler; `what` is the help text of the first."""
    jobs = option(
        Group.LIMITS,
        "--jobs",
        type=Jobs(),
        default=1,
        show_default=True,
        help=what,
        old=("--workers",),
    )
    return option_group((jobs, setting_option("scheduler")))


def n_jobs(options: Mapping[str, Any]) -> int | None:
    """The number of joblib's jobs; None if the workers of a cluster decide."""
    return None if options["scheduler"] else options["jobs"]


@contextmanager
def worker_processes(options: Mapping[str, Any], *, kill: bool = False) -> Iterator[None]:
    """Run joblib's tasks in local processes or on a cluster; with `kill`, end busy ones too."""
    if options["scheduler"]:
        with _on_cluster(options["scheduler"]):
            yield
    else:
        with _ending_workers(options["jobs"], kill=kill):
            yield


@contextmanager
def _on_cluster(scheduler: str) -> Iterator[None]:
    import joblib

    from milpbn.cluster import cluster_client
    from milpbn.errors import MilpbnError

    with cluster_client(0, scheduler) as client:
        try:
            with joblib.parallel_config(backend="dask", client=client):
                yield
        except (OSError, CancelledError):
            if client.status == "running":
                raise
            raise MilpbnError(
                f"the connection to the Dask scheduler at {scheduler} was lost; what was finished "
                "before is in the output file, if there is one"
            ) from None


@contextmanager
def _ending_workers(jobs: int, *, kill: bool = False) -> Iterator[None]:
    """End idle worker processes and free their shared memory; with `kill`, busy ones too.

    They would end by themselves only after some minutes. The command exits without shutting
    down the interpreter, so they would outlive it and print warnings.
    """
    given = os.environ.get("PYTHONWARNINGS", "")
    os.environ["PYTHONWARNINGS"] = f"{given},{_SILENT}" if given else _SILENT
    try:
        yield
    finally:
        os.environ["PYTHONWARNINGS"] = given
        if jobs != 1:
            from joblib.externals.loky import get_reusable_executor

            executor = get_reusable_executor(reuse=True)
            # joblib's own kind of executor also removes its temporary folder.
            stop = getattr(executor, "terminate", executor.shutdown)
            stop(kill_workers=kill)
