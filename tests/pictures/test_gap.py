"""The gap over time: any trace gives a readable chart."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from milpbn.errors import OptionError
from milpbn.pictures import plot_gap
from milpbn.pictures.gap import _figure, curve, x_limits, y_limits
from milpbn.result import TracePoint

Rows = list[tuple[float, float | None, float | None]]

TRACES: dict[str, Rows] = {
    "typical": [
        (0.02, None, 1728.0),
        (0.4, 1502.0, 1690.0),
        (9, 1544.2, 1571.0),
        (58, 1549.7, 1555.1),
    ],
    "closed": [(0.1, 90, 5000), (0.5, 95, 200), (1, 99, 120), (2, 100, 105), (4, 100, 100)],
    "heuristic": [(0.1, -9000.5, None), (0.5, -8500, None), (7, -8390, None)],
    "one point": [(0.5, 3.0, 4.0)],
    "one point at zero": [(0.0, 3.0, None)],
    "no objective yet": [(0.0, None, 30.0), (5.0, None, 25.0)],
    "far off": [(0.01, -1e7, 1e9), (0.3, 50, 200), (1, 60, 90), (20, 62, 80), (600, 64, 70)],
    "infinite bound": [(0, None, math.inf), (1, 3.0, math.inf), (2, 4.0, 9.0)],
    "zero objective": [(0, 0.0, 10.0), (1, 0.0, 5.0)],
    "close": [(0, 3500.0, 3500.4), (1, 3500.1, 3500.2), (2, 3500.1, 3500.1001)],
    "flat": [(0, 3.0, 3.0), (5, 3.0, 3.0)],
}


def points(rows: Rows) -> list[TracePoint]:
    return [TracePoint(*row) for row in rows]


def sides(rows: Rows):  # type: ignore[no-untyped-def]
    trace = points(rows)
    return curve(trace, lambda p: p.objective), curve(trace, lambda p: p.bound)


@pytest.mark.parametrize("name", TRACES)
def test_any_trace_gives_a_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / "gap.svg"
    plot_gap(points(TRACES[name]), path, title=name, score_name="margin")
    assert path.stat().st_size > 5000
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", TRACES)
def test_texts_fit_and_do_not_overlap(name: str) -> None:
    figure = _figure(*sides(TRACES[name]), "a title that is rather long " * 5, "margin")
    renderer = FigureCanvasAgg(figure).get_renderer()
    width, height = figure.canvas.get_width_height()
    axes = figure.axes[0]
    extents = [t.get_window_extent(renderer) for t in (*axes.texts, axes._left_title)]
    for extent in extents:
        assert extent.x0 >= 0
        assert extent.y0 >= 0
        assert extent.x1 <= width
        assert extent.y1 <= height
    assert not any(a.overlaps(b) for a, b in combinations(extents, 2))


@pytest.mark.parametrize("name", TRACES)
def test_the_final_values_are_on_the_chart(name: str) -> None:
    objective, bound = sides(TRACES[name])
    low, high = y_limits(objective, bound)
    assert low < high
    for last in (objective.last, bound.last):
        assert last is None or low < last < high


def test_a_bad_start_does_not_flatten_the_chart() -> None:
    objective, bound = sides(TRACES["far off"])
    low, high = y_limits(objective, bound)
    assert high - low < 300
    assert low < 50


def test_a_start_off_the_chart_is_told() -> None:
    figure = _figure(*sides(TRACES["far off"]), None, "margin")
    texts = [t.get_text() for t in figure.axes[0].texts]
    assert "first bound: 1,000,000,000" in texts
    assert "first objective: −10,000,000" in texts


def test_a_moderate_start_stays_on_the_chart() -> None:
    objective, bound = sides(TRACES["typical"])
    low, high = y_limits(objective, bound)
    assert low < 1502
    assert high > 1728


@pytest.mark.parametrize(
    ("name", "gap"),
    [
        ("typical", "0.35 %"),
        ("closed", "0 %"),
        ("close", "< 0.0001 %"),
        ("zero objective", "5"),
        ("infinite bound", "125.00 %"),
    ],
)
def test_the_final_gap_is_written(name: str, gap: str) -> None:
    figure = _figure(*sides(TRACES[name]), None, "margin")
    assert f"final gap\n{gap}" in [t.get_text() for t in figure.axes[0].texts]


def test_a_heuristic_has_no_gap_and_no_shade() -> None:
    axes = _figure(*sides(TRACES["heuristic"]), None, "margin").axes[0]
    assert [t.get_text() for t in axes.texts] == ["objective\n−8390"]
    assert not axes.collections


def test_time_is_logarithmic_beyond_two_decades() -> None:
    assert x_limits(*sides(TRACES["typical"]))[2]
    assert not x_limits(*sides(TRACES["closed"]))[2]
    left, right, logarithmic = x_limits(*sides([(0.0, 1, 9), (1e-9, 2, 8), (100, 3, 7)]))
    assert logarithmic
    assert 1e-4 < left < right


def test_a_long_set_up_is_named_and_not_drawn() -> None:
    rows: Rows = [(2.0, 3.0, 9.0), (2.5, 4.0, 8.0), (4.0, 5.0, 5.0)]
    left, right, logarithmic = x_limits(*sides(rows))
    assert 1.9 < left < 2.0
    assert 4.0 < right < 4.1
    assert not logarithmic
    axes = _figure(*sides(rows), None, "margin").axes[0]
    assert axes.get_xlabel() == "time (s), after a set-up of 2 s"


def test_a_short_set_up_is_drawn() -> None:
    rows: Rows = [(0.3, 3.0, 9.0), (2.5, 4.0, 8.0), (4.0, 5.0, 5.0)]
    assert x_limits(*sides(rows))[0] < 0
    assert _figure(*sides(rows), None, "margin").axes[0].get_xlabel() == "time (s)"


def test_curves_skip_repetitions_and_gaps_in_the_trace() -> None:
    rows: Rows = [(2, 5.0, 9.0), (0, None, math.inf), (1, 4.0, 9.0), (3, None, math.nan)]
    objective, bound = sides(rows)
    assert (objective.times, objective.values, objective.end) == ([1, 2], [4.0, 5.0], 3)
    assert (bound.times, bound.values) == ([1], [9.0])
    assert objective.at(1.5) == 4.0
    assert objective.at(2) == 5.0


def test_axes_are_labelled() -> None:
    axes = _figure(*sides(TRACES["typical"]), "Car", "margin score").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (s)", "margin score")
    assert axes.get_title(loc="left") == "Car"


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_trace_gives_the_same_file(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{k}{suffix}" for k in "ab"]
    for path in paths:
        plot_gap(points(TRACES["typical"]), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("rows", [[], [(0.0, None, None)], [(1.0, None, math.inf)]])
def test_a_trace_without_values_is_refused(tmp_path: Path, rows: Rows) -> None:
    with pytest.raises(OptionError, match="neither an objective nor a bound"):
        plot_gap(points(rows), tmp_path / "gap.png")
    assert not list(tmp_path.iterdir())


def test_graphviz_is_no_format_for_charts(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"'\.dot'.*\.png, \.svg, \.pdf"):
        plot_gap(points(TRACES["typical"]), tmp_path / "gap.dot")
