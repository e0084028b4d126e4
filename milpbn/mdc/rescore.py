"""The score of a learned class network, computed again by its predictions.

Training adds up local scores. Here the joint states of the rows are predicted by the class
network as a whole: with its own base models, or for held-out rows with networks whose base
models are trained again, without one fold at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from milpbn._types import Codes
from milpbn.errors import SolverError
from milpbn.mdc import inference
from milpbn.mdc.candidates import Nodes
from milpbn.mdc.features import Features
from milpbn.mdc.local_models import LocalModel, train_family
from milpbn.mdc.local_scores import LocalScore


def score_by_prediction(
    models: Sequence[LocalModel],
    bases: Sequence[Any],
    features: Features,
    codes: Codes,
    nodes: Nodes,
    score: LocalScore,
) -> float:
    """Compute the score of a class network from the rows that it was learned from.

    Parameters
    ----------
    models
        The base models of each class variable.
    bases
        The base estimator of each class variable; used for held-out rows only.
    features, codes
        The training rows: encoded features, and states of the class variables.
    nodes
        The nodes of the class network.
    score
        What families score.
    """
    penalty = sum(score.penalty(m.child, m.parents) for m in models)
    if score.folds is None:
        return log_likelihood(models, features, codes, nodes) + penalty
    total = 0.0
    for k in np.unique(score.folds):
        train, test = score.folds != k, np.flatnonzero(score.folds == k)
        again = [
            train_family(
                features.matrix[train],
                np.column_stack([codes, features.codes])[train],
                nodes.cards,
                m.child,
                m.parents,
                nodes.d,
                base,
            ).model
            for m, base in zip(models, bases, strict=True)
        ]
        total += log_likelihood(again, features.rows(test), codes[test], nodes)
    return total + penalty


def log_likelihood(
    models: Sequence[LocalModel], features: Features, codes: Codes, nodes: Nodes
) -> float:
    """The sum of log P(y | x) over rows."""
    return sum(
        float(inference.log_probability(factors, codes[rows]).sum())
        for rows, factors in inference.network_factors(models, features, nodes.cards[: nodes.d])
    )


def check_equal(one: str, first: float, other: str, second: float) -> None:
    """Raise an error if two ways of computing a score disagree."""
    if abs(first - second) > 1e-6 * max(1.0, abs(first)):
        raise SolverError(
            f"the class network scores {first!r} by {one}, but {second!r} by {other}; please "
            "report this with the data and the options"
        )
