"""One HiGHS run: its end, its listeners, Ctrl-C, and a solver that does not return."""

import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import highspy
import numpy as np
import pytest

import milpbn
from milpbn.engines.monolithic.emit_highs import new_highs
from milpbn.engines.monolithic.highs import HighsRun, HighsSettings, Listeners, has_abandoned_runs
from milpbn.errors import SolverError
from milpbn.result import Status

# A test that waits longer than this has failed, whatever the machine.
PATIENCE = 120.0

ROOT = Path(milpbn.__file__).parent


class FakeHighs:
    """Behaves like ``highspy.Highs`` as far as a run needs it, step by step.

    ``obeys``: whether run() ends when a callback asks for it; ``steps``: how many it takes
    until its time limit, by default more than any test waits for; ``at_step``: called in each.
    """

    def __init__(self, obeys=True, steps=100_000, at_step=lambda: None):
        self.cbLogging, self.cbSimplexInterrupt = Callbacks(), Callbacks()
        self.cbMipImprovingSolution, self.cbMipInterrupt = Callbacks(), Callbacks()
        self.obeys, self.steps, self.at_step = obeys, steps, at_step
        self.status = highspy.HighsModelStatus.kInterrupt
        self.release, self.stopped = threading.Event(), threading.Event()

    def setOptionValue(self, name, value):  # noqa: N802
        return highspy.HighsStatus.kOk

    def run(self):
        data = SimpleNamespace(mip_dual_bound=10.0, mip_node_count=3, mip_solution=[1.0, 2.0])
        event = SimpleNamespace(data_out=data, interrupt=self.stopped.set)
        self.cbMipImprovingSolution(event)
        for _ in range(self.steps):
            if self.release.wait(0.001):
                break
            self.at_step()
            data.mip_dual_bound -= 0.001
            self.cbMipInterrupt(event)
            if self.stopped.is_set() and self.obeys:
                return highspy.HighsStatus.kWarning
        self.status = highspy.HighsModelStatus.kTimeLimit
        return highspy.HighsStatus.kWarning

    def getModelStatus(self):  # noqa: N802
        return self.status

    def modelStatusToString(self, status):  # noqa: N802
        return str(status)

    def getInfo(self):  # noqa: N802
        return SimpleNamespace(primal_solution_status=2, mip_dual_bound=9.0, mip_node_count=4)

    def getSolution(self):  # noqa: N802
        return SimpleNamespace(col_value=[3.0, 4.0])


class Callbacks(list):
    def __iadd__(self, callback):
        self.append(callback)
        return self

    def __call__(self, event):
        for callback in self:
            callback(event)


def run(highs, listeners=None, **settings):
    return HighsRun(highs, HighsSettings(**settings), listeners or Listeners()).solve()


@pytest.fixture
def passing(now):
    """Called in a solver's step, it lets a tenth of a second pass."""

    def pass_time():
        now[0] += 0.1

    return pass_time


def test_the_answer_is_what_highs_says_at_its_end():
    answer = run(FakeHighs(steps=20))
    assert answer.status is Status.TIME_LIMIT
    assert (answer.x.tolist(), answer.bound, answer.nodes) == ([3.0, 4.0], 9.0, 4)


def test_a_run_that_ends_is_noticed_at_once(monkeypatch):
    monkeypatch.setattr("milpbn.engines.monolithic.highs._POLL_SECONDS", PATIENCE)
    began = time.perf_counter()
    run(FakeHighs(steps=20))
    assert time.perf_counter() - began < PATIENCE / 2


def test_a_run_that_does_not_return_is_abandoned_with_what_it_reported(now, passing):
    highs = FakeHighs(obeys=False, at_step=passing)
    answer = run(highs, time_limit=0.2)
    assert now[0] > 100.2
    assert answer.status is Status.TIME_LIMIT
    assert (answer.x.tolist(), answer.nodes) == ([1.0, 2.0], 3)
    assert answer.bound < 10.0
    assert has_abandoned_runs()
    assert highs.stopped.wait(PATIENCE)
    highs.release.set()
    wait_for(lambda: not has_abandoned_runs())


# With such a grace no run is waited for, however soon HiGHS returns after its limit.
ABANDON = """
from milpbn import Encoder, load_dataset, learn_structure
from milpbn.engines.monolithic import highs
highs._GRACE_SECONDS = float("-inf")
table = load_dataset("german")
data = Encoder.fit(table).encode(table)
result = learn_structure(
    data, method="monolithic", class_parents=False, start=None, time_limit=600
)
print(result.status, highs.has_abandoned_runs())
"""


def test_a_process_with_an_abandoned_run_ends_in_peace():
    # HiGHS aborts a process that ends under it.
    done = subprocess.run(
        [sys.executable, "-c", ABANDON], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "time_limit True\n", "")


def test_listeners_are_told_in_the_calling_thread():
    threads = set()
    listeners = Listeners(
        on_solution=lambda x: threads.add(threading.current_thread()),
        on_bound=lambda b, n: threads.add(threading.current_thread()),
    )
    run(FakeHighs(steps=20), listeners)
    assert threads == {threading.current_thread()}


def test_a_keyboard_interrupt_in_a_listener_ends_the_run_with_an_answer(now):
    def on_solution(x):
        raise KeyboardInterrupt

    answer = run(FakeHighs(), Listeners(on_solution=on_solution))
    assert answer.status is Status.INTERRUPTED
    assert answer.x.tolist() == [3.0, 4.0]


def test_an_interrupted_run_that_does_not_return_is_called_interrupted(passing):
    def on_solution(x):
        raise KeyboardInterrupt

    highs = FakeHighs(obeys=False, at_step=passing)
    answer = run(highs, Listeners(on_solution=on_solution))
    assert answer.status is Status.INTERRUPTED
    assert answer.x.tolist() == [1.0, 2.0]
    assert has_abandoned_runs()
    highs.release.set()
    wait_for(lambda: not has_abandoned_runs())


def test_an_error_in_a_listener_comes_through_and_stops_the_solver():
    def on_bound(bound, nodes):
        raise ZeroDivisionError("listener")

    highs = FakeHighs()
    with pytest.raises(ZeroDivisionError, match="listener"):
        run(highs, Listeners(on_bound=on_bound))
    assert highs.stopped.wait(PATIENCE)
    wait_for(lambda: not has_abandoned_runs())


@pytest.mark.parametrize("repeat", range(15))
def test_a_real_ctrl_c_never_comes_through_and_always_stops_the_solver(now, ctrl_c, repeat):
    # At moments that fall everywhere in the poll of 50 ms, once the run has begun to wait.
    highs = FakeHighs()
    with ctrl_c() as press:
        answer = run(highs, Listeners(on_solution=lambda x: press(0.007 * repeat)))
    assert answer.status is Status.INTERRUPTED
    assert highs.stopped.is_set()


def test_a_ctrl_c_between_two_polls_does_not_come_through(now):
    # Where Python notices a signal that came during the last step of the poll.
    highs = FakeHighs()
    run_ = HighsRun(highs, HighsSettings(), Listeners())
    is_set, calls = run_._ended.is_set, []

    def interrupted_is_set():
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return is_set()

    run_._ended.is_set = interrupted_is_set
    answer = run_.solve()
    assert answer.status is Status.INTERRUPTED
    assert highs.stopped.is_set()


def test_events_before_the_end_are_all_told():
    bounds = []
    run(FakeHighs(steps=20), Listeners(on_bound=lambda b, n: bounds.append(b)))
    assert bounds == pytest.approx([10 - 0.001 * k for k in range(1, 21)])


def test_a_strange_end_is_an_error_with_its_name():
    highs = FakeHighs()
    highs.status = highspy.HighsModelStatus.kSolveError
    highs.run = lambda: highspy.HighsStatus.kWarning
    with pytest.raises(SolverError, match=r"HiGHS stopped with model status '.*kSolveError"):
        run(highs)


def test_a_solution_is_copied_and_not_a_view():
    kept = []
    highs = FakeHighs()
    shared = np.array([1.0, 2.0])
    callbacks = highs.cbMipImprovingSolution

    def overwriting_run():
        event = SimpleNamespace(data_out=SimpleNamespace(mip_solution=shared))
        callbacks(event)
        shared[:] = -1.0
        return highspy.HighsStatus.kOk

    highs.run = overwriting_run
    run(highs, Listeners(on_solution=kept.append))
    assert kept[0].tolist() == [1.0, 2.0]


def test_a_solver_without_a_solution_returns_none():
    highs = FakeHighs(steps=0)
    highs.getInfo = lambda: SimpleNamespace(
        primal_solution_status=0, mip_dual_bound=np.inf, mip_node_count=0
    )
    highs.cbMipImprovingSolution = Callbacks()
    answer = run(highs)
    assert answer.x is None


@pytest.mark.parametrize("threads", [1, 2])
def test_settings_reach_highs(threads):
    highs = highspy.Highs()
    HighsSettings(time_limit=12.5, gap=0.25, threads=threads, seed=7).apply(highs)
    options = {
        name: highs.getOptionValue(name)[1]
        for name in ("time_limit", "mip_rel_gap", "threads", "random_seed", "log_to_console")
    }
    assert options == {
        "time_limit": 12.5,
        "mip_rel_gap": 0.25,
        "threads": threads,
        "random_seed": 7,
        "log_to_console": False,
    }


def test_changed_settings_keep_the_others():
    settings = HighsSettings(gap=0.25, seed=7, options={"presolve": "off"})
    changed = settings.changed(seed=8, time_limit=3.0, mip_max_nodes=5)
    assert changed == HighsSettings(
        time_limit=3.0, gap=0.25, seed=8, options={"presolve": "off", "mip_max_nodes": 5}
    )


def test_tolerances_and_presolve_stay_at_their_defaults():
    highs, untouched = highspy.Highs(), highspy.Highs()
    HighsSettings().apply(highs)
    for name in (
        "mip_feasibility_tolerance",
        "primal_feasibility_tolerance",
        "presolve",
        "objective_bound",
    ):
        assert highs.getOptionValue(name) == untouched.getOptionValue(name)


def wait_for(condition):
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, "waited without success"
        time.sleep(0.01)


SHARED = """
import os, sys, threading
import highspy
from milpbn import Encoder, learn_structure, load_dataset

def integer_program(threads):
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", threads)
    columns = [highs.addBinary(obj=-float(k)) for k in range(9)]
    highs.addConstr(sum(columns) <= 3)
    assert highs.run() == highspy.HighsStatus.kOk

table = load_dataset("corral")
data = Encoder.fit(table).encode(table)

def solve(method, **options):
    found = learn_structure(data, method=method, max_parents=2, **options)
    assert found.status == "optimal", found
    print(method, round(found.objective, 6), flush=True)
"""


def output_of(code):
    done = subprocess.run(
        [sys.executable, "-c", SHARED + code],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )
    return done.stdout.splitlines()


def test_engines_run_after_other_code_has_used_highs_with_more_threads():
    code = "integer_program(2)\nfor m in ('branch-and-cut', 'monolithic'): solve(m)"
    first, second = output_of(code)
    assert first.split()[1] == second.split()[1]


def test_runs_with_different_threads_go_on_at_the_same_time():
    code = """
for k in range(3):
    runs = [threading.Thread(target=solve, args=("monolithic",), kwargs={"threads": t})
            for t in (1, 2)]
    for run in runs: run.start()
    solve("branch-and-cut")
    for run in runs: run.join()
"""
    assert len({line.split()[1] for line in output_of(code)}) == 1


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs os.fork")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_forked_process_solves_after_its_parent(threads):
    code = f"""
METHODS = "branch-and-cut", "monolithic"
for method in METHODS: solve(method, threads={threads})
child = os.fork()
if child == 0:
    for method in METHODS: solve(method, threads={threads})
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    assert len(set(output_of(code))) == 2


def test_nothing_replaces_the_threads_of_other_runs():
    used = [p for p in ROOT.rglob("*.py") if "resetGlobalScheduler" in p.read_text("utf-8")]
    assert used == []


def test_defaults_of_highs_play_no_part(monkeypatch):
    """Every option whose default a later version may change is set, whatever it was before."""
    changed = {"threads": 4, "parallel": "on", "random_seed": 7, "mip_abs_gap": 1.0}
    changed |= {"primal_feasibility_tolerance": 1e-3, "mip_feasibility_tolerance": 1e-3}

    class Later(highspy.Highs):
        def __init__(self):
            super().__init__()
            for name, value in changed.items():
                self.setOptionValue(name, value)

    monkeypatch.setattr(highspy, "Highs", Later)
    highs, later = new_highs(), Later()
    for name, value in changed.items():
        assert later.getOptionValue(name)[1] == value
        assert highs.getOptionValue(name)[1] != value
    HighsSettings(threads=2, seed=3).apply(highs)
    found = [highs.getOptionValue(name)[1] for name in ("threads", "random_seed", "parallel")]
    assert found == [2, 3, "choose"]
