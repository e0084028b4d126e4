"""Properties of reading, tables and splits."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal, assert_series_equal
from property_cases import few, frames, of, some, tables

from milpbn import BNClassifier, DataWarning, load_dataset, read_table
from milpbn.datasets import (
    CatalogEntry,
    Table,
    add_test_rows,
    entry,
    load_catalog,
    load_frame,
    read_features,
    table_from_frame,
)
from milpbn.datasets.readings import Reading
from milpbn.evaluation import ValidationSplit
from milpbn.evaluation.protocol import hold_out, read_folds, splits


def write(frame, labels, folder, name="rows.csv"):
    path = Path(folder, name)
    frame.assign(label=labels).to_csv(path, index=False)
    return path


@of("milpbn.read_table", "milpbn.datasets.table_from_frame", "milpbn.datasets.Table")
@some
@given(frames())
def test_a_file_and_a_frame_give_the_same_table(rows):
    frame, labels = rows
    with TemporaryDirectory() as folder:
        read = read_table(write(frame, labels, folder), "label")
    made = table_from_frame(frame, labels)
    assert_frame_equal(read.features, made.features, check_dtype=False)
    assert_frame_equal(read.targets, made.targets, check_dtype=False)
    assert isinstance(read, Table)
    assert read.numeric == made.numeric
    mask = np.arange(len(made)) % 3 > 0
    split = replace(made, is_train=mask)
    assert (len(split.train()), len(split.test())) == (mask.sum(), (~mask).sum())
    assert_series_equal(split.train().target, made.rows(mask).target)


@of("milpbn.datasets.add_test_rows")
@some
@given(frames(), st.data())
def test_test_rows_are_read_like_the_others(rows, data):
    frame, labels = rows
    cut = data.draw(st.integers(10, len(frame) - 2))
    with TemporaryDirectory() as folder:
        train = read_table(write(frame[:cut], labels[:cut], folder), "label")
        test = write(frame[cut:], labels[cut:], folder, "test.csv")
        both = add_test_rows(train, test)
    assert_frame_equal(both.train().features, train.features)
    assert both.test().target.tolist() == labels[cut:].tolist()
    for name in train.features:
        assert both.test().features[name].tolist() == frame[name][cut:].tolist()


@of("milpbn.datasets.read_features")
@some
@given(frames(), st.randoms())
def test_columns_are_found_by_name(rows, random):
    frame, labels = rows
    wanted, order = list(frame), [*frame, "label"]
    random.shuffle(order)
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        frame.assign(label=labels)[order].to_csv(path, index=False)
        read = read_features(path, wanted, "label")
    assert list(read) == [*wanted, "label"]
    for name in frame:
        assert read[name].astype(str).tolist() == frame[name].astype(str).tolist()


SMALL = [name for name, found in load_catalog().items() if found.rows < 1000]


@of(
    *("milpbn.load_dataset", "milpbn.datasets.load_frame", "milpbn.datasets.load_catalog"),
    *("milpbn.datasets.entry", "milpbn.datasets.CatalogEntry"),
)
@few
@given(st.sampled_from(SMALL))
def test_the_catalog_says_what_is_in_the_file(name):
    found, frame, table = entry(name), load_frame(name), load_dataset(name)
    assert isinstance(found, CatalogEntry)
    assert found is load_catalog()[found.name]
    assert frame.shape == (found.rows, found.features + len(found.targets))
    assert tuple(frame[t].nunique() for t in found.targets) == found.classes
    assert len(frame.dropna()) == found.complete_rows
    assert list(table.targets) == list(found.targets)
    assert (len(table.train()), len(table.test())) == (found.train, found.test)


@of("milpbn.datasets.readings.Reading")
@some
@given(st.lists(st.integers(0, 10**7), min_size=1), st.sampled_from(["$", "kg", "%", ""]))
def test_numbers_with_units_are_read_as_they_were_written(cents, unit):
    reading = Reading("price", "number", ".", unit)
    again = Reading.from_dict(json.loads(json.dumps(reading.to_dict())))
    assert again == reading
    texts = pd.Series([f"{c / 100:,.2f} {unit}".strip() for c in cents])
    assert again.apply(texts).tolist() == [c / 100 for c in cents]


@of("milpbn.evaluation.protocol.splits", "milpbn.evaluation.protocol.read_folds")
@some
@given(tables(), st.integers(2, 4), st.integers(0, 9))
def test_folds_divide_the_rows(table, folds, seed):
    parts = splits(table, folds, seed)
    assert len(parts) == folds
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(len(table)))
    number = np.empty(len(table), dtype=int)
    for k, (train, test) in enumerate(parts):
        assert sorted([*train, *test]) == list(range(len(table)))
        number[test] = k + 1
    with TemporaryDirectory() as folder:
        path = Path(folder, "folds.csv")
        pd.Series(number, name="fold").to_csv(path, index=False)
        read = read_folds(path, len(table))
    for mine, theirs in zip(parts, splits(table, read, seed), strict=True):
        assert [part.tolist() for part in mine] == [part.tolist() for part in theirs]


@of("milpbn.evaluation.protocol.hold_out")
@some
@given(tables(), st.floats(0.1, 0.9), st.integers(0, 9))
def test_a_share_of_every_class_is_held_out(table, share, seed):
    held = hold_out(table, share, seed)
    assert abs(len(held.test()) - share * len(table)) <= 1
    for label, times in table.target.value_counts().items():
        assert abs((held.test().target == label).sum() - share * times) <= 1
    assert len(held.train()) + len(held.test()) == len(table)


@of("milpbn.evaluation.ValidationSplit")
@some
@given(st.integers(12, 60), st.integers(0, 9))
def test_a_validation_split_holds_rows_out(n, seed):
    splitter = ValidationSplit(random_state=seed)
    labels = np.arange(n) % 2
    found = list(splitter.split(np.zeros((n, 1)), labels))
    assert len(found) == splitter.get_n_splits(np.zeros((n, 1)), labels)
    for train, test in found:
        assert set(train).isdisjoint(test)
        assert set(train) | set(test) <= set(range(n))


@of("milpbn.DataWarning")
@few
@given(st.integers(1, 3))
def test_every_decision_about_a_column_is_a_warning(constant):
    frame = pd.DataFrame(
        {"x": [0, 1, 2, 3, 4, 5] * 4, **{f"c{k}": "same" for k in range(constant)}}
    )
    with pytest.warns(DataWarning) as caught:
        BNClassifier(method="nb").fit(frame, [0, 0, 0, 1, 1, 1] * 4)
    told = " ".join(str(w.message) for w in caught)
    assert all(f"'c{k}'" in told for k in range(constant))
    assert "'x'" not in told
