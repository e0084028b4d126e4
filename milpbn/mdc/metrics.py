"""Scores for predictions of several class variables.

exact match score     = share of rows with every class variable correct = 1 - subset 0/1 loss
sub-exact match score = share of rows with at most one class variable wrong
Hamming score         = share of single values that are correct         = 1 - Hamming loss / d
macro F1 score        = mean over class variables of their macro F1
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.errors import DataError


def exact_match_score(y_true: Any, y_pred: Any) -> float:
    """The share of rows in which every class variable is predicted correctly.

    Examples
    --------
    >>> exact_match_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    0.5
    """
    return float(_right(y_true, y_pred).all(axis=1).mean())


def sub_exact_match_score(y_true: Any, y_pred: Any) -> float:
    """The share of rows in which at most one class variable is predicted wrongly.

    Examples
    --------
    >>> sub_exact_match_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    1.0
    """
    return float(((~_right(y_true, y_pred)).sum(axis=1) <= 1).mean())


def hamming_score(y_true: Any, y_pred: Any) -> float:
    """The share of class values that are predicted correctly, over all rows and class variables.

    Examples
    --------
    >>> hamming_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    0.75
    """
    return float(_right(y_true, y_pred).mean())


def macro_f1_score(y_true: Any, y_pred: Any) -> float:
    """The mean over class variables of the macro F1 score.

    The macro F1 score of a class variable is the unweighted mean of ``2 TP / (2 TP + FP + FN)``
    over its labels that occur among the true or the predicted ones. Unlike the Hamming score it
    counts rare labels as much as frequent ones.

    Examples
    --------
    >>> macro_f1_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    0.66666...
    """
    right = _right(y_true, y_pred)
    true, predicted = (np.asarray(y, dtype=object) for y in (y_true, y_pred))
    return float(
        np.mean([_macro_f1(*columns) for columns in zip(true.T, predicted.T, right.T, strict=True)])
    )


def _macro_f1(
    true: npt.NDArray[Any], predicted: npt.NDArray[Any], right: npt.NDArray[np.bool_]
) -> float:
    codes, labels = pd.factorize(np.concatenate([true, predicted]))
    # 2 TP + FP + FN is how often a label is the true one, plus how often it is predicted.
    hits = np.bincount(codes[: len(true)][right], minlength=len(labels))
    return float((2 * hits / np.bincount(codes)).mean())


def _right(y_true: Any, y_pred: Any) -> npt.NDArray[np.bool_]:
    true, predicted = (np.asarray(y, dtype=object) for y in (y_true, y_pred))
    if true.ndim != 2 or true.shape != predicted.shape or len(true) == 0:
        raise DataError(
            "y_true and y_pred must have the same shape, with a row per sample and a column per "
            f"class variable, not {true.shape} and {predicted.shape}"
        )
    right: npt.NDArray[np.bool_] = np.asarray(true == predicted, dtype=bool)
    return right
