"""Whether one method is better than another over the same folds."""

from __future__ import annotations

import numpy as np
from scipy.stats import wilcoxon

from milpbn._types import FloatArray

LEVEL = 0.05
"""Significance level of the marks."""


def compare(reference: FloatArray, other: FloatArray) -> tuple[float | None, str]:
    """The p-value of the two-sided Wilcoxon signed-rank test over folds, and a mark.

    The mark is ``"+"`` if the reference is significantly better, ``"-"`` if it is worse, and
    empty otherwise.

    Examples
    --------
    >>> gbnc = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    >>> compare(gbnc, gbnc - np.array([0.1, 0.11, 0.12, 0.13, 0.14, 0.15]))
    (0.03125, '+')
    >>> compare(gbnc, gbnc)
    (None, '')
    """
    # Equal scores can differ in the last bit.
    difference = np.round(reference - other, 12)
    if not difference.any():
        return None, ""
    p = float(wilcoxon(difference).pvalue)
    if not p < LEVEL:
        return p, ""
    return p, "+" if np.median(difference) > 0 else "-"
