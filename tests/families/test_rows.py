"""Equal rows are merged, and nothing is lost by it."""

import numpy as np
import pytest

from milpbn.errors import DataError
from milpbn.families import MergedRows
from milpbn.families.rows import assign_folds, units


def test_equal_rows_become_one_with_a_weight():
    rows = MergedRows.from_codes(np.array([[1, 0], [0, 2], [1, 0], [1, 0]]))
    assert dict(zip(map(tuple, rows.codes.tolist()), rows.weights.tolist(), strict=True)) == {
        (0, 2): 1.0,
        (1, 0): 3.0,
    }
    assert (len(rows), rows.total) == (2, 4.0)
    assert rows.labels.tolist() == rows.codes[:, 0].tolist()


def test_rows_that_differ_in_one_code_stay_apart():
    rows = MergedRows.from_codes(np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0]]))
    assert (len(rows), rows.weights.tolist()) == (3, [1.0, 1.0, 1.0])


def test_repeating_the_rows_gives_them_back():
    codes = np.random.default_rng(3).integers(0, 3, (40, 3))
    rows = MergedRows.from_codes(codes)
    repeated = np.repeat(rows.codes, rows.weights.astype(int), axis=0)
    assert sorted(map(tuple, repeated.tolist())) == sorted(map(tuple, codes.tolist()))


def test_weights_of_equal_rows_are_added():
    codes = np.array([[1, 0], [0, 2], [1, 0]])
    rows = MergedRows.from_codes(codes, np.array([0.5, 2.0, 1.25]))
    assert (rows.codes.tolist(), rows.weights.tolist()) == ([[0, 2], [1, 0]], [2.0, 1.75])


def test_weighted_rows_are_divided_like_repeated_ones():
    rng = np.random.default_rng(5)
    codes, weights = rng.integers(0, 3, (30, 3)), rng.integers(1, 4, 30)
    ours, fold = MergedRows.from_codes(codes, weights.astype(float)).split(4, seed=2)
    theirs, expected = MergedRows.from_codes(np.repeat(codes, weights, axis=0)).split(4, seed=2)
    assert fold.tolist() == expected.tolist()
    assert ours.codes.tolist() == theirs.codes.tolist()
    assert ours.weights.tolist() == theirs.weights.tolist()


def test_no_weight_is_lost_in_folds():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 3, (40, 3))
    rows = MergedRows.from_codes(codes, rng.uniform(0.1, 3, 40))
    divided, fold = rows.split(3, seed=0)
    assert sorted(set(fold.tolist())) == [0, 1, 2]
    again = MergedRows.from_codes(divided.codes, divided.weights)
    assert again.codes.tolist() == rows.codes.tolist()
    assert again.weights == pytest.approx(rows.weights)


def test_units_do_not_depend_on_rounding():
    tenths = sum([0.1] * 10)
    assert tenths != 1
    row, weight = units(np.array([tenths, 3 * 1.1 - 0.3]))
    assert row.tolist() == [0, 1, 1, 1]
    assert weight == pytest.approx(np.ones(4))


def test_heavy_rows_have_larger_units(monkeypatch):
    monkeypatch.setattr("milpbn.families.rows.MOST_UNITS", 100)
    weights = np.array([1e12, 3e12, 1.0])
    row, weight = units(weights)
    assert np.bincount(row).tolist() == [25, 75, 1]
    assert np.bincount(row, weight) == pytest.approx(weights)


def test_incomplete_training_rows_are_refused():
    with pytest.raises(DataError, match="must be complete"):
        MergedRows.from_codes(np.array([[0, 1], [1, -1]]))


def test_folds_are_even_and_drawn_by_the_seed():
    folds = assign_folds(103, 10, seed=4)
    assert sorted(np.bincount(folds).tolist()) == [10] * 7 + [11] * 3
    assert (folds == assign_folds(103, 10, seed=4)).all()
    assert (folds != assign_folds(103, 10, seed=5)).any()
    # Rows come in the order of their codes: folds in turn would divide them by class.
    assert (folds != np.arange(103) % 10).any()


def test_divided_rows_are_the_same_rows():
    codes = np.random.default_rng(3).integers(0, 2, (50, 3))
    rows = MergedRows.from_codes(codes)
    divided, fold = rows.split(4, seed=0)
    assert sorted(np.bincount(fold, divided.weights).tolist()) == [12, 12, 13, 13]
    assert len(divided) > len(rows)  # equal rows in different folds stay apart
    repeated = np.repeat(divided.codes, divided.weights.astype(int), axis=0)
    assert sorted(map(tuple, repeated.tolist())) == sorted(map(tuple, codes.tolist()))
    parts = [divided.select(fold == k) for k in range(4)]
    assert sum(part.total for part in parts) == 50


@pytest.mark.parametrize("high", [2, 9, 1000, 2**31 - 1])
def test_rows_are_in_lexicographic_order(high):
    """As many columns as need several numbers; every row twice, some three times."""
    rng = np.random.default_rng(high)
    codes = rng.integers(0, high, (40, 70)) * rng.integers(0, 2, (1, 70))
    codes = np.concatenate([codes, codes[::-1], codes[:7]])
    codes[:, -1] = np.arange(87) % 2
    rows = MergedRows.from_codes(codes)
    kinds = sorted({tuple(row) for row in codes.tolist()})
    assert rows.codes.tolist() == [list(kind) for kind in kinds]
    assert rows.weights.tolist() == [codes.tolist().count(list(kind)) for kind in kinds]


def test_columns_are_the_codes_by_variable():
    small = MergedRows.from_codes(np.array([[0, 255], [1, 3]])).columns
    assert (small.tolist(), small.dtype) == ([[0, 1], [255, 3]], np.uint8)
    assert MergedRows.from_codes(np.array([[0, 256]])).columns.dtype == np.uint16


def test_a_division_into_folds_keeps_the_total_to_the_last_digit():
    rng = np.random.default_rng(0)
    rounded = 0
    for _ in range(20):
        codes, weights = rng.integers(0, 3, (60, 4)), rng.random(60) * 5
        rows = MergedRows.from_codes(codes, weights)
        divided, _ = rows.split(3, seed=0)
        assert divided.total == rows.total
        rounded += float(divided.weights.sum()) != rows.total
    assert rounded
