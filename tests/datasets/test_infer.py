"""What is decided on columns and targets, and which note or message says so."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from milpbn.datasets import read_table, table_from_frame
from milpbn.errors import DataError, OptionError
from milpbn.messages import on_command_line

N = 40
LABELS = ["a", "b"] * (N // 2)
WAVE = [round(float(np.sin(i)), 6) for i in range(N)]  # numbers in no order


@pytest.fixture
def read(tmp_path):
    """Read a table of columns through a CSV file, next to a feature that is fine."""

    def read_columns(target=LABELS, *, alone=False, **options):
        columns = {key: options.pop(key) for key in list(options) if isinstance(options[key], list)}
        frame = pd.DataFrame({**columns, "class": target}, dtype=object)
        if not alone:
            frame.insert(0, "fine", (["u", "v", "v"] * len(frame))[: len(frame)])
        frame.to_csv(tmp_path / "toy.csv", index=False)
        return read_table(tmp_path / "toy.csv", "class", **options)

    return read_columns


def only_note(table) -> str:
    """The note as the command line prints it."""
    assert len(table.notes) == 1
    return on_command_line(table.notes[0])


def test_numbers_are_numeric(read):
    table = read(x=["-1.5", "+2", ".5", "1e3", "7.", "-0", "12"] * 5, target=LABELS[:35])
    assert table.numeric == ("x",)
    assert table.features["x"].tolist()[:7] == [-1.5, 2, 0.5, 1000, 7, 0, 12]
    assert table.notes == ()


@pytest.mark.parametrize("odd", ["inf", "1_000", "0x1F", "1,5", "٣", "1e999"])
def test_what_only_looks_like_a_number_is_a_category(read, odd):
    table = read(x=[odd, "1", "2"] * 10, target=LABELS[:30])
    assert table.numeric == ()
    assert set(table.features["x"]) == {odd, "1", "2"}


def test_mostly_numbers_are_categories_with_a_note(read):
    values = [i % 9 for i in range(N)]
    table = read(x=[*values[:-1], "broken"])
    assert table.numeric == ()
    note = only_note(table)
    assert "toy.csv: column 'x' holds 39 numbers but also 'broken'" in note
    assert "--numeric x treats the other values as missing" in note


def test_fewer_numbers_need_no_note(read):
    assert read(x=["broken" if i % 10 == 0 else i % 9 for i in range(N)]).notes == ()


def test_numeric_option_turns_other_values_into_missing_ones(read):
    table = read(x=[*WAVE[:-2], "broken", "broken"], numeric=("x",))
    assert table.numeric == ("x",)
    assert np.isnan(table.features["x"].iloc[-2:]).all()
    assert "column 'x': 2 values treated as missing (not a number): 'broken'" in only_note(table)


def test_three_odd_values_are_named_and_others_mentioned(read):
    odd = ["p", "q", "r", "p"]
    note = only_note(read(x=[*WAVE[:-4], *odd], numeric=("x",)))
    assert note.endswith("4 values treated as missing (not a number): 'p', 'q', 'r'.")
    note = only_note(read(x=[*WAVE[:-4], *odd[:3], "s"], numeric=("x",)))
    assert note.endswith("(not a number): 'p', 'q', 'r' and others.")


def test_numeric_option_without_any_number(read):
    with pytest.raises(DataError, match=r"toy\.csv: column 'x' holds no numbers, only 'p', 'q'"):
        read(x=["p", "q"] * 20, numeric=("x",))


def test_few_different_numbers_become_categories(read):
    table = read(x=["0", "1.0", "2.50", "", "1"] * 8)
    assert table.numeric == ()
    assert table.features["x"].tolist()[:5] == ["0", "1", "2.5", None, "1"]
    note = only_note(table)
    assert "toy.csv: column 'x' has only 3 different numbers" in note
    assert "--numeric x keeps it numeric" in note


def test_five_numbers_are_few_and_six_are_not(read):
    assert read(x=[i % 5 for i in range(N)]).numeric == ()
    assert read(x=[i % 6 for i in range(N)]).numeric == ("x",)


def test_numeric_option_keeps_few_different_numbers(read):
    table = read(x=[0, 1] * 20, numeric=("x",))
    assert table.numeric == ("x",)
    assert table.notes == ()


def test_categorical_option_keeps_the_text_of_numbers(read):
    table = read(x=[f"{i % 9:03d}" for i in range(N)], categorical=("x",))
    assert table.numeric == ()
    assert "007" in set(table.features["x"])


def test_identifier_texts_are_dropped(read):
    table = read(x=[f"id{i}" for i in range(N)])
    assert "x" not in table.features
    note = only_note(table)
    assert "toy.csv: column 'x' is dropped: it has 40 different values in 40 rows" in note
    assert "--categorical x keeps it" in note


def test_categorical_option_keeps_identifier_texts(read):
    assert "x" in read(x=[f"id{i}" for i in range(N)], categorical=("x",)).features


def test_identifiers_need_more_than_twenty_rows_and_nine_tenths(read):
    assert "x" in read(x=[f"id{i}" for i in range(20)], target=LABELS[:20]).features
    assert "x" not in read(x=[f"id{i}" for i in range(21)], target=LABELS[:21]).features
    assert "x" in read(x=[f"id{min(i, 35)}" for i in range(N)]).features  # 36 of 40


@pytest.mark.parametrize("values", [range(N), range(7, 7 + 3 * N, 3), range(N, 0, -1)])
def test_row_numbers_are_dropped(read, values):
    note = only_note(read(x=[*values]))
    assert "toy.csv: column 'x' is dropped: it counts up or down like a row number" in note
    assert "--numeric x keeps it" in note


def test_numbers_that_rise_by_fractions_or_stay_are_not_row_numbers(read):
    assert "x" in read(x=[i / 2 for i in range(N)]).features
    assert "x" in read(x=[i // 2 for i in range(N)]).features
    assert "x" in read(x=[*range(20)], target=LABELS[:20]).features


def test_numeric_option_keeps_row_numbers(read):
    assert read(x=[*range(N)], numeric=("x",)).numeric == ("x",)


def test_option_with_blanks_is_quoted_as_one_would_type_it(read):
    assert "--numeric 'my x' keeps it" in only_note(read(**{"my x": [*range(N)]}))


@pytest.mark.parametrize("options", [{}, {"categorical": ("x",)}])
def test_constant_column_is_dropped(read, options):
    table = read(x=["same"] * N, **options)
    assert "x" not in table.features
    assert "toy.csv: column 'x' is dropped: 'same' is its only value" in only_note(table)


def test_one_number_written_in_two_ways_is_constant(read):
    assert "'1' is its only value" in only_note(read(x=["1", "1.0"] * 20))


def test_one_value_and_missing_ones_are_constant_only_if_incomplete_rows_go(read):
    values = ["same", ""] * 20
    assert "x" not in read(x=values, missing="drop").features
    table = read(x=values, missing="state")
    assert table.features["x"].tolist()[:2] == ["same", None]


def test_column_without_values_is_dropped(read):
    note = only_note(read(x=[""] * N))
    assert "toy.csv: column 'x' is dropped: it has no values" in note


def test_drop_leaves_a_column_out_without_a_note(read):
    table = read(x=[f"id{i}" for i in range(N)], drop=("x",))
    assert list(table.features.columns) == ["fine"]
    assert table.notes == ()


def test_no_feature_left(read):
    with pytest.raises(DataError, match=r"no feature is left to learn from\. .*column 'x' is drop"):
        read(x=["same"] * N, alone=True)


@pytest.mark.parametrize("option", ["categorical", "numeric", "drop"])
def test_unknown_column_in_an_option(read, option):
    with pytest.raises(
        DataError,
        match=rf"toy\.csv: {option}: there is no column 'Fne' .*close matches: 'fine'",
    ):
        read(**{option: ("Fne",)})


def test_column_cannot_be_both_categorical_and_numeric(read):
    with pytest.raises(
        DataError, match="'fine' cannot be both categorical and numeric; choose one"
    ):
        read(categorical=("fine",), numeric=("fine",))


@pytest.mark.parametrize("option", ["numeric", "drop"])
def test_target_cannot_be_in_an_option(read, option):
    with pytest.raises(DataError, match=rf"{option}=\['class'\]: 'class' is a target"):
        read(**{option: ("class",)})


def test_unknown_target(tmp_path):
    (tmp_path / "toy.csv").write_text("x,Class\n1,a\n")
    with pytest.raises(DataError, match=r"target: there is no column 'clas' .*'Class'"):
        read_table(tmp_path / "toy.csv", "clas")


def test_unknown_missing_policy(read):
    with pytest.raises(OptionError, match="missing must be one of auto, state, drop, not 'guess'"):
        read(missing="guess")


def test_rows_without_a_label_are_left_out(read):
    table = read(["", "?", *LABELS[2:]], x=WAVE)
    assert len(table.target) == len(table.features) == N - 2
    assert table.features["x"][0] == WAVE[2]
    assert "toy.csv: left out 2 rows where target 'class' is missing" in only_note(table)


def test_target_without_labels(read):
    with pytest.raises(DataError, match=r"target 'class' is missing in every row; choose another"):
        read([""] * N)


def test_single_class(read):
    with pytest.raises(DataError, match="target 'class' is 'a' in every row; two classes"):
        read(["a"] * N)


def test_integer_labels_have_no_point(read):
    assert set(read(["1.0", "2.0", "2", "1"] * 10).target) == {"1", "2"}


def test_labels_are_not_numbers_if_one_is_not(read):
    assert set(read(["1.0", "2.0", "1.0", "x"] * 10).target) == {"1.0", "2.0", "x"}


@pytest.mark.parametrize(
    "target",
    [
        [f"{i % 21}.5" for i in range(63)],  # more than 20 fractions
        [*range(21), *range(19)],  # more values than half of the rows
        [i % 25 for i in range(60)],  # many integers with few rows each
        [f"name{min(i, 30)}" for i in range(N)],
    ],
)
def test_target_that_looks_like_regression(read, target):
    with pytest.raises(DataError, match=r"toy\.csv: target 'class' .*looks like regression"):
        read(target)


@pytest.mark.parametrize(
    "target",
    [
        [f"{i % 20}.5" for i in range(60)],
        [i % 25 for i in range(125)],
        [i % 20 for i in range(N)],
        [*range(15), *range(5)],
    ],
)
def test_target_with_many_classes_is_accepted(read, target):
    assert read(target).target.nunique() == len(set(target))


def test_categorical_option_accepts_any_labels_as_classes(read):
    target = [i % 25 for i in range(60)]
    with pytest.raises(DataError, match=r"target_bins=5 cuts .*categorical=\['class'\] accepts"):
        read(target)
    assert read(target, categorical=("class",)).target.nunique() == 25


def test_target_bins_cut_a_numeric_target_into_classes_of_equal_size(read):
    table = read([f"${1000 * (7 * i % 60)}" for i in range(60)], target_bins=3)
    states = ("<= 19500", "19500 to 39500", "> 39500")
    assert table.states["class"] == states
    assert table.target.value_counts().to_dict() == dict.fromkeys(states, 20)
    assert table.target[1] == "<= 19500"  # $7000
    told = "toy.csv: target 'class' is cut into 3 classes: '<= 19500' (20 rows), '19500 to 39500'"
    assert only_note(table).startswith(told)
    with pytest.raises(DataError, match="holds values that are not numbers; remove target_bins"):
        read(LABELS, target_bins=3)
    with pytest.raises(DataError, match="cannot be cut into classes"):
        read([1] * 40, target_bins=2)
    uneven = read([0] * 3 + [1] * 37, target_bins=4)
    assert uneven.target.value_counts().to_dict() == {"<= 0.5": 3, "> 0.5": 37}
    with pytest.raises(ValueError, match="target_bins must be a whole number of at least 2, not 1"):
        read(LABELS, target_bins=1)


def test_class_with_one_row_is_kept_and_named(read):
    table = read(["rare", *LABELS[1:]])
    assert "rare" in set(table.target)
    told = "has classes with a single row, which cannot be in both training and test rows: 'rare'"
    assert f"toy.csv: target 'class' {told}" in only_note(table)


def test_incomplete_rows_stay_in_the_table(read):
    table = read(x=["", *WAVE[1:]])
    assert len(table.features) == N
    assert np.isnan(table.features["x"][0])


def test_every_row_incomplete(read):
    sometimes, mostly = ["", *WAVE[1:]], [*WAVE[:9], *[""] * 31]
    late = [*[""] * 9, *WAVE[9:]]
    message = r"toy\.csv: no row is complete; .*'y' .*, in 31 of 40 rows\. Use missing='auto'"
    with pytest.raises(DataError, match=message):
        read(x=sometimes, y=mostly, z=late, missing="drop")
    assert len(read(x=sometimes, y=mostly, z=late).target) == N


def test_complete_rows_of_one_class(read):
    values = [number if label == "a" else "" for number, label in zip(WAVE, LABELS, strict=True)]
    with pytest.raises(DataError, match=r"all complete rows have the same class.*missing='auto'"):
        read(x=values, missing="drop")
    assert len(read(x=values).target) == N


def test_frame_types_decide():
    frame = pd.DataFrame(
        {
            "number": WAVE,
            "text": ["1", "2", "3", "4", "5", "6", "7", "8"] * 5,
            "category": pd.Categorical([i % 7 for i in range(N)]),
            "truth": [True, False] * 20,
            "object": pd.Series([i % 7 for i in range(N)], dtype=object),
            "decimal": [Decimal(i % 7) / 4 for i in range(N)],
        }
    )
    table = table_from_frame(frame, pd.Series(LABELS, name="kind"), "frame")
    assert table.numeric == ("number", "object", "decimal")
    assert set(table.features["text"]) == set("12345678")
    assert set(table.features["category"]) == set("0123456")
    assert set(table.features["truth"]) == {"True", "False"}
    assert table.target.name == "kind"
    assert table.notes == ()


def test_frame_leftover_categories_are_not_states():
    values = pd.Categorical(LABELS, categories=["b", "a", "gone"])
    assert table_from_frame(pd.DataFrame({"x": values}), LABELS[::-1]).states == {}


def test_array_columns_get_names():
    table = table_from_frame(np.array([WAVE, WAVE[::-1]]).T, np.array([0, 1] * 20))
    assert table.numeric == ("x0", "x1")
    assert table.target.name == "class"
    assert set(table.target) == {"0", "1"}


def test_array_of_mixed_objects():
    array = np.array([WAVE, LABELS], dtype=object).T
    table = table_from_frame(array, LABELS)
    assert table.numeric == ("x0",)
    assert set(table.features["x1"]) == {"a", "b"}


def test_rows_are_matched_by_place_not_by_index():
    frame = pd.DataFrame({"x": WAVE}, index=range(100, 140))
    table = table_from_frame(frame, pd.Series(LABELS, index=range(40, 0, -1)))
    assert table.target.tolist() == LABELS


def test_default_name_of_the_target_avoids_the_features():
    assert table_from_frame(pd.DataFrame({"class": WAVE}), LABELS).target.name == "class_"


@pytest.mark.parametrize(
    ("frame", "target", "message"),
    [
        (pd.DataFrame({"x": WAVE}), LABELS[1:], r"one value for each of the 40 rows"),
        (pd.DataFrame({"x": WAVE}), [[label] for label in LABELS], r"not of shape \(40, 1\)"),
        (pd.DataFrame({"x": WAVE}), [[1], [1, 2]] * 20, "one value per row"),
        (np.array(WAVE), LABELS, "table with rows and columns"),
        (pd.DataFrame({"x": WAVE}), pd.Series(LABELS, name="x"), "the target 'x' is also"),
        (pd.DataFrame([WAVE, WAVE], index=["x", "x"]).T, LABELS, "several columns are named 'x'"),
        (pd.DataFrame({"x": [*WAVE[1:], np.inf]}), LABELS, "column 'x' .* 'inf'; finite numbers"),
        (pd.DataFrame({"x": [[1]] * N}), LABELS, r"column 'x' .* '\[1\]'; finite numbers"),
        (pd.DataFrame({"x": [1j] * N}), LABELS, "column 'x' .*complex"),
        (pd.DataFrame({"x": WAVE}), [{"a": 1}] * N, "must contain strings or finite numbers"),
    ],
)
def test_bad_frames(frame, target, message):
    with pytest.raises(DataError, match=f"data: .*{message}"):
        table_from_frame(frame, target)
