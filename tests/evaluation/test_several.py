"""Evaluations with several class variables: the same folds, file and table as with one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon
from sklearn.naive_bayes import GaussianNB

from milpbn import evaluate
from milpbn.datasets import Table
from milpbn.errors import DataError, OptionError
from milpbn.evaluation.comparison import compare
from milpbn.evaluation.measures import Measures
from milpbn.evaluation.protocol import read_folds, splits
from milpbn.evaluation.records import FoldRecord
from milpbn.evaluation.several import several_table
from milpbn.mdc import BinaryRelevance, GBNCClassifier, exact_match_score, hamming_score


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    first = np.where(x + 0.5 * rng.normal(size=120) > 0, "a", "b")
    second = np.where(rng.random(120) < 0.8, first, "c")
    return Table("toy", pd.DataFrame({"x": x}), pd.DataFrame({"p": first, "q": second}), ("x",))


def methods():
    return {"gbnc": GBNCClassifier(GaussianNB()), "br": BinaryRelevance(GaussianNB())}


def test_each_fold_is_tested_by_a_model_that_has_not_seen_it(table):
    evaluation = evaluate(table, methods(), folds=3, seed=1)
    assert [(r.method, r.fold) for r in evaluation.records] == [
        (m, f) for m in ("gbnc", "br") for f in (1, 2, 3)
    ]
    train, test = splits(table, 3, seed=1)[1]
    assert sorted([*train, *test]) == list(range(120))
    features, targets = table.features, table.targets
    model = GBNCClassifier(GaussianNB()).fit(features.iloc[train], targets.iloc[train])
    found = next(r for r in evaluation.records if (r.method, r.fold) == ("gbnc", 2)).measures
    predicted = model.predict(features.iloc[test])
    assert found.accuracy == exact_match_score(targets.iloc[test], predicted)
    model.loss = "hamming"
    predicted = model.predict(features.iloc[test])
    assert found.hamming == hamming_score(targets.iloc[test], predicted)


@pytest.mark.parametrize(("missing", "learned"), [("drop", 48), ("state", 60)])
def test_incomplete_rows_are_tested_and_learned_from_if_they_are_kept(
    table, missing, learned, monkeypatch
):
    sizes, fit = [], BinaryRelevance.fit_table
    monkeypatch.setattr(
        BinaryRelevance,
        "fit_table",
        lambda self, table: (sizes.append(len(table)), fit(self, table))[1],
    )
    holes = table.features.where(np.arange(120)[:, None] % 5 > 0)
    folds = np.arange(120) % 2
    evaluation = evaluate(
        replace(table, features=holes, missing=missing),
        {"br": BinaryRelevance(GaussianNB())},
        folds=folds,
    )
    assert [r.measures.rows for r in evaluation.records] == [60, 60]
    assert sizes == [learned, learned]


def test_the_summary_has_all_scores(table):
    evaluation = evaluate(table, methods(), folds=3)
    for line in evaluation.summaries():
        own = [r.measures for r in evaluation.records if r.method == line.method]
        assert line.accuracy == pytest.approx(np.mean([m.accuracy for m in own]))
        assert line.hamming == pytest.approx(np.mean([m.hamming for m in own]))
        assert line.hamming > line.accuracy
        assert line.macro_f1 == pytest.approx(np.mean([m.macro_f1 for m in own]))
        assert line.sub_exact == pytest.approx(np.mean([m.sub_exact for m in own]))
        assert line.sub_exact >= line.hamming  # of two class variables
        assert (line.log_loss, line.brier) == (None, None)
    assert "exact match" in str(evaluation)
    assert "3-fold cross-validation of 120 rows" in str(evaluation)


def test_ten_folds_of_even_size_from_the_seed(table):
    parts = splits(table, None, seed=4)
    assert [len(test) for _, test in parts] == [12] * 10
    again, other = splits(table, None, seed=4), splits(table, None, seed=5)
    assert all((a[1] == b[1]).all() for a, b in zip(parts, again, strict=True))
    assert any((a[1] != b[1]).any() for a, b in zip(parts, other, strict=True))
    with pytest.raises(DataError, match="120 rows are too few for 500 folds"):
        splits(table, 500, seed=0)


def test_finished_folds_are_not_computed_again(table, tmp_path):
    seen = []
    options = {"folds": 2, "result_file": tmp_path / "results.jsonl"}
    first = evaluate(table, {"br": methods()["br"]}, **options)
    both = {**methods(), "br": BinaryRelevance(GaussianNB(), n_jobs=2)}  # as quick as it may be
    with pytest.raises(OptionError, match="contains results for other settings"):
        evaluate(table, both, **options, listener=lambda r, *_: seen.append(r.key))
    again = evaluate(
        table,
        {"br": both["br"]},
        **options,
        listener=lambda r, *_: seen.append(r.key),
    )
    assert again.records == first.records
    assert seen == []


def test_labels_that_only_a_test_fold_has_are_errors(table, tmp_path):
    # One row of the first fold has a label of its own; everything else is certain.
    x = np.where(np.arange(120) % 2, 5.0, -5.0) + 0.01 * np.arange(120)
    labels = np.where(np.arange(120) % 2, "a", "b")
    targets = pd.DataFrame({"p": labels, "q": labels})
    targets.loc[0, "q"] = "rare"
    rare = Table("toy", pd.DataFrame({"x": x}), targets, ("x",))
    path = tmp_path / "folds.csv"
    path.write_text("fold\n" + "\n".join(["1"] * 40 + ["2"] * 80) + "\n")
    found = evaluate(rare, {"br": BinaryRelevance(GaussianNB())}, fold_file=path)
    first = found.records[0].measures
    assert (first.rows, first.correct) == (40, 39)
    assert first.hamming == pytest.approx(1 - 1 / 80)


def test_a_fold_without_a_class_variable_is_named(table, tmp_path):
    targets = table.targets.assign(q=["z"] * 40 + ["y"] * 80)
    odd = Table("toy", table.features, targets, ("x",))
    path = tmp_path / "folds.csv"
    path.write_text("fold\n" + "\n".join(["1"] * 40 + ["2"] * 80) + "\n")
    with pytest.raises(DataError, match="br, fold 1: the class variable 'q' has only one class"):
        evaluate(odd, {"br": BinaryRelevance(GaussianNB())}, fold_file=path)


def test_an_interrupted_fit_is_no_result(table, monkeypatch):
    """GBNC keeps what it has scored on Ctrl-C; an evaluation must not count it."""
    trained = []

    def interrupt(self, *args):
        trained.append(self)
        if len(trained) > 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("milpbn.mdc.training.Trainer._tell", interrupt)
    with pytest.raises(KeyboardInterrupt):
        evaluate(table, {"gbnc": GBNCClassifier(GaussianNB())}, folds=2)


def records_of(gbnc, other):
    return [
        FoldRecord(name, "", fold, Measures(1000, round(1000 * value), hamming=value), 10)
        for name, values in (("gbnc", gbnc), ("br", other))
        for fold, value in enumerate(values, 1)
    ]


def test_marks_follow_the_signed_rank_test():
    rng = np.random.default_rng(2)
    base = rng.uniform(0.4, 0.6, size=10).round(3)
    gain = rng.uniform(0.01, 0.05, size=10).round(3)
    p, mark = compare(base + gain, base)
    assert (mark, p) == ("+", pytest.approx(wilcoxon(gain).pvalue))
    assert compare(base, base + gain)[1] == "-"
    assert compare(base + np.tile([0.01, -0.011], 5), base)[1] == ""
    assert compare(base, base + 1e-16) == (None, "")
    lines = several_table(records_of(base + gain, base)).splitlines()
    assert lines[1].split()[1:4] == [f"{(base + gain).mean():.3f}", "±", lines[1].split()[3]]
    assert lines[2].split()[3:5] == [f"{base.std(ddof=1):.3f}", "+"]
    assert "over 10 folds" in lines[3]


def test_only_folds_that_all_methods_have_finished_are_compared():
    records = records_of([0.1, 0.2], [0.3, 0.4])
    extra = FoldRecord("gbnc", "", 9, Measures(10, 10, hamming=1.0), 10)
    assert several_table([*records, extra]) == several_table(records)
    assert "over 2 folds" in several_table(records)
    assert "no fold" in several_table([records[0], records[3]])


def test_published_folds_are_read_and_checked(tmp_path):
    path = tmp_path / "folds.csv"
    path.write_text("test_fold\n1\n2\n1\n")
    assert read_folds(path, 3).tolist() == [1, 2, 1]
    with pytest.raises(DataError, match="expected one column with a header and 4 fold numbers"):
        read_folds(path, 4)
    path.write_text("test_fold\n1\nx\n1\n")
    with pytest.raises(DataError, match="must be integers"):
        read_folds(path, 3)
    path.write_text("test_fold\n1\n1\n1\n")
    with pytest.raises(DataError, match="all rows are in one fold"):
        read_folds(path, 3)
    with pytest.raises(DataError, match="cannot read folds"):
        read_folds(tmp_path / "none.csv", 3)
