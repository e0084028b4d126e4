"""Properties of evaluations, measures and tests."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_cases import few, of, once, some, tables
from scipy.stats import wilcoxon
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss

from milpbn import evaluate
from milpbn.evaluation import (
    Comparison,
    Evaluation,
    Evaluations,
    FoldRecord,
    SetsSummary,
    Summary,
    evaluate_all,
)
from milpbn.evaluation.comparison import corrected_t, signed_rank
from milpbn.evaluation.details import Confusion, Reliability
from milpbn.evaluation.measures import Measures, measure
from milpbn.evaluation.missing_curve import CurvePoint, MissingCurve
from milpbn.evaluation.protocol import hold_out

SHARES = st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=4, max_size=10)


@of(
    *("milpbn.evaluate", "milpbn.evaluation.Evaluation", "milpbn.evaluation.Summary"),
    *("milpbn.evaluation.FoldRecord", "milpbn.evaluation.Comparison"),
)
@few
@given(tables(), st.integers(2, 3), st.integers(0, 9))
def test_every_row_is_predicted_once(table, folds, seed):
    found = evaluate(table, ["nb", "hc"], folds=folds, seed=seed, predictions=True)
    assert isinstance(found, Evaluation)
    assert found.complete
    assert all(isinstance(record, FoldRecord) for record in found.records)
    frame = found.predictions()
    truth = table.target.to_numpy()
    for line in found.summaries():
        assert isinstance(line, Summary)
        own = frame[frame["method"] == line.method].sort_values("row")
        assert own["row"].tolist() == list(range(1, len(table) + 1))
        assert own["truth"].tolist() == truth.tolist()
        records = [r for r in found.records if r.method == line.method]
        right = sum(r.measures.correct for r in records)
        assert right == (own["prediction"] == own["truth"]).sum()
        assert line.folds == folds
    (test,) = found.tests()
    assert isinstance(test, Comparison)
    assert test.wins + test.ties + test.losses == test.pairs == folds
    again = evaluate(table, ["nb"], folds=folds, seed=seed)
    assert again.summaries()[0].accuracy == found.summaries()[0].accuracy


@of(
    *("milpbn.evaluation.evaluate_all", "milpbn.evaluation.Evaluations"),
    "milpbn.evaluation.SetsSummary",
)
@once
@given(tables(), tables())
def test_several_sets_are_evaluated_like_each(one, two):
    sets = [one, replace(two, name="other")]
    found = evaluate_all(sets, ["nb", "hc"], folds=2)
    assert isinstance(found, Evaluations)
    assert found.complete
    for table, part in zip(sets, found.parts, strict=True):
        alone = evaluate(table, ["nb", "hc"], folds=2)
        assert [s.accuracy for s in part.summaries()] == [s.accuracy for s in alone.summaries()]
    for k, line in enumerate(found.summaries()):
        assert isinstance(line, SetsSummary)
        own = [part.summaries()[k].accuracy for part in found.parts]
        assert line.accuracy == pytest.approx(np.mean(own))


@of(
    *("milpbn.evaluation.measures.Measures", "milpbn.evaluation.details.Confusion"),
    "milpbn.evaluation.details.Reliability",
)
@some
@given(
    st.lists(
        st.tuples(st.integers(0, 2), *[st.integers(1, 9)] * 3), min_size=4, max_size=20
    ).filter(lambda rows: len({r[0] for r in rows}) == 3)
)
def test_measures_are_those_of_scikit_learn(rows):
    codes, *weights = np.array(rows).T
    proba = np.stack(weights, axis=1) / np.sum(weights, axis=0)[:, None]
    classes = np.array(["a", "b", "c"], dtype=object)
    truth, predicted = classes[codes], classes[proba.argmax(axis=1)]
    found = measure(classes, proba, truth)
    assert isinstance(found, Measures)
    assert Measures(**json.loads(json.dumps(asdict(found)))) == found
    assert found.accuracy == pytest.approx((truth == predicted).mean())
    assert -found.log_likelihood / len(rows) == pytest.approx(
        log_loss(truth, proba, labels=classes)
    )
    confusion = Confusion.of([found])
    assert confusion.counts.sum() == len(rows)
    assert np.trace(confusion.counts) == found.correct
    assert confusion.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, predicted))
    assert confusion.macro_f1 == pytest.approx(f1_score(truth, predicted, average="macro"))
    reliability = Reliability.of([found])
    assert reliability.rows.sum() == len(rows)
    assert 0 <= reliability.calibration_error <= 1


@of(
    "milpbn.evaluation.comparison.corrected_t",
    "milpbn.evaluation.comparison.signed_rank",
)
@some
@given(SHARES, SHARES, st.floats(0.05, 0.5))
def test_tests_do_not_depend_on_the_order_of_methods_or_folds(one, two, share):
    n = min(len(one), len(two))
    a, b = np.array(one[:n]), np.array(two[:n])
    for test in (lambda x, y: corrected_t(x, y, share), signed_rank):
        p = test(a, b)
        assert p == test(b, a)
        assert p is None or (0 <= p <= 1 and p == pytest.approx(test(a[::-1], b[::-1])))
        assert test(a, a) is None
    if (a != b).any():
        assert signed_rank(a, b) == pytest.approx(wilcoxon(a, b).pvalue, abs=0.2)


@of(
    "milpbn.evaluation.missing_curve.MissingCurve",
    "milpbn.evaluation.missing_curve.CurvePoint",
)
@few
@given(tables(rows=30), st.integers(0, 9))
def test_without_any_feature_the_most_frequent_class_is_predicted(table, seed):
    held = hold_out(table, 0.4, seed)
    curve = MissingCurve(held, ["nb+ml"], seed=seed)
    points = list(curve.points([0, curve.n_features], repeats=2))
    assert all(isinstance(point, CurvePoint) for point in points)
    assert [point.missing for point in points] == [0, curve.n_features]
    labels = curve.data.test()[:, 0]
    counts = np.bincount(curve.data.train()[:, 0], minlength=2)
    # Summing out rounds, so that any of equally frequent classes may be predicted.
    rates = [(labels == c).mean() for c in np.flatnonzero(counts == counts.max())]
    assert min(abs(points[1].accuracy - rate) for rate in rates) < 1e-9
    assert points[1].deviation == 0
