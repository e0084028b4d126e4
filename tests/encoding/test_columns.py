"""One column: how its values find their states, and what the states are called."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from milpbn.encoding import ColumnCode


def test_the_missing_state_keeps_its_name_unique() -> None:
    column = ColumnCode(
        "x", "categorical", states=("missing", "missing_2", "a"), missing_state=True
    )
    assert column.variable.states[-1] == "missing_3"
    np.testing.assert_array_equal(column.encode(pd.Series(["missing", None])).codes, [0, 3])


def test_states_that_say_the_same_number_are_matched_as_texts_only() -> None:
    column = ColumnCode("x", "categorical", states=("1", "1.0", "2"))
    coded = column.encode(pd.Series(["1", "1.0", "1.00", "2.0"]))
    np.testing.assert_array_equal(coded.codes, [0, 1, -1, 2])
    assert coded.unseen == {"1.00": 1}


def test_truth_values_find_their_spelling() -> None:
    for states in (("False", "True"), ("false", "true"), ("FALSE", "TRUE")):
        coded = ColumnCode("x", "categorical", states=states).encode(pd.Series([True, False]))
        np.testing.assert_array_equal(coded.codes, [1, 0])


def test_interval_names_round_only_as_long_as_they_differ() -> None:
    near = ColumnCode("x", "numeric", cuts=(0.15000000000000002, 0.2))
    assert near.variable.states == ("(-inf, 0.15]", "(0.15, 0.2]", "(0.2, inf)")
    nearer = ColumnCode("x", "numeric", cuts=(1.0, math.nextafter(1.0, 2.0)))
    assert len(set(nearer.variable.states)) == 3
