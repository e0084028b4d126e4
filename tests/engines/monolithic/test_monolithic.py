"""The monolithic engine: any-time, interruptible, truthful about what it proved."""

import json
import time

import numpy as np
import pytest
from problems import encoded, random_codes

from milpbn import Constraints, Encoder, learn_structure, load_dataset
from milpbn.anytime import Run, SolveOptions
from milpbn.clock import Clock
from milpbn.engines import solve_monolithic
from milpbn.engines.monolithic import engine as monolithic
from milpbn.engines.monolithic.highs import HighsAnswer
from milpbn.errors import ConstraintError, OptionError, ProofWarning, SolverError
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.result import Status
from milpbn.scores import SoftMargin, make_score
from milpbn.structure import Structure

EMITTERS = pytest.mark.parametrize("emit", ["pulp", "highspy"])

# Ends a run that should have ended long before.
GUARD = 600.0


@pytest.fixture
def easy():
    """(objective, score) of a problem that is solved in a moment."""
    codes, cards = random_codes(np.random.default_rng(4), 4, n_classes=3)
    score = SoftMargin(p=0.8)
    return build_objective(encoded(codes, cards), score, SearchSpace()), score


def assert_any_time(result):
    """A structure, a finite bound and a monotone trace that ends with both."""
    assert np.isfinite([result.objective, result.bound]).all()
    assert result.bound >= result.objective
    end = result.trace[-1]
    assert (end.objective, end.bound) == (result.objective, result.bound)
    objectives = [t.objective for t in result.trace if t.objective is not None]
    bounds = [t.bound for t in result.trace if t.bound is not None]
    assert objectives == sorted(objectives)
    assert bounds == pytest.approx(sorted(bounds, reverse=True), rel=1e-6)


class RaiseAt:
    """A listener that raises at its k-th event, once."""

    def __init__(self, k, error):
        self.k, self.error, self.count = k, error, 0

    def __call__(self, point):
        self.count += 1
        if self.count == self.k:
            raise self.error


@EMITTERS
def test_a_small_problem_is_solved_with_a_proof(easy, emit):
    objective, score = easy
    result = solve_monolithic(objective, score, Run(options=SolveOptions(emit=emit)))
    assert result.status is Status.OPTIMAL
    assert result.gap_rel <= 1e-6
    assert result.objective == objective.value(objective.space.families(result.structure))
    assert (result.engine, result.score) == ("monolithic", "sm")
    assert result.score_parameters == score.settings()
    assert result.solver.startswith("HiGHS 1.")
    assert set(result.seconds) == {"building", "solving"}
    assert_any_time(result)


@EMITTERS
def test_a_time_limit_ends_with_structure_and_bound(noise, emit):
    """HiGHS ends at its limit, which on any machine comes long before the proof."""
    objective, score = noise
    began = time.perf_counter()
    result = solve_monolithic(
        objective, score, Run(clock=Clock(1.0), options=SolveOptions(emit=emit))
    )
    assert time.perf_counter() - began < GUARD
    assert result.status is Status.TIME_LIMIT
    assert result.gap_rel > 0.001
    assert_any_time(result)


@EMITTERS
def test_time_that_runs_out_during_the_solve_keeps_what_was_found(noise, now, emit):
    objective, score = noise
    events = []

    def sixth_is_late(point):
        events.append(point)
        if len(events) == 6:
            now[0] += 2 * GUARD

    result = solve_monolithic(
        objective,
        score,
        Run(clock=Clock(GUARD), options=SolveOptions(emit=emit), listener=sixth_is_late),
    )
    assert result.status is Status.TIME_LIMIT
    assert result.objective >= events[5].objective
    assert result.bound <= events[5].bound
    assert_any_time(result)


# The real process, and HiGHS in it, until it dies in the middle of its work.
DYING = """
import os, pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from milpbn.engines.monolithic import highs_process
listen = highs_process._listen

def listen_and_die(highs, tell):
    bounds = []
    def tell_and_die(*event):
        tell(*event)
        bounds.extend(event[:1] if event[0] == "bound" else ())
        if len(bounds) == 3:
            os.abort()
    listen(highs, tell_and_die)

highs_process._listen = listen_and_die
highs_process.run_process()
"""


@EMITTERS
def test_a_solver_that_crashes_leaves_structure_bound_and_trace(noise, monkeypatch, emit):
    objective, score = noise
    monkeypatch.setattr("milpbn.engines.monolithic.highs._COMMAND", ("-c", DYING))
    start = objective.space.structure(objective.space.feasible_families())
    with pytest.warns(ProofWarning, match="HiGHS crashed: its process .*is kept, without a proof"):
        result = solve_monolithic(objective, score, Run(options=SolveOptions(emit=emit)))
    assert result.status is Status.FEASIBLE
    assert result.objective >= objective.value(objective.space.families(start))
    assert result.bound < objective.quick_bound()
    assert [point.source for point in result.trace].count("HiGHS") >= 3
    assert_any_time(result)


def test_a_command_whose_solver_crashes_ends_with_a_note_and_its_files(monkeypatch, tmp_path):
    from click.testing import CliRunner

    from milpbn.cli import cli

    monkeypatch.setattr("milpbn.engines.monolithic.highs._COMMAND", ("-c", DYING))
    out = tmp_path / "model.json"
    options = ["--dataset", "heart", "--method", "monolithic", "--out", str(out)]
    done = CliRunner().invoke(cli, ["solve", *options])
    assert done.exit_code == 3, done.output
    assert "note: HiGHS crashed: its process" in done.stderr
    result = json.loads(out.read_text())["result"]
    assert result["status"] == "feasible"
    assert result["bound"] > result["objective"]
    assert result["trace"][-1]["bound"] == result["bound"]


def test_a_time_limit_on_real_data_is_not_called_optimal():
    table = load_dataset("german")
    data = Encoder.fit(table).encode(table)
    score = SoftMargin(p=0.9)
    objective = build_objective(data, score, SearchSpace(2, False))
    result = solve_monolithic(objective, score, Run(clock=Clock(1.0)))
    assert result.status is Status.TIME_LIMIT
    assert_any_time(result)


@EMITTERS
@pytest.mark.parametrize("limit", [0.0, 1e-6])
def test_a_time_limit_during_building_returns_a_structure_and_a_bound(noise, emit, limit):
    objective, score = noise
    result = solve_monolithic(
        objective, score, Run(clock=Clock(limit), options=SolveOptions(emit=emit))
    )
    assert result.status is Status.TIME_LIMIT
    assert result.source == "naive-bayes"
    assert result.bound == objective.quick_bound()
    assert list(result.seconds) == ["building"]
    assert_any_time(result)


@EMITTERS
@pytest.mark.parametrize("event", [1, 2, 3, 6])
def test_a_keyboard_interrupt_in_the_listener_keeps_the_answer(noise, emit, event):
    objective, score = noise
    listener = RaiseAt(event, KeyboardInterrupt())
    result = solve_monolithic(
        objective,
        score,
        Run(clock=Clock(GUARD), options=SolveOptions(emit=emit), listener=listener),
    )
    assert listener.count > event
    assert result.status is Status.INTERRUPTED
    assert_any_time(result)


def test_an_interrupt_while_the_start_is_told_keeps_the_start(noise):
    objective, score = noise
    start = objective.space.structure(objective.space.feasible_families())
    result = solve_monolithic(
        objective,
        score,
        Run(clock=Clock(GUARD), start=start, listener=RaiseAt(1, KeyboardInterrupt())),
    )
    assert result.status is Status.INTERRUPTED
    assert (result.structure, result.source) == (start, "warm-start")
    assert result.warm_start.accepted is None
    assert result.bound == objective.quick_bound()


@EMITTERS
def test_a_real_ctrl_c_during_the_solve_keeps_the_answer(noise, ctrl_c, emit):
    objective, score = noise
    events = []
    with ctrl_c() as press:

        def listener(point):
            events.append(point)
            if len(events) == 5:
                press(0.05)

        result = solve_monolithic(
            objective,
            score,
            Run(clock=Clock(GUARD), options=SolveOptions(emit=emit), listener=listener),
        )
    assert result.status is Status.INTERRUPTED
    assert result.bound < objective.quick_bound()
    assert result.trace == tuple(events)
    assert_any_time(result)
    assert "solving" in result.seconds


@EMITTERS
def test_an_error_in_the_listener_comes_through_and_stops_the_solver(noise, emit):
    objective, score = noise
    listener = RaiseAt(5, ZeroDivisionError("listener"))
    with pytest.raises(ZeroDivisionError, match="listener"):
        solve_monolithic(
            objective,
            score,
            Run(clock=Clock(GUARD), options=SolveOptions(emit=emit), listener=listener),
        )


@EMITTERS
def test_a_gap_that_is_asked_for_ends_the_run(noise, emit):
    objective, score = noise
    result = solve_monolithic(
        objective, score, Run(clock=Clock(GUARD), options=SolveOptions(gap=0.3, emit=emit))
    )
    assert result.status is Status.FEASIBLE
    assert 1e-6 < result.gap_rel <= 0.3
    assert_any_time(result)


def test_a_small_gap_is_reached_or_proved(easy):
    objective, score = easy
    result = solve_monolithic(objective, score, Run(options=SolveOptions(gap=0.05)))
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.gap_rel <= 0.05


@EMITTERS
def test_a_start_reaches_highs_and_is_reported(noise, emit):
    objective, score = noise

    def few_events():
        return RaiseAt(8, KeyboardInterrupt())

    first = solve_monolithic(objective, score, Run(clock=Clock(GUARD), listener=few_events()))
    result = solve_monolithic(
        objective,
        score,
        Run(
            clock=Clock(GUARD),
            options=SolveOptions(emit=emit),
            start=first.structure,
            start_source="before",
            listener=few_events(),
        ),
    )
    start = result.warm_start
    assert (start.source, start.objective) == ("before", first.objective)
    assert start.accepted
    assert start.improvement == pytest.approx(result.objective - first.objective)
    assert result.trace[0].objective == first.objective
    assert result.objective >= first.objective


def test_an_optimal_start_stays(easy):
    objective, score = easy
    best = solve_monolithic(objective, score)
    again = solve_monolithic(objective, score, Run(start=best.structure))
    assert again.status is Status.OPTIMAL
    assert again.structure == best.structure
    assert again.source == "warm-start"
    assert again.warm_start.improvement == 0.0


def test_a_start_outside_the_space_is_refused(easy):
    objective, score = easy
    wrong = Structure(objective.space.names, ((), (2,), (), ()))
    with pytest.raises(ConstraintError, match="x1 <- x2 is not among the candidate"):
        solve_monolithic(objective, score, Run(start=wrong))


def test_without_a_start_nothing_is_said_of_one(easy):
    assert solve_monolithic(*easy).warm_start is None


def test_threads_may_change_between_solves(easy):
    values = [
        solve_monolithic(*easy, Run(options=SolveOptions(threads=threads, emit=emit))).objective
        for threads, emit in ((1, "pulp"), (2, "highspy"), (1, "highspy"), (2, "pulp"))
    ]
    assert values == pytest.approx([values[0]] * 4)


def test_one_thread_is_deterministic(easy):
    first, second = (solve_monolithic(*easy, Run(options=SolveOptions(seed=3))) for _ in range(2))
    assert first.structure == second.structure
    assert (first.objective, first.bound, first.nodes) == (
        second.objective,
        second.bound,
        second.nodes,
    )


def test_a_variable_called_none_is_learned_like_any_other():
    from milpbn.encoding import EncodedData, Variable

    codes, cards = random_codes(np.random.default_rng(11), 4, n_classes=2)
    plain = encoded(codes, cards)
    names = ["none", "a b", "a-b", "from"]
    odd = EncodedData(
        "odd",
        tuple(Variable(n, v.states) for n, v in zip(names, plain.variables, strict=True)),
        plain.codes,
        plain.is_train,
    )
    score = make_score("mdl")
    results = [
        solve_monolithic(build_objective(data, score, SearchSpace(3)), score)
        for data in (plain, odd)
    ]
    assert [r.status for r in results] == [Status.OPTIMAL] * 2
    assert results[0].structure.parents == results[1].structure.parents


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gap": -0.1}, "gap must be a number of at least 0, not -0.1"),
        ({"gap": float("nan")}, "gap must be a number of at least 0, not nan"),
        ({"threads": 0}, "threads must be a whole number of at least 1, not 0"),
        ({"emit": "cplex"}, "emit must be one of pulp, highspy, not 'cplex'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        SolveOptions(**options)


def test_a_solver_that_calls_the_model_infeasible_is_an_error(easy, monkeypatch):
    answer = HighsAnswer(Status.INFEASIBLE, None, None, 0, False)
    monkeypatch.setattr(monolithic, "_run_pulp", lambda *_: answer)
    with pytest.raises(SolverError, match="infeasible model although a structure is known"):
        solve_monolithic(*easy)


def test_a_solver_whose_bound_is_too_low_is_an_error(easy, monkeypatch):
    answer = HighsAnswer(Status.OPTIMAL, None, -1e3, 0, False)
    monkeypatch.setattr(monolithic, "_run_pulp", lambda *_: answer)
    with pytest.raises(SolverError, match="lies below a structure"):
        solve_monolithic(*easy)


def test_optimal_is_said_only_with_a_closed_bound(easy, monkeypatch):
    # HiGHS may say optimal; without its bound nothing is proved.
    answer = HighsAnswer(Status.OPTIMAL, None, None, 0, False)
    monkeypatch.setattr(monolithic, "_run_pulp", lambda *_: answer)
    result = solve_monolithic(*easy)
    assert result.status is Status.FEASIBLE
    assert result.gap_rel > 1e-6


def test_a_run_that_ends_by_itself_ends_with_a_proof():
    """HiGHS leaves its bound here at 1e-6 and a rounding error."""
    times = {
        (0, 0, 0, 0): 6, (1, 1, 0, 1): 4, (0, 2, 0, 0): 3, (1, 1, 1, 1): 3,
        (2, 2, 0, 0): 3, (0, 0, 0, 1): 1, (0, 0, 1, 0): 1, (1, 0, 1, 0): 1,
    }  # fmt: skip
    codes = np.repeat(np.array(list(times)), list(times.values()), axis=0)
    result = learn_structure(
        encoded(codes, [3, 3, 2, 2]),
        method="monolithic",
        score="sbm",
        gamma=0.004000005333346137,
        max_parents=1,
        class_parents=False,
        constraints=Constraints(forbidden=["x2->class", "x3->x2"]),
    )
    assert result.status == "optimal"
    assert result.objective == pytest.approx(-0.7117692211548071)
