"""Accuracy, intervals, likelihood and Brier score by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

from milpbn.evaluation.measures import (
    Measures,
    accuracy_interval,
    mean_brier,
    mean_log_likelihood,
    measure,
)


def test_measures_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    classes = np.array(["a", "b", "c"])
    proba = rng.dirichlet([1, 1, 1], size=50)
    truth = rng.choice(classes, 50)
    found = measure(classes, proba, truth)
    assert found.correct / 50 == accuracy_score(truth, classes[proba.argmax(axis=1)])
    assert found.log_likelihood == pytest.approx(-log_loss(truth, proba, normalize=False))
    one_hot = (truth[:, None] == classes).astype(float)
    assert found.brier == pytest.approx(((proba - one_hot) ** 2).sum())
    assert (found.rows, found.unknown) == (50, 0)


def test_a_class_that_was_never_seen_is_an_error_without_likelihood():
    found = measure(np.array(["a", "b"]), np.array([[0.75, 0.25]] * 2), np.array(["a", "z"]))
    assert (found.correct, found.unknown) == (1, 1)
    assert found.log_likelihood == pytest.approx(np.log(0.75))
    assert found.brier == pytest.approx((0.25**2 + 0.25**2) + (0.75**2 + 0.25**2 + 1))
    assert mean_log_likelihood([found]) == pytest.approx(np.log(0.75))
    assert mean_brier([found]) == pytest.approx(found.brier / 2)


@pytest.mark.parametrize(
    ("rows", "percent", "half"),
    # Table 2 of the exact paper: chess has 1066 test rows.
    [(1066, 87.34, 2.00), (1066, 93.71, 1.46), (1066, 95.50, 1.24), (1066, 98.50, 0.73)],
)
def test_the_interval_of_a_test_set_is_that_of_the_papers(rows, percent, half):
    mean, width = accuracy_interval([Measures(rows, round(rows * percent / 100), 0.0, 0.0)])
    assert round(100 * mean, 2) == percent
    assert round(100 * width, 2) == pytest.approx(half, abs=0.011)


def test_the_interval_of_folds_is_students():
    # Shares 0.8, 0.9, 1.0: mean 0.9, deviation 0.1, t(0.975; 2) = 4.302653.
    mean, width = accuracy_interval([Measures(10, k, 0.0, 0.0) for k in (8, 9, 10)])
    assert mean == pytest.approx(0.9)
    assert width == pytest.approx(4.302653 * 0.1 / np.sqrt(3), rel=1e-6)
