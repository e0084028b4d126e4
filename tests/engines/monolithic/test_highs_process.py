"""What the process in which HiGHS runs reports, with HiGHS and with something like it."""

import io
import pickle
from types import SimpleNamespace

import highspy
import numpy as np
import pytest

from milpbn.engines.monolithic import highs_process
from milpbn.engines.monolithic.emit_highs import Arrays
from milpbn.engines.monolithic.highs import HighsSettings
from milpbn.result import Status


class FakeHighs:
    """Behaves like ``highspy.Highs`` as far as a run needs it, for a number of steps."""

    def __init__(self, steps=20):
        self.cbLogging, self.cbMipInterrupt = Callbacks(), Callbacks()
        self.cbMipImprovingSolution = Callbacks()
        self.steps, self.options = steps, {}
        self.status, self.code = highspy.HighsModelStatus.kTimeLimit, highspy.HighsStatus.kWarning
        self.solution, self.info = np.array([1.0, 2.0]), (2, 9.0, 4)

    def setOptionValue(self, name, value):  # noqa: N802
        self.options[name] = value
        return highspy.HighsStatus.kOk

    def passModel(self, *_):  # noqa: N802
        return highspy.HighsStatus.kOk

    def run(self):
        data = SimpleNamespace(mip_dual_bound=np.inf, mip_node_count=0, mip_solution=self.solution)
        event = SimpleNamespace(data_out=data, message="MIP start solution is feasible")
        self.cbLogging(event)
        self.cbMipInterrupt(event)
        self.cbMipImprovingSolution(event)
        self.solution[:] = -1.0
        for k in range(self.steps):
            data.mip_dual_bound, data.mip_node_count = 10.0 - k // 2, k // 2
            self.cbMipInterrupt(event)
        return self.code

    def getModelStatus(self):  # noqa: N802
        return self.status

    def modelStatusToString(self, status):  # noqa: N802
        return str(status)

    def getInfo(self):  # noqa: N802
        primal, bound, nodes = self.info
        return SimpleNamespace(
            primal_solution_status=primal, mip_dual_bound=bound, mip_node_count=nodes
        )

    def getSolution(self):  # noqa: N802
        return SimpleNamespace(col_value=[3.0, 4.0])


class Callbacks(list):
    def __iadd__(self, callback):
        self.append(callback)
        return self

    def __call__(self, event):
        for callback in self:
            callback(event)


def program():
    """Maximise x + y, two numbers up to 1 whose sum is at most 1."""
    return Arrays([[1, 1], [0, 0], [1, 1], [1, 1]], [[-np.inf], [1]], [[0, 2], [0, 1], [1, 1]])


def events_of(settings=None, start=None, seconds=np.inf):
    """What a run reports, besides that it is ready."""
    options = (settings or HighsSettings()).as_options()
    tasks = pickle.dumps((program(), options, start)) + pickle.dumps(seconds)
    told = []
    highs_process.serve(io.BytesIO(tasks), lambda *event: told.append(event))
    return [event for event in told if event != ("ready",)]


@pytest.fixture(autouse=True)
def no_end(monkeypatch):
    """The process ends when its standard input does, which the tests must not."""
    monkeypatch.setattr(highs_process, "_end_with", lambda tasks: None)


@pytest.fixture
def fake(monkeypatch):
    highs = FakeHighs()
    monkeypatch.setattr(highs_process, "new_highs", lambda: highs)
    return highs


def test_a_small_program_is_solved():
    kind, status, x, bound, nodes = events_of()[-1]
    assert (kind, status, bound, nodes) == ("answer", Status.OPTIMAL, 1.0, 0)
    assert x.sum() == 1.0


def test_solutions_and_bounds_are_told_as_they_come_and_bounds_only_when_they_change(fake):
    start, solution, *bounds, end = events_of()
    assert start == ("start",)
    # A copy, because HiGHS uses its memory again.
    assert (solution[0], solution[1].tolist()) == ("solution", [1.0, 2.0])
    assert bounds == [("bound", 10.0 - k, k) for k in range(10)]
    assert (*end[:2], end[2].tolist(), *end[3:]) == (
        *("answer", Status.TIME_LIMIT, [3.0, 4.0], 9.0, 4),
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_settings_reach_highs(fake, threads):
    events_of(HighsSettings(gap=0.25, threads=threads, seed=7), seconds=12.5)
    expected = {"time_limit": 12.5, "mip_rel_gap": 0.25, "threads": threads, "random_seed": 7}
    expected |= {"log_to_console": False, "parallel": "off" if threads == 1 else "choose"}
    assert expected.items() <= fake.options.items()


def test_without_a_limit_none_is_set(fake):
    events_of()
    assert "time_limit" not in fake.options


def test_tolerances_and_presolve_stay_at_their_defaults(fake):
    events_of()
    untouched = highspy.Highs()
    for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance", "presolve"):
        assert fake.options.get(name) in (None, untouched.getOptionValue(name)[1])


def test_a_solver_without_a_solution_returns_none(fake):
    fake.info = (0, np.inf, 0)
    assert events_of()[-1] == ("answer", Status.TIME_LIMIT, None, np.inf, 0)


def test_without_integers_an_optimum_is_its_own_bound(fake):
    fake.info = (0, 0.0, -1)
    assert events_of()[-1][3] is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [("kSolveError", "failed"), ("kMemoryLimit", "failed"), ("kUnbounded", "refused")],
)
def test_a_strange_end_is_told_with_its_name(fake, status, kind):
    fake.status = getattr(highspy.HighsModelStatus, status)
    told = events_of()[-1]
    assert told[0] == kind
    assert told[1].startswith("HiGHS stopped with model status '")
    assert status in told[1]


def test_a_run_that_fails_is_told(fake):
    fake.code = highspy.HighsStatus.kError
    # A run that fails leaves the model status unset; the code is looked at before.
    fake.status = highspy.HighsModelStatus.kOptimal
    assert events_of()[-1] == ("failed", "HiGHS could not solve the model")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("passModel", "HiGHS could not take the model"),
        ("setSolution", "HiGHS could not take the MIP start"),
        ("setOptionValue", "HiGHS could not set option output_flag=False"),
    ],
)
def test_error_codes_become_errors(monkeypatch, method, message):
    monkeypatch.setattr(highspy.Highs, method, lambda *_: highspy.HighsStatus.kError)
    assert events_of(start=np.zeros(2)) == [("refused", message)]


def test_lack_of_memory_is_told(fake):
    def hungry():
        raise MemoryError

    fake.run = hungry
    assert events_of()[-1] == ("failed", "HiGHS ran out of memory")
