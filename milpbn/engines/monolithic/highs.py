"""One run of HiGHS in a process of its own, any-time and interruptible.

A crash of HiGHS, or a system without memory, ends that process only: the run then ends with the
best solution and bound that were reported. So does a run that does not return after its time
limit (observed on dense models), whose process is ended. A thread starts the process and puts what
it reports into a queue; listeners, scoring and Ctrl-C are handled in the calling thread. What the
process does is in ``milpbn/engines/monolithic/highs_process.py``.
"""

from __future__ import annotations

import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from multiprocessing.spawn import get_executable
from typing import IO, Any

import numpy as np

from milpbn._types import FloatArray
from milpbn.engines.monolithic.emit_highs import Arrays
from milpbn.errors import ProofWarning, SolverError
from milpbn.result import Status
from milpbn.signals import ENDING

# How long HiGHS may take to return after the time limit.
_GRACE_SECONDS = 0.6
_POLL_SECONDS = 0.05
# What is left of a process that was ended comes to an end in this time.
_END_SECONDS = 5.0
# Only what Python needs to find milpbn; the rest is imported there. With -P the folder in which
# the user is cannot replace modules of Python.
_COMMAND = (
    "-P",
    "-c",
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from milpbn.engines.monolithic.highs_process import run_process; run_process()",
)

# On Windows Ctrl-C reaches all processes of a console, which cannot be blocked.
if sys.platform == "win32":
    _FLAGS = subprocess.CREATE_NO_WINDOW
else:
    _FLAGS = 0
# Events after which the process has nothing more to tell.
_LAST = ("answer", "failed", "refused")


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

    def as_options(self) -> dict[str, Any]:
        """All of it as HiGHS options, but the time limit, which begins when HiGHS does."""
        return {
            "output_flag": True,
            "log_to_console": False,
            "mip_rel_gap": self.gap,
            "mip_abs_gap": 1e-6,
            "threads": self.threads,
            "parallel": "off" if self.threads == 1 else "choose",
            "random_seed": self.seed,
            **self.options,
        }


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
    """Solves a program with HiGHS, once."""

    def __init__(self, program: Arrays, settings: HighsSettings, listeners: Listeners) -> None:
        self._settings = settings
        self._listeners = listeners
        self._program: Arrays | None = program
        self._end = np.inf
        self._process: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        self._events: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._answer: HighsAnswer | None = None
        self._failure = ""
        # What has been reported, for a run that ends without an answer.
        self._known = HighsAnswer(Status.TIME_LIMIT, None, None, 0, False)

    def solve(self, start: FloatArray | None = None) -> HighsAnswer:
        """Run until HiGHS ends, the time limit or Ctrl-C; never raises KeyboardInterrupt.

        A process that does not survive is told by a warning.
        """
        self._end = time.perf_counter() + self._settings.time_limit
        talk = threading.Thread(target=self._talk, args=(start,), daemon=True)
        interrupted = False
        try:
            interrupted = self._wait(talk)
        finally:
            # Whatever happens, the solver must not continue after this call.
            self._kill()
            talk.join(_END_SECONDS)
        if self._answer is not None:
            return self._answer
        if interrupted:
            return replace(self._known, status=Status.INTERRUPTED)
        if not self._failure:
            return self._known
        warnings.warn(
            f"{self._failure}; what it had found is kept, without a proof",
            ProofWarning,
            stacklevel=2,
        )
        return replace(self._known, status=Status.FEASIBLE)

    def _kill(self) -> None:
        self._over.set()
        if self._process is not None:
            self._process.kill()

    # --- in the thread ---------------------------------------------------------------------------

    def _talk(self, start: FloatArray | None) -> None:
        """Start the process, give it its task, and put its events into the queue."""
        failure = ""
        try:
            failure = self._conversation(start)
        except OSError as error:
            failure = f"HiGHS could not be started: {error.strerror or error}"
        except MemoryError:
            failure = "there was no memory to start HiGHS"
        finally:
            self._kill()
            self._events.put(("over", failure))

    def _conversation(self, start: FloatArray | None) -> str:
        """What went wrong; empty if the process reported its end."""
        # The process inherits this. Ctrl-C in a terminal reaches all processes, but the caller
        # decides how a run ends; the process ends when its caller does.
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        self._process = process = subprocess.Popen(
            [get_executable(), *_COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            creationflags=_FLAGS,
        )
        tasks, events = process.stdin, process.stdout
        assert tasks is not None
        assert events is not None
        try:
            if self._over.is_set() or self._exchange(tasks, events, start):
                return ""
            with suppress(OSError):
                tasks.close()  # the process ends with it, if it has not
            return _how_it_ended(process.wait())
        finally:
            process.kill()
            process.wait()
            for pipe in (tasks, events):
                with suppress(OSError):
                    pipe.close()

    def _exchange(self, tasks: IO[bytes], events: IO[bytes], start: FloatArray | None) -> bool:
        """Tell the task and hear the events; whether the process told its end."""
        # The pipes of a process that crashes are closed.
        with suppress(EOFError, BrokenPipeError, pickle.UnpicklingError):
            pickle.dump(sys.path, tasks)
            pickle.dump((self._program, self._settings.as_options(), start), tasks, protocol=5)
            tasks.flush()
            self._program = None  # its memory is needed there
            while True:
                event = pickle.load(events)
                if event[0] == "ready":
                    pickle.dump(max(self._end - time.perf_counter(), 0.0), tasks)
                    tasks.flush()
                    continue
                self._events.put(event)
                if event[0] in _LAST:
                    return True
        return False

    # --- in the calling thread -------------------------------------------------------------------

    def _wait(self, talk: threading.Thread) -> bool:
        """Start the thread, and handle its events until the end; True if interrupted."""
        deadline = self._end + _GRACE_SECONDS
        interrupted = False
        while True:
            # In a separate call, because Ctrl-C may come between any two steps of the loop.
            try:
                if talk.ident is None:
                    talk.start()
                self._serve(deadline)
                return interrupted
            except KeyboardInterrupt:
                interrupted = True
                deadline = -np.inf  # what was reported before is handled still

    def _serve(self, deadline: float) -> None:
        while True:
            try:
                late = time.perf_counter() > deadline
                kind, *what = self._events.get(timeout=0 if late else _POLL_SECONDS)
            except queue.Empty:
                if late:
                    return
                continue
            match kind:
                case "start":
                    self._known = replace(self._known, start_accepted=True)
                case "solution":
                    self._known = replace(self._known, x=what[0])
                    self._listeners.on_solution(what[0])
                case "bound":
                    self._known = replace(self._known, bound=what[0], nodes=what[1])
                    self._listeners.on_bound(*what)
                case "answer":
                    self._answer = self._completed(*what)
                case "failed":
                    self._failure = what[0]
                case "refused":
                    raise SolverError(what[0])
                case "over":
                    self._failure = self._failure or what[0]
                    return

    def _completed(
        self, status: Status, x: FloatArray | None, bound: float | None, nodes: int
    ) -> HighsAnswer:
        known = self._known
        if bound is None or not np.isfinite(bound):
            bound = known.bound
        return HighsAnswer(status, x, bound, nodes, known.start_accepted)


def _how_it_ended(code: int) -> str:
    """What the exit code of a process that reported no end says."""
    try:
        name = signal.Signals(-code).name
    except ValueError:
        return f"HiGHS crashed: its process ended with exit code {code}"
    if name == "SIGKILL":
        return "HiGHS was ended by SIGKILL, as a system without free memory does"
    return f"HiGHS crashed: its process was ended by {name}"
