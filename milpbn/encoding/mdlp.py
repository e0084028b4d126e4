"""Supervised discretisation of one numeric column by the minimum description length principle.

The recursion of Fayyad and Irani (1993). It is implemented here because the public MDLP
packages that were tried do not reproduce it: on the first feature of satimage's 4435
training rows the recursion finds 9 cuts, and these 9 give the published accuracies.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.datasets.bins import check_finite, midpoints
from milpbn.errors import DataError

Floats = npt.NDArray[np.float64]

# A class has no rows if their weight is a smaller share of all rows: the rest is rounding.
_NONE = 1e-12

# Class entropies that differ by less than this are equal in exact arithmetic. The lowest
# of such cuts is chosen, so that the choice does not depend on rounding.
_TIE = 1e-12

_TINY = np.finfo(np.float64).tiny


def mdlp_cuts(
    values: npt.ArrayLike,
    labels: npt.ArrayLike,
    weights: Floats | None = None,
    min_share: float = 0.0,
) -> Floats:
    """Cut points of one numeric column, chosen by the class labels.

    A set of N rows is cut where the class entropy of the two parts is smallest, and
    each part is cut in the same way, as long as the cut is worth its own description::

        Gain > log2(N - 1) / N + Delta / N
        Gain  = E - (N1 * E1 + N2 * E2) / N
        Delta = log2(3^k - 2) - (k * E - k1 * E1 - k2 * E2)

    E is the class entropy in bits and k the number of classes present, of the set
    and of its two parts.

    Parameters
    ----------
    values
        The column; NaN stands for a missing value and is ignored.
    labels
        The class of each row, of any type that can be sorted.
    weights
        The positive weight of each row: N and the class counts are then sums of weights, so
        that a weight of 2 is the same as repeating the row. If N < 2, log2(N - 1) is 0.
    min_share
        The smallest share of the rows in a bin: other cuts are not considered.

    Returns
    -------
    ndarray of float64
        The cuts in increasing order, each midway between two neighbouring distinct
        values. A value v belongs to bin ``number of cuts < v``, so bin 0 is
        ``(-inf, cuts[0]]``.

    References
    ----------
    U. M. Fayyad and K. B. Irani, "Multi-interval discretization of continuous-valued
    attributes for classification learning", IJCAI 1993, pages 1022-1027.

    Examples
    --------
    >>> mdlp_cuts([1, 2, 3, 4, 11, 12, 13, 14], list("aaaabbbb"))
    array([7.5])
    >>> mdlp_cuts([1, 2, 3, 4, 11, 12, 13, 14], list("abababab"))
    array([], dtype=float64)
    """
    column = np.asarray(values, dtype=np.float64)
    classes = np.asarray(labels)
    if column.ndim != 1 or column.shape != classes.shape:
        raise DataError(
            f"values and labels must be one-dimensional and of equal length, "
            f"not of shape {column.shape} and {classes.shape}"
        )
    check_finite(column)
    distinct, cumulated = _cumulated_counts(column, classes, weights)
    table = _n_log_n_table(len(column)) if weights is None else np.empty(0)
    least = min_share * float(cumulated[-1].sum()) * (1 - _NONE)
    positions = _accepted_cuts(cumulated, table, least)
    return midpoints(distinct, np.array(sorted(positions), dtype=np.int64))


def _cumulated_counts(
    values: Floats, labels: npt.NDArray[np.generic], weights: Floats | None
) -> tuple[Floats, Floats]:
    """The distinct values, and in row j the class counts of all values below the j-th one."""
    from milpbn.encoding.kernels import cumulate  # numba is slow to import

    known = ~np.isnan(values)
    index, classes = pd.factorize(labels[known])
    by_class = np.argsort(index.astype(np.min_scalar_type(len(classes))), kind="stable")
    ends = np.cumsum(np.bincount(index, minlength=len(classes)))
    column = values[known][by_class]
    amounts = np.empty(0) if weights is None else weights[known][by_class]
    for own in map(slice, [0, *ends[:-1]], ends):
        if weights is not None:  # an indirect sort takes several times as long
            amounts[own] = amounts[own][np.argsort(column[own], kind="stable")]
        column[own].sort()
    distinct, counts = cumulate(column, amounts, ends)
    return distinct, counts


@lru_cache(maxsize=1)  # the columns of a table have the same number of rows
def _n_log_n_table(n_rows: int) -> Floats:
    return _n_log_n(np.arange(n_rows + 1, dtype=np.float64))


def _accepted_cuts(cumulated: Floats, table: Floats, least: float) -> list[int]:
    """Positions j such that the column is cut just below its j-th distinct value."""
    accepted = []
    pending = [(0, len(cumulated) - 1)]  # a stack, because the recursion may be deep
    while pending:
        low, high = pending.pop()
        cut = _best_cut(cumulated[low : high + 1], table, least)
        if cut is not None:
            accepted.append(low + cut)
            pending += [(low, low + cut), (low + cut, high)]
    return accepted


def _best_cut(cumulated: Floats, table: Floats, least_rows: float) -> int | None:
    """The cut of smallest class entropy, with enough rows on both sides, if MDL accepts it."""
    from milpbn.encoding.kernels import bits_of_cuts  # numba is slow to import

    total = cumulated[-1] - cumulated[0]
    least = _NONE * cumulated[-1].sum()
    k = int((total > least).sum())  # a Python integer: 3^40 does not fit into 64 bits
    if len(cumulated) <= 2 or k == 1:
        return None
    rows = float(total.sum())
    entropy = bits_of_cuts(cumulated, table) / rows
    if least_rows > 0:
        below = (cumulated[1:-1] - cumulated[0]).sum(axis=1)
        entropy = np.where(np.minimum(below, rows - below) >= least_rows, entropy, np.inf)
        if np.isinf(entropy).all():
            return None
    best = int(np.argmax(entropy <= entropy.min() + _TIE)) + 1

    left, right = cumulated[best] - cumulated[0], cumulated[-1] - cumulated[best]
    whole, e1, e2 = (_entropy(counts) for counts in (total, left, right))
    k1, k2 = (left > least).sum(), (right > least).sum()
    gain = whole - entropy[best - 1]
    delta = math.log2(3**k - 2) - (k * whole - k1 * e1 - k2 * e2)
    accepted = gain > (math.log2(max(rows - 1, 1)) + delta) / rows
    return best if accepted else None


def _entropy(counts: Floats) -> float:
    """The class entropy in bits: log2 N - sum_c n_c log2 n_c / N."""
    n = counts.sum()
    return float(_n_log_n(n) - _n_log_n(counts).sum()) / float(n)


def _n_log_n(counts: Floats) -> Floats:
    result: Floats = counts * np.log2(np.maximum(counts, _TINY))
    return result
