"""Questions about arcs against brute force over all structures, on random data."""

import itertools

import numpy as np
import oracle
import pytest
from problems import small_problem

from milpbn.certainty.conditions import arc_conditions
from milpbn.certainty.questions import QuestionSolver
from milpbn.clock import Clock


def best_answer(condition, parents, values):
    """The best score under a condition, by looking at all structures; None if there is none."""
    p, c = condition.parent, condition.child
    if condition.present:
        fits = [p in s[c] for s in parents]
    else:
        fits = [p not in s[c] and c not in s[p] for s in parents]
    return values[fits].max() if any(fits) else None


def near(value):
    return pytest.approx(value, rel=1e-6, abs=1e-6)


SEEDS = [k if k < 20 else pytest.param(k, marks=pytest.mark.slow) for k in range(100)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("score", oracle.SCORES)
def test_every_answer_is_that_of_brute_force(score, seed):
    weights = np.random.default_rng(seed) if seed % 5 == 0 else None
    objective, parents, values = small_problem(seed, score, weights)
    # The structure that is varied need not be optimal.
    pick = int(values.argmax()) if seed % 3 else seed % len(values)
    best = [objective.space.find(i, s) for i, s in enumerate(parents[pick])]
    bound = values.max() if seed % 2 else np.inf
    conditions = arc_conditions(objective.space, best)
    solver = QuestionSolver(objective, best, conditions, bound=bound + 1e-9, seed=seed)
    solver.run()
    check_answers(solver, parents, values)


@pytest.mark.parametrize("seed", range(2, 40, 4))
@pytest.mark.parametrize("score", ["sm", "cll", "mdl"])
def test_trees_that_are_left_and_continued_give_the_same_answers(score, seed, ticking, monkeypatch):
    objective, parents, values = small_problem(seed, score)
    best = [objective.space.find(i, s) for i, s in enumerate(parents[int(values.argmax())])]
    solver = QuestionSolver(objective, best, arc_conditions(objective.space, best), seed=seed)
    visits = itertools.count(1)
    # So little time that many visits end in the middle, and more from visit to visit.
    monkeypatch.setattr(QuestionSolver, "_share", lambda self, waiting: 0.002 * next(visits))
    solver.run()
    check_answers(solver, parents, values)


def check_answers(solver, parents, values):
    for question in solver.questions:
        truth = best_answer(question.condition, parents, values)
        progress = question.progress
        assert question.closed
        if truth is None:
            assert (progress.families, progress.bound) == (None, -np.inf)
            continue
        assert progress.value == near(truth)
        assert progress.bound == near(truth)
        found = solver.space.structure(progress.families).parents
        assert best_answer(question.condition, [found], values[:1]) is not None


@pytest.mark.parametrize("limit", [0.03, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(1, 12, 2))
@pytest.mark.parametrize("score", ["sm", "cll", "mdl"])
def test_intervals_are_valid_wherever_the_time_ends(score, seed, limit, ticking):
    objective, parents, values = small_problem(seed, score)
    best = [objective.space.find(i, s) for i, s in enumerate(parents[int(values.argmax())])]
    conditions = arc_conditions(objective.space, best)
    solver = QuestionSolver(objective, best, conditions, clock=Clock(limit), seed=seed)
    solver.run()
    for question in solver.questions:
        truth = best_answer(question.condition, parents, values)
        if truth is None:
            assert question.progress.families is None
            continue
        assert question.progress.value <= truth + 1e-6 * max(1, abs(truth))
        assert question.progress.bound >= truth - 1e-6 * max(1, abs(truth))
