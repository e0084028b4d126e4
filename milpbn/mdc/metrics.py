"""Scores for predictions of several class variables.

exact match score = share of rows with every class variable correct = 1 - subset 0/1 loss
Hamming score     = share of single values that are correct         = 1 - Hamming loss / d
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.errors import DataError


def exact_match_score(y_true: Any, y_pred: Any) -> float:
    """The share of rows in which every class variable is predicted correctly.

    Examples
    --------
    >>> exact_match_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    0.5
    """
    return float(_right(y_true, y_pred).all(axis=1).mean())


def hamming_score(y_true: Any, y_pred: Any) -> float:
    """The share of class values that are predicted correctly, over all rows and class variables.

    Examples
    --------
    >>> hamming_score([["a", 1], ["b", 2]], [["a", 1], ["b", 1]])
    0.75
    """
    return float(_right(y_true, y_pred).mean())


def _right(y_true: Any, y_pred: Any) -> npt.NDArray[np.bool_]:
    true, predicted = (np.asarray(y, dtype=object) for y in (y_true, y_pred))
    if true.ndim != 2 or true.shape != predicted.shape or len(true) == 0:
        raise DataError(
            "y_true and y_pred must have the same shape, with a row per sample and a column per "
            f"class variable, not {true.shape} and {predicted.shape}"
        )
    right: npt.NDArray[np.bool_] = np.asarray(true == predicted, dtype=bool)
    return right
