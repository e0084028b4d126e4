"""Whether one method is better than another: over folds of a data set, and over data sets.

The folds of a cross-validation share most of their training rows, so that the ordinary t-test
finds too many differences. The corrected resampled t-test increases the variance by the ratio of
test rows to training rows.

References
----------
Nadeau & Bengio (2003), Inference for the generalization error, Machine Learning 52.
Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import t, wilcoxon

from milpbn._types import FloatArray

Label = tuple[str, str]
"""The label of a method, and how its parameters are learned."""

LEVEL = 0.05
"""Significance level of the marks."""

# Equal scores can differ in the last bit.
_DIGITS = 12


def corrected_t(reference: FloatArray, other: FloatArray, test_share: float) -> float | None:
    """The p-value of the two-sided corrected resampled t-test over folds.

    Parameters
    ----------
    reference, other
        A measure of two methods on the same folds.
    test_share
        Number of test rows of a fold divided by its number of training rows.

    Returns
    -------
    float or None
        None with fewer than two folds, or if the methods are equal in every fold.

    Examples
    --------
    >>> a, b = np.array([0.9, 0.8, 0.85, 0.95, 0.9]), np.array([0.8, 0.79, 0.8, 0.9, 0.81])
    >>> round(corrected_t(a, b, test_share=0.25), 4)
    0.0682
    """
    difference = np.round(reference - other, _DIGITS)
    folds = len(difference)
    if folds < 2 or not difference.any():
        return None
    variance = (1 / folds + test_share) * difference.var(ddof=1)
    if variance == 0:
        return 0.0
    return float(2 * t.sf(abs(difference.mean()) / np.sqrt(variance), folds - 1))


def signed_rank(reference: FloatArray, other: FloatArray) -> float | None:
    """The p-value of the two-sided Wilcoxon signed-rank test; None if nothing differs.

    Examples
    --------
    >>> gbnc = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    >>> signed_rank(gbnc, gbnc - np.array([0.1, 0.11, 0.12, 0.13, 0.14, 0.15]))
    0.03125
    """
    difference = np.round(reference - other, _DIGITS)
    return float(wilcoxon(difference).pvalue) if difference.any() else None


def compare(reference: FloatArray, other: FloatArray) -> tuple[float | None, str]:
    """The p-value of the signed-rank test, and its :func:`mark`.

    Examples
    --------
    >>> compare(np.array([0.5, 0.6]), np.array([0.5, 0.6]))
    (None, '')
    """
    p = signed_rank(reference, other)
    return p, mark(p, float(np.median(reference - other)))


def mark(p: float | None, difference: float) -> str:
    """``"+"`` if the reference is significantly better, ``"-"`` if it is worse, else empty.

    Examples
    --------
    >>> mark(0.01, 2.5), mark(0.01, -2.5), mark(0.2, 2.5), mark(None, 0.0)
    ('+', '-', '', '')
    """
    if p is None or not p < LEVEL:
        return ""
    return "+" if difference > 0 else "-"


@dataclass(frozen=True)
class Comparison:
    """Two methods, compared by their accuracies over the same folds or data sets.

    Attributes
    ----------
    method, parameters
        The method, and how its parameters are learned.
    other_method, other_parameters
        The method that it is compared with.
    pairs
        Number of folds or data sets.
    difference
        Mean of the accuracy of the first method minus that of the other.
    wins, ties, losses
        How often the first method is better, equal and worse.
    p
        The p-value of the test; None if there is none.
    """

    method: str
    parameters: str
    other_method: str
    other_parameters: str
    pairs: int
    difference: float
    wins: int
    ties: int
    losses: int
    p: float | None

    @property
    def other(self) -> Label:
        """The method that the first one is compared with."""
        return self.other_method, self.other_parameters

    @property
    def mark(self) -> str:
        """See :func:`mark`."""
        return mark(self.p, self.difference)


def compare_pairs(
    labels: Sequence[Label],
    values: FloatArray,
    test: Callable[[FloatArray, FloatArray], float | None],
) -> list[Comparison]:
    """Compare every method with every later one; `values` has one column for each.

    Examples
    --------
    >>> values = np.array([[0.9, 0.8], [0.8, 0.8], [0.7, 0.6]])
    >>> (found,) = compare_pairs([("nb", "ml"), ("hc", "ml")], values, signed_rank)
    >>> found.wins, found.ties, found.losses, round(found.difference, 4), found.p
    (2, 1, 0, 0.0667, 0.5)
    """
    found = []
    for a, b in combinations(range(len(labels)), 2) if len(values) else ():
        signs = np.sign(np.round(values[:, a] - values[:, b], _DIGITS))
        found.append(
            Comparison(
                *labels[a],
                *labels[b],
                pairs=len(values),
                difference=float((values[:, a] - values[:, b]).mean()),
                wins=int((signs > 0).sum()),
                ties=int((signs == 0).sum()),
                losses=int((signs < 0).sum()),
                p=test(values[:, a], values[:, b]),
            )
        )
    return found
