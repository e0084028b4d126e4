"""The reliability curves and the confusion matrices of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from milpbn.errors import OptionError
from milpbn.evaluation.summary import Named
from milpbn.pictures.lines import line_look
from milpbn.pictures.saving import FIGURE_SUFFIXES, picture_path, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from milpbn.evaluation.details import Confusion
    from milpbn.evaluation.summary import Evaluation

# Inches: the widths of the curves, of their legend and of a matrix, and the height of a line.
_CURVES = 3.6
_LEGEND = 2.1
_MATRIX = 2.4
_HEIGHT = 2.7
_MATRICES = 4  # in one line
_FEW_CLASSES = 8  # up to this number, every cell shows its number of rows
_LONG_LABEL = 14
_LARGE, _SMALL, _TINY = 9, 8, 5  # font sizes


def plot_evaluation(evaluations: Sequence[Evaluation], path: str | Path) -> None:
    """Draw the reliability curves and the confusion matrix of every method.

    For each data set, one panel shows how often predictions of a given confidence are correct;
    a method on the diagonal is perfectly calibrated. The other panels show the share of the rows
    of each class that every class was predicted for.

    Parameters
    ----------
    evaluations
        The results, one panel of curves for each data set.
    path
        Where to write: ``.png``, ``.svg`` or ``.pdf``.

    Raises
    ------
    OptionError
        There are no results, the suffix is unknown, or the file cannot be written.
    """
    path = picture_path(path, FIGURE_SUFFIXES)
    if not any(e.records for e in evaluations):
        raise OptionError("there are no results to plot")
    save_figure(lambda: _figure(evaluations), path)


def _figure(evaluations: Sequence[Evaluation]) -> Figure:
    from matplotlib.figure import Figure

    methods = max(len(e.by_method()) for e in evaluations)
    columns = -(-methods // -(-methods // _MATRICES))  # about equally many in every line
    lines = [-(-len(e.by_method()) // columns) for e in evaluations]
    widths = [_CURVES, _LEGEND, *[_MATRIX] * columns]
    figure = Figure(figsize=(sum(widths), _HEIGHT * sum(lines)), layout="constrained")
    grid = figure.add_gridspec(sum(lines), 2 + columns, width_ratios=widths)
    for k, evaluation in enumerate(evaluations):
        top = sum(lines[:k])
        rows = slice(top, top + lines[k])
        curves, legend = (figure.add_subplot(grid[rows, column]) for column in (0, 1))
        _draw_curves(evaluation, curves)
        legend.set_axis_off()
        handles, names = curves.get_legend_handles_labels()
        legend.legend(handles, names, frameon=False, fontsize=_SMALL, loc="center left")
        for j, label in enumerate(evaluation.by_method()):
            axes = figure.add_subplot(grid[top + j // columns, 2 + j % columns])
            _draw_matrix(evaluation.confusion(*label), Named(*label).name, axes)
    return figure


def _draw_curves(evaluation: Evaluation, axes: Axes) -> None:
    axes.plot([0, 100], [0, 100], color="#B0B0B0", linewidth=1, linestyle=":")
    for k, label in enumerate(evaluation.by_method()):
        curve = evaluation.reliability(*label)
        name = f"{Named(*label).name}, ECE {curve.calibration_error:.3f}"
        look = line_look(k)
        x, y, size = 100 * curve.confidence, 100 * curve.accuracy, curve.rows / curve.rows.sum()
        axes.plot(x, y, label=name, **{**look, "markersize": 3, "linewidth": 1})
        # Larger marks for bins with more rows.
        axes.scatter(x, y, 120 * size, color=look["color"], marker=look["marker"])
    axes.set(xlim=(0, 102), ylim=(0, 102), aspect="equal")
    axes.tick_params(labelsize=_SMALL)
    axes.set_xlabel("confidence, %", fontsize=_SMALL)
    axes.set_ylabel("correct predictions, %", fontsize=_SMALL)
    axes.set_title(evaluation.table.name, fontsize=_LARGE, fontweight="bold", loc="left")
    axes.grid(color="#E5E5E5")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_matrix(confusion: Confusion, title: str, axes: Axes) -> None:
    totals = confusion.counts.sum(axis=1, keepdims=True)
    shares = confusion.counts / np.maximum(totals, 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    names = [_short(label) for label in confusion.classes]
    few = len(names) <= _FEW_CLASSES
    size = _SMALL if few else _TINY
    places = range(len(names))
    axes.set_xticks(places, names, rotation=0 if max(map(len, names)) < 4 else 45, fontsize=size)
    axes.set_yticks(places, names, fontsize=size)
    for (a, b), n in np.ndenumerate(confusion.counts if few else np.empty((0, 0), dtype=int)):
        colour = "#FFFFFF" if shares[a, b] > 0.6 else "#1A1A1A"
        axes.text(b, a, str(n), ha="center", va="center", fontsize=_SMALL, color=colour)
    axes.set_xlabel("predicted class", fontsize=_SMALL)
    axes.set_ylabel("true class", fontsize=_SMALL)
    axes.set_title(title, fontsize=_LARGE)


def _short(label: str) -> str:
    return label if len(label) <= _LONG_LABEL else label[: _LONG_LABEL - 1] + "…"
