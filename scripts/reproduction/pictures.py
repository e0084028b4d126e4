"""Pictures of the results, in the look of milpbn's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from milpbn.pictures.lines import line_look
from milpbn.pictures.saving import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (8.0, 4.6)
_SMALL = 8
_PANELS = 4  # in one line


def scatter(errors: pd.DataFrame, reference: str, path: Path) -> None:
    """The error rates of all classifiers against those of one, a panel for each."""
    others = [name for name in errors.columns if name != reference]

    def build() -> Figure:
        from matplotlib.figure import Figure

        lines = -(-len(others) // _PANELS)
        figure = Figure(figsize=(10.0, 2.6 * lines), layout="constrained")
        most = float(errors.max().max()) * 1.05
        for k, name in enumerate(others):
            axes = figure.add_subplot(lines, _PANELS, k + 1)
            axes.plot([0, most], [0, most], color="#B0B0B0", linewidth=1)
            axes.plot(errors[reference], errors[name], "o", color="#0072B2", markersize=3)
            axes.set(xlim=(0, most), ylim=(0, most), aspect="equal")
            axes.set_xlabel(f"{reference}, error in %", fontsize=_SMALL)
            axes.set_ylabel(name, fontsize=_SMALL)
            _plain(axes)
        return figure

    save_figure(build, path)


def bars(values: pd.Series, label: str, path: Path) -> None:
    """Horizontal bars on a logarithmic axis."""

    def build() -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 0.6 + 0.22 * len(values)), layout="constrained")
        axes = figure.add_subplot()
        axes.barh(range(len(values)), values.to_numpy(), color="#0072B2")
        axes.set_yticks(range(len(values)), list(values.index), fontsize=_SMALL)
        axes.invert_yaxis()
        _logarithmic(axes)
        axes.set_xlabel(label)
        _plain(axes)
        return figure

    save_figure(build, path)


def lines(
    curves: Mapping[str, pd.DataFrame], labels: tuple[str, str], path: Path, log: bool = False
) -> None:
    """Curves with the columns x, y and perhaps the deviation of y, drawn as a band."""

    def build() -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.add_subplot()
        for k, (name, curve) in enumerate(curves.items()):
            look = line_look(k)
            x, y = curve["x"].to_numpy(dtype=float), curve["y"].to_numpy(dtype=float)
            if "deviation" in curve:
                spread = curve["deviation"].to_numpy(dtype=float)
                axes.fill_between(
                    x, y - spread, y + spread, color=look["color"], alpha=0.15, linewidth=0
                )
            axes.plot(x, y, label=name, **look)
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.xaxis.get_major_locator().set_params(integer=True)
        if log:
            _logarithmic(axes)
        _plain(axes)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
        return figure

    save_figure(build, path)


def boxes(groups: Mapping[str, Sequence[float]], label: str, path: Path) -> None:
    """Box plots: the median, the quartiles and the whole range, as in the publication."""

    def build() -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(1.5 + 0.6 * len(groups), _SIZE[1]), layout="constrained")
        axes = figure.add_subplot()
        values: list[Any] = [np.asarray(v, dtype=float) for v in groups.values()]
        axes.boxplot(values, whis=(0, 100), widths=0.6)
        axes.set_xticks(range(1, len(groups) + 1), list(groups), rotation=45, ha="right")
        axes.set_ylabel(label)
        _plain(axes)
        return figure

    save_figure(build, path)


def _logarithmic(axes: Axes) -> None:
    """A logarithmic axis with plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_minor_formatter(lambda value, _: "")


def _plain(axes: Axes) -> None:
    axes.tick_params(labelsize=_SMALL)
    axes.grid(color="#E5E5E5")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
