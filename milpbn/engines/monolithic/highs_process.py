"""The process in which HiGHS runs for :class:`~milpbn.engines.monolithic.highs.HighsRun`.

It reads a task from standard input, says that it is ready, reads how many seconds it has, and
writes events to standard output, all of them pickled. It imports only what HiGHS needs.
"""

from __future__ import annotations

import math
import os
import pickle
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import highspy
import numpy as np

from milpbn._types import FloatArray
from milpbn.engines.monolithic.emit_highs import check_highs, new_highs, set_options
from milpbn.errors import SolverError
from milpbn.result import Status

Tell = Callable[..., None]
"""Reports an event: its kind, and what it is about."""

_START_TAKEN = re.compile(r"MIP start solution is feasible")

_STATUSES = {
    highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
    highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
    highspy.HighsModelStatus.kInterrupt: Status.INTERRUPTED,
    highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
    # Limits that a user may set by option: the run ends without a proof.
    highspy.HighsModelStatus.kSolutionLimit: Status.FEASIBLE,
    highspy.HighsModelStatus.kIterationLimit: Status.FEASIBLE,
    highspy.HighsModelStatus.kObjectiveTarget: Status.FEASIBLE,
}
# Programs without an optimum; any other status is a failure of HiGHS.
_NO_OPTIMUM = (
    highspy.HighsModelStatus.kUnbounded,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)


def run_process() -> NoReturn:
    """Solve the program that comes through standard input."""
    _be_the_one_to_end()
    events = os.fdopen(os.dup(1), "wb")
    # What HiGHS prints must not come between the events.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def tell(*event: Any) -> None:
        pickle.dump(event, events, protocol=5)
        events.flush()

    with suppress(BrokenPipeError, EOFError):  # there is nobody to tell
        serve(sys.stdin.buffer, tell)
    # Not sys.exit, which would wait for the thread that reads standard input.
    os._exit(0)


def _be_the_one_to_end() -> None:
    """If memory runs out, Linux ends this process rather than the one that knows the result."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def serve(tasks: BinaryIO, tell: Tell) -> None:
    """Solve a task; report solutions, bounds, and the answer or what went wrong."""
    try:
        _solve(tasks, tell)
    except SolverError as error:
        tell("refused", str(error))
    except MemoryError:
        tell("failed", "HiGHS ran out of memory")


def _solve(tasks: BinaryIO, tell: Tell) -> None:
    program, options, start = pickle.load(tasks)
    highs = new_highs()
    program.pass_to(highs)
    del program
    set_options(highs, **options)
    _listen(highs, tell)
    if start is not None:
        index = np.arange(len(start), dtype=np.int32)
        check_highs(highs.setSolution(len(start), index, start), "take the MIP start")
    tell("ready")
    seconds = pickle.load(tasks)
    if math.isfinite(seconds):
        set_options(highs, time_limit=seconds)
    threading.Thread(target=_end_with, args=(tasks,), daemon=True).start()
    if highs.run() == highspy.HighsStatus.kError:
        tell("failed", "HiGHS could not solve the model")
    else:
        _tell_the_end(highs, tell)


def _end_with(tasks: BinaryIO) -> None:
    """End this process when the one that started it has ended."""
    with suppress(OSError):
        tasks.read()
    os._exit(0)


def _listen(highs: Any, tell: Tell) -> None:
    """Report what HiGHS finds while it runs."""
    last: list[tuple[float, int]] = []

    def on_log(event: Any) -> None:
        if _START_TAKEN.search(event.message):
            tell("start")

    def on_solution(event: Any) -> None:
        tell("solution", np.array(event.data_out.mip_solution, dtype=np.float64))

    def on_progress(event: Any) -> None:
        now = float(event.data_out.mip_dual_bound), int(event.data_out.mip_node_count)
        if math.isfinite(now[0]) and [now] != last:
            last[:] = [now]
            tell("bound", *now)

    highs.cbLogging += on_log
    highs.cbMipImprovingSolution += on_solution
    highs.cbMipInterrupt += on_progress


def _tell_the_end(highs: Any, tell: Tell) -> None:
    status = highs.getModelStatus()
    if status not in _STATUSES:
        told = f"HiGHS stopped with model status {highs.modelStatusToString(status)!r}"
        tell("refused" if status in _NO_OPTIMUM else "failed", told)
        return
    info = highs.getInfo()
    x: FloatArray | None = None
    # 2 = feasible; a run interrupted before the first incumbent returns a vector of zeros.
    if info.primal_solution_status == 2:
        x = np.array(highs.getSolution().col_value, dtype=np.float64)
    bound: float | None = float(info.mip_dual_bound)
    if info.mip_node_count < 0:
        # Without integer columns there is no MIP bound, but an optimum is its own bound.
        optimal = status == highspy.HighsModelStatus.kOptimal
        bound = float(info.objective_function_value) if optimal else None
    tell("answer", _STATUSES[status], x, bound, max(int(info.mip_node_count), 0))
