import numpy as np
import pytest
from mdc.brute_force import held_out_score, random_problem
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from milpbn.clock import Clock, OutOfTime
from milpbn.mdc import BinaryRelevance, ClassPowerset, GBNCClassifier
from milpbn.mdc.bases import STRENGTHS, choose_base, make_base
from milpbn.selection.validation import ValidationSplit


@pytest.mark.parametrize(
    "text",
    [
        "logistic",
        "logistic:C=0.1",
        "gaussian-nb",
        "gaussian-nb:var_smoothing=0.01",
        "forest",
        "forest:n_estimators=10,min_samples_leaf=2",
        "sgd",
        "sgd:alpha=0.01",
    ],
)
def test_what_is_read_is_written(text):
    assert str(make_base(text)) == text
    assert make_base(str(make_base(text))) == make_base(text)


def test_settings_reach_the_classifier():
    assert make_base("logistic:C=0.25").estimator(3, 2, None).C == 0.25
    assert make_base("gaussian-nb:var_smoothing=0.5").estimator(3, 2, None).var_smoothing == 0.5
    forest = make_base("forest:n_estimators=7,min_samples_leaf=3").estimator(3, 2, 11)
    assert (forest.n_estimators, forest.min_samples_leaf, forest.random_state) == (7, 3, 11)


def test_large_problems_get_another_solver():
    base = make_base("logistic:C=1")
    assert base.estimator(300, 2, None).solver == "newton-cholesky"
    assert base.estimator(301, 2, None).solver == "lbfgs"


def held_out(X, codes, cards, child, parents, C):
    """The definition: five stratified folds, one model each."""
    folds = np.empty(len(codes), dtype=int)
    for k, (_, out) in enumerate(ValidationSplit(0).split(X, codes[:, child])):
        folds[out] = k
    base = LogisticRegression(C=C, solver="newton-cholesky")
    return held_out_score(X, codes, cards, child, parents, base, folds)


def test_the_strength_is_the_best_one_on_held_out_rows():
    X, codes, cards, _ = random_problem(3, 2, n=40)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(40, 4))])
    sets = [[(), (1,)], [()]]
    truth = [
        sum(
            max(held_out(X, codes, cards, child, s, C) for s in of) for child, of in enumerate(sets)
        )
        for C in STRENGTHS
    ]
    chosen = choose_base(make_base("logistic"), X, codes, cards, sets, seed=0)
    assert STRENGTHS[np.argmax(truth)] == chosen.C
    # Here the likelihood has one peak; the search ends behind it.
    peak = int(np.argmax(truth))
    assert 0 < peak < len(STRENGTHS) - 2
    assert (np.diff(truth[: peak + 1]) > 0).all()


def test_the_search_ends_at_the_first_strength_that_is_worse():
    X, codes, cards, _ = random_problem(3, 2, n=40)
    values = {0.001: -3.0, 0.01: -2.0, 0.1: -2.0, 1.0: -2.5}
    seen = iter(values.values())
    base = make_base("logistic")
    found = choose_base(base, X, codes, cards, [[()]] * 2, lambda scores: next(seen), seed=0)
    assert found.C == 0.01
    assert list(seen) == []


def test_a_given_base_leaves_nothing_to_choose():
    X, codes, cards, _ = random_problem(3, 2, n=40)
    for given in ("logistic:C=0.5", GaussianNB()):
        base = make_base(given)
        chosen = choose_base(base, X, codes, cards, [[()]] * 2, seed=0, clock=Clock(1e-9))
        assert chosen is base
    with pytest.raises(OutOfTime):
        choose_base(make_base(None), X, codes, cards, [[()]] * 2, seed=0, clock=Clock(1e-9))


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


def test_gradient_descent_sees_features_between_0_and_1():
    rng = np.random.default_rng(0)
    X, y = 1e6 * rng.normal(size=(200, 2)), np.zeros((200, 2), dtype=int)
    y[:, 0], y[:, 1] = X[:, 0] > 0, X[:, 1] > 0
    relevance = BinaryRelevance("sgd").fit(X, y)
    assert relevance.score(X, y) > 0.8
    scaled = relevance.models_[0][0].transform(relevance._features(X).matrix)
    assert (scaled.min(), scaled.max()) == pytest.approx((0, 1))
    again = BinaryRelevance("sgd").fit(X, y)
    assert (again.predict_proba(X)[0] == relevance.predict_proba(X)[0]).all()
