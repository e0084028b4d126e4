"""The encoder: states from training rows only, every value accounted for."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from toy_tables import make_table, states

from milpbn.datasets.table import Table
from milpbn.encoding import ColumnCode, EncodedData, Encoder, Variable
from milpbn.errors import DataError, ModelFileError


def test_class_comes_first_then_features_in_column_order() -> None:
    table = make_table(
        {"z": ["u", "v", "u", "v"], "a": [1, 2, 11, 12]}, "nnyy", numeric=("a",), notes=("Read.",)
    )
    table = replace(table, source={"dataset": "toy"})
    data = Encoder.fit(table).encode(table)
    assert data.variables == (
        Variable("class", ("n", "y")),
        Variable("z", ("u", "v")),
        Variable("a", ("(-inf, 6.5]", "(6.5, inf)")),
    )
    np.testing.assert_array_equal(data.codes, [[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    assert data.codes.dtype == np.int32
    assert data.codes.flags.c_contiguous
    assert data.notes == ("Read.",)
    assert data.source == {"dataset": "toy"}
    assert data.n_dropped_rows == 0


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_codes_are_c_contiguous_for_any_number_of_features(n_features: int) -> None:
    table = make_table({f"x{j}": ["a", "b", "a"] for j in range(n_features)}, "nyn")
    data = Encoder.fit(table).encode(table)
    assert data.codes.shape == (3, n_features + 1)
    assert data.codes.flags.c_contiguous


def test_states_are_sorted_as_numbers_when_all_are_numbers() -> None:
    table = make_table({"n": ["10", "9", "-1"], "t": ["10", "9", "x"]}, "aab")
    encoder = Encoder.fit(table)
    assert states(encoder, "n") == ("-1", "9", "10")
    assert states(encoder, "t") == ("10", "9", "x")
    labels = replace(table, targets=pd.Series(["10", "2", "10"], name="class"))
    assert states(Encoder.fit(labels), "class") == ("2", "10")


def test_declared_states_are_kept_in_their_order() -> None:
    table = make_table(
        {"size": ["low", "high", "low"]},
        "yny",
        states={"size": ("low", "medium", "high"), "class": ("y", "n")},
    )
    data = Encoder.fit(table).encode(table)
    assert [v.states for v in data.variables] == [("y", "n"), ("low", "medium", "high")]
    np.testing.assert_array_equal(data.codes, [[0, 0], [1, 2], [0, 0]])


def test_only_training_rows_are_learned_from() -> None:
    table = make_table(
        {"a": [1, 2, 11, 12, 100, 200], "c": ["u", "v", "u", "v", "w", "w"]},
        "nnyynn",
        numeric=("a",),
        n_train=4,
    )
    encoder = Encoder.fit(table)
    assert encoder == Encoder.fit(table.train())
    assert states(encoder, "a") == ("(-inf, 6.5]", "(6.5, inf)")
    data = encoder.encode(table)
    np.testing.assert_array_equal(data.test(), [[0, 1, -1], [0, 1, -1]])
    assert (data.train() >= 0).all()
    assert data.notes == (
        "Column 'c': values never seen in training, treated as unknown: 'w' (2x).",
    )


def test_many_unseen_values_are_counted_and_some_are_named() -> None:
    values = ["a", "b", "a", *(f"new{k:02}" for k in range(12)), "new00"]
    table = make_table({"x": values}, "nyn" + "n" * 13, n_train=3)
    (note,) = Encoder.fit(table).encode(table).notes
    assert "'new00' (2x), 'new01' (1x)" in note
    assert "'new09' (1x) and 2 more." in note
    assert "new10" not in note


def test_test_rows_with_a_new_label_are_kept_with_code_minus_one() -> None:
    table = make_table({"x": ["a", "b", "a", "b"]}, "nyny", n_train=3)
    table = replace(table, targets=pd.Series(["n", "y", "n", "maybe"], name="class"))
    data = Encoder.fit(table).encode(table)
    np.testing.assert_array_equal(data.test(), [[-1, 1]])
    assert "labels never seen in training, counted as errors: 'maybe' (1x)" in data.notes[0]


def test_features_with_one_state_are_dropped_with_their_reason() -> None:
    table = make_table(
        {
            "same_text": ["a"] * 4,
            "same_number": [7] * 4,
            "noise": [1, 2, 3, 4],
            "kept": ["a", "b", "b", "b"],
        },
        "nyny",
        numeric=("same_number", "noise"),
    )
    encoder = Encoder.fit(table)
    assert encoder.dropped == {
        "same_text": "constant",
        "same_number": "constant",
        "noise": "no cut found",
    }
    assert [column.name for column in encoder.columns] == ["kept"]
    assert encoder.encode(table).notes == (
        "Features left out (no cut found): 'noise'; bins='auto' keeps it.",
        "Features left out (constant): 'same_text', 'same_number'.",
    )


def test_a_table_without_a_useful_feature_still_encodes() -> None:
    table = make_table({"x": ["a", "a", "a"]}, "nyn")
    data = Encoder.fit(table).encode(table)
    np.testing.assert_array_equal(data.codes, [[0], [1], [0]])
    assert data.notes[-1] == "No feature is left: only the class distribution can be learned."


# Missing values.


def test_drop_leaves_out_incomplete_training_rows_and_no_test_row() -> None:
    table = make_table(
        {"x": ["a", "b", None, "a", None], "gone": [1, 1, 1, 1, math.nan]},
        "nymny",
        numeric=("gone",),
        n_train=3,
        missing="drop",
    )
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    np.testing.assert_array_equal(data.codes, [[0, 0], [1, 1], [0, 0], [1, -1]])
    np.testing.assert_array_equal(data.is_train, [True, True, False, False])
    assert data.n_dropped_rows == 1
    assert data.notes[:2] == (
        "Left out: 1 of 3 training rows with a missing feature; 'x' is missing most often (33%); "
        "missing='auto' keeps it.",
        "Classes left out because they have no complete row: 'm'.",
    )


def test_a_hole_in_a_feature_that_is_itself_left_out_counts_for_drop() -> None:
    columns = {"x": ["a", "b", "a", "b"], "gone": [1, 1, 1, math.nan]}
    table = make_table(columns, "nyny", numeric=("gone",), missing="drop")
    assert len(Encoder.fit(table).encode(table).codes) == 3


def test_auto_decides_for_every_column_and_tells_in_one_note() -> None:
    n = 40
    table = make_table(
        {
            "x": [None, *"ab" * 20][:n],
            "comment": ["late", "late", *[None] * (n - 2)],
            "often": [1.5] * 5 + [math.nan] * (n - 5),
            "full": [*"uv" * (n // 2)],
        },
        "ny" * (n // 2),
        numeric=("often",),
    )
    encoder = Encoder.fit(table)
    assert encoder.dropped == {"comment": "mostly empty"}
    assert states(encoder, "x") == ("a", "b", "missing")
    assert states(encoder, "often") == ("(-inf, inf)", "missing")
    assert states(encoder, "full") == ("u", "v")
    data = encoder.encode(table)
    assert (len(data.codes), data.n_dropped_rows) == (n, 0)
    assert data.notes == (
        "Missing values: 'comment' (95% empty) is left out (missing='state' keeps it); those of "
        "'x', 'often' are a state of their own; 40 of 40 training rows are used.",
    )
    assert Encoder.fit(replace(table, missing="state")).dropped == {}


def test_a_column_with_holes_in_test_rows_only_has_no_state_for_them() -> None:
    table = make_table({"x": [*"abab", None], "z": [*"uvuv", None]}, "nynyn", n_train=4)
    data = Encoder.fit(table).encode(table)
    assert data.notes == ()
    np.testing.assert_array_equal(data.test(), [[0, -1, -1]])


def test_missing_becomes_a_state_where_training_rows_show_it() -> None:
    table = make_table(
        {
            "x": ["a", None, "b", "a", None],
            "y": ["a", "b", "b", "a", None],
            "z": [1, math.nan, 11, 12, math.nan],
        },
        "nnyyn",
        numeric=("z",),
        n_train=4,
        missing="state",
    )
    encoder = Encoder.fit(table)
    assert states(encoder, "x") == ("a", "b", "missing")
    assert states(encoder, "y") == ("a", "b")
    assert states(encoder, "z") == ("(-inf, 6]", "(6, inf)", "missing")
    data = encoder.encode(table)
    assert data.n_dropped_rows == 0
    np.testing.assert_array_equal(data.codes[1], [0, 2, 1, 2])
    np.testing.assert_array_equal(data.test(), [[0, 2, -1, 2]])


def test_a_feature_that_is_only_ever_missing_is_dropped() -> None:
    table = make_table(
        {"x": [None] * 3, "z": [math.nan] * 3, "k": ["a", "b", "a"]},
        "nyn",
        numeric=("z",),
        missing="state",
    )
    assert Encoder.fit(table).dropped == {"x": "constant", "z": "constant"}


def test_a_number_without_cut_is_kept_if_its_absence_is_a_state() -> None:
    table = make_table({"z": [1, 2, 3, math.nan]}, "nyny", numeric=("z",), missing="state")
    encoder = Encoder.fit(table)
    assert states(encoder, "z") == ("(-inf, inf)", "missing")
    np.testing.assert_array_equal(encoder.encode(table).codes[:, 1], [0, 0, 0, 1])


def test_no_complete_training_row_is_an_error_that_names_the_way_out() -> None:
    table = make_table({"x": ["a", None], "y": [None, "b"]}, "ny", missing="drop")
    with pytest.raises(DataError, match=r"toy: no training row is left.*missing='auto'"):
        Encoder.fit(table)


# Prediction.


@pytest.fixture
def encoder() -> Encoder:
    return Encoder(
        target=ColumnCode("class", "categorical", states=("n", "y")),
        columns=(
            ColumnCode("level", "categorical", states=("1", "2", "10"), missing_state=True),
            ColumnCode("flag", "categorical", states=("false", "true")),
            ColumnCode("size", "numeric", cuts=(2.5, 4.75)),
        ),
        dropped={"Id": "no cut found"},
        missing="state",
    )


@pytest.mark.parametrize(
    "level",
    [
        pd.Series([1, 10, 2]),
        pd.Series([1.0, 10.0, 2.0]),
        pd.Series(["1", "10", "2"]),
        pd.Series(["1.0", " 10", "2.00"]),
        pd.Series([1, 10, 2], dtype="Int64"),
        pd.Series([1, 10, 2], dtype="category"),
        pd.Series([1, "10", 2.0], dtype=object),
    ],
    ids=["int", "float", "text", "float text", "nullable", "category", "mixed"],
)
def test_transform_matches_values_however_they_were_read(encoder: Encoder, level: Any) -> None:
    frame = pd.DataFrame({"size": ["2.5", "2.6", "1e3"], "level": level, "flag": True, "more": 0})
    result = encoder.transform(frame)
    np.testing.assert_array_equal(result.codes, [[0, 1, 0], [2, 1, 1], [1, 1, 2]])
    assert result.codes.dtype == np.int32
    assert result.unseen == {}
    assert result.missing_counts == {}


def test_transform_reports_unseen_and_missing_values(encoder: Encoder) -> None:
    frame = pd.DataFrame(
        {
            "level": ["3", None, "", "3", "x"],
            "flag": ["true", "nan", None, "maybe", "false"],
            "size": ["wide", "1_000", "", None, "-inf"],
        }
    )
    result = encoder.transform(frame)
    np.testing.assert_array_equal(
        result.codes, [[-1, 1, -1], [3, -1, -1], [3, -1, -1], [-1, -1, -1], [-1, 0, 0]]
    )
    assert result.unseen == {
        "level": {"3": 2, "x": 1},
        "flag": {"maybe": 1},
        "size": {"wide": 1, "1_000": 1},
    }
    assert result.missing_counts == {"level": 2, "flag": 2, "size": 2}


def test_transform_keeps_every_row_under_the_drop_policy(encoder: Encoder) -> None:
    encoder = replace(encoder, missing="drop")
    frame = pd.DataFrame({"level": [None, 1], "flag": [None, None], "size": [math.nan, 3.0]})
    np.testing.assert_array_equal(encoder.transform(frame).codes, [[3, -1, -1], [0, -1, 1]])


def test_transform_accepts_no_rows(encoder: Encoder) -> None:
    frame = pd.DataFrame({"level": [], "flag": [], "size": []})
    assert encoder.transform(frame).codes.shape == (0, 3)


def test_transform_refuses_absent_and_ambiguous_columns(encoder: Encoder) -> None:
    with pytest.raises(DataError, match=r"no column is named 'flag', 'size'.*'level', 'Id'"):
        encoder.transform(pd.DataFrame({"level": [1], "Id": [2]}))
    frame = pd.DataFrame([[1, True, 2.0, 3.0]], columns=["level", "flag", "size", "size"])
    with pytest.raises(DataError, match="two columns are named 'size'"):
        encoder.transform(frame)
    nested = pd.DataFrame({"level": [[1, 2]], "flag": [True], "size": [1.0]})
    with pytest.raises(DataError, match="column 'level': values must be strings or numbers"):
        encoder.transform(nested)


# Model files.


def test_dict_round_trip_is_exact_through_json() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 200)
    table = Table(
        name="toy",
        features=pd.DataFrame({"x": labels + rng.normal(size=200) / 3, "t": labels.astype(str)}),
        targets=pd.Series(np.array(["a", "b", "ü"])[labels], name="class"),
        numeric=("x",),
    )
    encoder = Encoder.fit(table)
    assert len(encoder.columns[0].cuts) >= 2
    again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict(), allow_nan=False)))
    assert again == encoder


def test_damaged_dicts_are_refused(encoder: Encoder) -> None:
    for damage in (
        {"columns": None},
        {"target": {"name": "class"}},
        {"missing": "guess"},
        {"columns": [{"name": "x", "kind": "numeric", "cuts": [2, 1], "missing_state": False}]},
        {"columns": [{"name": "x", "kind": "numeric", "missing_state": False}]},
        {"dropped": ["Id"]},
    ):
        with pytest.raises(ModelFileError, match="the encoder"):
            Encoder.from_dict({**encoder.to_dict(), **damage})


# Bad tables.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numeric": ("y",)}, "toy: numeric names unknown columns: 'y'"),
        ({"states": {"y": ("a",)}}, "toy: states names unknown columns: 'y'"),
        ({"states": {"x": ("a", "c")}}, "toy: column 'x' holds 'b', but its declared.*'a', 'c'"),
        ({"states": {"x": ("a", "b", "a")}}, "column 'x': a state is listed twice"),
        ({"numeric": ("x",)}, "toy: numeric column 'x': could not convert"),
        ({"numeric": ("x",), "states": {"x": ("a", "b")}}, "states are declared for the numeric"),
        (
            {"targets": pd.Series(["n", None, "y"], name="class")},
            "class 'class' is missing in row 2",
        ),
        ({"targets": pd.Series(["n", "n", "n"], name="class")}, "two classes.*'class' is 'n'"),
        ({"targets": pd.Series(["n", "y", "n"], name="x")}, "two columns are named 'x'"),
        ({"targets": pd.Series(["n", "y", "n"])}, "column names must be strings, not 0"),
        ({"targets": pd.Series(["n", "y"], name="class")}, "3 rows of features, 2 labels"),
        ({"is_train": np.zeros(3, dtype=bool)}, "no training row is left"),
    ],
)
def test_bad_tables_are_refused(change: dict[str, Any], message: str) -> None:
    table = make_table({"x": ["a", "b", "a"]}, "nyn")
    with pytest.raises(DataError, match=message):
        Encoder.fit(replace(table, **change))


def test_an_infinite_training_value_is_refused_with_its_column() -> None:
    table = make_table({"z": [1.0, math.inf]}, "ny", numeric=("z",))
    with pytest.raises(DataError, match="toy: numeric column 'z': an infinite value"):
        Encoder.fit(table)


def test_encode_names_the_table_that_lacks_a_column(encoder: Encoder) -> None:
    with pytest.raises(DataError, match="toy: no column is named 'level'"):
        encoder.encode(make_table({"flag": ["true"], "size": ["1"]}, "y"))


# Encoded rows.


def test_select_train_and_test_pick_rows() -> None:
    data = EncodedData(
        name="toy",
        variables=(Variable("class", ("n", "y")), Variable("x", ("a", "b"))),
        codes=np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.int32),
        is_train=np.array([True, True, True, False]),
    )
    np.testing.assert_array_equal(data.train(), [[0, 0], [1, 1], [0, 1]])
    np.testing.assert_array_equal(data.test(), [[1, 0]])
    part = data.select(np.array([False, True, False, True]))
    np.testing.assert_array_equal(part.codes, [[1, 1], [1, 0]])
    np.testing.assert_array_equal(part.is_train, [True, False])
    assert part.variables == data.variables
