import numpy as np
import pytest

from milpbn.mdc import BinaryRelevance
from milpbn.mdc.base_estimators import make_base


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


def test_gradient_descent_sees_features_between_0_and_1():
    rng = np.random.default_rng(0)
    X, y = 1e6 * rng.normal(size=(200, 2)), np.zeros((200, 2), dtype=int)
    y[:, 0], y[:, 1] = X[:, 0] > 0, X[:, 1] > 0
    relevance = BinaryRelevance("sgd").fit(X, y)
    assert relevance.score(X, y) > 0.8
    scaled = relevance.models_[0].estimator[0].transform(relevance._features(X).matrix)
    assert (scaled.min(), scaled.max()) == pytest.approx((0, 1))
    again = BinaryRelevance("sgd").fit(X, y)
    assert (again.predict_proba(X)[0] == relevance.predict_proba(X)[0]).all()
