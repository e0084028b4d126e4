import numpy as np
import pytest
from sklearn.metrics import f1_score

from milpbn.errors import DataError
from milpbn.mdc import (
    exact_match_score,
    hamming_score,
    macro_f1_score,
    sub_exact_match_score,
)


@pytest.fixture(params=range(3))
def predictions(request):
    rng = np.random.default_rng(request.param)
    true = rng.integers(0, 4, size=(50, 3))
    wrong = rng.random((50, 3)) < 0.3
    return true, np.where(wrong, rng.integers(0, 5, size=(50, 3)), true)


def test_matches_are_counted_row_by_row(predictions):
    true, predicted = predictions
    wrong = [sum(true[u, j] != predicted[u, j] for j in range(3)) for u in range(50)]
    assert exact_match_score(true, predicted) == sum(w == 0 for w in wrong) / 50
    assert sub_exact_match_score(true, predicted) == sum(w <= 1 for w in wrong) / 50
    assert hamming_score(true, predicted) == pytest.approx(1 - sum(wrong) / 150)


def test_macro_f1_is_that_of_scikit_learn_averaged_over_class_variables(predictions):
    true, predicted = predictions
    each = [f1_score(true[:, j], predicted[:, j], average="macro") for j in range(3)]
    assert macro_f1_score(true, predicted) == pytest.approx(np.mean(each))


def test_labels_may_be_strings_and_numbers():
    true = [["a", 1], ["b", 2], ["b", 2], ["a", 2]]
    predicted = [["a", 2], ["b", 2], ["a", 1], ["c", 2]]
    # First: a has 2 / (2 + 2), b 2 / (2 + 1), c none of 1; second: 1 has none, 2 has 4 / (3 + 3).
    expected = (np.mean([1 / 2, 2 / 3, 0]) + np.mean([0, 2 / 3])) / 2
    assert macro_f1_score(true, predicted) == pytest.approx(expected)
    assert sub_exact_match_score(true, predicted) == 0.75


def test_everything_right_and_everything_wrong():
    true = np.array([[0, 1], [1, 0]])
    for measure in (exact_match_score, sub_exact_match_score, hamming_score, macro_f1_score):
        assert measure(true, true) == 1.0
        assert measure(true, 1 - true) == 0.0
        with pytest.raises(DataError, match="same shape"):
            measure(true, true[:1])
