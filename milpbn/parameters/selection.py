"""Choosing a setting by cross-validation within the training rows.

Settings are ordered from strong to weak regularisation. The first one that is tried is a good one
for most data. Then stronger ones are tried as long as they are better on the held-out rows, and
weaker ones if no stronger one is. Every fold starts from its result of a neighbouring setting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from milpbn._types import FloatArray
from milpbn.clock import Checkpoint
from milpbn.families.rows import MergedRows, units
from milpbn.families.smoothing import Smoothing
from milpbn.parameters.losses import Loss
from milpbn.parameters.optimise import Problem, climb
from milpbn.parameters.priors import ML, PRIORS, Precision
from milpbn.parameters.tables import Rows, TableLayout

Setting = TypeVar("Setting")
Criterion = Callable[[Rows, FloatArray], float]
"""Scores log-probabilities on rows; larger is better."""

_ENOUGH = 1000
"""Held-out rows that are enough to compare settings: with many rows, not all folds are used."""

_TOLERANCE = 1e-4
"""Gradient per row at which the optimum of a fold is accurate enough to compare settings."""


@dataclass(frozen=True)
class Fold:
    """Training rows, held-out rows, and the prior of the training rows.

    The optimisation starts from its mean, see :data:`~milpbn.parameters.priors.PRIORS`.
    """

    train: Rows
    held_out: Rows
    start: FloatArray
    precision: Precision | None = None

    def problem(self, loss: Loss, penalty: float = 0.0) -> Problem:
        """What is maximised on the training rows."""
        return Problem(self.train, loss, self.start, penalty, self.precision)


@dataclass(frozen=True)
class Choice:
    """What cross-validation chose.

    Attributes
    ----------
    index
        The chosen setting, as a position in the order.
    scores
        The held-out score of every setting that was tried, per row, in the order of trying.
    stopped
        Empty, or why the choice ended early: ``"time_limit"`` or ``"interrupted"``.
    """

    index: int
    scores: tuple[float, ...]
    stopped: str = ""


def make_folds(
    layout: TableLayout,
    rows: MergedRows,
    smoothing: Smoothing,
    folds: int,
    seed: int,
    prior: str = ML,
) -> list[Fold]:
    """Divide the rows at random; with fewer rows than folds, leave one out.

    A single row cannot be divided: then there are no folds, and nothing is chosen. A row of
    weight 2 is divided like two rows, see :func:`~milpbn.families.rows.units`.
    """
    n_rows = len(units(rows.weights)[0])
    if n_rows < 2:
        return []
    divided, fold = rows.split(min(folds, n_rows), seed)
    own = PRIORS[prior]
    layout = own.layout(layout)
    seen = Rows.of(layout, divided)
    precision, out = own.precision(layout), []
    for k in range(int(fold.max()) + 1):
        train = seen.select(fold != k)
        out.append(Fold(train, seen.select(fold == k), own.mean(train, smoothing), precision))
    return out


def choose_setting(
    folds: Sequence[Fold],
    settings: Sequence[Setting],
    problem_of: Callable[[Fold, Setting], Problem],
    criterion: Criterion,
    *,
    first: int = 0,
    with_start: bool,
    method: str,
    patience: int,
    checkpoint: Checkpoint,
) -> Choice:
    """The setting with the best held-out score (the strongest, if tied).

    The setting `first` is tried first, and is the choice if there is no time for any. A direction
    is left after `patience` settings in a row that are not better. With `with_start`, the start is
    the strongest of the choices, as index -1.
    """
    seen = np.cumsum([0.0, *(fold.held_out.total for fold in folds)])
    folds = folds[: int(np.searchsorted(seen, _ENOUGH))]
    total = sum(fold.held_out.total for fold in folds)
    if not total:
        return Choice(-1 if with_start else first, ())
    start = [fold.start for fold in folds]
    scores: dict[int, float] = {}

    def solved(index: int, at: Sequence[FloatArray]) -> list[FloatArray]:
        """The optimum of each fold, from the points `at`; the score is noted."""
        found = list(start)
        for k, fold in enumerate(folds if index >= 0 else ()):
            optimum = climb(
                problem_of(fold, settings[index]),
                at[k],
                method=method,
                tolerance=_TOLERANCE,
                checkpoint=checkpoint,
            )
            if optimum.ended in ("time_limit", "interrupted"):
                raise _Stopped(optimum.ended)
            found[k] = optimum.beta
        scores[index] = _score(folds, found, criterion) / total
        return found

    def best() -> int:
        return max(sorted(scores), key=scores.__getitem__)

    try:
        middle = solved(first, start)
        stronger = range(first - 1, -2 if with_start else -1, -1)
        for direction in (stronger, range(first + 1, len(settings))):
            at, worse = middle, 0
            for index in direction:
                at = solved(index, at)
                worse = 0 if best() == index else worse + 1
                if worse == patience:
                    break
            if best() != first:
                break
    except _Stopped as stop:
        return Choice(best() if scores else first, tuple(scores.values()), str(stop))
    return Choice(best(), tuple(scores.values()))


class _Stopped(Exception):
    """The time is over, or Ctrl-C was pressed."""


def choose_steps(
    folds: Sequence[Fold],
    problem_of: Callable[[Fold], Problem],
    criterion: Criterion,
    *,
    method: str,
    most: int,
    patience: int,
    checkpoint: Checkpoint,
) -> Choice:
    """Cross tuning: the number of optimiser steps with the best held-out score.

    Each fold is optimised separately; the score after s steps is summed over the folds, and
    a fold that ended earlier keeps its last score.
    """
    if not folds:
        return Choice(0, ())
    curves = []
    for fold in folds:
        curve = [criterion(fold.held_out, fold.train.layout.log_theta(fold.start))]

        def tell(beta: FloatArray, fold: Fold = fold, curve: list[float] = curve) -> bool:
            curve.append(criterion(fold.held_out, fold.train.layout.log_theta(beta)))
            return len(curve) - 1 - _first_best(curve) >= patience

        found = climb(
            problem_of(fold),
            fold.start,
            method=method,
            max_iterations=most,
            after_step=tell,
            checkpoint=checkpoint,
        )
        if found.ended in ("time_limit", "interrupted"):
            return Choice(0, (), found.ended)
        curves.append(curve)
    longest = max(map(len, curves))
    summed = np.sum([c + [c[-1]] * (longest - len(c)) for c in curves], axis=0)
    scores = tuple(summed / sum(fold.held_out.total for fold in folds))
    return Choice(_first_best(scores), scores)


def _score(folds: Sequence[Fold], at: Sequence[FloatArray], criterion: Criterion) -> float:
    return sum(
        criterion(fold.held_out, fold.train.layout.log_theta(beta))
        for fold, beta in zip(folds, at, strict=True)
    )


def _first_best(scores: Sequence[float]) -> int:
    return int(np.argmax(scores)) if scores else 0
