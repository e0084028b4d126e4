"""Worker processes of joblib that end with the command that started them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ending_workers(jobs: int, *, kill: bool = False) -> Iterator[None]:
    """End idle worker processes and free their shared memory; with `kill`, busy ones too.

    They would end by themselves only after some minutes. The command exits without shutting
    down the interpreter, so they would outlive it and print warnings.
    """
    try:
        yield
    finally:
        if jobs != 1:
            from joblib.externals.loky import get_reusable_executor

            executor = get_reusable_executor(reuse=True)
            # joblib's own kind of executor also removes its temporary folder.
            stop = getattr(executor, "terminate", executor.shutdown)
            stop(kill_workers=kill)
