import numpy as np
import pytest
from mdc.encoded import training_rows
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from milpbn.errors import DataError
from milpbn.mdc.features import Features
from milpbn.mdc.local_models import train_family

LOGISTIC = LogisticRegression()


def features(matrix, codes=None):
    matrix = np.asarray(matrix, dtype=float)
    codes = np.empty((len(matrix), 0), dtype=int) if codes is None else np.asarray(codes)
    return Features(matrix, codes, {}, {})


def test_configurations_without_rows_are_uniform_and_pure_ones_smoothed():
    # Y0 has three states; its parent Y1 = 0 shows one of them, Y1 = 1 two, Y1 = 2 none.
    codes = np.array([[1, 0]] * 5 + [[0, 1], [2, 1], [0, 1]])
    X = np.arange(8.0).reshape(-1, 1)
    family = train_family(training_rows(X, codes, [3, 3], 2), 0, (1,), LOGISTIC)
    table = np.exp(family.model.log_table(features(X[:1]), 2))[0]
    assert table[0] == pytest.approx([1 / 8, 6 / 8, 1 / 8])
    assert table[2] == pytest.approx([1 / 3] * 3)
    assert table[1, 1] == pytest.approx(1 / 6)
    base = LogisticRegression().fit(X[5:], codes[5:, 0]).predict_proba(X[:1])[0]
    assert table[1, [0, 2]] == pytest.approx(base * 5 / 6)
    assert family.fits.n == 1
    assert table.sum(axis=1) == pytest.approx(1.0)


def test_a_base_model_that_has_seen_every_state_is_taken_as_it_is():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(30, 2)), rng.integers(0, 3, size=(30, 1))
    family = train_family(training_rows(X, codes, [3], 1), 0, (), LOGISTIC)
    plain = LogisticRegression().fit(X, codes[:, 0]).predict_proba(X)
    table = np.exp(family.model.log_table(features(X), 1))
    assert np.allclose(table, plain)
    own = plain[np.arange(30), codes[:, 0]]
    assert family.log_likelihood == pytest.approx(np.log(own).sum())


def test_no_probability_is_zero_even_of_base_models_that_say_so():
    X, codes = np.arange(6.0).reshape(-1, 1), np.array([[0], [0], [0], [1], [1], [1]])
    family = train_family(training_rows(X, codes, [2], 1), 0, (), DecisionTreeClassifier())
    table = family.model.log_table(features(X), 1)
    assert np.isfinite(table).all()
    assert family.log_likelihood == 0.0


def test_without_features_for_base_models_frequencies_are_learned():
    codes = np.array([[0], [0], [1]])
    family = train_family(training_rows(np.empty((3, 0)), codes, [2], 1), 0, (), LOGISTIC)
    assert family.fits.n == 0
    table = np.exp(family.model.log_table(features(np.empty((1, 0))), 1))
    assert table[0] == pytest.approx([3 / 5, 2 / 5])


def test_an_unknown_category_is_averaged_out():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 1))
    color = np.repeat([0, 1], [30, 10])
    codes = np.column_stack([rng.integers(0, 2, 40), color])
    family = train_family(training_rows(X, codes, [2, 2], 1), 0, (1,), LOGISTIC)
    tables = [
        np.exp(family.model.log_table(features(X[:3], np.full((3, 1), state)), 1))
        for state in (0, 1, -1)
    ]
    assert tables[2] == pytest.approx(0.75 * tables[0] + 0.25 * tables[1])


def test_a_failing_base_estimator_is_named_with_its_rows():
    class Picky(LogisticRegression):
        def fit(self, X, y):
            raise ValueError("too few rows")

    with pytest.raises(DataError, match=r"Picky failed .* 2 rows and 2 classes: too few rows"):
        train_family(training_rows(np.zeros((2, 1)), np.array([[0], [1]]), [2], 1), 0, (), Picky())
