"""The plot of effects: curves over the user's units for numbers, bars for categories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milpbn.errors import OptionError
from milpbn.explanation import Effect
from milpbn.pictures.lines import line_look
from milpbn.pictures.saving import FIGURE_SUFFIXES, picture_path, save_figure
from milpbn.words import escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_EFFECTS = 12
"""The number of charts of a picture, unless features are named."""

_MOST_CLASSES = 8  # lines that can be told apart
_MOST_STATES = 15  # categories with a name at the axis
_COLUMNS = 3
_CHART = (3.6, 2.7)  # inches
_SHADE, _GREY = "#E5E5E5", "#777777"
_LABEL = 22  # characters


def plot_effects(effects: Sequence[Effect], file: str | Path, *, title: str | None = None) -> None:
    """Draw one chart per feature: what each state adds to the log-odds.

    Parameters
    ----------
    effects
        See :meth:`milpbn.BNClassifier.effects`.
    file
        Where to write: ``.png``, ``.svg`` or ``.pdf``.
    title
        A heading for the picture.

    Raises
    ------
    OptionError
        There are no effects, the suffix is unknown, or the file cannot be written.
    """
    file = picture_path(file, FIGURE_SUFFIXES)
    if not effects:
        raise OptionError("there are no effects to plot")
    save_figure(lambda: _figure(effects, title), file)


def _figure(effects: Sequence[Effect], title: str | None) -> Figure:
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(effects))
    rows = -(-len(effects) // columns)
    size = (columns * _CHART[0], rows * _CHART[1] + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    charts = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for axes, effect in zip(charts, effects, strict=False):
        draw_effect(effect, axes)
    for axes in charts[len(effects) :]:
        axes.set_visible(False)
    handles, names = charts[0].get_legend_handles_labels()
    of = f" of {names[0]}" if len(names) == 1 else ""
    for axes in charts[::columns]:
        axes.set_ylabel(f"added to the log-odds{of}", size=8.5)
    if not of:
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    if title:
        figure.suptitle(title, x=0.01, ha="left")
    return figure


def draw_effect(effect: Effect, axes: Axes) -> None:
    """Draw the effect of one feature into given axes.

    A number has one step per bin, in the user's units; its first and last bin end where the
    data may go on. The grey bars show where the rows are.
    """
    (_draw_numbers if effect.cuts else _draw_states)(effect, axes)
    axes.axhline(0, color=_GREY, lw=0.8, zorder=1)
    axes.set_title(_short(effect.feature, 2 * _LABEL), size=10, loc="left")
    axes.tick_params(labelsize=8)
    axes.margins(y=0.12)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_numbers(effect: Effect, axes: Axes) -> None:
    cuts, bins = np.array(effect.cuts), len(effect.cuts) + 1
    # The outer bins have no outer ends: they are drawn as wide as a typical bin.
    margin = float(np.median(np.diff(cuts))) if len(cuts) > 1 else max(1.0, abs(cuts[0])) / 10
    edges = np.array([cuts[0] - margin, *cuts, cuts[-1] + margin])
    # States that are not bins, such as "missing", are crosses with their names beside the bins.
    span = edges[-1] - edges[0]
    apart = edges[-1] + 0.12 * span * np.arange(1, len(effect.states) - bins + 1)
    for x, state, values in zip(
        apart, effect.states[bins:], effect.log_odds[bins:, _shown(effect)], strict=True
    ):
        axes.annotate(
            _short(state),
            (x, values.max()),
            xytext=(0, 6),
            textcoords="offset points",
            size=7.5,
            ha="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    for k, c in enumerate(_shown(effect)):
        look = {**line_look(k), "marker": "", "label": _short(str(effect.classes[c]))}
        values = effect.log_odds[:bins, c]
        axes.plot(edges, [*values, values[-1]], drawstyle="steps-post", zorder=3, **look)
        axes.plot(apart, effect.log_odds[bins:, c], "x", color=line_look(k)["color"], zorder=3)
    widths = np.diff(edges)
    _draw_shares(axes, edges[:-1], widths, effect.shares[:bins] / widths, align="edge")


def _draw_states(effect: Effect, axes: Axes) -> None:
    shown = _shown(effect)
    places = np.arange(len(effect.states))
    for k, c in enumerate(shown):
        x = places + (k - (len(shown) - 1) / 2) * 0.7 / len(shown)
        look = {**line_look(k), "linestyle": "", "label": _short(str(effect.classes[c]))}
        axes.plot(x, effect.log_odds[:, c], zorder=3, **look)
    if len(places) <= _MOST_STATES:
        turned: Any = {"rotation": 35, "ha": "right"} if max(map(len, effect.states)) > 4 else {}
        axes.set_xticks(places, [_short(state) for state in effect.states], **turned)
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(places)} states", size=8.5)
    _draw_shares(axes, places, np.full(len(places), 0.8), effect.shares)


def _draw_shares(
    axes: Axes, x: np.ndarray, widths: np.ndarray, shares: np.ndarray, align: str = "center"
) -> None:
    """Where the rows are, as bars at the bottom; their scale does not matter."""
    below = axes.twinx()
    below.bar(x, shares, widths, align=align, color=_SHADE, zorder=0)  # type: ignore[arg-type]
    below.set_ylim(0, 4 * max(shares.max(), 1e-9))
    below.set_axis_off()
    axes.set_zorder(below.get_zorder() + 1)
    axes.patch.set_visible(False)


def _shown(effect: Effect) -> list[int]:
    return list(effect.shown)[:_MOST_CLASSES]


def _short(text: str, most: int = _LABEL) -> str:
    text = escaped(" ".join(text.split()))
    return text if len(text) <= most else f"{text[: most - 1]}…"
