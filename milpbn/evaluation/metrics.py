"""Scores for predictions of several class variables.

exact match score     = share of rows with every class variable correct = 1 - subset 0/1 loss
sub-exact match score = share of rows with at most one class variable wrong
Hamming score         = share of single values that are correct         = 1 - Hamming loss / d
macro F1 score        = mean over class variables of their macro F1
macro recall score    = mean over class variables of the mean share of right rows of each label

Rows may have weights: a weight of 2 counts a row twice.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.errors import DataError


def exact_match_score(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
    """The share of rows in which every class variable is predicted correctly.

    Examples
    --------
    >>> exact_match_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    0.5
    """
    return _mean(_right(y_true, y_pred).all(axis=1), sample_weight)


def sub_exact_match_score(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
    """The share of rows in which at most one class variable is predicted wrongly.

    Examples
    --------
    >>> sub_exact_match_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    1.0
    """
    return _mean((~_right(y_true, y_pred)).sum(axis=1) <= 1, sample_weight)


def hamming_score(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
    """The share of class values that are predicted correctly, over all rows and class variables.

    Examples
    --------
    >>> hamming_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    0.75
    """
    return _mean(_right(y_true, y_pred).mean(axis=1), sample_weight)


def macro_f1_score(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
    """The mean over class variables of the macro F1 score.

    The macro F1 score of a class variable is the unweighted mean of ``2 TP / (2 TP + FP + FN)``
    over its labels that occur among the true or the predicted ones. Unlike the Hamming score it
    counts rare labels as much as frequent ones.

    Examples
    --------
    >>> macro_f1_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    0.66666...
    """
    return _mean_over_labels(y_true, y_pred, sample_weight, operator.add)


def macro_recall_score(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
    """The mean over class variables of the macro recall, or balanced accuracy.

    The macro recall of a class variable is the unweighted mean, over its labels that occur among
    the true ones, of the share of their rows that is predicted correctly.

    Examples
    --------
    >>> macro_recall_score([["a", 1], ["b", 2], ["a", 1]], [["a", 1], ["b", 1], ["b", 1]])
    0.625
    """
    return _mean_over_labels(y_true, y_pred, sample_weight, lambda true, predicted: 2 * true)


def _mean_over_labels(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    size: Callable[[Any, Any], Any],
) -> float:
    """The mean over class variables and their labels of 2 TP / size(true rows, predicted rows)."""
    right, means = _right(y_true, y_pred), []
    weights = np.ones(len(right)) if sample_weight is None else np.asarray(sample_weight, float)
    true, predicted = (np.asarray(y, dtype=object) for y in (y_true, y_pred))
    for j in range(right.shape[1]):
        codes, labels = pd.factorize(np.concatenate([true[:, j], predicted[:, j]]))
        n, hit = len(labels), weights * right[:, j]
        occurs, guessed = (
            np.bincount(own, weights, n) for own in (codes[: len(true)], codes[len(true) :])
        )
        hits, sizes = np.bincount(codes[: len(true)], hit, n), size(occurs, guessed)
        means.append((2 * hits[sizes > 0] / sizes[sizes > 0]).mean())
    return float(np.mean(means))


def _mean(values: Any, weights: Any) -> float:
    return float(np.average(values, weights=weights))


def _right(y_true: Any, y_pred: Any) -> npt.NDArray[np.bool_]:
    true, predicted = (np.asarray(y, dtype=object) for y in (y_true, y_pred))
    if true.ndim != 2 or true.shape != predicted.shape or len(true) == 0:
        raise DataError(
            "y_true and y_pred must have the same shape, with a row per sample and a column per "
            f"class variable, not {true.shape} and {predicted.shape}"
        )
    right: npt.NDArray[np.bool_] = np.asarray(true == predicted, dtype=bool)
    return right
