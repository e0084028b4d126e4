"""Accuracy against the number of missing features."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from milpbn import load_dataset
from milpbn.datasets.table import Table
from milpbn.errors import DataError, OptionError
from milpbn.evaluation.missing_curve import CurvePoint, MissingCurve, default_counts
from milpbn.evaluation.protocol import hold_out
from milpbn.pictures import plot_missing_curve
from milpbn.pictures.missing import _figure


@pytest.fixture(scope="module")
def copies():
    """Ten noisy copies of the class, numbers and categories, some values missing or unseen."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    columns = {}
    for j in range(10):
        noisy = np.where(rng.random(400) < 0.2, 1 - label, label)
        columns[f"x{j}"] = noisy + 0.01 * rng.random(400) if j % 2 else noisy.astype(str)
    frame = pd.DataFrame(columns)
    frame.loc[3, "x1"] = np.nan
    frame.loc[399, "x0"] = "never seen"
    return Table(
        name="copies",
        features=frame,
        targets=pd.Series(label.astype(str), name="class"),
        numeric=tuple(f"x{j}" for j in range(1, 10, 2)),
        is_train=np.arange(400) < 300,
    )


@pytest.fixture(scope="module")
def curve(copies):
    news = []
    curve = MissingCurve(copies, ["nb+ml", "nb+cl", "svm"], tell=news.append)
    return curve, news


def test_less_is_known_and_less_is_right(curve):
    points = list(curve[0].points([0, 5, 9, 10], repeats=3))
    for name in ("nb+ml", "nb+cl", "svm"):
        shares = [p.accuracy for p in points if p.classifier == name]
        assert shares[0] > 0.95
        assert shares == sorted(shares, reverse=True)
        # One copy of ten is right four times in five; none says nothing.
        assert 0.7 < shares[2] < 0.9
        assert shares[3] < 0.6


def test_rows_with_unseen_values_are_left_out_and_told(curve):
    assert any("with values never seen" in line for line in curve[1])
    assert len(curve[0].data.test()) == 99
    assert len(curve[0].data.train()) == 300


def test_with_nothing_to_draw_there_is_no_deviation(curve):
    points = list(curve[0].points([0, 5, 10], repeats=4))
    deviations = {p.missing: p.deviation for p in points}
    assert deviations[0] == deviations[10] == 0.0
    assert deviations[5] > 0


def test_the_same_seed_takes_the_same_features_away(curve):
    again = [list(curve[0].points([4], repeats=2)) for _ in range(2)]
    assert again[0] == again[1]


def test_another_seed_takes_other_features_away(copies, curve):
    other = MissingCurve(copies, ["nb+ml"], seed=1)
    assert (other._mask(4, 0) != curve[0]._mask(4, 0)).any()


def test_every_row_misses_as_many_features_as_asked(curve):
    for count in (0, 3, 10):
        mask = curve[0]._mask(count, 0)
        assert (mask.sum(axis=1) == count).all()
    assert len(np.unique(curve[0]._mask(3, 0), axis=0)) > 50


def test_counts_beyond_the_features_are_refused(curve):
    with pytest.raises(OptionError, match="11 features cannot be missing"):
        list(curve[0].points([11]))


@pytest.mark.parametrize(
    ("name", "message"),
    [("nb", "write STRUCTURE"), ("tree+ml", "not a classifier"), ("nb+map", "unknown parameters")],
)
def test_names_that_are_no_classifier_are_refused(copies, name, message):
    with pytest.raises(OptionError, match=message):
        MissingCurve(copies, [name])


def test_data_without_test_rows_need_a_split():
    table = load_dataset("iris")
    with pytest.raises(DataError, match="no test rows"):
        MissingCurve(table, ["nb+ml"])
    assert MissingCurve(hold_out(table, 1 / 3), ["nb+ml"]).n_features == 4


def test_counts_are_spread_over_all_features():
    assert default_counts(1) == (0,)
    for n in (2, 5, 14, 36, 57):
        counts = default_counts(n)
        (step,) = {b - a for a, b in pairwise(counts)}
        assert counts[0] == 0
        # One more would be all features, or more than there are.
        assert counts[-1] < n <= counts[-1] + step
        assert 7 <= len(counts) <= 13 or counts == tuple(range(n))


def test_the_picture_is_drawn(tmp_path):
    points = [CurvePoint(f"c{k}", m, 0.9 - m / 10, 0.01) for k in range(10) for m in range(4)]
    plot_missing_curve(points, tmp_path / "curve.svg", title="many lines")
    assert b"<svg" in (tmp_path / "curve.svg").read_bytes()
    axes = _figure(points, "many lines").axes[0]
    assert [line.get_label() for line in axes.lines] == [f"c{k}" for k in range(10)]
    for line, band in zip(axes.lines, axes.collections, strict=True):
        assert line.get_xydata() == pytest.approx(np.array([[m, 90 - 10 * m] for m in range(4)]))
        edge = band.get_paths()[0].vertices
        assert set(edge[edge[:, 0] == 1][:, 1].round(6)) == {79, 81}
    # Colours are used twice, then with another style.
    styles = {(line.get_color(), line.get_linestyle()) for line in axes.lines}
    assert len(styles) == 10
    with pytest.raises(OptionError, match="no point"):
        plot_missing_curve([], tmp_path / "none.svg")
