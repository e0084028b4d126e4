"""The PuLP solver tells the truth where PuLP's own HiGHS class does not."""

import highspy
import numpy as np
import pulp
import pytest

from milpbn.clock import OutOfTime
from milpbn.engines import AnytimeHiGHS
from milpbn.engines.monolithic import pulp_highs
from milpbn.engines.monolithic.highs import Listeners
from milpbn.errors import OptionError, SolverError
from milpbn.result import Status


def best_knapsack(knapsack):
    problem, x = knapsack()
    problem.solve(AnytimeHiGHS())
    return pulp.value(problem.objective), [v.varValue for v in x]


def test_optimum_bound_and_values_agree(knapsack):
    problem, x = knapsack()
    solver = AnytimeHiGHS()
    assert pulp.LpStatus[problem.solve(solver)] == "Optimal"
    assert problem.sol_status == pulp.LpSolutionOptimal
    answer = solver.answer
    assert answer.status is Status.OPTIMAL
    assert pulp.value(problem.objective) == pytest.approx(answer.bound, abs=1e-6)
    assert all(v.varValue in (pytest.approx(0), pytest.approx(1)) for v in x)
    assert all(row.value() <= 1e-6 for row in problem.constraints())


def test_maximisation_keeps_its_sense_and_the_constant_arrives():
    problem = pulp.LpProblem("small", pulp.LpMaximize)
    x = problem.add_variable("x", 0, 3, "Integer")
    problem.setObjective(2 * x + 100)
    problem += x <= 2.5, "limit"
    bounds = []
    solver = AnytimeHiGHS(listeners=Listeners(on_bound=lambda b, n: bounds.append(b)))
    problem.solve(solver)
    assert (problem.solverModel.maximise, problem.solverModel.offset) == (True, 100)
    assert solver.answer.bound == pytest.approx(104)
    assert pulp.value(problem.objective) == pytest.approx(104)
    assert all(b >= 104 - 1e-6 for b in bounds)


def test_minimisation_bounds_from_below(knapsack):
    problem, x = knapsack(sense=pulp.LpMinimize)
    problem += pulp.lpSum(x) >= 7, "at_least"
    solver = AnytimeHiGHS()
    problem.solve(solver)
    assert not problem.solverModel.maximise
    assert solver.answer.bound == pytest.approx(pulp.value(problem.objective), abs=1e-6)
    assert sum(v.varValue for v in x) == pytest.approx(7)


def test_columns_sorted_by_name_are_mapped_back():
    problem = pulp.LpProblem("order", pulp.LpMaximize)
    z, a, m = (problem.add_variable(n, 0, 9, "Integer") for n in ("z", "a", "m"))
    problem.setObjective(z + a + m)
    problem += z <= 1, "one"
    problem += a <= 2, "two"
    problem += m <= 3, "three"
    problem.solve(AnytimeHiGHS())
    assert [v.name for v in problem.variables()] == ["a", "m", "z"]
    assert (z.varValue, a.varValue, m.varValue) == (1, 2, 3)


def test_a_warm_start_reaches_highs_and_is_the_first_incumbent(knapsack):
    value, x_best = best_knapsack(knapsack)
    problem, x = knapsack()
    for v, start in zip(x, x_best, strict=True):
        v.setInitialValue(round(start))
    seen = []
    solver = AnytimeHiGHS(warm_start=True, listeners=Listeners(on_solution=seen.append))
    problem.solve(solver)
    assert solver.answer.start_accepted
    # PuLP's columns are sorted by name, the items run the other way.
    assert seen[0][::-1] == pytest.approx(x_best)
    assert pulp.value(problem.objective) == pytest.approx(value)


def test_a_poor_start_is_taken_and_improved(knapsack):
    problem, x = knapsack()
    for k, v in enumerate(x):
        v.setInitialValue(int(k == 3))
    seen = []
    solver = AnytimeHiGHS(warm_start=True, listeners=Listeners(on_solution=seen.append))
    problem.solve(solver)
    assert solver.answer.start_accepted
    assert np.flatnonzero(seen[0][::-1].round()).tolist() == [3]
    assert len(seen) > 1
    assert pulp.LpStatus[problem.status] == "Optimal"


def test_an_infeasible_start_is_not_called_accepted(knapsack):
    problem, x = knapsack()
    for v in x:
        v.setInitialValue(1)
    solver = AnytimeHiGHS(warm_start=True)
    assert pulp.LpStatus[problem.solve(solver)] == "Optimal"
    assert not solver.answer.start_accepted


def test_without_a_start_none_is_accepted(knapsack):
    problem, x = knapsack()
    for v in x:
        v.setInitialValue(0)
    solver = AnytimeHiGHS()
    problem.solve(solver)
    assert not solver.answer.start_accepted


def test_a_start_with_holes_is_refused(knapsack):
    problem, x = knapsack()
    x[0].setInitialValue(1)
    with pytest.raises(OptionError, match=r"warm start: variable x\d+ has no initial value"):
        problem.solve(AnytimeHiGHS(warm_start=True))


@pytest.mark.parametrize(
    "options",
    [
        {"mip_rel_gapp": 0.1},
        {"warmStart": True},
        {"presolve": "perhaps"},
        {"mip_rel_gap": "small"},
        {"threads": -3},
    ],
)
def test_an_unknown_option_or_a_bad_value_raises(knapsack, options):
    problem, _ = knapsack()
    name = next(iter(options))
    with pytest.raises(SolverError, match=f"HiGHS (could not set|has no) option.*{name}"):
        problem.solve(AnytimeHiGHS(**options))


@pytest.fixture
def settings(monkeypatch):
    """The settings of the runs of HiGHS."""
    seen = []

    class Seen(pulp_highs.HighsRun):
        def __init__(self, program, settings, listeners):
            seen.append(settings)
            super().__init__(program, settings, listeners)

    monkeypatch.setattr(pulp_highs, "HighsRun", Seen)
    return seen


def test_a_known_option_is_set(knapsack, settings):
    problem, _ = knapsack()
    problem.solve(AnytimeHiGHS(mip_heuristic_effort=0.25, presolve="off"))
    options = settings[0].as_options()
    assert (options["mip_heuristic_effort"], options["presolve"]) == (0.25, "off")


def test_gaps_are_exact_by_default(knapsack, settings):
    problem, _ = knapsack()
    problem.solve(AnytimeHiGHS())
    options = settings[0].as_options()
    assert (options["mip_rel_gap"], options["mip_abs_gap"]) == (0.0, 1e-6)
    assert highspy.Highs().getOptionValue("mip_rel_gap")[1] > 0


def test_a_gap_that_is_asked_for_is_set(knapsack, settings):
    problem, _ = knapsack()
    problem.solve(AnytimeHiGHS(gap=0.05))
    assert settings[0].as_options()["mip_rel_gap"] == 0.05


def test_a_time_limit_is_not_called_optimal(knapsack):
    problem, x = knapsack(n=400, m=40)
    for v in x:
        v.setInitialValue(0)
    # Enough for HiGHS to take the start on a slow machine; the proof takes hours on a fast one.
    solver = AnytimeHiGHS(time_limit=4.0, warm_start=True)
    assert pulp.LpStatus[problem.solve(solver)] == "Not Solved"
    assert problem.sol_status == pulp.LpSolutionIntegerFeasible
    assert solver.answer.status is Status.TIME_LIMIT
    # The bound is None if the time ended before the root's relaxation was solved.
    assert (solver.answer.bound or np.inf) > pulp.value(problem.objective)
    assert all(row.value() <= 1e-6 for row in problem.constraints())


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_limit_before_any_incumbent_leaves_no_solution(market_split, seconds):
    solver = AnytimeHiGHS(time_limit=seconds)
    assert pulp.LpStatus[market_split.solve(solver)] == "Not Solved"
    assert market_split.sol_status == pulp.LpSolutionNoSolutionFound
    assert solver.answer.status is Status.TIME_LIMIT
    assert solver.answer.x is None
    assert all(v.varValue is None for v in market_split.variables())


def test_an_interrupt_before_any_incumbent_leaves_no_solution(market_split):
    def on_bound(bound, nodes):
        raise KeyboardInterrupt

    solver = AnytimeHiGHS(time_limit=600, listeners=Listeners(on_bound=on_bound))
    assert pulp.LpStatus[market_split.solve(solver)] == "Not Solved"
    assert market_split.sol_status == pulp.LpSolutionNoSolutionFound
    assert solver.answer.status is Status.INTERRUPTED
    assert solver.answer.x is None


def test_the_hand_over_counts_against_the_time_limit(knapsack, settings, now):
    problem, _ = knapsack(n=400, m=40)

    def slow():
        now[0] += 0.7

    problem.solve(AnytimeHiGHS(time_limit=1.0, checkpoint=slow))
    assert settings[0].time_limit == pytest.approx(0.3)


def test_the_hand_over_stops_at_a_checkpoint(knapsack):
    problem, _ = knapsack()

    def checkpoint():
        raise OutOfTime

    with pytest.raises(OutOfTime):
        problem.solve(AnytimeHiGHS(checkpoint=checkpoint))


def test_a_node_limit_ends_without_a_proof(knapsack):
    problem, _ = knapsack(n=60, m=10)
    solver = AnytimeHiGHS(mip_max_nodes=1)
    assert pulp.LpStatus[problem.solve(solver)] == "Not Solved"
    assert solver.answer.status is Status.FEASIBLE
    assert solver.answer.bound > pulp.value(problem.objective)


def test_infeasible_and_unbounded_problems_are_told_apart():
    problem = pulp.LpProblem("none", pulp.LpMaximize)
    x = problem.add_variable("x", 0, 1, "Integer")
    problem.setObjective(x)
    problem += x >= 2, "too_much"
    assert pulp.LpStatus[problem.solve(AnytimeHiGHS())] == "Infeasible"
    assert x.varValue is None
    problem = pulp.LpProblem("endless", pulp.LpMaximize)
    y = problem.add_variable("y", 0, None)
    problem.setObjective(y)
    with pytest.raises(SolverError, match=r"HiGHS stopped with model status '.*[Uu]nbounded"):
        problem.solve(AnytimeHiGHS())


def test_a_problem_without_integers_has_its_optimum_as_bound():
    problem = pulp.LpProblem("lp", pulp.LpMaximize)
    x, y = problem.add_variable("x", 0, 4), problem.add_variable("y", 0, 4)
    problem.setObjective(x + 2 * y + 7)
    problem += x + y <= 5, "limit"
    solver = AnytimeHiGHS()
    assert pulp.LpStatus[problem.solve(solver)] == "Optimal"
    assert solver.answer.bound == pytest.approx(16)


def test_threads_may_change_between_solves(knapsack):
    expected, _ = best_knapsack(knapsack)
    for threads in (1, 2, 1, 2):
        problem, _ = knapsack()
        assert pulp.LpStatus[problem.solve(AnytimeHiGHS(threads=threads))] == "Optimal"
        assert pulp.value(problem.objective) == pytest.approx(expected)
