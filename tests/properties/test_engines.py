"""Properties of heuristics, programs and engines, all against enumeration."""

import math
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import highspy
import numpy as np
import oracle
import pulp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_cases import data_sets, few, of, some, spaces

from milpbn import SolveOptions
from milpbn.anytime import Progress, Run, allowed_gap
from milpbn.certainty.conditions import Condition, arc_conditions
from milpbn.certainty.pool import PoolLimits, PoolResult, best_structures
from milpbn.certainty.questions import Question, QuestionSolver
from milpbn.clock import Clock
from milpbn.engines import AnytimeHiGHS, solve_monolithic
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.engine import root_bound, solve_branch_and_cut
from milpbn.engines.branch_and_cut.relaxation import Relaxation, RelaxationPoint
from milpbn.engines.branch_and_cut.rows import Pool
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.engines.monolithic import ModelLayout, SparseModel, build_model, to_pulp, write_model
from milpbn.engines.monolithic.emit_highs import Arrays
from milpbn.engines.monolithic.highs import HighsAnswer, HighsRun, HighsSettings, Listeners
from milpbn.learning.maximise import Shared, maximise
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import make_settings
from milpbn.scores import MDL, SoftMargin
from milpbn.search import Learner, Search, make_learner, run_learner
from milpbn.search.local_search import LocalSearch
from milpbn.search.sa import SimulatedAnnealing

SCORES = st.sampled_from([SoftMargin(), SoftMargin(p=0.6, penalty=0.1), MDL()])


@st.composite
def problems(draw, features=2):
    """An objective over a small space, and its score."""
    data, score = draw(data_sets(features=features, rows=10)), draw(SCORES)
    return build_objective(data, score, draw(spaces), prune=False), score


def all_structures(objective):
    """Every structure as families, with its score, the best first."""
    space = objective.space
    picks = product(*(space.of(i) for i in range(space.n_variables)))
    kept = (np.array(p) for p in picks if oracle.is_acyclic([space.parent_sets[f] for f in p]))
    return sorted(((objective.value(p), p.tolist()) for p in kept), reverse=True)


@of("milpbn.engines.enumeration.best_by_enumeration")
@some
@given(problems(features=3))
def test_enumeration_finds_the_best(problem):
    objective, _ = problem
    families, value = best_by_enumeration(objective)
    assert value == pytest.approx(all_structures(objective)[0][0])
    assert objective.value(families) == pytest.approx(value)


@of(
    *("milpbn.search.make_learner", "milpbn.search.run_learner", "milpbn.search.Learner"),
    *("milpbn.search.local_search.LocalSearch", "milpbn.search.sa.SimulatedAnnealing"),
    *("milpbn.anytime.Run", "milpbn.SolveOptions"),
)
@some
@given(problems(), st.integers(0, 99))
def test_heuristics_report_the_score_of_what_they_found(problem, seed):
    objective, score = problem
    best = all_structures(objective)[0][0]
    chosen = (LocalSearch(patience=20), SimulatedAnnealing(max_tries=5), make_learner("nb"))
    for learner in (*chosen, make_learner("hc")):
        assert isinstance(learner, Learner)
        assert make_learner(learner) is learner
        found, again = (
            run_learner(learner, objective, score, Run(options=SolveOptions(seed=seed)))
            for _ in range(2)
        )
        assert found.structure == again.structure
        assert found.bound is None
        assert found.objective == pytest.approx(
            objective.value(objective.space.families(found.structure))
        )
        assert found.objective <= best + 1e-9


@of("milpbn.search.Search", "milpbn.anytime.Progress", "milpbn.anytime.allowed_gap")
@some
@given(problems(), st.integers(0, 9), st.lists(st.floats(0, 50), max_size=5))
def test_what_is_known_never_gets_worse(problem, seed, bounds):
    objective, score = problem
    points = []
    progress = Progress(objective, Clock(), points.append, objective.quick_bound())
    search = Search(objective, progress, seed)
    for bound in bounds:
        progress.improve_bound(objective.quick_bound() + bound, 1, "test")
    for value, families in reversed(all_structures(objective)):
        search.offer(search.state(np.array(families)), "test")
        assert progress.value >= value - 1e-9
    values = [p.objective for p in points if p.objective is not None]
    assert values == sorted(values)
    told = [p.bound for p in points if p.bound is not None]
    assert told == sorted(told, reverse=True)
    assert progress.result(score, "feasible", engine="test", bound=None).objective == progress.value
    assert 0 < allowed_gap(progress.value) <= allowed_gap(2 * progress.value)


@of(
    *("milpbn.engines.monolithic.build_model", "milpbn.engines.monolithic.SparseModel"),
    *("milpbn.engines.monolithic.ModelLayout", "milpbn.engines.monolithic.to_pulp"),
    *("milpbn.engines.monolithic.write_model", "milpbn.engines.AnytimeHiGHS"),
)
@few
@given(problems())
def test_every_form_of_the_program_has_the_same_optimum(problem):
    objective, _ = problem
    best, families = all_structures(objective)[0]
    model, layout = build_model(objective)
    assert isinstance(model, SparseModel)
    assert isinstance(layout, ModelLayout)
    point = layout.point(np.array(families))
    assert layout.families(point).tolist() == families
    cost = np.concatenate([block.cost for block in model.columns])
    assert float(cost @ point) == pytest.approx(best)
    as_pulp, variables = to_pulp(model)
    assert len(variables) == model.n_columns
    as_pulp.solve(AnytimeHiGHS())
    assert pulp.value(as_pulp.objective) == pytest.approx(best, abs=1e-5)
    with TemporaryDirectory() as folder:
        for ending in (".lp", ".mps"):
            path = Path(folder, "model" + ending)
            write_model(model, path)
            highs = highspy.Highs()
            highs.silent()
            highs.readModel(str(path))
            highs.run()
            # An MPS file has no direction for the objective.
            assert abs(highs.getObjectiveValue()) == pytest.approx(abs(best), abs=1e-5)


@of(
    *(
        "milpbn.engines.monolithic.highs.HighsSettings",
        "milpbn.engines.monolithic.highs.HighsAnswer",
    ),
    "milpbn.engines.monolithic.highs.Listeners",
)
@few
@given(problems(), st.integers(0, 9))
def test_solutions_and_bounds_enclose_the_optimum(problem, seed):
    objective, _ = problem
    best = all_structures(objective)[0][0]
    model, layout = build_model(objective)
    points, bounds = [], []
    listeners = Listeners(points.append, lambda bound, nodes: bounds.append(bound))
    settings = HighsSettings(seed=seed).changed(gap=0.0)
    answer = HighsRun(Arrays.of(model), settings, listeners).solve()
    assert isinstance(answer, HighsAnswer)
    assert answer.status == "optimal"
    assert objective.value(layout.families(answer.x)) == pytest.approx(best, abs=1e-5)
    assert answer.bound >= best - 1e-5
    assert all(bound >= best - 1e-5 for bound in bounds)
    assert all(objective.value(layout.families(x)) <= best + 1e-5 for x in points)


@of(
    *(
        "milpbn.engines.solve_monolithic",
        "milpbn.engines.branch_and_cut.engine.solve_branch_and_cut",
    ),
    *("milpbn.engines.branch_and_cut.engine.root_bound", "milpbn.learning.maximise.maximise"),
    "milpbn.learning.maximise.Shared",
)
@few
@given(problems(features=3))
def test_engines_prove_the_optimum(problem):
    objective, score = problem
    best, families = all_structures(objective)[0]
    pool = Pool()
    settings = make_settings(score=score, start=None)
    for result in (
        solve_monolithic(objective, score),
        solve_branch_and_cut(objective, score, pool=pool),
        solve_branch_and_cut(objective, score, pool=pool),  # with the cuts of the first
        maximise(objective, settings, shared=Shared(objective, pool=Pool())),
    ):
        assert result.status == "optimal"
        assert result.objective == pytest.approx(best)
        assert best - 1e-6 <= result.bound <= best + allowed_gap(best)
    assert root_bound(objective, np.array(families)) >= best - 1e-6


@of(
    *(
        "milpbn.engines.branch_and_cut.relaxation.Relaxation",
        "milpbn.engines.branch_and_cut.relaxation.RelaxationPoint",
    ),
    "milpbn.engines.branch_and_cut.rows.Pool",
)
@few
@given(problems())
def test_a_relaxation_is_never_below_the_optimum(problem):
    objective, _ = problem
    best = all_structures(objective)[0][0]
    relaxation = Relaxation(CutOracle(objective), Clock())
    point = relaxation.solve()
    assert isinstance(point, RelaxationPoint)
    assert point.bound >= best - 1e-6
    sums = np.add.reduceat(point.eta, objective.space.offsets[:-1])
    assert sums == pytest.approx(1.0)
    assert isinstance(relaxation.pool(), Pool)


@of(
    *("milpbn.certainty.pool.best_structures", "milpbn.certainty.pool.PoolLimits"),
    "milpbn.certainty.pool.PoolResult",
)
@few
@given(problems(), st.integers(1, 6))
def test_the_best_structures_are_the_first_of_all(problem, most):
    objective, _ = problem
    values = [value for value, _ in all_structures(objective)]
    found = best_structures(objective, PoolLimits(most))
    assert isinstance(found, PoolResult)
    assert found.complete
    assert list(found.values) == pytest.approx(values[:most], abs=1e-6)
    assert len({tuple(f.tolist()) for f in found.families}) == len(found.families)
    rest = values[most] if most < len(values) else -math.inf
    assert found.rest >= rest - 1e-6


@of(
    *("milpbn.certainty.questions.QuestionSolver", "milpbn.certainty.questions.Question"),
    *("milpbn.certainty.conditions.Condition", "milpbn.certainty.conditions.arc_conditions"),
)
@few
@given(problems())
def test_the_best_structure_under_every_condition(problem):
    objective, _ = problem
    everything = all_structures(objective)
    best = np.array(everything[0][1])
    conditions = arc_conditions(objective.space, best)
    solver = QuestionSolver(objective, best, conditions)
    solver.run()
    assert [question.condition for question in solver.questions] == conditions
    for question in solver.questions:
        assert isinstance(question, Question)
        condition = question.condition
        assert isinstance(condition, Condition)
        assert not condition.holds(objective.space, best)
        values = [v for v, f in everything if condition.holds(objective.space, np.array(f))]
        assert question.closed
        if values:
            assert question.progress.value == pytest.approx(max(values), abs=1e-6)
            assert question.progress.bound >= max(values) - 1e-6
        else:
            assert question.progress.families is None
