"""The waterfall plot of a prediction: how the contributions lead to the log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from milpbn.explanation import MISSING, Explanation
from milpbn.pictures.saving import FIGURE_SUFFIXES, picture_path, save_figure
from milpbn.words import assignment, count, escaped, probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of Okabe and Ito, which nearly everybody can distinguish.
_FOR, _AGAINST, _GREY = "#0072B2", "#D55E00", "#777777"
_MOST = 15  # bars; smaller contributions are added up
_LABEL = 38  # characters


@dataclass(frozen=True)
class WaterfallBar:
    """One bar: what contributes, and how much."""

    label: str
    size: float


def plot_waterfall(
    explanation: Explanation, file: str | Path, *, position: int = 0, title: str | None = None
) -> None:
    """Draw the contributions of one row as bars that lead to its log-odds.

    Parameters
    ----------
    explanation
        See :meth:`milpbn.BNClassifier.explain`.
    file
        Where to write: ``.png``, ``.svg`` or ``.pdf``.
    position
        The position of the row in the explanation, from 0.
    title
        A heading for the picture.

    Raises
    ------
    OptionError
        The suffix is unknown, or the file cannot be written.
    """
    file = picture_path(file, FIGURE_SUFFIXES)
    save_figure(lambda: _figure(explanation, position, title), file)


def _figure(explanation: Explanation, position: int, title: str | None) -> Figure:
    from matplotlib.figure import Figure

    bars = waterfall_bars(explanation, position)
    figure = Figure(figsize=(8.0, 1.6 + 0.32 * len(bars)), layout="constrained")
    draw_waterfall(explanation, figure.subplots(), position)
    if title:
        figure.suptitle(title, x=0.01, ha="left")
    return figure


def draw_waterfall(explanation: Explanation, axes: Axes, position: int = 0) -> None:
    """Draw the bars into given axes; see :func:`plot_waterfall`."""
    bars = waterfall_bars(explanation, position)
    ends = np.cumsum([bar.size for bar in bars])
    starts = np.concatenate([[0.0], ends[:-1]])
    low, high = min(0.0, ends.min()), max(0.0, ends.max())
    span = high - low or 1.0
    for y, (bar, start, end) in enumerate(zip(bars, starts, ends, strict=True)):
        color = _FOR if bar.size >= 0 else _AGAINST
        axes.barh(y, bar.size, left=start, color=color, height=0.62, zorder=2)
        # The number is outside the bar, on the side that it points to.
        side = 1 if bar.size >= 0 else -1
        axes.text(
            end + side * 0.01 * span,
            y,
            _number(f"{bar.size:+z.2f}"),
            ha="left" if side > 0 else "right",
            va="center",
            size=8.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            zorder=3,
        )
        if y + 1 < len(bars):
            axes.plot([end, end], [y, y + 1], color=_GREY, lw=0.7, zorder=1)
    axes.axvline(0, color="#333333", lw=0.8, zorder=1)
    axes.axvline(ends[-1], color=_GREY, lw=0.9, ls="--", zorder=1)
    axes.set_yticks(range(len(bars)), [bar.label for bar in bars], size=9)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xlim(low - 0.1 * span, high + 0.1 * span)
    told = explanation.to_dict(position)
    label, rival = _short(str(told["class"])), _short(next(iter(told["log_odds"])))
    total = _number(f"{ends[-1]:z.2f}")
    axes.set_xlabel(f"log-odds of {label} against {rival}")
    share = assignment(f"P({label})", probability(told["probability"], 3))
    axes.set_title(f"log-odds {total}, {share}", size=10, loc="right")
    axes.grid(axis="x", color="#E5E5E5", zorder=0)
    axes.set_axisbelow(True)
    for side_name in ("top", "right", "left"):
        axes.spines[side_name].set_visible(False)
    axes.tick_params(axis="y", length=0)


def waterfall_bars(explanation: Explanation, position: int) -> list[WaterfallBar]:
    """The prior of the class first, then the features by the size of their contributions."""
    table = explanation.row(position)
    target = explanation.variables[0]
    sizes = table.iloc[:, 1]
    missing = explanation.to_dict(position)["missing"]
    features = [
        WaterfallBar(_short(assignment(name, table["state"][name])), float(sizes[name]))
        for name in table.index
        if name not in (target, MISSING) and sizes[name] != 0
    ]
    if missing and sizes[MISSING] != 0:
        label = missing[0] if len(missing) == 1 else count(len(missing), "feature")
        features.append(WaterfallBar(_short(f"{label} missing"), float(sizes[MISSING])))
    shown, small = features[: _MOST - 1], features[_MOST - 1 :]
    if small:
        shown.append(WaterfallBar(f"{len(small)} others", sum(bar.size for bar in small)))
    above = [
        f"{p} missing" if state is None else assignment(p, state)
        for p, state in explanation.given(target, position).items()
    ]
    label = f"prior given {', '.join(above)}" if above else "prior"
    return [WaterfallBar(_short(label), float(sizes[target])), *shown]


def _number(text: str) -> str:
    return text.replace("-", "−")  # as on the axis


def _short(text: str) -> str:
    text = escaped(" ".join(text.split()))
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
