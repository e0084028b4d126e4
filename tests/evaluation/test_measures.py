"""Measures of one fold and of several, by hand and against scikit-learn."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    log_loss,
    roc_auc_score,
)

from milpbn.evaluation.details import Confusion, Reliability
from milpbn.evaluation.measures import (
    Measures,
    accuracy_interval,
    mean_brier,
    mean_log_loss,
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
    assert found.auc == pytest.approx(roc_auc_score(truth, proba, multi_class="ovr"))
    assert found.confusion == confusion_matrix(truth, classes[proba.argmax(axis=1)]).tolist()


def test_the_auc_of_two_classes_and_of_one():
    proba = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.2, 0.8]])
    truth = np.array(["a", "b", "b", "a"])
    found = measure(np.array(["a", "b"]), proba, truth)
    assert found.auc == pytest.approx(roc_auc_score(truth == "b", proba[:, 1]))
    assert measure(np.array(["a", "b"]), proba[:1], truth[:1]).auc is None


def test_a_class_of_probability_zero_costs_as_in_scikit_learn():
    proba, truth = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array(["b", "a"])
    found = measure(np.array(["a", "b"]), proba, truth)
    assert -found.log_likelihood == pytest.approx(log_loss(truth, proba, normalize=False))


def folds_of(rng, n_rows=60):
    """The rows of two folds; the second one does not know the class d."""
    classes = np.array(["a", "b", "c", "d"])
    for known in (4, 3):
        yield classes[:known], rng.dirichlet(np.ones(known), n_rows), rng.choice(classes, n_rows)


def test_folds_are_pooled_as_all_rows_together():
    rows = list(folds_of(np.random.default_rng(3)))
    folds = [measure(*one) for one in rows]
    truth = np.concatenate([t for _, _, t in rows])
    predicted = np.concatenate([c[p.argmax(axis=1)] for c, p, _ in rows])
    pooled = Confusion.of(folds)
    assert pooled.classes == ("a", "b", "c", "d")
    assert (pooled.counts == confusion_matrix(truth, predicted)).all()
    assert pooled.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, predicted))
    assert pooled.macro_f1 == pytest.approx(f1_score(truth, predicted, average="macro"))


def test_classes_that_are_only_predicted_have_no_recall_and_no_warning():
    confusion = Confusion(("a", "b", "c"), np.array([[3, 1, 0], [0, 0, 0], [0, 2, 2]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert confusion.balanced_accuracy == pytest.approx((3 / 4 + 2 / 4) / 2)
        assert confusion.macro_f1 == pytest.approx((6 / 7 + 0 + 4 / 6) / 3)


def test_the_calibration_error_from_its_definition():
    rows = list(folds_of(np.random.default_rng(4), 500))
    confidence = np.concatenate([p.max(axis=1) for _, p, _ in rows])
    correct = np.concatenate([c[p.argmax(axis=1)] == t for c, p, t in rows])
    error = 0.0
    for k in range(10):
        inside = (k / 10 <= confidence) & (confidence < (k + 1) / 10)
        if inside.any():
            error += inside.mean() * abs(confidence[inside].mean() - correct[inside].mean())
    curve = Reliability.of([measure(*one) for one in rows])
    assert curve.calibration_error == pytest.approx(error)
    assert curve.rows.sum() == 1000
    assert ((curve.low <= curve.confidence) & (curve.confidence <= curve.high)).all()


def test_certain_predictions_are_in_the_last_bin():
    found = measure(np.array(["a", "b"]), np.array([[1.0, 0.0]] * 3), np.array(["a", "a", "b"]))
    curve = Reliability.of([found])
    assert (curve.low.tolist(), curve.rows.tolist()) == ([0.9], [3])
    assert curve.calibration_error == pytest.approx(1 / 3)


def test_a_class_that_was_never_seen_is_an_error_without_likelihood():
    found = measure(np.array(["a", "b"]), np.array([[0.75, 0.25]] * 2), np.array(["a", "z"]))
    assert (found.correct, found.unknown) == (1, 1)
    assert found.log_likelihood == pytest.approx(np.log(0.75))
    assert found.brier == pytest.approx((0.25**2 + 0.25**2) + (0.75**2 + 0.25**2 + 1))
    assert mean_log_loss([found]) == pytest.approx(-np.log(0.75))
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
