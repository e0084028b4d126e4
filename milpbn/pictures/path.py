"""The plot of a penalty path: what a smaller network costs, and what it gains on unseen data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from milpbn.errors import OptionError
from milpbn.pictures.lines import line_look
from milpbn.pictures.saving import FIGURE_SUFFIXES, picture_path, save_figure
from milpbn.selection.path import PathPoint, PenaltyPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of Okabe and Ito, which nearly everybody can distinguish.
_BLUE, _ORANGE, _GREEN, _GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
_SIZE = (9.0, 6.4)


def plot_path(path: PenaltyPath, file: str | Path, *, title: str | None = None) -> None:
    """Plot margin and size over the penalty, and held-out measures over the size.

    Parameters
    ----------
    path
        See :func:`milpbn.learn_path`.
    file
        Where to write: ``.png``, ``.svg`` or ``.pdf``.
    title
        A heading for the picture.

    Raises
    ------
    OptionError
        There are no points, the suffix is unknown, or the file cannot be written.
    """
    file = picture_path(file, FIGURE_SUFFIXES)
    if not path.points:
        raise OptionError("the path has no points to plot")
    save_figure(lambda: _figure(path, title), file)


def _figure(path: PenaltyPath, title: str | None) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    ((margin, size), (loss, share)) = figure.subplots(2, 2)
    if len({point.p for point in path.points}) > 1:
        _several(margin, size, loss, share, path.points)
    else:
        _margins(margin, path.points)
        _sizes(size, path.points)
        _over_size(loss, path, "log_loss", _BLUE, "held-out log-loss, nats per row", 1.0)
        _over_size(share, path, "accuracy", _BLUE, "accuracy, %", 100.0)
        x = [point.to_dict()["parameters"] for point in path.points]
        y = [100 * point.training_accuracy for point in path.points]
        share.plot(x, y, "--", color=_GREY, lw=1.2, label="training rows")
        share.legend(frameon=False, loc="lower right", fontsize=9)
    for axes in (margin, size, loss, share):
        axes.grid(axis="y", color="#E5E5E5")
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    if title:
        figure.suptitle(title, x=0.01, ha="left")
    return figure


def _several(
    margin: Axes, size: Axes, loss: Axes, share: Axes, points: Sequence[PathPoint]
) -> None:
    """One line for each p."""
    _positions(size, points)
    at = dict(zip([point.penalty for point in points], _positions(margin, points), strict=True))
    for k, p in enumerate(dict.fromkeys(point.p for point in points)):
        rows = [point.to_dict() for point in points if point.p == p]
        look = {**line_look(k), "label": f"p = {p:g}"}
        x = [at[row["penalty"]] for row in rows]
        margins = [row["objective"] + row["penalty"] * row["parameters"] for row in rows]
        margin.plot(x, margins, **look)
        size.plot(x, [row["parameters"] for row in rows], **look)
        tried = [row for row in rows if row["log_loss"] is not None]
        sizes = [row["parameters"] for row in tried]
        loss.plot(sizes, [row["log_loss"] for row in tried], **look)
        share.plot(sizes, [100 * row["accuracy"] for row in tried], **look)
    margin.set_ylabel("soft margin, without the penalty")
    size.set_ylabel("free parameters")
    loss.set_ylabel("held-out log-loss, nats per row")
    share.set_ylabel("held-out accuracy, %")
    for axes in (loss, share):
        _plain_logarithm(axes, (1.0, 2.0, 5.0))
        axes.set_xlabel("free parameters")
    for axes in (margin, size, loss, share):
        axes.legend(frameon=False, fontsize=9)


def _positions(axes: Axes, points: Sequence[PathPoint]) -> list[float]:
    """Positions of the penalties on a logarithmic axis; 0 is left of the smallest."""
    _plain_logarithm(axes, (1.0,))
    axes.set_xlabel("penalty per free parameter")
    positive = [point.penalty for point in points if point.penalty > 0]
    zero = min(positive, default=1.0) / 3
    if len(positive) < len(points):
        axes.axvline(zero, color="#E5E5E5", lw=1, zorder=0)
        axes.annotate("0", (zero, 0), (0, 3), xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha="center", fontsize=9)  # fmt: skip
    return [point.penalty or zero for point in points]


def _plain_logarithm(axes: Axes, steps: Sequence[float]) -> None:
    """A logarithmic x axis with plain numbers at `steps` times the powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _margins(axes: Axes, points: Sequence[PathPoint]) -> None:
    """The margins without the penalty, and where a gap is open, how much more there may be."""
    x, results = _positions(axes, points), [point.model.result for point in points]
    costs = [point.penalty * point.model.network.n_parameters for point in points]
    margins = [r.objective + cost for r, cost in zip(results, costs, strict=True)]
    axes.plot(x, margins, "-", color=_BLUE, lw=1.4)
    open_gap = [r.status != "optimal" for r in results]
    for proven, label in ((True, "optimal"), (False, "not proven")):
        at = [k for k, is_open in enumerate(open_gap) if is_open is not proven]
        if at:
            axes.plot(
                [x[k] for k in at],
                [margins[k] for k in at],
                "o",
                color=_BLUE,
                markersize=4.5,
                markerfacecolor=_BLUE if proven else "white",
                label=label,
            )
    bounded = [k for k, r in enumerate(results) if open_gap[k] and r.bound is not None]
    if bounded:
        bounds = [(results[k].bound or 0.0) + costs[k] for k in bounded]
        axes.plot([x[k] for k in bounded], bounds, "_", color=_ORANGE, label="bound")
    axes.set_ylabel("soft margin, without the penalty")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.05, 0.0))


def _sizes(axes: Axes, points: Sequence[PathPoint]) -> None:
    from matplotlib.ticker import FuncFormatter

    x, rows = _positions(axes, points), [point.to_dict() for point in points]
    for name, colour, marker in (
        ("parameters", _BLUE, "o"),
        ("arcs", _ORANGE, "s"),
        ("features", _GREEN, "^"),
    ):
        y = [row[name] for row in rows]
        axes.plot(x, y, "-", color=colour, marker=marker, markersize=3.5, lw=1.2, label=name)
    axes.set_yscale("symlog", linthresh=1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("number")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.05, 0.0))


def _over_size(
    axes: Axes, path: PenaltyPath, name: str, colour: str, label: str, factor: float
) -> None:
    """A held-out measure over the number of parameters, with standard errors."""
    rows = [row for row in map(PathPoint.to_dict, path.points) if row[name] is not None]
    _plain_logarithm(axes, (1.0, 2.0, 5.0))
    axes.set_xlabel("free parameters")
    axes.set_ylabel(label)
    if not rows:
        return
    axes.errorbar(
        [row["parameters"] for row in rows],
        [factor * row[name] for row in rows],
        [factor * (row[f"{name}_error"] or 0.0) for row in rows],
        fmt="o-",
        color=colour,
        markersize=4,
        lw=1.2,
        elinewidth=0.8,
        label=f"held-out rows, {path.folds} folds",
    )
    best = path.best
    if best is not None:
        row = best.to_dict()
        axes.plot(
            row["parameters"],
            factor * row[name],
            "o",
            color=_ORANGE,
            markersize=7,
            zorder=3,
            label="smallest log-loss",
        )
