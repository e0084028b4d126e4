"""Files with one or several class columns, read by the same function."""

from __future__ import annotations

import pandas as pd
import pytest

from milpbn.datasets import read_features, read_table
from milpbn.errors import DataError

ROWS = """size;color;note;kind;wheels
1,5;red;;car;4
2,5;blue;x;truck;6
;red;y;car;4
3,5;blue;;truck;
0,5;red;x;car;4
4,5;green;y;truck;6
"""


@pytest.fixture
def file(write):
    return write(ROWS, "rows.csv")


def test_a_file_is_read_with_several_targets(file):
    table = read_table(file, ["kind", "wheels"], drop=["note"], missing="drop")
    assert table.targets.columns.tolist() == ["kind", "wheels"]
    assert table.targets.to_numpy().tolist() == [
        ["car", "4"],
        ["truck", "6"],
        ["car", "4"],
        ["truck", "6"],
    ]
    assert table.features["size"].tolist() == [1.5, 2.5, 0.5, 4.5]
    assert table.categorical == ["color"]
    assert table.folds == 0
    assert table.notes[1:] == (
        "rows.csv: left out 1 row where one of the targets is missing.",
        "rows.csv: left out 1 row where a feature is missing.",
    )
    whole = read_table(file, ["kind", "wheels"], drop=["note"])
    assert len(whole) == 5
    assert whole.notes[-1].startswith("rows.csv: features are missing in 1 row of 5; a missing")


def test_the_same_file_with_one_target_keeps_incomplete_rows_for_the_encoder(file):
    table = read_table(file, "wheels", drop=["note", "kind"])
    assert table.target.tolist() == ["4", "6", "4", "4", "6"]
    assert table.features["size"].isna().tolist() == [False, False, True, False, False]
    assert "rows.csv: left out 1 row where target 'wheels' is missing." in table.notes


def test_few_numbers_are_categories_for_one_target_and_numbers_for_several(file):
    assert read_table(file, "wheels", drop=["note"]).numeric == ()
    assert read_table(file, ["kind", "wheels"], drop=["note"]).numeric == ("size",)


def test_a_sequence_of_one_target_is_one_target(file):
    one, also = read_table(file, "kind"), read_table(file, ["kind"])
    pd.testing.assert_frame_equal(one.features, also.features)
    assert one.target.equals(also.target)
    assert (one.notes, one.source) == (also.notes, also.source)


@pytest.mark.parametrize("target", ["wheels", ["kind", "wheels"]])
def test_the_table_says_how_to_read_its_columns_again(file, target):
    kinds = {"categorical": ["size"], "numeric": ["note"], "drop": ["color"]}
    options = {**kinds, "dates": "drop", "max_states": 9, "target_bins": None}
    frame = pd.read_csv(file, sep=";").assign(note=[3, 1, 2, 5, 4, 0])
    frame.to_csv(file, sep=";", index=False)
    given = {name: (column for column in columns) for name, columns in kinds.items()}
    table = read_table(file, target, **given, dates="drop", max_states=9)
    assert table.source["columns"] == {"target": target, **options}
    again = read_table(file, **table.source["columns"])
    pd.testing.assert_frame_equal(again.features, table.features)
    pd.testing.assert_frame_equal(again.targets, table.targets)


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        (["kind", "wheel"], {}, r"target: there is no column 'wheel' \(close matches: 'wheels'"),
        (["kind", "kind"], {}, "the target 'kind' is named twice"),
        ([], {}, "no target is named"),
        (["kind", "wheels"], {"drop": ["wheels"]}, r"drop=\['wheels'\]: 'wheels' is a target"),
        (["kind", "wheels"], {"drop": ["size", "color", "note"]}, "no feature is left"),
    ],
)
def test_bad_options_are_named(file, targets, options, message):
    with pytest.raises(DataError, match=rf"rows\.csv: .*{message}"):
        read_table(file, targets, **options)


def test_a_target_with_one_state_is_named(write):
    with pytest.raises(DataError, match="target 'b' is 'k' in every row"):
        read_table(write("x,a,b\n1,u,k\n2,v,k\n3,u,k\n"), ["a", "b"])


def test_a_target_with_one_state_in_the_complete_rows_is_named(write):
    file = write("x,a,b\n1,u,k\n2,v,k\n3,u,k\n,v,l\n")
    with pytest.raises(DataError, match=r"complete rows .* target 'b'; the feature 'x' .* 1 of 4"):
        read_table(file, ["a", "b"], missing="drop")
    assert len(read_table(file, ["a", "b"])) == 4


def test_classes_with_a_single_complete_row_are_named(write):
    file = write("x,a,b\n1,u,k\n2,v,k\n3,u,l\n,v,l\n")
    notes = read_table(file, ["a", "b"], missing="drop").notes
    told = "has classes with a single row, which cannot be in both training and test rows"
    assert f"toy.csv: target 'a' {told}: 'v'." in notes
    assert f"toy.csv: target 'b' {told}: 'l'." in notes
    (note,) = read_table(file, ["a", "b"]).notes
    assert "single row" not in note


def test_no_row_has_a_value_in_every_target(write):
    with pytest.raises(DataError, match="one of the targets is missing in every row"):
        read_table(write("x,a,b\n1,u,\n2,,k\n3,u,\n"), ["a", "b"])


def test_rows_to_predict_bring_the_targets_they_have(file):
    frame = read_features(file, ["size", "color"], ["kind", "wheels", "other"])
    assert frame.columns.tolist() == ["size", "color", "kind", "wheels"]
    assert len(frame) == 6
    with pytest.raises(DataError, match=r"no column 'sizes'.*the model needs it"):
        read_features(file, ["sizes"], [])
