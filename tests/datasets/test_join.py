"""Test rows from a second file."""

import numpy as np
import pytest

from milpbn import read_table
from milpbn.datasets import add_test_rows
from milpbn.errors import DataError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "train.csv"
    rows = [f"{k % 9}.5,{'ab'[k % 2]},{k % 3},{k % 2}" for k in range(36)]
    path.write_text("\n".join(["size,kind,few,class", *rows]) + "\n")
    return read_table(path, "class")


def write(tmp_path, *lines):
    path = tmp_path / "test.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_columns_are_read_as_those_of_the_training_rows(table, tmp_path):
    path = write(tmp_path, "few,class,more,kind,size", "1.0,1.0,u,b,3", "2,0,v,new,?", "0,?,w,a,1")
    joined = add_test_rows(table, path)
    assert joined.is_train.tolist() == [True] * 36 + [False] * 2
    assert list(joined.features.columns) == list(table.features.columns)
    assert (joined.numeric, joined.name) == (table.numeric, "train.csv")
    test = joined.test()
    assert test.target.tolist() == ["1", "0"]
    assert test.features["kind"].tolist() == ["b", "new"]
    assert test.features["size"].dtype == np.float64
    assert test.features["size"].isna().tolist() == [False, True]
    assert any("left out 1 row where target 'class' is missing" in note for note in joined.notes)
    assert joined.source["test"]["file"] == str(path)
    assert joined.train().features.equals(table.features)


def test_strings_among_numbers_are_missing_and_counted(table, tmp_path):
    path = write(tmp_path, "size,kind,few,class", "tall,a,1,0", "3.5,a,1,0")
    joined = add_test_rows(table, path)
    assert joined.test().features["size"].isna().tolist() == [True, False]
    assert any("column 'size': 1 value treated as missing" in note for note in joined.notes)


def test_a_column_that_is_not_there_is_named(table, tmp_path):
    path = write(tmp_path, "Size,kind,few,class", "1,a,1,0")
    with pytest.raises(DataError, match=r"test.csv: there is no column 'size' \(close matches"):
        add_test_rows(table, path)
    path = write(tmp_path, "size,kind,few", "1,a,1")
    with pytest.raises(DataError, match="no column 'class'"):
        add_test_rows(table, path)
