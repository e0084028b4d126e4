"""The plot of a selection: how the candidates predict held-out rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milpbn.errors import OptionError
from milpbn.pictures.saving import FIGURE_SUFFIXES, picture_path, save_figure
from milpbn.selection.candidates import Selection, show_values
from milpbn.selection.criteria import CRITERIA

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CHOSEN, _OTHER = "#D55E00", "#0072B2"
_MOST = 40  # candidates; the worse ones are left out
_WIDTH, _LINE, _MARGIN = 9.0, 0.22, 1.1  # inches


def plot_selection(selection: Selection, path: str | Path, *, title: str | None = None) -> None:
    """Plot the measure that decided for every candidate, the best at the top.

    Parameters
    ----------
    selection
        See :class:`milpbn.BNClassifierCV`, attribute ``selection_``.
    path
        Where to write: ``.png``, ``.svg`` or ``.pdf``.
    title
        A heading for the picture.

    Raises
    ------
    OptionError
        No candidate has a result, the suffix is unknown, or the file cannot be written.
    """
    path = picture_path(path, FIGURE_SUFFIXES)
    if not any(c.scores for c in selection.candidates):
        raise OptionError("no candidate was tried on held-out rows: nothing to plot")
    save_figure(lambda: _figure(selection, title), path)


def _figure(selection: Selection, title: str | None) -> Figure:
    from matplotlib.figure import Figure

    by, tried = selection.by, [k for k in selection.order if selection.candidates[k].scores]
    shown = tried[:_MOST]
    percent = CRITERIA[by].percent
    factor = 100 if percent else 1
    figure = Figure(figsize=(_WIDTH, _MARGIN + _LINE * len(shown)), layout="constrained")
    axes = figure.add_subplot()
    for place, k in enumerate(shown):
        candidate = selection.candidates[k]
        colour = _CHOSEN if k == selection.chosen else _OTHER
        value = factor * candidate.scores[by]
        axes.plot(value, place, "o", color=colour)
        axes.annotate(
            f"{candidate.n_parameters:.0f}", (1.01, place), xycoords=("axes fraction", "data"),
            va="center", fontsize=8, color="#555555",
        )  # fmt: skip
    axes.set_yticks(range(len(shown)), [_label(selection, k) for k in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(f"{by} on held-out rows" + (", %" if percent else ", nats per row"))
    axes.annotate("parameters", (1.01, 1.0), xycoords="axes fraction", va="bottom", fontsize=8)
    axes.grid(axis="x", color="#E5E5E5")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    left_out = len(tried) - len(shown)
    words = [
        title or "",
        "the chosen candidate in orange",
        f"{left_out} worse candidates not shown" if left_out else "",
    ]
    axes.set_title("; ".join(filter(None, words)), loc="left", fontsize=10)
    return figure


def _label(selection: Selection, k: int) -> str:
    """What tells this candidate from the others, and a mark for parameters stopped early."""
    candidate = selection.candidates[k]
    values = candidate.values
    same = {
        name
        for name, value in values.items()
        if all(c.values.get(name) == value for c in selection.candidates)
    }
    text = show_values({name: v for name, v in values.items() if name not in same} or values)
    return f"{text} (stopped early)" if candidate.stopped_early else text
