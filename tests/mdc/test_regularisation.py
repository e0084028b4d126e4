"""The choice of the regularisation of base models."""

import numpy as np
import pytest
from mdc.brute_force import held_out_score, random_problem
from mdc.encoded import training_rows
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from milpbn.clock import Clock
from milpbn.mdc import BinaryRelevance, ClassPowerset, GBNCClassifier
from milpbn.mdc.base_estimators import STRENGTHS, Logistic, make_base
from milpbn.mdc.regularisation import ChosenBase, choose_base
from milpbn.selection.validation import ValidationSplit


def held_out(X, codes, cards, child, parents, C):
    """The definition: five stratified folds, one model each."""
    folds = np.empty(len(codes), dtype=int)
    for k, (_, out) in enumerate(ValidationSplit(0).split(X, codes[:, child])):
        folds[out] = k
    base = LogisticRegression(C=C, solver="newton-cholesky")
    return held_out_score(X, codes, cards, child, parents, base, folds)


def noisy():
    X, codes, cards, _ = random_problem(3, 2, n=40)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(40, 4))])
    return X, codes, cards


def test_the_strength_is_the_best_one_on_held_out_rows():
    X, codes, cards = noisy()
    sets = [[(), (1,)], [()]]
    truth = [
        sum(
            max(held_out(X, codes, cards, child, s, C) for s in of) for child, of in enumerate(sets)
        )
        for C in STRENGTHS
    ]
    chosen = choose_base(make_base("logistic"), training_rows(X, codes, cards), sets, seed=0)
    assert chosen == ChosenBase(Logistic(STRENGTHS[np.argmax(truth)]))
    # Here the likelihood has one peak, so that a search from the default finds it.
    peak = int(np.argmax(truth))
    assert 0 < peak < len(STRENGTHS) - 2
    assert (np.diff(truth[: peak + 1]) > 0).all()
    assert (np.diff(truth[peak:]) < 0).all()


@pytest.mark.parametrize(
    ("values", "strength"),
    [
        # One value for each of 0.001, 0.01, 0.1, 1, 10, 100; the search begins with 1.
        ((None, -3.0, -2.0, -2.5, None, None), 0.1),
        ((None, None, -3.0, -2.5, -2.0, -2.2), 10.0),
        ((-3.0, -2.0, -2.0, -2.0, -2.1, None), 0.01),
        ((-3.0, -2.0, -2.0, -2.0, -1.0, -2.0), 10.0),
        ((-3.0, -3.0, -3.0, -3.0, -3.0, None), 0.001),
        ((None, None, -3.0, -2.5, -2.0, -1.0), 100.0),
    ],
)
def test_the_search_goes_on_as_long_as_the_likelihood_rises(values, strength, monkeypatch):
    X, codes, cards = noisy()
    known = dict(zip(STRENGTHS, values, strict=True))
    asked = set()

    def held_out(base, rows, child, parents, seed):
        asked.add(base.C)
        return known[base.C] / 2

    monkeypatch.setattr("milpbn.mdc.regularisation._held_out", held_out)
    found = choose_base(make_base("logistic"), training_rows(X, codes, cards), [[()]] * 2, seed=0)
    assert found == ChosenBase(Logistic(strength))
    assert asked == {c for c, value in known.items() if value is not None}


def test_a_search_without_time_keeps_the_best_so_far(now, monkeypatch):
    """The empty class network comes first; a limit never falls back behind what it has chosen."""
    X, codes, cards = noisy()
    alone = {0.01: -9.0, 0.1: -2.0, 1.0: -3.0}  # 0.1 is best without parents

    def held_out(base, rows, child, parents, seed):
        now[0] += 1
        return alone[base.C] - len(parents)

    monkeypatch.setattr("milpbn.mdc.regularisation._held_out", held_out)
    rows, sets = training_rows(X, codes, cards), [[(), (1,)], [(), (0,)]]
    base = make_base("logistic")
    kept = [
        choose_base(base, rows, sets, seed=0, clock=Clock(limit)) for limit in (1.5, 5.5, 6.5, 99)
    ]
    assert kept == [
        ChosenBase(Logistic(1.0), finished=False),  # nothing was tried
        ChosenBase(Logistic(0.1), finished=False),  # without parents
        ChosenBase(Logistic(0.1), finished=False),
        ChosenBase(Logistic(0.1)),
    ]


def test_a_given_base_leaves_nothing_to_choose():
    X, codes, cards = noisy()
    for given in ("logistic:C=0.5", GaussianNB()):
        base = make_base(given)
        clock = Clock(1e-9)
        assert (
            choose_base(base, training_rows(X, codes, cards), [[()]] * 2, seed=0, clock=clock)[0]
            is base
        )


def test_noise_is_regularised_away():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 20)), rng.integers(0, 2, size=(100, 2))
    for method in (GBNCClassifier, BinaryRelevance, ClassPowerset):
        model = method("logistic:C=auto").fit(X, y)
        assert model.base_.C <= 0.01
        assert model.selected() == {"base": str(model.base_)}
    assert BinaryRelevance("logistic:C=1").fit(X, y).selected() == {}


def test_the_choice_looks_inside_the_configurations_of_a_parent():
    # The feature says everything about `second`, but only to those who know `first`.
    rng = np.random.default_rng(0)
    first, x = rng.integers(0, 2, size=200), rng.normal(size=200)
    second = (x > 0) == (first == 1)
    y = np.column_stack([first, second])
    assert BinaryRelevance("logistic:C=auto").fit(x[:, None], y).base_.C < 1
    model = GBNCClassifier("logistic:C=auto").fit(x[:, None], y)
    assert model.base_.C >= 1
    assert len(model.structure_.arcs) == 1
