"""The plot of accuracy against the number of missing features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from milpbn.errors import OptionError
from milpbn.pictures.lines import line_look
from milpbn.pictures.saving import FIGURE_SUFFIXES, picture_path, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from milpbn.evaluation.missing_curve import CurvePoint

_SIZE = (8.0, 4.6)


def plot_missing_curve(
    points: Sequence[CurvePoint], path: str | Path, *, title: str | None = None
) -> None:
    """Plot accuracy against the number of missing features, with one line per classifier.

    Parameters
    ----------
    points
        See :class:`~milpbn.evaluation.missing_curve.CurvePoint`. A band shows the standard
        deviation.
    path
        Where to write: ``.png``, ``.svg`` or ``.pdf``.
    title
        A heading for the picture.

    Raises
    ------
    OptionError
        There are no points, the suffix is unknown, or the file cannot be written.
    """
    path = picture_path(path, FIGURE_SUFFIXES)
    if not points:
        raise OptionError("there are no points to plot")
    save_figure(lambda: _figure(points, title), path)


def _figure(points: Sequence[CurvePoint], title: str | None) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    names = list(dict.fromkeys(p.classifier for p in points))
    for k, name in enumerate(names):
        own = sorted((p for p in points if p.classifier == name), key=lambda p: p.missing)
        x = [p.missing for p in own]
        y = [100 * p.accuracy for p in own]
        low = [100 * (p.accuracy - p.deviation) for p in own]
        high = [100 * (p.accuracy + p.deviation) for p in own]
        look = line_look(k)
        axes.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
        axes.plot(x, y, label=name, **look)
    axes.set_xlabel("missing features per test row")
    axes.set_ylabel("accuracy, % of the test rows")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", color="#E5E5E5")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
    if title:
        axes.set_title(title, loc="left")
    return figure
