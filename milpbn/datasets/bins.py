"""How numeric columns are cut: the setting `bins`, and cuts at quantiles."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray, IntArray
from milpbn.errors import DataError, OptionError

MDLP = "mdlp"
"""Cuts that separate the classes."""

AUTO = "auto"
"""Several resolutions per column, among which every family of the structure chooses."""

FINE = "fine"
"""Fine bins for the parameters, and coarser ones for the search for a structure."""

_QUANTILE = "quantile"
_LEAST, _MOST = 2, 64

# Shares of the rows that differ by less than this are equal in exact arithmetic.
_TIE = 1e-12


def parse_bins(text: str) -> str:
    """Check a value of the setting `bins`.

    Parameters
    ----------
    text
        ``"mdlp"``; ``"quantile:K"`` for K bins with about the same number of rows; ``"fine"``
        for fine bins in the tables and coarse ones in the search; or ``"auto"`` for several
        resolutions, among which every family chooses.

    Returns
    -------
    str
        The same value in its plain form.

    Examples
    --------
    >>> parse_bins("mdlp"), parse_bins("quantile:6")
    ('mdlp', 'quantile:6')
    """
    if text in (MDLP, AUTO, FINE):
        return text
    name, _, number = str(text).partition(":")
    known = name == _QUANTILE and number.isascii() and number.isdigit() and len(number) < 4
    if not known or not _LEAST <= int(number) <= _MOST:
        raise OptionError(
            f"unknown bins {text!r}; write {MDLP}, {FINE}, {AUTO}, or {_QUANTILE}:K with a "
            f"number K from {_LEAST} to {_MOST}, such as {_QUANTILE}:6"
        )
    return f"{_QUANTILE}:{int(number)}"


def quantile_count(bins: str) -> int | None:
    """The number of bins of ``"quantile:K"``; None for other values."""
    name, _, number = bins.partition(":")
    return int(number) if name == _QUANTILE else None


def equal_shares(n_bins: int) -> list[float]:
    """The shares of the rows below the cuts between bins of equal size."""
    return [k / n_bins for k in range(1, n_bins)]


def quantile_cuts(
    values: npt.ArrayLike, shares: Sequence[float], weights: FloatArray | None = None
) -> FloatArray:
    """Cut a numeric column so that given shares of its rows lie below the cuts.

    A cut lies midway between two neighbouring values, where the share below it is closest to the
    wanted one: equal values stay together and no bin is empty. Several shares may lead to the same
    cut, so that there may be fewer cuts than shares. Whether a share leads to a cut does not
    depend on the other shares: the cuts for 2 bins are among those for 4.

    Parameters
    ----------
    values
        The column; NaN stands for a missing value and is ignored.
    shares
        Numbers between 0 and 1.
    weights
        The positive weight of each row: a weight of 2 counts a row twice.

    Returns
    -------
    ndarray of float64
        The cuts in increasing order; none if all values are equal.

    Examples
    --------
    >>> quantile_cuts([1, 2, 3, 4, 10, 20, 30, 40], equal_shares(4))
    array([ 2.5,  7. , 25. ])
    >>> quantile_cuts([0, 0, 0, 0, 0, 0, 0, 5], equal_shares(4))
    array([2.5])
    """
    column = np.asarray(values, dtype=np.float64)
    check_finite(column)
    known = ~np.isnan(column)
    distinct, index = np.unique(column[known], return_inverse=True)
    if len(distinct) < 2 or not len(shares):
        return np.empty(0)
    amounts = np.bincount(index, None if weights is None else weights[known])
    below = np.cumsum(amounts)[:-1] / amounts.sum()
    wanted = np.asarray(shares)
    upper = np.minimum(np.searchsorted(below, wanted), len(below) - 1)
    lower = np.maximum(upper - 1, 0)
    # Of two cuts that are equally close, the upper one.
    is_upper = below[upper] - wanted <= wanted - below[lower] + _TIE
    return midpoints(distinct, np.unique(np.where(is_upper, upper, lower)) + 1)


def large_bins(
    values: FloatArray,
    wanted: Sequence[Sequence[float]],
    share: float,
    weights: FloatArray | None = None,
) -> set[float]:
    """Cuts that leave every bin its share of the known values; earlier ones are preferred.

    Parameters
    ----------
    values
        The column; NaN stands for a missing value.
    wanted
        Cuts in groups, the most important group first.
    share
        The smallest share of the values in a bin.
    weights
        The weight of each row.

    Examples
    --------
    >>> sorted(large_bins(np.arange(10.0), [[4.5], [0.5, 2.5, 7.5]], 0.2))
    [2.5, 4.5, 7.5]
    """
    known = ~np.isnan(values)
    order = np.argsort(values[known])
    amounts = np.ones(len(order)) if weights is None else weights[known][order]
    sums = np.concatenate([[0.0], np.cumsum(amounts)])
    column, kept = values[known][order], [-np.inf, np.inf]
    least = share * sums[-1] * (1 - _TIE)

    def rows(low: float, high: float) -> float:
        """The weight of the values above `low`, up to `high`."""
        first, last = np.searchsorted(column, [low, high], side="right")
        return float(sums[last] - sums[first])

    for cut in (cut for group in wanted for cut in group):
        place = bisect.bisect_left(kept, cut)
        low, high = kept[place - 1], kept[place]
        if cut != high and min(rows(low, cut), rows(cut, high)) >= least:
            kept.insert(place, cut)
    return set(kept[1:-1])


def check_finite(values: FloatArray) -> None:
    """Raise an error if a number to be cut is infinite; NaN is a missing value."""
    if np.isinf(values).any():
        raise DataError("an infinite value cannot be discretised; make it finite or missing")


def midpoints(distinct: FloatArray, positions: IntArray) -> FloatArray:
    """The midpoint between the values on both sides of each position."""
    below, above = distinct[positions - 1], distinct[positions]
    middle = below / 2 + above / 2  # halved first: the sum could overflow
    # Between neighbouring floats the midpoint is rounded to one of them; the lower one
    # separates the two, because a bin contains its upper end.
    return np.where((below <= middle) & (middle < above), middle, below)
