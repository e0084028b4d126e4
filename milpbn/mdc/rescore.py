"""The score of a learned class network, computed again by its predictions.

Training adds up local scores. Here the joint states of the rows are predicted by the class
network as a whole: with its own base models, or for held-out rows with networks whose base
models are trained again, without one fold at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from milpbn.errors import SolverError
from milpbn.mdc import inference
from milpbn.mdc.local_models import LocalModel, train_family
from milpbn.mdc.local_scores import LocalScore
from milpbn.mdc.rows import TrainingRows


def score_by_prediction(
    models: Sequence[LocalModel], bases: Sequence[Any], rows: TrainingRows, score: LocalScore
) -> float:
    """Compute the score of a class network from the rows that it was learned from.

    Parameters
    ----------
    models
        The base models of each class variable.
    bases
        The base estimator of each class variable; used for held-out rows only.
    rows
        The training rows.
    score
        What families score.
    """
    penalty = sum(score.penalty(m.child, m.parents) for m in models)
    if score.folds is None:
        return log_likelihood(models, rows) + penalty
    total = 0.0
    for k in np.unique(score.folds):
        train = rows.part(score.folds != k)
        again = [
            train_family(train, m.child, m.parents, base).model
            for m, base in zip(models, bases, strict=True)
        ]
        total += log_likelihood(again, rows.part(score.folds == k))
    return total + penalty


def log_likelihood(models: Sequence[LocalModel], rows: TrainingRows) -> float:
    """The sum of log P(y | x) over rows."""
    cards, codes = rows.nodes.cards[: rows.nodes.d], rows.codes
    logs = np.empty(len(rows))
    for part, factors in inference.network_factors(models, rows.features, cards):
        logs[part] = inference.log_probability(factors, codes[part])
    return float((logs if rows.weights is None else rows.weights * logs).sum())


def check_equal(one: str, first: float, other: str, second: float) -> None:
    """Raise an error if two ways of computing a score disagree."""
    if abs(first - second) > 1e-6 * max(1.0, abs(first)):
        raise SolverError(
            f"the class network scores {first!r} by {one}, but {second!r} by {other}; please "
            "report this with the data and the options"
        )
