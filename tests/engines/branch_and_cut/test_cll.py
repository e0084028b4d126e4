"""The conditional log-likelihood, exactly: every option against all structures."""

import numpy as np
import oracle
import pytest
from problems import (
    encoded,
    named,
    random_budgets,
    random_codes,
    random_constraints,
    random_weights,
)
from stopped_runs import Countdown

from milpbn import SolveOptions, learn_structure
from milpbn.anytime import Run
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.engine import solve_branch_and_cut
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.errors import ConstraintError
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace, make_settings
from milpbn.scores import make_score
from milpbn.scores.rescore import rescore
from milpbn.selection.grid import grid_objective, run_grid, settings_by_penalty

OPTIONS = ("plain", "loo", "folds", "penalty", "weights", "constraints", "budgets")


def problem(option, seed, *, prune=False):
    """A random problem with two to four classes and one option, or several for odd seeds."""
    rng = np.random.default_rng([seed, OPTIONS.index(option), 32])
    n, most = [(3, 2), (4, 2), (4, 3), (5, 2)][seed % 4]
    codes, cards = random_codes(rng, n, n_classes=2 + seed % 3)

    def on(name):
        return option == name or (seed % 2 == 1 and rng.random() < 0.3)

    settings = {}
    if on("loo"):
        settings["validation"] = "loo"
    if on("folds"):
        settings["validation"] = int(rng.integers(2, 5))
    if on("penalty"):
        settings["penalty"] = str(rng.choice(["0.05", "0.2", "0.6", "bic"]))
    weights = random_weights(rng, len(codes)) if on("weights") else None
    limits = random_constraints(rng, n) if on("constraints") else {}
    if on("budgets"):
        limits |= {"budgets": random_budgets(rng, cards), "cards": cards}
    data, score = encoded(codes, cards, weights), make_score("cll", **settings)
    class_parents = bool(n < 5 and rng.random() < 0.5)
    try:
        space = SearchSpace(most, class_parents, named(limits, data))
        objective = build_objective(data, score, space, prune=prune)
    except ConstraintError:
        pytest.skip("the constraints leave no structure")
    return data, score, space, objective, limits


def check(option, seed):
    data, score, space, objective, limits = problem(option, seed)
    families, best = best_by_enumeration(objective)
    rows = data.train(), data.train_weights()
    structure = objective.space.structure(families)
    assert rescore(score, structure, data.variables, *rows) == pytest.approx(best, abs=1e-9)
    result = learn_structure(
        data,
        score=score,
        start=None,
        max_parents=space.max_parents,
        class_parents=space.class_parents,
        constraints=space.constraints,
    )
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=2e-6, abs=2e-6)
    assert result.bound >= best - 1e-9
    assert all(point.bound >= best - 1e-9 for point in result.trace)
    assert oracle.satisfies(result.structure.parents, **limits)
    again = rescore(score, result.structure, data.variables, *rows)
    assert again == pytest.approx(result.objective, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("option", OPTIONS)
def test_the_best_of_all_structures_is_proven(option, seed):
    check(option, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 130))
@pytest.mark.parametrize("option", OPTIONS)
def test_the_best_of_all_structures_is_proven_on_many_problems(option, seed):
    check(option, seed)


@pytest.mark.parametrize("steps", [1, 4, 9, 25])
@pytest.mark.parametrize("option", ["plain", "loo", "penalty"])
def test_bounds_of_stopped_runs_hold(option, steps, monkeypatch):
    for name in ("_ROUNDS_AT_ROOT", "_ROUNDS_PER_NODE"):
        monkeypatch.setattr(f"milpbn.engines.branch_and_cut.node_processor.{name}", 2)
    for seed in range(4):
        *_, objective, _ = problem(option, seed)
        best = best_by_enumeration(objective)[1]
        run = Run(clock=Countdown(steps))
        result = solve_branch_and_cut(objective, make_score("cll"), run)
        assert result.objective <= best + 1e-9
        assert all(t.bound is None or t.bound >= best - 1e-9 for t in result.trace)


@pytest.mark.parametrize("seed", range(8))
def test_every_penalty_of_a_grid_has_its_optimum(seed):
    """Later penalties begin with the cuts of earlier ones."""
    option = ("plain", "loo", "weights", "constraints")[seed % 4]
    data, score, space, _, _ = problem(option, 2 * seed)
    penalties = [2.0, 0.4, 0.1, 0.0]
    settings = make_settings(
        score="cll",
        validation=score.validation or "none",
        max_parents=space.max_parents,
        class_parents=space.class_parents,
        constraints=space.constraints,
    )
    runs = settings_by_penalty(settings, penalties)
    objective = grid_objective(data, settings, Clock())
    points = list(run_grid(data, runs, clock=Clock(), objective=objective))
    assert len(points) == len(penalties)
    for penalty, result in points:
        dear = make_score("cll", validation=score.validation, penalty=penalty)
        objective = build_objective(data, dear, space, prune=False)
        best = best_by_enumeration(objective)[1]
        assert result.status == "optimal"
        assert result.objective == pytest.approx(best, rel=2e-6, abs=2e-6)


def separable(weight):
    """Two features that say the class, in rows of this weight."""
    codes = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 1]])
    return encoded(codes, [2, 2, 2], np.array([weight, weight, 1.0]))


def test_almost_no_loss_is_proven_per_row():
    """A relative gap means nothing near 0: here 1e-8 nats per row are within the tolerance."""
    result = learn_structure(separable(1e6), score="cll")
    assert result.scale == pytest.approx(0.01 * result.weight)
    assert result.status == "optimal"
    assert result.gap_abs <= 1e-6 * result.scale
    assert learn_structure(separable(10.0), score="cll").scale == 1.0
    assert learn_structure(separable(1e6)).scale == 1.0


def test_a_bound_that_is_known_in_advance_says_little_about_the_log_loss():
    *_, objective, _ = problem("loo", 3)
    result = solve_branch_and_cut(objective, make_score("cll"), Run(clock=Countdown(0)))
    assert result.bound_is_trivial
    assert result.bound == 0.0
    data = problem("loo", 3)[0]
    stopped = learn_structure(data, score="cll", validation="loo", time_limit=0.0)
    assert stopped.log_loss > stopped.log_loss_bound == 0
    assert "log-loss below 0.0000 per row; found" in str(stopped)


def test_the_requested_gap_ends_the_search():
    data, score, space, *_ = problem("plain", 1)
    loose = learn_structure(
        data,
        score=score,
        constraints=space.constraints,
        start=None,
        options=SolveOptions(gap=0.5),
    )
    assert loose.gap_rel <= 0.5
