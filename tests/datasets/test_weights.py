"""Weights of rows from a column, and what becomes of them."""

import numpy as np
import pandas as pd
import pytest

from milpbn.datasets import Table, add_test_rows, read_table, table_from_frame
from milpbn.datasets.weights import class_factors, read_class_weight
from milpbn.errors import DataError, OptionError


def write(folder, weights, name="rows.csv"):
    lines = [f"{x},{'ab'[k % 2]},{w},{'uv'[x > 3]}" for k, (x, w) in enumerate(weights)]
    path = folder / name
    path.write_text("\n".join(["size,kind,w,y", *lines]) + "\n")
    return path


ROWS = [(1, 2), (2, 0), (3, 0.5), (4, 1), (5, "1e1"), (6, 0)]


def test_a_column_of_weights_is_not_a_feature(tmp_path):
    table = read_table(write(tmp_path, ROWS), "y", weight="w", numeric=["size"])
    assert list(table.features.columns) == ["size", "kind"]
    assert table.weights.tolist() == [2, 0.5, 1, 10]
    assert table.features["size"].tolist() == [1, 3, 4, 5]
    assert table.target.tolist() == ["u", "u", "v", "v"]
    assert "rows.csv: column 'w': left out 2 rows of weight 0." in table.notes
    assert table.source["columns"]["weight"] == "w"
    assert table.rows(np.array([False, True, True, False])).weights.tolist() == [0.5, 1]


def test_rows_without_a_class_leave_their_weights_behind(tmp_path):
    path = write(tmp_path, ROWS)
    path.write_text(path.read_text().replace("1,a,2,u", "1,a,2,"))
    table = read_table(path, "y", weight="w", numeric=["size"])
    assert table.weights.tolist() == [0.5, 1, 10]


def test_test_rows_need_no_weights(tmp_path):
    table = read_table(write(tmp_path, ROWS), "y", weight="w", numeric=["size"])
    other = tmp_path / "test.csv"
    other.write_text("size,kind,y\n1,a,u\n6,b,v\n")
    joined = add_test_rows(table, other)
    assert joined.train().weights.tolist() == [2, 0.5, 1, 10]
    assert len(joined.weights) == len(joined) == 6


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("heavy", "column 'w': the weight in row 3 is 'heavy'; weights must be finite numbers"),
        (-1, "column 'w': the weight in row 3 is '-1'"),
        ("", "column 'w': the weight in row 3 is missing"),
        ("inf", "column 'w': the weight in row 3 is 'inf'"),
    ],
)
def test_bad_weights_are_named_with_their_row(tmp_path, bad, message):
    rows = [*ROWS[:2], (3, bad), *ROWS[3:]]
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, rows), "y", weight="w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "W"}, r"weight: there is no column 'W' \(close matches: 'w'\)"),
        ({"weight": "y"}, "weight: 'y' is a target"),
        ({"weight": "w", "drop": ["w"]}, "'w' cannot be both weight and drop"),
        ({"weight": "w", "numeric": ["w"]}, "'w' cannot be both weight and numeric"),
    ],
)
def test_a_column_of_weights_has_one_meaning(tmp_path, options, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, ROWS), "y", **options)


def test_weights_of_nothing_but_zero_are_refused(tmp_path):
    with pytest.raises(DataError, match="every weight is 0"):
        read_table(write(tmp_path, [(k, 0) for k in range(6)]), "y", weight="w")


@pytest.mark.parametrize("text", ["", "sick", "sick=", "=3", "sick=many", "a=1,a=2", '"a=1'])
def test_class_weights_that_cannot_be_read(text):
    with pytest.raises(OptionError, match="neither balanced nor a weight for classes"):
        read_class_weight(text)


def test_class_weights_as_text():
    assert read_class_weight(" balanced ") == "balanced"
    assert read_class_weight("a=b=2") == {"a=b": 2.0}


def test_frames_have_weights_too():
    frame = pd.DataFrame({"x": ["a", "b", "a", "b"], "w": [1, 0, 2, 3]})
    table = table_from_frame(frame, ["u", "u", "v", "v"], weight="w")
    assert (table.weights.tolist(), list(table.features)) == ([1, 2, 3], ["x"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": np.ones(3)}, "one number for each of the 2 rows, not of shape"),
        ({"weights": np.array([1.0, 0.0])}, "must be positive; leave out rows of weight 0"),
        ({"class_weight": "equal"}, "class_weight must be 'balanced' or"),
        ({"class_weight": {"u": -1}}, "the weight of 'u' must be a positive number, not -1"),
    ],
)
def test_a_table_refuses_impossible_weights(given, message):
    features, targets = pd.DataFrame({"x": ["a", "b"]}), pd.DataFrame({"y": ["u", "v"]})
    with pytest.raises(ValueError, match=message):
        Table("small", features, targets, (), **given)


def test_balanced_factors_keep_the_total_weight():
    labels, weights = np.array(list("aaab")), np.array([1.0, 2.0, 0.5, 4.0])
    factors = class_factors("balanced", pd.Series(labels), weights)
    weighted = weights * np.vectorize(factors.get)(labels)
    assert weighted[labels == "a"].sum() == pytest.approx(weights.sum() / 2)
    assert weighted.sum() == pytest.approx(weights.sum())


def test_rows_with_a_class_need_a_weight(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,w,y\n" + "a,0,u\nb,0,v\n" * 5 + "a,2,\n")
    with pytest.raises(DataError, match="the weight of every row with a class is 0"):
        read_table(path, "y", weight="w")
