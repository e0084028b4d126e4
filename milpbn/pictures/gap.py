"""The any-time picture: objective and bound over time, and the gap between them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import wrap
from typing import TYPE_CHECKING, cast

from milpbn.errors import OptionError
from milpbn.pictures.layout import spaced
from milpbn.pictures.learned import Learned, new_axes, result_of
from milpbn.pictures.saving import FIGURE_SUFFIXES, picture_path, save_figure
from milpbn.result import TracePoint, relative_gap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OBJECTIVE = "#0072B2"
BOUND = "#D55E00"
_SHADE = "#ECECEC"
_INK = "#333333"
_WIDTH = 8.0  # inches, like all lengths here
_CHART = (0.9, 0.58, 5.6, 3.5)  # left, bottom, width, height; labels are to the right
_TITLE_LINE = 0.22
_LOG_SPAN = 100.0
_LOG_DECADES = 5  # earlier moments of a long run are drawn at the left edge
_REACH = 6.0  # the chart extends at least this many typical distances beyond the final values
_PATIENCE = 2.5  # and shows a farther value if that adds at most this many times its range
_SET_UP = 0.1  # a larger share of the run before the first value is not drawn
_MARGIN = 0.02  # of the time that is drawn
_MANY = 80  # with more changes than this, dots would only thicken the line


def plot_gap(
    learned: Learned | Sequence[TracePoint],
    path: str | Path | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    score_name: str | None = None,
) -> Axes | None:
    """Plot how objective and bound approach each other.

    Parameters
    ----------
    learned
        A fitted classifier, a model or a result; or a trace, as in :attr:`milpbn.Result.trace`.
    path
        Where to write: ``.png``, ``.svg`` or ``.pdf``. Without it, the picture is drawn with
        matplotlib, as notebooks show it.
    ax
        The axes to draw into; by default those of a new figure.
    title
        A heading for the picture.
    score_name
        Label of the vertical axis; by default the name of the score.

    Returns
    -------
    Axes or None
        The axes, if no file was written.

    Raises
    ------
    OptionError
        The trace contains no value, the suffix is unknown, or the file cannot be written.
    """
    if path is not None and ax is not None:
        raise OptionError("plot_gap writes a file or draws into axes: give path or ax, not both")
    if path is not None:
        path = picture_path(path, FIGURE_SUFFIXES)
    result = None if isinstance(learned, Sequence) else result_of(learned)
    trace = result.trace if result is not None else cast(Sequence[TracePoint], learned)
    name = score_name or (result.score.upper() if result is not None else "objective")
    objective = curve(trace, lambda point: point.objective)
    bound = curve(trace, lambda point: point.bound)
    if not objective.values and not bound.values:
        raise OptionError("the trace contains neither an objective nor a bound: nothing to plot")
    if path is not None:
        save_figure(lambda: _figure(objective, bound, title, name), path)
        return None
    axes = ax if ax is not None else new_axes(_WIDTH, _CHART[1] + _CHART[3] + 0.5)
    axes.set_title(title or "", loc="left")
    _draw(axes, objective, bound, name)
    return axes


@dataclass(frozen=True)
class Curve:
    """A step function: from ``times[k]`` on its value is ``values[k]``, until `end`."""

    times: list[float]
    values: list[float]
    end: float

    @property
    def last(self) -> float | None:
        """The final value."""
        return self.values[-1] if self.values else None

    def at(self, time: float) -> float:
        """The value at a time, which must not be before the first."""
        return self.values[bisect_right(self.times, time) - 1]


def curve(trace: Sequence[TracePoint], side: Callable[[TracePoint], float | None]) -> Curve:
    """One side of the trace, without repetitions and without values that are not numbers."""
    times: list[float] = []
    values: list[float] = []
    points = sorted(trace, key=lambda point: point.time)
    for point in points:
        value = side(point)
        if value is not None and math.isfinite(value) and values[-1:] != [value]:
            times.append(point.time)
            values.append(value)
    return Curve(times, values, points[-1].time if points else 0.0)


def y_limits(objective: Curve, bound: Curve) -> tuple[float, float]:
    """A range that shows the final gap and the way to it, without far outliers.

    The first bound of a branch-and-bound run is often useless and far away. Values within
    a few typical (median) distances of the final values form the core of the chart; a
    value farther away must not make the core too small to read.

    Examples
    --------
    >>> y_limits(Curve([0, 1], [80, 90], 9), Curve([0, 1, 2, 3], [1e6, 120, 110, 100], 9))
    (77.6, 130.4)
    """
    final = [v for v in (objective.last, bound.last) if v is not None]
    low, high = min(final), max(final)
    values = objective.values + bound.values
    distances = [d for d in (max(low - v, v - high) for v in values) if d > 0]
    reach = _REACH * median(distances) if distances else 0.0
    core = [v for v in values if low - reach <= v <= high + reach]
    slack = _PATIENCE * (max(core) - min(core))
    shown = [v for v in values if min(core) - slack <= v <= max(core) + slack]
    bottom, top = min(shown), max(shown)
    # A curve that enters from outside needs some height to be visible.
    margin = 0.2 * (top - bottom)
    bottom, top = (
        bottom - (margin if min(values) < bottom else 0.0),
        top + (margin if max(values) > top else 0.0),
    )
    pad = 0.05 * (top - bottom) or 0.05 * abs(top) or 1.0
    return bottom - pad, top + pad


def x_limits(objective: Curve, bound: Curve) -> tuple[float, float, bool]:
    """First and last time of the chart, and whether its axis is logarithmic.

    The chart begins with the first value if nothing but the set-up of the run is before it.
    """
    times = {*objective.times, *bound.times, objective.end}
    first = min((t for t in times if t > 0), default=1.0)
    last = max(*times, first)
    if last / first > _LOG_SPAN:
        return max(first, last / 10**_LOG_DECADES) / 1.3, last * 1.2, True
    right = 2 * last if len(times) == 1 else last
    start = set_up(objective, bound)
    margin = _MARGIN * (right - start)
    # The left edge is a little before the first dot, so that it is fully visible.
    return start - margin, right + margin, False


def set_up(objective: Curve, bound: Curve) -> float:
    """Seconds before the first value, if they are a large part of the run; otherwise 0."""
    times = [*objective.times, *bound.times]
    start = min(times, default=0.0)
    return start if start > _SET_UP * max(objective.end, bound.end) and len(set(times)) > 1 else 0.0


def time_label(objective: Curve, bound: Curve) -> str:
    """The name of the time axis, and how long the set-up took if the chart begins after it.

    Examples
    --------
    >>> time_label(Curve([2.5, 3], [80, 90], 4), Curve([2.5, 4], [99, 90], 4))
    'time (s), after a set-up of 2.5 s'
    """
    start = set_up(objective, bound)
    return f"time (s), after a set-up of {start:.2g} s" if start else "time (s)"


def _figure(objective: Curve, bound: Curve, title: str | None, score_name: str) -> Figure:
    from matplotlib.figure import Figure

    heading = wrap(title, width=80) if title else []
    left, bottom, width, height = _CHART
    total = bottom + height + 0.3 + _TITLE_LINE * len(heading)
    figure = Figure(figsize=(_WIDTH, total), facecolor="white")
    axes = figure.add_axes((left / _WIDTH, bottom / total, width / _WIDTH, height / total))
    axes.set_title("\n".join(heading), loc="left", size=12, color="#1A1A1A", pad=10)
    _draw(axes, objective, bound, score_name)
    return figure


def _draw(axes: Axes, objective: Curve, bound: Curve, score_name: str) -> None:
    first, last, logarithmic = x_limits(objective, bound)
    _frame(axes, logarithmic, time_label(objective, bound), score_name)
    axes.set_xlim(first, last)
    axes.set_ylim(*y_limits(objective, bound))
    _shade(axes, objective, bound)
    _draw_side(axes, "bound", bound, BOUND, "--")
    _draw_side(axes, "objective", objective, OBJECTIVE, "-")
    _label_ends(axes, objective, bound)


def _frame(axes: Axes, logarithmic: bool, time: str, score_name: str) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter, ScalarFormatter

    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda t, _: f"{t:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    axes.set_xlabel(time, size=10, color=_INK)
    axes.set_ylabel(score_name, size=10, color=_INK)
    axes.tick_params(labelsize=9, colors=_INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#E3E3E3", linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_side(axes: Axes, name: str, side: Curve, color: str, dashes: str) -> None:
    if not side.values:
        return
    left, right = axes.get_xlim()
    times = [max(t, left) for t in side.times]
    axes.plot(
        [*times, right],
        [*side.values, side.values[-1]],
        drawstyle="steps-post",
        color=color,
        linestyle=dashes,
        linewidth=1.6,
        marker="o" if len(times) <= _MANY else "",
        markersize=3.5,
        markevery=range(len(times)),
    )
    bottom, top = axes.get_ylim()
    if not bottom <= side.values[0] <= top:
        _mark_outside(axes, f"first {name}: {_number(side.values[0])}", times[0], side, color)


def _shade(axes: Axes, objective: Curve, bound: Curve) -> None:
    """Fill the gap, from the moment when both sides are known."""
    if not objective.values or not bound.values:
        return
    left, right = axes.get_xlim()
    start = max(objective.times[0], bound.times[0])
    times = sorted(t for t in {*objective.times, *bound.times} if t >= start)
    low = [objective.at(t) for t in times]
    high = [bound.at(t) for t in times]
    axes.fill_between(
        [*(max(t, left) for t in times), right],
        [*low, low[-1]],
        [*high, high[-1]],
        step="post",
        color=_SHADE,
        linewidth=0,
        zorder=0,
    )


def _mark_outside(axes: Axes, text: str, time: float, side: Curve, color: str) -> None:
    """Mark, at the edge of the chart, the first value of a curve that begins outside."""
    bottom, top = axes.get_ylim()
    above = side.values[0] > top
    edge = top if above else bottom
    axes.annotate(
        text,
        (time, edge),
        xytext=(9, -4 if above else 4),
        textcoords="offset points",
        ha="left",
        va="top" if above else "bottom",
        size=8.5,
        color=color,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0},
        zorder=5,
    )
    marker = "^" if above else "v"
    axes.plot([time], [edge], marker=marker, color=color, markersize=6, clip_on=False, zorder=5)


def _label_ends(axes: Axes, objective: Curve, bound: Curve) -> None:
    """Name the curves, their final values and the final gap to the right of the chart."""
    bottom, top = axes.get_ylim()
    entries = []
    if bound.last is not None:
        entries.append((bound.last, f"bound\n{_number(bound.last)}", BOUND))
    if objective.last is not None and bound.last is not None:
        middle = (objective.last + bound.last) / 2
        entries.append((middle, _gap_text(objective.last, bound.last), _INK))
    if objective.last is not None:
        entries.append((objective.last, f"objective\n{_number(objective.last)}", OBJECTIVE))
    # In fractions of the chart's height, counted from the top as the entries are.
    wish = [(top - value) / (top - bottom) for value, _, _ in entries]
    step = 0.115
    places = spaced(wish, [step] * (len(wish) - 1))
    shift = max(0.03 - places[0], 0.0) - max(places[-1] - 0.97, 0.0)
    for place, (_, text, color) in zip(places, entries, strict=True):
        axes.text(
            1.025,
            1.0 - place - shift,
            text,
            transform=axes.transAxes,
            ha="left",
            va="center",
            size=9,
            linespacing=1.15,
            color=color,
        )


def _gap_text(objective: float, bound: float) -> str:
    relative = relative_gap(objective, bound)
    if relative is None:
        return f"final gap\n{_number(max(bound - objective, 0.0))}"
    percent = 100 * relative
    if 0 < percent < 1e-4:
        return "final gap\n< 0.0001 %"
    return f"final gap\n{percent:.2f} %" if percent >= 0.1 else f"final gap\n{percent:.2g} %"


def _number(value: float) -> str:
    text = f"{value:,.0f}" if 1e6 <= abs(value) < 1e12 else f"{value:.6g}"
    return text.replace("-", "−")  # the sign of the tick labels
