"""One HiGHS run: its end, its listeners, Ctrl-C, a crash, and a solver that does not return."""

import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import highspy
import numpy as np
import pytest

import milpbn
from milpbn.engines.monolithic import highs as module
from milpbn.engines.monolithic.emit_highs import Arrays, new_highs, set_options
from milpbn.engines.monolithic.highs import HighsRun, HighsSettings, Listeners
from milpbn.errors import ProofWarning, SolverError
from milpbn.result import Status

# A test that waits longer than this has failed, whatever the machine.
PATIENCE = 120.0

ROOT = Path(milpbn.__file__).parent

# Speaks like milpbn/engines/monolithic/highs_process.py.
PROCESS = """
import os, pickle, signal, sys, time
sys.path[:] = pickle.load(sys.stdin.buffer)
import numpy as np
from milpbn.result import Status
program, options, start = pickle.load(sys.stdin.buffer)

def tell(*event):
    pickle.dump(event, sys.stdout.buffer)
    sys.stdout.flush()

tell("ready")
seconds = pickle.load(sys.stdin.buffer)
tell("solution", np.array([1.0, 2.0]))
tell("bound", 10.0, 3)
"""
ANSWER = 'tell("answer", Status.TIME_LIMIT, np.array([3.0, 4.0]), 9.0, 4)\n'
GOES_ON = "time.sleep(600)\n"


@pytest.fixture
def process(monkeypatch):
    """``process(code)`` replaces the process; the list has those that were started."""
    started = []

    class Recorded(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    def runs(code):
        monkeypatch.setattr(module, "_COMMAND", ("-c", PROCESS + code))
        monkeypatch.setattr(subprocess, "Popen", Recorded)
        return started

    return runs


def program():
    """Maximise x + y, two numbers up to 1 whose sum is at most 1."""
    return Arrays([[1, 1], [0, 0], [1, 1], [1, 1]], [[-np.inf], [1]], [[0, 2], [0, 1], [1, 1]])


def run(listeners=None, **settings):
    return HighsRun(program(), HighsSettings(**settings), listeners or Listeners()).solve()


def test_the_real_process_solves_a_program():
    answer = run()
    assert (answer.status, answer.bound, answer.x.sum()) == (Status.OPTIMAL, 1.0, 1.0)


def test_the_answer_is_what_the_process_says_at_its_end(process):
    process(ANSWER)
    answer = run()
    assert answer.status is Status.TIME_LIMIT
    assert (answer.x.tolist(), answer.bound, answer.nodes) == ([3.0, 4.0], 9.0, 4)


def test_an_answer_without_a_bound_has_the_last_one(process):
    process('tell("answer", Status.TIME_LIMIT, None, None, 4)')
    assert run().bound == 10.0


def test_a_run_that_ends_is_noticed_at_once(process, monkeypatch):
    monkeypatch.setattr(module, "_POLL_SECONDS", PATIENCE)
    process(ANSWER)
    began = time.perf_counter()
    run()
    assert time.perf_counter() - began < PATIENCE / 2


def test_the_time_limit_is_what_is_left_when_the_process_is_ready(process, now):
    process('tell("bound", 10 - seconds, 4)\n' + ANSWER)
    bounds = []
    run(Listeners(on_bound=lambda b, n: bounds.append(b)), time_limit=7.5)
    assert bounds == [10.0, 2.5]


def test_a_process_that_does_not_return_is_ended_with_what_it_reported(process, now):
    def on_bound(bound, nodes):
        now[0] += 100

    (started, answer) = (process(GOES_ON), run(Listeners(on_bound=on_bound), time_limit=0.2))
    assert answer.status is Status.TIME_LIMIT
    assert (answer.x.tolist(), answer.bound, answer.nodes) == ([1.0, 2.0], 10.0, 3)
    assert started[0].returncode is not None


ENDS = {
    "os.kill(os.getpid(), signal.SIGKILL)": "HiGHS was ended by SIGKILL, as a system without free",
    "os.kill(os.getpid(), signal.SIGSEGV)": "HiGHS crashed: its process was ended by SIGSEGV",
    "os.abort()": "HiGHS crashed: its process was ended by SIGABRT",
    "os._exit(7)": "HiGHS crashed: its process ended with exit code 7",
    "os._exit(0)": "HiGHS crashed: its process ended with exit code 0",
    "sys.stdout.buffer.write(b'x' * 100); os.close(1); time.sleep(1)": "HiGHS crashed",
    'tell("failed", "HiGHS ran out of memory")': "HiGHS ran out of memory",
}


@pytest.mark.parametrize("code", ENDS)
def test_a_process_that_does_not_survive_leaves_what_it_reported(process, code):
    if "SIG" in ENDS[code] and sys.platform == "win32":
        pytest.skip("Windows has no signals")
    process(code)
    with pytest.warns(ProofWarning, match=ENDS[code] + ".*; what it had found is kept") as told:
        answer = run()
    assert len(told) == 1
    assert answer.status is Status.FEASIBLE
    assert (answer.x.tolist(), answer.bound, answer.nodes) == ([1.0, 2.0], 10.0, 3)


def test_a_process_that_cannot_be_started_is_told_too(monkeypatch):
    monkeypatch.setattr(module, "get_executable", lambda: "/nowhere/python")
    with pytest.warns(ProofWarning, match="HiGHS could not be started: No such file"):
        answer = run()
    assert (answer.status, answer.x, answer.bound) == (Status.FEASIBLE, None, None)


def test_a_process_that_dies_before_it_has_its_task_is_told_too(process, monkeypatch):
    monkeypatch.setattr(module, "_COMMAND", ("-c", "import os; os._exit(3)"))
    with pytest.warns(ProofWarning, match="its process ended with exit code 3"):
        assert run().x is None


def test_a_refusal_is_an_error(process):
    started = process('tell("refused", "HiGHS could not take the model"); time.sleep(600)')
    with pytest.raises(SolverError, match="HiGHS could not take the model"):
        run()
    assert started[0].returncode is not None


def test_listeners_are_told_in_the_calling_thread(process):
    process(ANSWER)
    threads = set()
    listeners = Listeners(
        on_solution=lambda x: threads.add(threading.current_thread()),
        on_bound=lambda b, n: threads.add(threading.current_thread()),
    )
    run(listeners)
    assert threads == {threading.current_thread()}


def test_a_keyboard_interrupt_in_a_listener_ends_the_run_with_an_answer(process):
    def on_bound(bound, nodes):
        raise KeyboardInterrupt

    started = process(GOES_ON)
    with warnings.catch_warnings(action="error"):
        answer = run(Listeners(on_bound=on_bound))
    assert answer.status is Status.INTERRUPTED
    assert (answer.x.tolist(), answer.bound) == ([1.0, 2.0], 10.0)
    assert started[0].returncode is not None


def test_an_error_in_a_listener_comes_through_and_ends_the_process(process):
    def on_bound(bound, nodes):
        raise ZeroDivisionError("listener")

    started = process(GOES_ON)
    with pytest.raises(ZeroDivisionError, match="listener"):
        run(Listeners(on_bound=on_bound))
    assert started[0].returncode is not None


@pytest.mark.parametrize("repeat", range(15))
def test_a_real_ctrl_c_never_comes_through_and_always_ends_the_process(process, ctrl_c, repeat):
    # At moments that fall everywhere in the poll of 50 ms, once the run has begun to wait.
    started = process(GOES_ON)
    with ctrl_c() as press:
        answer = run(Listeners(on_solution=lambda x: press(0.007 * repeat)))
    assert answer.status is Status.INTERRUPTED
    assert started[0].returncode is not None


@pytest.mark.parametrize("repeat", range(4))
def test_a_ctrl_c_while_the_process_starts_does_not_come_through(
    process, ctrl_c, repeat, monkeypatch
):
    process(GOES_ON)
    with ctrl_c() as press:

        def pressed():
            press(0.02 * repeat)
            return sys.executable

        monkeypatch.setattr(module, "get_executable", pressed)
        answer = run()
    assert answer.status is Status.INTERRUPTED


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
def test_ctrl_c_in_a_terminal_does_not_reach_the_process(process):
    # As the terminal does, to a whole group; here the group of the process alone.
    sends = "for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): os.kill(os.getpid(), s)\n"
    process(sends + ANSWER)
    assert run().bound == 9.0


def test_events_before_the_end_are_all_told(process):
    bounds = []
    process('for k in range(20): tell("bound", 9.0 - k, k)\n' + ANSWER)
    run(Listeners(on_bound=lambda b, n: bounds.append(b)))
    assert bounds == [10.0, *(9.0 - k for k in range(20))]


def test_changed_settings_keep_the_others():
    settings = HighsSettings(gap=0.25, seed=7, options={"presolve": "off"})
    changed = settings.changed(seed=8, time_limit=3.0, mip_max_nodes=5)
    assert changed == HighsSettings(
        time_limit=3.0, gap=0.25, seed=8, options={"presolve": "off", "mip_max_nodes": 5}
    )


# A proof takes hours; it tells the process that solves as soon as there is a bound.
LONG = """
import subprocess, sys
import numpy as np
from milpbn.engines.monolithic.highs import HighsRun, HighsSettings, Listeners
from milpbn.engines.monolithic.emit_highs import Arrays

rng, n = np.random.default_rng(1), 50
rows = rng.integers(1, 100, (6, n)).astype(float)
half = rows.sum(axis=1) // 2
program = Arrays([np.ones(n), np.zeros(n), np.ones(n), np.ones(n)], [half, half],
                 [np.arange(7) * n, np.tile(np.arange(n), 6), rows.ravel()])
run = HighsRun(program, HighsSettings(),
               Listeners(on_bound=lambda b, k: print(run._process.pid, flush=True)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="asks for a process as POSIX does")
def test_the_process_ends_with_the_one_that_started_it():
    with subprocess.Popen(
        [sys.executable, "-c", LONG + "run.solve()"], stdout=subprocess.PIPE, text=True
    ) as caller:
        pid = int(caller.stdout.readline())
        os.kill(pid, 0)
        caller.kill()
    wait_for(lambda: not alive(pid))


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_the_process_imports_little():
    """It has its own copy of what it imports, and every run waits for that."""
    child = "milpbn.engines.monolithic.highs_process"
    code = f"import sys; from {child} import run_process; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    loaded = set(done.stdout.split())
    assert {"highspy", "numpy"} <= loaded
    assert not loaded & {"numba", "pandas", "scipy", "sklearn", "pulp", "click"}


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
    set_options(highs, **HighsSettings(threads=2, seed=3).as_options())
    found = [highs.getOptionValue(name)[1] for name in ("threads", "random_seed", "parallel")]
    assert found == [2, 3, "choose"]
