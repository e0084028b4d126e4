"""Features as matrices for classifiers of other libraries."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from milpbn.datasets import Table
from milpbn.evaluation.inputs import CATEGORIES, INDICATORS, INPUTS, SCALED, RawColumns, States


def table():
    """Ten rows: a number with a gap, and a category with a rare state and gaps."""
    features = pd.DataFrame(
        {
            "kind": ["a", "a", "a", "b", "b", "b", "rare", None, None, None],
            "size": [1.0, 2.0, 3.0, 4.0, np.nan, 1.0, 2.0, 3.0, 4.0, 100.0],
        }
    )
    return Table("toy", features, pd.Series(list("pqpqpqpqpq"), name="class"), ("size",))


def test_numbers_are_completed_by_the_median_and_standardised_with_an_indicator():
    inputs = RawColumns(table(), SCALED)
    train = inputs.matrix(table().features)
    assert train[:, 0].mean() == pytest.approx(0)
    assert train[:, 0].std() == pytest.approx(1)
    new = table().features.assign(size=[3.0, np.nan] + [0.0] * 8)
    found = inputs.matrix(new)
    assert found[0, 0] == found[1, 0]  # 3 is the median of the training rows
    assert np.flatnonzero(train[:, 1] > 0).tolist() == [4]
    assert np.flatnonzero(found[:, 1] > 0).tolist() == [1]


def test_categories_become_indicators_with_rare_ones_pooled_and_new_ones_ignored():
    inputs = RawColumns(table(), INDICATORS)
    new = pd.DataFrame({"kind": ["a", "b", None, "rare", "new"], "size": [0.5, np.nan, 7, 8, 9]})
    found = inputs.matrix(new)
    assert np.array_equal(found[:, 0], new["size"], equal_nan=True)
    indicators = found[:, 1:]
    assert indicators.shape[1] == 4  # a, b, missing, rare
    assert indicators.sum(axis=1).tolist() == [1, 1, 1, 1, 0]
    assert np.linalg.matrix_rank(indicators) == 4


def test_categories_become_codes():
    inputs = RawColumns(table(), CATEGORIES)
    new = pd.DataFrame({"kind": ["a", "b", None, "rare", "new"], "size": [0.5, np.nan, 7, 8, 9]})
    found = inputs.matrix(new)
    assert inputs.categorical.tolist() == [False, True]
    assert np.isnan(found[:, 1]).tolist() == [False, False, True, False, True]
    assert len(set(found[[0, 1, 3], 1])) == 3


def test_columns_are_found_by_name():
    inputs = RawColumns(table(), CATEGORIES)
    turned = table().features[["size", "kind"]].astype({"size": object})
    first, second = inputs.matrix(table().features), inputs.matrix(turned)
    assert np.array_equal(first, second, equal_nan=True)


def test_states_of_incomplete_rows_have_no_indicator():
    inputs = States(replace(table(), missing="drop"), INDICATORS)
    found = inputs.matrix(table().features)
    assert len(found) == 10
    assert (found[7:].sum(axis=1) < found[:3].sum(axis=1)).all()


@pytest.mark.parametrize("kind", INPUTS.values())
@pytest.mark.parametrize("form", [SCALED, INDICATORS, CATEGORIES])
def test_every_row_is_kept_in_every_form(kind, form):
    found = kind(table(), form).matrix(table().features)
    assert len(found) == 10
    assert np.isfinite(found).all() or form != SCALED
