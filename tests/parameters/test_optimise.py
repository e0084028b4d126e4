"""Gradients against finite differences, and what an optimiser may and may not do."""

import numpy as np
import pytest

from milpbn.clock import OutOfTime
from milpbn.families import Laplace, MergedRows
from milpbn.network.network import fit_network
from milpbn.parameters.convert import layout_of
from milpbn.parameters.losses import ConditionalLoss, MarginLoss
from milpbn.parameters.optimise import Problem, climb
from milpbn.parameters.tables import Rows

LOSSES = [ConditionalLoss(), MarginLoss(0.5), MarginLoss(2.0)]


def problem_of(data, structure, loss, penalty=0.0):
    network = fit_network(structure, data.variables, data.train(), Laplace())
    rows = Rows.of(layout_of(network), MergedRows.from_codes(data.train()))
    return Problem(rows, loss, rows.maximum_likelihood(Laplace()), penalty)


@pytest.mark.parametrize("penalty", [0.0, 0.7])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("class_root", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_the_value(random_problem, seed, class_root, loss, penalty):
    data, structure, rng = random_problem(seed, class_root=class_root)
    problem = problem_of(data, structure, loss, penalty)
    beta = problem.anchor + rng.normal(size=len(problem.anchor))
    _, gradient = problem.value(beta)
    step = 1e-5
    for cell in rng.permutation(len(beta))[:25]:
        up, down = beta.copy(), beta.copy()
        up[cell] += step
        down[cell] -= step
        slope = (problem.value(up)[0] - problem.value(down)[0]) / (2 * step)
        assert gradient[cell] == pytest.approx(slope, abs=1e-5)


def test_some_of_these_structures_have_a_class_with_parents(random_problem):
    assert any(random_problem(seed)[1].parents[0] for seed in range(5))


@pytest.mark.parametrize("method", ["l-bfgs", "cg"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_the_end_is_never_below_the_start(random_problem, seed, loss, method):
    data, structure, rng = random_problem(seed)
    problem = problem_of(data, structure, loss)
    for start in (problem.anchor, rng.normal(scale=3.0, size=len(problem.anchor))):
        found = climb(problem, start, method=method, max_iterations=30)
        assert found.value >= problem.value(start)[0]
        assert found.value == pytest.approx(problem.value(found.beta)[0])


@pytest.mark.parametrize("seed", range(4))
def test_both_methods_reach_the_same_optimum(random_problem, seed):
    data, structure, _ = random_problem(seed, class_root=True)
    problem = problem_of(data, structure, ConditionalLoss(), penalty=0.5)
    quick = climb(problem, problem.anchor, method="l-bfgs", tolerance=1e-8)
    slow = climb(problem, problem.anchor, method="cg", tolerance=1e-8)
    assert quick.ended == "converged"
    assert quick.value == pytest.approx(slow.value, rel=1e-6)


def test_more_steps_are_never_worse(random_problem):
    data, structure, _ = random_problem(3)
    problem = problem_of(data, structure, ConditionalLoss())
    values = [
        climb(problem, problem.anchor, max_iterations=steps).value for steps in (0, 1, 3, 10, 50)
    ]
    assert values == sorted(values)
    assert values[0] == problem.value(problem.anchor)[0]
    assert values[-1] > values[0]


def test_a_heavy_penalty_holds_the_start(random_problem):
    data, structure, _ = random_problem(4)
    heavy = problem_of(data, structure, ConditionalLoss(), penalty=1e8)
    found = climb(heavy, heavy.anchor)
    assert np.abs(found.beta - heavy.anchor).max() < 1e-5


@pytest.mark.parametrize(
    ("signal", "ended"), [(OutOfTime, "time_limit"), (KeyboardInterrupt, "interrupted")]
)
def test_a_stopped_climb_keeps_the_best_point(random_problem, signal, ended):
    data, structure, _ = random_problem(1, class_root=True)
    problem = problem_of(data, structure, ConditionalLoss())
    calls = iter(range(100))

    def stop_at_the_fifth():
        if next(calls) == 5:
            raise signal

    found = climb(problem, problem.anchor, checkpoint=stop_at_the_fifth)
    assert found.ended == ended
    assert found.value > problem.value(problem.anchor)[0]
