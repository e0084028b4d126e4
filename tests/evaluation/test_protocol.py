"""Training and test rows."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from milpbn import BNClassifier, load_dataset
from milpbn.datasets import Table
from milpbn.errors import DataError, OptionError
from milpbn.evaluation import ValidationSplit
from milpbn.evaluation.protocol import fold_numbers, hold_out, read_folds, splits


def table_of(labels):
    return Table(
        name="toy",
        features=pd.DataFrame({"x": np.arange(len(labels), dtype=float)}),
        targets=pd.Series(list(labels), dtype=object, name="class"),
        numeric=("x",),
    )


def test_the_test_rows_of_a_set_are_used():
    table = load_dataset("car")
    ((train, test),) = splits(table, None, seed=0)
    assert (len(train), len(test)) == (1152, 576)
    assert (table.is_train[train]).all()
    assert not table.is_train[test].any()


def test_a_set_without_test_rows_is_cut_into_five():
    parts = splits(load_dataset("iris"), None, seed=0)
    assert [(len(a), len(b)) for a, b in parts] == [(120, 30)] * 5
    assert sorted(np.concatenate([b for _, b in parts])) == list(range(150))
    assert all(not set(a) & set(b) for a, b in parts)


def test_folds_can_be_asked_for():
    assert len(splits(load_dataset("car"), 3, seed=0)) == 3


def test_folds_depend_on_the_seed_alone():
    table = load_dataset("iris")
    same, again, other = (splits(table, None, seed=s) for s in (1, 1, 2))
    assert all((a[1] == b[1]).all() for a, b in zip(same, again, strict=True))
    assert any((a[1] != b[1]).any() for a, b in zip(same, other, strict=True))


def test_rare_classes_are_no_obstacle(recwarn):
    for labels in ("a" * 9 + "b", "abcdefgh"):
        parts = splits(table_of(labels), 5, seed=0)
        assert sorted(np.concatenate([b for _, b in parts])) == list(range(len(labels)))
    assert not recwarn.list


@pytest.mark.parametrize(("folds", "error"), [(1, OptionError), (5, DataError)])
def test_impossible_folds_are_refused(folds, error):
    with pytest.raises(error, match="folds"):
        splits(table_of("aab"), folds, seed=0)


@pytest.mark.parametrize(
    ("n", "sizes"), [(1001, [201]), (1000, [200] * 5), (10, [2] * 5), (3, [1] * 3)]
)
def test_validation_takes_a_fifth_or_five_folds(n, sizes):
    y = np.arange(n) % 2
    parts = list(ValidationSplit().split(y, y))
    assert [len(b) for _, b in parts] == sizes
    assert all(len(a) + len(b) == n for a, b in parts)
    assert ValidationSplit().get_n_splits(y, y) == len(parts)


@pytest.mark.parametrize("n", [1001, 1000])
def test_validation_depends_on_the_seed_alone(n):
    y = np.arange(n) % 2
    same, again, other = ([b for _, b in ValidationSplit(s).split(y, y)] for s in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(same, again, strict=True))
    assert any((a != b).any() for a, b in zip(same, other, strict=True))


def test_validation_works_in_a_grid_search():
    iris = load_dataset("iris")
    search = GridSearchCV(
        BNClassifier(method="nb"), {"smoothing": ["laplace", "epsilon"]}, cv=ValidationSplit()
    )
    search.fit(iris.features, iris.target)
    shares = cross_val_score(
        BNClassifier(method="nb"), iris.features, iris.target, cv=ValidationSplit()
    )
    assert search.n_splits_ == 5
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(shares.mean())


def test_the_number_of_validation_splits_needs_the_rows():
    with pytest.raises(OptionError, match="pass X"):
        ValidationSplit().get_n_splits()


@pytest.mark.parametrize("share", [0.1, 0.25, 1 / 3, 0.5])
def test_a_share_of_every_class_is_held_out(share):
    table = table_of("a" * 60 + "b" * 31 + "c" * 9)
    split = hold_out(table, share, seed=1)
    for label, n in (("a", 60), ("b", 31), ("c", 9)):
        held_out = (split.test().target == label).sum()
        assert abs(held_out - share * n) <= 1
    assert len(split.test()) == round(100 * share)
    again, other = hold_out(table, share, seed=1), hold_out(table, share, seed=2)
    assert (split.is_train == again.is_train).all()
    assert (split.is_train != other.is_train).any()


def test_rows_are_held_out_once_and_not_all_of_them():
    table = table_of("ab" * 10)
    with pytest.raises(DataError, match="toy already has test rows"):
        hold_out(hold_out(table, 0.5), 0.5)
    for share in (0.001, 0.999):
        with pytest.raises(DataError, match="leaves no row to learn from or to test"):
            hold_out(table, share)


def test_given_folds_are_used_as_they_are():
    numbers = fold_numbers([3, 1, 1, 3, 2], "folds")
    parts = splits(table_of("ababa"), numbers, seed=0)
    assert [test.tolist() for _, test in parts] == [[1, 2], [4], [0, 3]]
    assert all(sorted([*train, *test]) == [0, 1, 2, 3, 4] for train, test in parts)


def test_published_folds_may_be_gzipped(tmp_path):
    plain, packed = tmp_path / "folds.csv", tmp_path / "folds.csv.gz"
    plain.write_bytes(b"fold\n2\n1\n2\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        assert read_folds(path, 3).tolist() == [2, 1, 2]
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(DataError, match="damaged or cut off"):
        read_folds(packed, 3)
