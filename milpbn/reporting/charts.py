"""The curves of a report as shapes for SVG: the gap over time, and reliability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator

from milpbn.evaluation.details import Reliability
from milpbn.pictures.gap import Curve, curve, time_label, x_limits, y_limits
from milpbn.result import TracePoint

WIDTH, HEIGHT = 640.0, 300.0
SQUARE = 300.0
_DOT = 2.6
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 14.0, 12.0, 44.0


@dataclass(frozen=True)
class Tick:
    """A tick of an axis: its place in pixels and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Line:
    """A line of a chart, with dots at values: x, y and radius."""

    name: str
    points: str
    dots: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Chart:
    """Axes in pixels with the name of the horizontal one, and the lines inside."""

    x_label: str
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]


def gap_chart(trace: Sequence[TracePoint]) -> Chart | None:
    """Objective and bound over time; None if nothing has changed."""
    sides = {
        "bound": curve(trace, lambda point: point.bound),
        "objective": curve(trace, lambda point: point.objective),
    }
    objective, bound = sides["objective"], sides["bound"]
    if len(objective.values) + len(bound.values) < 2:
        return None
    first, last, logarithmic = x_limits(objective, bound)
    low, high = y_limits(objective, bound)
    x = _scale(first, last, _LEFT, WIDTH - _RIGHT, logarithmic=logarithmic)
    y = _scale(low, high, HEIGHT - _BOTTOM, _TOP)
    locator = LogLocator() if logarithmic else MaxNLocator(6)
    return Chart(
        time_label(objective, bound),
        *(WIDTH, HEIGHT, _LEFT, WIDTH - _RIGHT, _TOP, HEIGHT - _BOTTOM),
        _ticks([t for t in locator.tick_values(first, last) if t >= 0], x, first, last),
        _ticks(MaxNLocator(5).tick_values(low, high), y, low, high),
        tuple(_steps(name, side, x, y) for name, side in sides.items() if side.values),
    )


def reliability_chart(curve: Reliability) -> Chart:
    """How often predictions of a given confidence are correct, in per cent."""
    x = _scale(0, 100, _LEFT, SQUARE - _RIGHT)
    y = _scale(0, 100, SQUARE - _BOTTOM, _TOP)
    pairs = list(zip(100 * curve.confidence, 100 * curve.accuracy, strict=True))
    points = [(x(a), y(b)) for a, b in pairs]
    # The area of a dot grows with the number of rows.
    radii = 2.0 + 7.0 * np.sqrt(curve.rows / curve.rows.sum())
    dots = [(*point, round(float(r), 1)) for point, r in zip(points, radii, strict=True)]
    places = range(0, 101, 20)
    return Chart(
        "confidence, %",
        *(SQUARE, SQUARE, _LEFT, SQUARE - _RIGHT, _TOP, SQUARE - _BOTTOM),
        _ticks(places, x, 0, 100),
        _ticks(places, y, 0, 100),
        (Line("reliability", _joined(points), tuple(dots)),),
    )


def _scale(
    low: float, high: float, start: float, end: float, *, logarithmic: bool = False
) -> Callable[[float], float]:
    """Values to pixels; values outside are drawn at the edge."""
    a, b = (log10(low), log10(high)) if logarithmic else (low, high)

    def at(value: float) -> float:
        inside = min(max(value, low), high)
        share = ((log10(inside) if logarithmic else inside) - a) / (b - a)
        return round(start + (end - start) * share, 1)

    return at


def _ticks(
    places: Sequence[float], at: Callable[[float], float], low: float, high: float
) -> tuple[Tick, ...]:
    shown = [p for p in places if low <= p <= high]
    return tuple(Tick(at(p), f"{p:.10g}".replace("-", "−")) for p in shown)


def _steps(
    name: str, side: Curve, x: Callable[[float], float], y: Callable[[float], float]
) -> Line:
    """A step function; it holds its last value until the end of the run."""
    dots = [(x(t), y(v)) for t, v in zip(side.times, side.values, strict=True)]
    points = dots[:1]
    for across, up in dots[1:]:
        points += [(across, points[-1][1]), (across, up)]
    points.append((x(side.end), points[-1][1]))
    return Line(name, _joined(points), tuple((*dot, _DOT) for dot in dots))


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
