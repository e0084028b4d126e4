"""Worker processes of joblib that end with the command that started them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# The command exits without shutting down the interpreter, so joblib never withdraws the temporary
# folders that it has announced. Its resource tracker removes them, and should not complain.
_SILENT = "ignore:resource_tracker:UserWarning"


@contextmanager
def ending_workers(jobs: int, *, kill: bool = False) -> Iterator[None]:
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
