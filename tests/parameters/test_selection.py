"""The choice by cross-validation: the best held-out score, the first of equals, and patience."""

import numpy as np
import pytest

from milpbn.clock import no_checkpoint
from milpbn.families import Laplace, MergedRows
from milpbn.network.network import fit_network
from milpbn.parameters import make_parameters, mm
from milpbn.parameters.convert import layout_of
from milpbn.parameters.losses import ConditionalLoss
from milpbn.parameters.optimise import Problem
from milpbn.parameters.selection import choose_setting, make_folds


@pytest.fixture
def folds(random_problem):
    data, structure, _ = random_problem(0, class_root=True)
    network = fit_network(structure, data.variables, data.train(), Laplace())
    rows = MergedRows.from_codes(data.train())
    return make_folds(layout_of(network), rows, Laplace(), 3, seed=0)


def choose(folds, scores, *, with_start, patience, first=0):
    """The choice where the settings score as the list says, the start first."""
    current = -1

    def problem_of(fold, setting):
        nonlocal current
        current = setting
        return Problem(fold.train, ConditionalLoss(), fold.start, 10.0)

    starts = [fold.train.layout.log_theta(fold.start) for fold in folds]

    def criterion(rows, log_theta):
        is_start = any(np.array_equal(log_theta, start) for start in starts)
        return scores[0 if with_start and is_start else current + with_start]

    settings = range(len(scores) - with_start)
    choice = choose_setting(
        folds,
        settings,
        problem_of,
        criterion,
        first=first,
        with_start=with_start,
        method="l-bfgs",
        patience=patience,
        checkpoint=no_checkpoint,
    )
    return choice.index, len(choice.scores)


@pytest.mark.parametrize(
    ("scores", "patience", "chosen", "tried"),
    [
        ([1, 2, 3, 4], 2, 3, 4),
        ([1, 3, 2, 4, 0, 0, 9], 2, 3, 6),  # one worse setting is borne, two are not
        ([1, 3, 2, 4, 0, 0, 9], 1, 1, 3),
        ([5, 5, 5, 5], 2, 0, 3),  # the first of equals
        ([1, 0, 0, 0], 9, 0, 4),
    ],
)
def test_the_best_setting_is_chosen_until_patience_ends(folds, scores, patience, chosen, tried):
    found = choose(folds, scores, with_start=False, patience=patience)
    assert found == (chosen, tried)


@pytest.mark.parametrize(
    ("scores", "chosen", "tried"),
    [
        ([0, 1, 5, 3, 2, 1], 1, 3),  # stronger settings are better: up to the first worse one
        ([9, 8, 7, 6, 2, 1], -1, 4),  # the start is the strongest
        ([0, 1, 2, 3, 5, 4], 3, 4),  # weaker ones, if the next stronger one is worse
        ([5, 5, 5, 5, 5, 5], -1, 4),  # the strongest of equals
    ],
)
def test_the_search_goes_from_the_first_setting_in_the_better_direction(
    folds, scores, chosen, tried
):
    assert choose(folds, scores, with_start=True, patience=1, first=2) == (chosen, tried)


def test_folds_hold_out_every_row_once(folds, random_problem):
    data, _, _ = random_problem(0, class_root=True)
    assert [fold.held_out.total for fold in folds] == [20, 20, 20]
    assert all(fold.train.total + fold.held_out.total == len(data.codes) for fold in folds)


def test_the_prior_of_the_margin_has_the_scale_of_lambda(random_problem, folds, monkeypatch):
    """Lambda is chosen with the objective that is climbed to afterwards."""
    problems = []

    def listening(folds, settings, problem_of, *args, **options):
        problems.extend(problem_of(folds[0], setting) for setting in settings)
        return choose_setting(folds, settings, problem_of, *args, **options)

    monkeypatch.setattr(mm, "choose_setting", listening)
    data, structure, _ = random_problem(0, class_root=True)
    learner = make_parameters("mm:penalty=3")
    learner.fit(structure, data.variables, data.train(), Laplace())
    assert [p.loss.scale for p in problems] == list(mm.LAMBDAS)
    assert [p.penalty for p in problems] == [3 * scale for scale in mm.LAMBDAS]
