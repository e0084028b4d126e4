"""One HiGHS run, any-time and interruptible.

HiGHS runs in a thread and its callbacks only put events into a queue; listeners,
scoring and Ctrl-C are handled in the calling thread. A run that does not return
after the time limit (observed on dense models) is abandoned: the caller continues with
the best solution reported, and the thread ends when HiGHS next checks for an interrupt.

HiGHS's worker threads belong to the thread that calls it, and their number stays. As each run has
a new thread, it can have any number, and never takes workers from another run.
"""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from milpbn._types import FloatArray
from milpbn.engines.monolithic.emit_highs import check_highs, set_options
from milpbn.errors import SolverError
from milpbn.result import Status

# How long HiGHS may take to return after the time limit.
_GRACE_SECONDS = 0.6
_POLL_SECONDS = 0.05
_START_TAKEN = re.compile(r"MIP start solution is feasible")

_abandoned: list[tuple[threading.Thread, Any]] = []


def has_abandoned_runs() -> bool:
    """Whether a HiGHS run is still busy in the background (the process must then exit hard)."""
    _abandoned[:] = [run for run in _abandoned if run[0].is_alive()]
    return bool(_abandoned)


@dataclass(frozen=True)
class HighsSettings:
    """Settings of a run; the default gap of 0 asks for a proof of optimality.

    Parameters
    ----------
    time_limit
        Seconds.
    gap
        Relative gap at which to stop.
    threads, seed
        Runs with one thread are deterministic.
    options
        Further HiGHS options; an unknown name or an invalid value raises.
    """

    time_limit: float = np.inf
    gap: float = 0.0
    threads: int = 1
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    def changed(self, **names: Any) -> HighsSettings:
        """The settings with some replaced: fields of this class, or HiGHS options by name."""
        own = {f.name for f in fields(self) if f.name != "options"} & names.keys()
        options = {name: value for name, value in names.items() if name not in own}
        return replace(self, **{k: names[k] for k in own}, options={**self.options, **options})

    def apply(self, highs: Any) -> None:
        """Set all options of a ``highspy.Highs`` object."""
        settings = {
            "output_flag": True,
            "log_to_console": False,
            "mip_rel_gap": self.gap,
            "mip_abs_gap": 1e-6,
            "threads": self.threads,
            "parallel": "off" if self.threads == 1 else "choose",
            "random_seed": self.seed,
            **self.options,
        }
        if np.isfinite(self.time_limit):
            settings["time_limit"] = self.time_limit
        set_options(highs, **settings)


@dataclass(frozen=True)
class HighsAnswer:
    """The answer of HiGHS; `bound` is an upper bound if the model maximises, else a lower one."""

    status: Status
    x: FloatArray | None
    bound: float | None
    nodes: int
    start_accepted: bool


@dataclass(frozen=True)
class Listeners:
    """Functions called in the calling thread: on a solution, and on a bound (with the nodes)."""

    on_solution: Callable[[FloatArray], None] = lambda x: None
    on_bound: Callable[[float, int], None] = lambda bound, nodes: None


class HighsRun:
    """Runs a ``highspy.Highs`` object whose model is already loaded."""

    def __init__(self, highs: Any, settings: HighsSettings, listeners: Listeners) -> None:
        self._highs = highs
        self._settings = settings
        self._listeners = listeners
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._return_code: Any = None
        self._start_accepted = False
        self._last_x: FloatArray | None = None
        self._last_bound: float | None = None
        self._last_nodes = 0

    def solve(self, start: FloatArray | None = None) -> HighsAnswer:
        """Run until HiGHS ends, the time limit or Ctrl-C; never raises KeyboardInterrupt."""
        self._configure(start)
        # Not a daemon: the process aborts if it ends while HiGHS runs in a daemon thread.
        thread = threading.Thread(target=self._run_highs)
        interrupted = False
        try:
            thread.start()
            interrupted = self._wait()
        finally:
            # Whatever happens, the solver must not continue after this call.
            self._stop.set()
            ended = self._ended.is_set()
            if not ended:
                _abandoned.append((thread, self._highs))
        if ended:
            return self._answer()
        status = Status.INTERRUPTED if interrupted else Status.TIME_LIMIT
        return HighsAnswer(
            status, self._last_x, self._last_bound, self._last_nodes, self._start_accepted
        )

    def _run_highs(self) -> None:
        try:
            self._return_code = self._highs.run()
        finally:
            self._ended.set()
            self._events.put(lambda: None)  # wakes the waiting thread

    def _configure(self, start: FloatArray | None) -> None:
        highs = self._highs
        self._settings.apply(highs)
        highs.cbLogging += self._on_log
        highs.cbMipImprovingSolution += self._on_solution
        highs.cbMipInterrupt += self._on_interrupt_check
        highs.cbSimplexInterrupt += self._on_simplex_check
        if start is not None:
            index = np.arange(len(start), dtype=np.int32)
            check_highs(highs.setSolution(len(start), index, start), "take the MIP start")

    def _wait(self) -> bool:
        """Handle events until the run ends or is abandoned; True if interrupted."""
        deadline = time.perf_counter() + self._settings.time_limit + _GRACE_SECONDS
        interrupted = False
        while True:
            # In a separate call, because Ctrl-C may come between any two steps of the loop.
            try:
                self._serve(deadline)
                return interrupted
            except KeyboardInterrupt:
                self._stop.set()
                interrupted = True
                deadline = min(deadline, time.perf_counter() + _GRACE_SECONDS)

    def _serve(self, deadline: float) -> None:
        while not (self._ended.is_set() and self._events.empty()):
            if time.perf_counter() > deadline:
                return
            try:
                tell = self._events.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            tell()

    def _on_log(self, event: Any) -> None:
        if _START_TAKEN.search(event.message):
            self._start_accepted = True

    def _on_solution(self, event: Any) -> None:
        x = np.array(event.data_out.mip_solution, dtype=np.float64)
        self._last_x = x
        self._events.put(lambda: self._listeners.on_solution(x))

    def _on_interrupt_check(self, event: Any) -> None:
        if self._stop.is_set():
            event.interrupt()
        bound, nodes = float(event.data_out.mip_dual_bound), int(event.data_out.mip_node_count)
        if np.isfinite(bound) and (bound, nodes) != (self._last_bound, self._last_nodes):
            self._last_bound, self._last_nodes = bound, nodes
            self._events.put(lambda: self._listeners.on_bound(bound, nodes))

    def _on_simplex_check(self, event: Any) -> None:
        if self._stop.is_set():
            event.interrupt()

    def _answer(self) -> HighsAnswer:
        import highspy

        statuses = {
            highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
            highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
            highspy.HighsModelStatus.kInterrupt: Status.INTERRUPTED,
            highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
            # Limits that a user may set by option: the run ends without a proof.
            highspy.HighsModelStatus.kSolutionLimit: Status.FEASIBLE,
            highspy.HighsModelStatus.kIterationLimit: Status.FEASIBLE,
            highspy.HighsModelStatus.kObjectiveTarget: Status.FEASIBLE,
        }
        check_highs(self._return_code, "solve the model")
        model_status = self._highs.getModelStatus()
        if model_status not in statuses:
            name = self._highs.modelStatusToString(model_status)
            raise SolverError(f"HiGHS stopped with model status {name!r}")
        info = self._highs.getInfo()
        x = None
        # 2 = feasible; a run interrupted before the first incumbent returns a vector of zeros.
        if info.primal_solution_status == 2:
            x = np.array(self._highs.getSolution().col_value, dtype=np.float64)
        bound = float(info.mip_dual_bound)
        if info.mip_node_count < 0:
            # Without integer columns there is no MIP bound, but an optimum is its own bound.
            optimal = model_status == highspy.HighsModelStatus.kOptimal
            bound = float(info.objective_function_value) if optimal else np.inf
        return HighsAnswer(
            status=statuses[model_status],
            x=x,
            bound=bound if np.isfinite(bound) else self._last_bound,
            nodes=max(int(info.mip_node_count), 0),
            start_accepted=self._start_accepted,
        )
