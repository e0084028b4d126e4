import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon
from sklearn.naive_bayes import GaussianNB

from milpbn.datasets.multi import MultiTable
from milpbn.errors import DataError, OptionError
from milpbn.mdc import BinaryRelevance, GBNCClassifier, exact_match_score, hamming_score
from milpbn.mdc.evaluation import (
    FoldScore,
    compare,
    evaluate,
    make_folds,
    read_folds,
    read_scores,
    summarise,
    text_table,
    to_json,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    first = np.where(x + 0.5 * rng.normal(size=120) > 0, "a", "b")
    second = np.where(rng.random(120) < 0.8, first, "c")
    return MultiTable(
        "toy", pd.DataFrame({"x": x}), pd.DataFrame({"p": first, "q": second}), ("x",)
    )


def methods():
    return {"gbnc": GBNCClassifier(GaussianNB()), "br": BinaryRelevance(GaussianNB())}


def test_each_fold_is_tested_by_a_model_that_has_not_seen_it(table):
    folds = make_folds(120, 3, seed=1)
    scores = evaluate(table, folds, methods())
    assert [(s.method, s.fold) for s in scores] == [
        (m, f) for f in (1, 2, 3) for m in ("gbnc", "br")
    ]
    test = folds == 2
    model = GBNCClassifier(GaussianNB()).fit(table.features[~test], table.targets[~test])
    found = next(s for s in scores if s.method == "gbnc" and s.fold == 2)
    assert found.exact_match == exact_match_score(
        table.targets[test], model.predict(table.features[test])
    )
    model.loss = "hamming"
    assert found.hamming == hamming_score(table.targets[test], model.predict(table.features[test]))


def test_folds_are_even_and_seeded():
    folds = make_folds(103, 10, seed=4)
    assert sorted(np.bincount(folds)[1:].tolist()) == [10] * 7 + [11] * 3
    assert (folds == make_folds(103, 10, seed=4)).all()
    assert (folds != make_folds(103, 10, seed=5)).any()
    with pytest.raises(OptionError, match="5 folds cannot be made of 3 rows"):
        make_folds(3, 5, seed=0)


def test_known_scores_are_not_computed_again(table):
    folds = make_folds(120, 2, seed=1)
    known = FoldScore("gbnc", 1, 0.123, 0.456, 1.0)
    new = []
    scores = evaluate(table, folds, methods(), done=[known], listener=new.append)
    assert scores[0] == known
    assert [(s.method, s.fold) for s in new] == [("br", 1), ("gbnc", 2), ("br", 2)]


def test_labels_that_only_a_test_fold_has_are_errors(table):
    targets = table.targets.copy()
    targets.loc[0, "q"] = "rare"
    rare = MultiTable("toy", table.features, targets, ("x",))
    folds = np.where(np.arange(120) < 40, 1, 2)
    methods = {"br": BinaryRelevance(GaussianNB())}
    (found, _), (plain, _) = (evaluate(t, folds, methods) for t in (rare, table))
    # The row was right in both class variables; the second of them now counts as wrong.
    model = BinaryRelevance(GaussianNB()).fit(table.features[40:], table.targets[40:])
    assert model.predict(table.features[:1]).tolist() == [table.targets.iloc[0].tolist()]
    assert found.exact_match == pytest.approx(plain.exact_match - 1 / 40)
    assert found.hamming == pytest.approx(plain.hamming - 1 / 80)


def test_a_fold_without_a_class_variable_is_named(table):
    targets = table.targets.assign(q=["z"] * 40 + ["y"] * 80)
    odd = MultiTable("toy", table.features, targets, ("x",))
    folds = np.where(np.arange(120) < 40, 1, 2)
    with pytest.raises(DataError, match="toy, fold 1, br: the class variable 'q' has one class"):
        evaluate(odd, folds, {"br": BinaryRelevance(GaussianNB())})


def scores_of(gbnc, other):
    return [
        FoldScore(name, fold, value, value, 0.0)
        for name, values in (("gbnc", gbnc), ("br", other))
        for fold, value in enumerate(values)
    ]


def test_marks_follow_the_signed_rank_test():
    rng = np.random.default_rng(2)
    base = rng.uniform(0.4, 0.6, size=10)
    gain = rng.uniform(0.01, 0.05, size=10)
    better = summarise(scores_of(base + gain, base))
    assert [s.mark for s in better] == ["", "+", "", "+"]
    assert better[1].p_value == pytest.approx(wilcoxon(gain).pvalue)
    assert [s.mark for s in summarise(scores_of(base, base + gain))][1] == "-"
    noise = np.tile([0.01, -0.011], 5)
    assert [s.mark for s in summarise(scores_of(base + noise, base))][1] == ""
    assert compare(base, base + 1e-16) == (None, "")
    assert better[0].mean == pytest.approx((base + gain).mean())
    assert better[1].deviation == pytest.approx(base.std(ddof=1))


def test_only_folds_that_all_methods_have_finished_are_compared():
    scores = [*scores_of([0.1, 0.2], [0.3, 0.4]), FoldScore("gbnc", 9, 1.0, 1.0, 0.0)]
    assert {s.folds for s in summarise(scores)} == {2}
    assert "over 2 folds" in text_table(scores)
    assert "no fold" in text_table([FoldScore("gbnc", 1, 1, 1, 0), FoldScore("br", 2, 1, 1, 0)])


def test_published_folds_are_read_and_checked(tmp_path):
    path = tmp_path / "folds.csv"
    path.write_text("test_fold\n1\n2\n1\n")
    assert read_folds(path, 3).tolist() == [1, 2, 1]
    with pytest.raises(DataError, match="the folds of 4 rows"):
        read_folds(path, 4)
    path.write_text("test_fold\n1\nx\n1\n")
    with pytest.raises(DataError, match="must be whole"):
        read_folds(path, 3)
    path.write_text("test_fold\n1\n1\n1\n")
    with pytest.raises(DataError, match="all rows are in one fold"):
        read_folds(path, 3)
    with pytest.raises(DataError, match="cannot read folds"):
        read_folds(tmp_path / "none.csv", 3)


def test_an_evaluation_can_be_gone_on_with(tmp_path):
    path = tmp_path / "scores.json"
    scores = scores_of([0.1, 0.2], [0.3, 0.4])
    path.write_text(to_json({"seed": 0}, scores))
    assert read_scores(path, {"seed": 0}) == scores
    with pytest.raises(OptionError, match=r"other settings \(seed\)"):
        read_scores(path, {"seed": 1})
    path.write_text("{}")
    with pytest.raises(DataError, match="not an evaluation"):
        read_scores(path, {})
