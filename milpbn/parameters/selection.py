"""Choosing a setting by cross-validation within the training rows.

Settings are ordered from strong to weak regularisation. All folds try the settings in this
order, each starting from the result of the previous setting, and the setting with the best
score on the held-out rows is chosen. After several consecutive worse settings, the rest are
not tried.
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
from milpbn.parameters.optimise import Problem, climb
from milpbn.parameters.tables import Rows, TableLayout

Setting = TypeVar("Setting")
Criterion = Callable[[Rows, FloatArray], float]
"""Scores log-probabilities on rows; larger is better."""

INDEPENDENCE, ML = "independence", "ml"

PRIORS: dict[str, Callable[[Rows, Smoothing], FloatArray]] = {
    INDEPENDENCE: Rows.independence,
    ML: Rows.maximum_likelihood,
}
"""The mean of the prior of the parameters, by name."""

_TOLERANCE = 1e-4
"""Gradient per row at which the optimum of a fold is accurate enough to compare settings."""


@dataclass(frozen=True)
class Fold:
    """Training rows, held-out rows, and where the optimisation of the training rows starts.

    The start is the mean of the prior, see :data:`PRIORS`.
    """

    train: Rows
    held_out: Rows
    start: FloatArray


@dataclass(frozen=True)
class Choice:
    """What cross-validation chose.

    Attributes
    ----------
    index
        The chosen setting, as a position in the order.
    scores
        The held-out score of every setting that was tried, per row.
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
    seen = Rows.of(layout, divided)
    out = []
    for k in range(int(fold.max()) + 1):
        train = seen.select(fold != k)
        out.append(Fold(train, seen.select(fold == k), PRIORS[prior](train, smoothing)))
    return out


def choose_setting(
    folds: Sequence[Fold],
    settings: Sequence[Setting],
    problem_of: Callable[[Fold, Setting], Problem],
    criterion: Criterion,
    *,
    with_start: bool,
    method: str,
    patience: int,
    checkpoint: Checkpoint,
) -> Choice:
    """The setting with the best held-out score (the first, if tied).

    With `with_start`, the start is one of the choices, as index -1.
    """
    total = sum(fold.held_out.total for fold in folds)
    if not total:
        return Choice(-1, ())
    at = [fold.start for fold in folds]
    scores: list[float] = []
    if with_start:
        scores.append(_score(folds, at, criterion) / total)
    offset = len(scores)
    for setting in settings:
        for k, fold in enumerate(folds):
            found = climb(
                problem_of(fold, setting),
                at[k],
                method=method,
                tolerance=_TOLERANCE,
                checkpoint=checkpoint,
            )
            if found.ended in ("time_limit", "interrupted"):
                return Choice(_first_best(scores) - offset, tuple(scores), found.ended)
            at[k] = found.beta
        scores.append(_score(folds, at, criterion) / total)
        if len(scores) - 1 - _first_best(scores) >= patience:
            break
    return Choice(_first_best(scores) - offset, tuple(scores))


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
        curve = [criterion(fold.held_out, fold.start)]

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
