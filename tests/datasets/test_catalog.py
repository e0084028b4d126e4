"""Every entry of the catalog loads, and is what the catalog says."""

from __future__ import annotations

import dataclasses
import hashlib

import numpy as np
import pytest

from milpbn.datasets import (
    catalog,
    data_root,
    entry,
    load_catalog,
    load_dataset,
    load_frame,
)
from milpbn.errors import DataError, OptionError

NAMES = list(load_catalog())
SEEDED = [name for name in NAMES if entry(name).file and entry(name).split == "seeded"]


@pytest.fixture(scope="module")
def tables():
    return {name: load_dataset(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_shape_is_as_declared(name):
    found, frame = entry(name), load_frame(name)
    assert len(frame) == found.rows
    assert frame.notna().all(axis=1).sum() == found.complete_rows
    assert frame.shape[1] == found.features + len(found.targets)
    assert set(found.numeric) <= set(frame.columns)
    assert [*frame.columns][-len(found.targets) :] == [*found.targets]


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_numbers_exactly_where_declared(name):
    found, frame = entry(name), load_frame(name)
    for column, values in frame.items():
        if column in found.numeric:
            assert values.dtype == np.float64
        else:
            assert {type(value) for value in values.unique()} <= {str, type(None)}


@pytest.mark.parametrize("name", NAMES)
def test_classes_and_split_are_as_declared(name, tables):
    found, table = entry(name), tables[name]
    assert tuple(table.targets.columns) == found.targets
    whole = load_dataset(name, missing="state")
    assert tuple(whole.targets.nunique()) == found.classes
    assert table.targets.notna().all(axis=None)
    assert table.features.shape[1] == found.features
    assert table.folds == found.folds
    assert whole.is_train.sum() == found.train
    assert (~whole.is_train).sum() == found.test
    assert table.has_test == (found.split != "folds") == (found.folds == 0)
    assert table.missing == found.missing
    assert table.source["dataset"] == name


@pytest.mark.parametrize("name", NAMES)
def test_every_class_has_a_training_row(name, tables):
    table = tables[name]
    assert table.train().targets.nunique().equals(table.targets.nunique())


@pytest.mark.parametrize("name", NAMES)
def test_a_set_whose_publications_leave_out_incomplete_rows_has_complete_rows(name, tables):
    found, table = entry(name), tables[name]
    if found.missing == "state":
        assert len(table) == found.rows
        return
    assert not table.incomplete.any()
    if found.split != "seeded":
        assert len(table) == found.complete_rows
    told = f"{name}: left out {found.rows - found.complete_rows} of {found.rows} rows with a miss"
    assert any(note.startswith(told) for note in table.notes) == (found.complete_rows < found.rows)


def test_all_rows_of_a_set_are_kept_on_request():
    table = load_dataset("crx", missing="auto")
    assert (len(table), int(table.incomplete.sum()), table.missing) == (690, 37, "auto")
    assert table.notes == ()


def test_sets_with_several_class_variables_are_found_without_their_folder():
    table = load_dataset("Jura")
    assert table.name == table.source["dataset"] == "mdc/Jura"
    assert (len(table), table.folds) == (359, 10)
    assert entry("Adult") is entry("mdc/Adult")
    assert load_dataset("adult").name == "adult"


@pytest.mark.parametrize("name", [name for name in NAMES if entry(name).file])
def test_checksums_hold(name):
    found = entry(name)
    data = (data_root() / found.file).read_bytes()
    assert hashlib.sha256(data).hexdigest() == found.sha256


def test_every_bundled_file_is_in_the_catalog():
    bundled = {path.relative_to(data_root()).as_posix() for path in data_root().rglob("*.gz")}
    assert bundled == {found.file for found in load_catalog().values()} - {""}


def test_every_entry_names_its_source_and_licence():
    for found in load_catalog().values():
        assert found.title
        assert found.description.endswith(".")
        assert found.papers.endswith(".")
        assert found.source.endswith(".")
        assert found.licence


@pytest.mark.parametrize("name", SEEDED)
def test_seed_is_the_smallest_that_gives_every_class_a_training_row(name):
    found = entry(name)
    frame = load_frame(name)
    labels = frame["class"].to_numpy()
    if found.groups:
        labels = load_dataset(name).target.to_numpy()
    rows = np.flatnonzero(frame.notna().all(axis=1)) if found.missing == "drop" else len(frame)
    for seed in range(1, found.seed + 1):
        learn = np.random.default_rng(seed).permutation(rows)[: found.train]
        has_all = len(set(labels[learn])) == found.classes[0]
        assert has_all == (seed == found.seed)


def test_adult_has_the_complete_rows_of_the_original_split(tables):
    table = tables["adult"]
    complete = table.features.notna().all(axis=1)
    assert complete[table.is_train].sum() == 30162
    assert complete[~table.is_train].sum() == 15060


def test_split_first_keeps_the_order_of_the_file(tables):
    table = tables["letter"]
    assert table.is_train[:15000].all()
    assert not table.is_train[15000:].any()


def test_seeded_split_draws_from_the_complete_rows_only(tables):
    table = tables["mushroom"]
    assert len(table.features) == 5644
    assert table.features.notna().all(axis=None)
    assert "left out 2480 of 8124 rows" in table.notes[0]


def test_shuttle_small_is_a_subset_of_shuttle_and_says_so(tables):
    assert "not their subset" in entry("shuttle-small").description
    small, whole = tables["shuttle-small"], tables["shuttle"]
    assert set(map(tuple, small.features.to_numpy())) <= set(map(tuple, whole.features.to_numpy()))


def test_abalone_rings_are_grouped_into_three_classes(tables):
    rings = load_frame("abalone")["class"].astype(int)
    labels = tables["abalone"].target
    ranges = rings.groupby(labels).agg(["min", "max"])
    assert ranges.loc[["1-8", "9-10", "11+"]].to_numpy().tolist() == [[1, 8], [9, 10], [11, 29]]


def test_missing_votes_are_kept_as_a_state(tables):
    table = tables["vote"]
    assert table.missing == "state"
    assert table.features.isna().to_numpy().sum() == 392
    assert table.features.iloc[0]["synfuels-corporation-cutback"] is None


def test_text_that_looks_missing_elsewhere_is_a_value_here():
    # "none" and the like are values of the bundled files: only the empty text is missing.
    assert "none" in set(load_frame("mushroom")["ring-type"])


@pytest.mark.parametrize(
    ("typed", "meant"), [("iriss", "iris"), ("aduld", "adult"), ("mdc/jura", "mdc/Jura")]
)
def test_unknown_name_suggests_a_near_one(typed, meant):
    with pytest.raises(DataError, match=rf"no data set '{typed}'; did you mean .*{meant}"):
        load_dataset(typed)


def test_name_far_from_all_lists_them():
    with pytest.raises(DataError, match=r"the data sets are abalone, adult, "):
        load_dataset("xyzzy-17")


def test_another_seed_draws_other_rows():
    car, other = load_dataset("car"), load_dataset("car", seed=2)
    assert len(other.test()) == len(car.test()) == 576
    assert other.is_train.tolist() != car.is_train.tolist()
    assert other.source["seed"] == "2"
    assert load_dataset("car", seed=entry("car").seed).is_train.tolist() == car.is_train.tolist()
    drawn = load_dataset("mofn-3-7-10", seed=2)
    assert len(drawn.train()) == 300
    assert not drawn.features.equals(load_dataset("mofn-3-7-10").features)
    assert "seed=2" in drawn.source["generator"]


@pytest.mark.parametrize("name", ["iris", "corral", "satimage"])
def test_only_random_splits_can_have_another_seed(name):
    with pytest.raises(OptionError, match=rf"{name} has no split that is drawn at random"):
        load_dataset(name, seed=2)


def test_changed_file_is_refused(monkeypatch):
    wrong = dataclasses.replace(entry("iris"), sha256="0" * 64)
    monkeypatch.setattr(catalog, "load_catalog", lambda: {"iris": wrong})
    with pytest.raises(DataError, match=r"iris\.csv\.gz has changed.*reinstall"):
        load_dataset("iris")


def test_absent_file_is_reported(monkeypatch):
    gone = dataclasses.replace(entry("iris"), file="gone.csv.gz")
    monkeypatch.setattr(catalog, "load_catalog", lambda: {"iris": gone})
    with pytest.raises(DataError, match=r"iris: cannot read .*gone\.csv\.gz"):
        load_dataset("iris")


def test_digits_are_those_of_scikit_learn():
    from sklearn.datasets import load_digits

    digits, frame = load_digits(), load_frame("digits")
    assert (frame.drop(columns="class").to_numpy() == digits.data).all()
    assert (frame["class"].astype(int) == digits.target).all()
