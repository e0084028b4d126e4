"""Columns of strings: the same values however they are stored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from milpbn.datasets import read_table
from milpbn.datasets.strings import is_arrow_text, parse_numbers, string_column, with_objects
from milpbn.datasets.values import is_number, to_numbers

WORDS = [
    *(
        "1",
        "+1",
        "-1.50",
        ".5",
        "1.",
        "1e5",
        "1E-3",
        "1e",
        "e1",
        ".",
        "-",
        "+",
        "--1",
        "1 2",
        "0x1",
    ),
    *(
        "0x1",
        "1_0",
        "inf",
        "-Infinity",
        "nan",
        "NaN(1)",
        "1e999",
        "-1e999",
        "1e-999",
        "1d",
        "1f",
        "٣",
    ),
    *("12345678901234567890", "0.1000000000000000055511151231257827", "007", "1,5", "½", "1\u00a0"),
]


@pytest.mark.parametrize("word", WORDS)
def test_arrow_converts_exactly_what_is_a_number(word):
    numbers = parse_numbers(pa.array([word]))
    finite = numbers is not None and bool(np.isfinite(numbers[0]))
    expected = float(word) if is_number(word) else np.nan
    assert finite == bool(np.isfinite(expected))
    if finite:
        assert numbers[0] == expected


def test_plain_numbers_stay_with_arrow_and_keep_their_spelling():
    column = string_column(pa.chunked_array([["01.50", None], ["+2"]]))
    assert is_arrow_text(column)
    np.testing.assert_array_equal(to_numbers(column), [1.5, np.nan, 2])
    assert with_objects(pd.DataFrame({"x": column}))["x"].tolist() == ["01.50", None, "+2"]


def test_other_strings_are_stripped_and_stored_once():
    column = string_column(pa.chunked_array([["red", " red", None], ["\u00a0red", " ? ", "3"]]))
    assert column.cat.categories.tolist() == ["red", "3"]
    np.testing.assert_array_equal(to_numbers(column), [np.nan] * 5 + [3])
    assert with_objects(pd.DataFrame({"x": column}))["x"].tolist() == [
        *("red", "red", None, "red", None, "3")
    ]


def test_numbers_with_blanks_around_them_are_plain_numbers():
    assert is_arrow_text(string_column(pa.chunked_array([[" 1", "2 ", " NA", "?"]])))


def test_infinite_numbers_are_not_plain():
    assert not is_arrow_text(string_column(pa.chunked_array([["1", "inf"]])))
    assert not is_arrow_text(string_column(pa.chunked_array([["1", "1e999"]])))


def test_spelling_matters_where_numbers_are_categories_or_classes(write):
    rows = [f"{code},{x},{code}0000000000000000\n" for x, code in enumerate(["01", "1", "02"] * 4)]
    path = write("code,x,class\n" + "".join(rows))
    table = read_table(path, "class", categorical=["code", "class"])
    assert set(table.features["code"]) == {"01", "1", "02"}
    assert set(table.target) == {f"{code}0000000000000000" for code in ("01", "1", "02")}
