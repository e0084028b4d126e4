"""The generated sets follow their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from milpbn.datasets.generators import (
    GENERATORS,
    ClassTrees,
    corral,
    mofn,
    monks,
    synthetic_3,
    synthetic_trees,
    waveform,
    wide,
)
from milpbn.datasets.table import Table
from milpbn.errors import OptionError

DRAWN = {
    "mofn": {},
    "monks": {"problem": 3},
    "waveform": {"n_train": 20, "n_test": 20},
    "synthetic_3": {"n_train": 20, "n_test": 20},
    "synthetic_trees": {"n_features": 4, "n_first": 20, "n_other": 5},
    "wide": {"n_train": 20, "n_features": 7, "n_classes": 3, "n_test": 5},
}


def ints(table: Table) -> pd.DataFrame:
    return table.features.astype(int)


def labels(table: Table) -> np.ndarray:
    return table.target.astype(int).to_numpy()


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_same_seed_gives_the_same_rows_and_another_seed_others(name):
    draw = GENERATORS[name]
    first, again, other = (draw(seed=seed, **DRAWN[name]) for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(first.features, again.features)
    assert first.target.equals(again.target)
    assert not first.features.equals(other.features)


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_states_are_declared_and_cover_all_values(name):
    table = GENERATORS[name](seed=1, **DRAWN[name])
    assert set(table.states) == ({*table.features.columns} - {*table.numeric}) | {"class"}
    for column, states in table.states.items():
        values = table.target if column == "class" else table.features[column]
        assert set(values) <= set(states)


def test_corral_follows_its_rule_and_correlated_agrees_three_times_in_four():
    table = corral()
    x = ints(table)
    rule = (x.A0 & x.A1) | (x.B0 & x.B1)
    assert (rule == labels(table)).all()
    assert len(x) == 128
    assert (x.groupby(["A0", "A1", "B0", "B1", "Irrelevant"]).size() == 4).all()
    agreement = (x.Correlated == rule).groupby([x.A0, x.A1, x.B0, x.B1, x.Irrelevant]).sum()
    assert (agreement == 3).all()
    assert not table.has_test


def test_mofn_follows_its_rule_on_distinct_training_points_and_all_test_points():
    table = mofn(seed=1)
    rule = ints(table)[[f"Bit-{i}" for i in range(2, 9)]].sum(axis=1) >= 3
    assert (rule == labels(table)).all()
    assert len(table.train().features.drop_duplicates()) == 300
    assert len(table.test().features.drop_duplicates()) == 1024


@pytest.mark.parametrize(
    ("problem", "n_train", "positive"), [(1, 124, 216), (2, 169, 142), (3, 122, 228)]
)
def test_monks_have_the_known_sizes_and_class_counts(problem, n_train, positive):
    table = monks(problem, seed=1)
    test = table.test()
    assert len(table.train().features.drop_duplicates()) == n_train
    assert len(test.features.drop_duplicates()) == 432
    assert (test.target == "1").sum() == positive


@pytest.mark.parametrize(("problem", "n_wrong"), [(1, 0), (2, 0), (3, 6)])
def test_only_the_training_labels_of_monks_3_are_noisy(problem, n_wrong):
    table = monks(problem, seed=1)
    x = ints(table)
    rule = {
        1: (x.a1 == x.a2) | (x.a5 == 1),
        2: (x == 1).sum(axis=1) == 2,
        3: ((x.a5 == 3) & (x.a4 == 1)) | ((x.a5 != 4) & (x.a2 != 3)),
    }[problem]
    wrong = rule.to_numpy() != (labels(table) == 1)
    assert wrong[table.is_train].sum() == n_wrong
    assert not wrong[~table.is_train].any()


def test_monks_problem_must_exist():
    with pytest.raises(OptionError, match="are 1, 2 and 3, not 4"):
        monks(4, seed=1)


def test_training_points_cannot_outnumber_the_points():
    with pytest.raises(OptionError, match="between 1 and 1024"):
        mofn(seed=1, n_train=1025)


def test_waveform_class_means_are_half_sums_of_two_triangles():
    table = waveform(seed=1)
    i = np.arange(1, 22)
    h1 = np.maximum(6 - abs(i - 7), 0)
    h2 = np.maximum(6 - abs(i - 15), 0)
    h3 = np.maximum(6 - abs(i - 11), 0)
    for label, (first, second) in {"0": (h1, h2), "1": (h1, h3), "2": (h2, h3)}.items():
        rows = table.features[table.target == label].to_numpy()
        # E x = (h + h')/2 and Var x = (h − h')²/12 + 1; 63 means in all, so five
        # standard errors are exceeded with probability below 1e-4.
        error = np.sqrt(((first - second) ** 2 / 12 + 1) / len(rows))
        assert np.all(abs(rows.mean(axis=0) - (first + second) / 2) < 5 * error)


def test_synthetic_3_has_the_stated_conditional_probabilities():
    table = synthetic_3(seed=1, n_train=20000, n_test=20000)
    x, c = ints(table), labels(table)

    def share(event, given):  # with the half width of five standard errors
        n = given.sum()
        return event[given].mean(), 5 * np.sqrt(0.25 / n)

    everywhere = pd.Series(True, index=x.index)
    stated = [
        (x.X1 == 1, everywhere, 0.5),
        (pd.Series(c == 1), everywhere, 0.5),
        (x.X2 == x.X1, everywhere, 0.75),
    ]
    for x1, x2 in ((0, 0), (0, 1), (1, 0), (1, 1)):
        given = x.X1.eq(x1) & x.X2.eq(x2)
        # P(X3 = 1 | x1, x2, c) = 0.3 [copy of x1 or its negation is 1] + 0.5 x2 + 0.1
        stated.append((x.X3 == 1, given & (c == 1), 0.3 * x1 + 0.5 * x2 + 0.1))
        stated.append((x.X3 == 1, given & (c == 2), 0.3 * (1 - x1) + 0.5 * x2 + 0.1))
    for event, given, probability in stated:
        observed, margin = share(event, given)
        assert abs(observed - probability) < margin


def test_synthetic_trees_has_the_class_counts_of_the_paper_by_default():
    table = synthetic_trees(seed=1, n_features=5)
    expected = {"1": 25000} | dict.fromkeys("2345", 12500)
    assert table.train().target.value_counts().to_dict() == expected
    assert table.test().target.value_counts().to_dict() == expected
    assert {len(states) for name, states in table.states.items() if name != "class"} == {10}


def test_synthetic_trees_confuses_every_class_with_the_first():
    # Half of the rows of class k come from the tree of class 1: for every point x,
    # P(x | k) >= P(x | 1)/2. Checked on the states of single attributes.
    table = synthetic_trees(seed=2, n_features=3).train()
    for name in table.features.columns:
        share = pd.crosstab(table.features[name], table.target, normalize="columns")
        margin = 5 * np.sqrt(0.25 / 12500)
        for label in "2345":
            assert (share[label] > share["1"] / 2 - margin).all()
            assert not np.allclose(share[label], share["1"], atol=margin / 5)


def test_the_true_model_of_the_trees_has_their_probabilities():
    truth = ClassTrees(seed=3, n_features=2, n_first=200_000, n_other=50_000)
    grid = np.array([(a, b) for a in range(10) for b in range(10)])
    for tree in truth.trees:
        assert np.exp(tree.log_probabilities(grid)).sum() == pytest.approx(1)
    rows = truth.table().train()
    points = rows.features.astype(int).to_numpy()
    codes = points @ [10, 1]
    counts = np.zeros((100, 5))
    np.add.at(counts, (codes, rows.target.astype(int) - 1), 1)
    best, second = np.sort(counts, axis=1)[:, [-1, -2]].T
    clear = best - second > 4 * np.sqrt(best + second)
    assert clear.sum() > 50
    assert np.array_equal(truth.likeliest(grid)[clear], counts.argmax(axis=1)[clear])


def test_synthetic_trees_needs_a_feature():
    with pytest.raises(OptionError, match="at least 1"):
        synthetic_trees(seed=1, n_features=0)


def test_wide_tables_have_the_asked_sizes():
    table = wide(seed=2, n_train=300, n_features=50, n_classes=4, n_test=100, n_states=3)
    assert table.features.shape == (400, 50)
    assert (len(table.train()), len(table.test())) == (300, 100)
    assert set(table.target) == set("0123")
    assert set(np.unique(ints(table))) == {0, 1, 2}


@pytest.mark.parametrize(("contrast", "dependent"), [(0.0, False), (1.0, True)])
def test_the_tables_of_wide_differ_by_class_as_much_as_asked(contrast, dependent):
    table = wide(seed=3, n_train=4000, n_features=6, n_classes=2, n_states=2, contrast=contrast)
    shares = ints(table).groupby(labels(table)).mean()
    assert ((shares.loc[0] - shares.loc[1]).abs().max() > 0.08) == dependent


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_train": 0}, "n_train must be at least 1, not 0"),
        ({"n_classes": 1}, "n_classes must be at least 2, not 1"),
        ({"contrast": 1.5}, "contrast must be between 0 and 1, not 1.5"),
    ],
)
def test_wide_refuses_impossible_sizes(bad, message):
    with pytest.raises(OptionError, match=message):
        wide(seed=1, **{"n_train": 5, "n_features": 3, **bad})
