"""A table holds one class variable or several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from milpbn.datasets import Table, load_dataset
from milpbn.encoding import Encoder
from milpbn.errors import DataError


@pytest.fixture
def table():
    return Table(
        name="vehicles",
        features=pd.DataFrame({"length": [4.0, 9.0, 5.0, 8.0], "fuel": ["a", "b", "a", None]}),
        targets=pd.DataFrame({"kind": list("ctct"), "wheels": list("4646")}),
        numeric=("length",),
        is_train=np.array([True, True, False, True]),
        folds=3,
    )


def test_a_series_becomes_a_frame_with_one_column():
    labels = pd.Series(["n", "y"], dtype=object, name="class")
    table = Table("toy", pd.DataFrame({"x": ["a", "b"]}), labels, ())
    pd.testing.assert_frame_equal(table.targets, labels.to_frame())
    pd.testing.assert_series_equal(table.target, labels)


def test_a_table_of_several_targets_counts_and_selects_rows(table):
    assert len(table) == 4
    assert table.categorical == ["fuel"]
    assert table.train().targets["wheels"].tolist() == ["4", "6", "6"]
    assert table.test().targets.to_numpy().tolist() == [["c", "4"]]
    assert table.rows(np.array([False, True, True, False])).targets.index.tolist() == [0, 1]
    assert table.train().folds == 3


@pytest.mark.parametrize("use", [lambda table: table.target, Encoder.fit])
def test_one_target_is_asked_of_a_table_with_several(table, use):
    with pytest.raises(DataError, match=r"^vehicles has 2 class variables \('kind', 'wh") as error:
        use(table)
    assert "use GBNCClassifier for several, or name one target" in str(error.value)
    assert "use `milpbn mdc solve` for several" in error.value.on_command_line()


def test_one_of_several_targets_can_be_kept(table):
    one = replace(table, targets=table.targets["kind"], missing="state")
    assert one.target.name == "kind"
    assert Encoder.fit(one).target.states == ("c", "t")


def test_a_generated_set_has_one_target():
    table = load_dataset("monks-1")
    assert table.targets.columns.tolist() == ["class"]
    assert table.target.dtype == object
