"""Training rows with equal rows merged: U distinct rows with weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray, IntArray
from milpbn.errors import DataError, OptionError

MOST_UNITS = 10_000_000
"""A larger total weight is divided into folds in units of more than 1, to save memory."""

TIE = 1e-9
"""Smaller margins of a row are ties, since sums of logarithms are not exact; a tie is an error."""

# Sums of weights that differ from a whole number by less, relative to the number, are whole.
_ROUNDING = 1e-9

_LARGEST = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class MergedRows:
    """Distinct rows with their multiplicities, or the sums of their weights.

    Merging changes no score, because scores are sums over rows, and often saves a lot (iris:
    150 rows, 24 distinct). A weight of 2 is the same as repeating the row.

    Attributes
    ----------
    codes
        ``(U, n)`` state codes, the class in column 0.
    weights
        ``(U,)`` multiplicities, or sums of weights.
    undivided
        The total of the rows before they were divided into folds, which rounds the weights; None
        if they were not.

    Examples
    --------
    >>> rows = MergedRows.from_codes(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> rows.codes.tolist(), rows.weights.tolist()
    ([[0, 1], [1, 1]], [2.0, 1.0])
    """

    codes: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]
    undivided: float | None = None

    @classmethod
    def from_codes(
        cls, codes: npt.NDArray[np.integer], weights: FloatArray | None = None
    ) -> MergedRows:
        """Merge equal rows of `codes`; without `weights`, every row counts as one."""
        if codes.size and codes.min() < 0:
            raise DataError("training rows must be complete: a code is negative (missing)")
        first, merged = _distinct_rows(codes)
        total = np.bincount(merged, weights, minlength=len(first))
        return cls(np.ascontiguousarray(codes[first], dtype=np.int32), total.astype(np.float64))

    @property
    def total(self) -> float:
        """M, the number of rows before merging, or the sum of their weights."""
        return float(self.weights.sum()) if self.undivided is None else self.undivided

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        """The class of each distinct row."""
        out: npt.NDArray[np.int32] = self.codes[:, 0]
        return out

    @cached_property
    def columns(self) -> npt.NDArray[np.unsignedinteger]:
        """``(n, U)``: the codes by variable, in the smallest type that holds them.

        Compiled loops over the rows read these.
        """
        small = np.min_scalar_type(int(self.codes.max(initial=0)))
        return np.ascontiguousarray(self.codes.T, dtype=small)

    def __len__(self) -> int:
        return len(self.weights)

    def split(self, folds: int, seed: int) -> tuple[MergedRows, npt.NDArray[np.int64]]:
        """The rows divided into random folds, and the fold of each distinct row.

        See :func:`units` for weights that are not whole numbers.
        """
        row, weight = units(self.weights)
        key = row * folds + assign_folds(len(row), folds, seed)
        divided = np.flatnonzero(np.bincount(key))
        total = np.bincount(key, weight).astype(np.float64)[divided]
        return MergedRows(self.codes[divided // folds], total, self.total), divided % folds

    def select(self, mask: npt.NDArray[np.bool_]) -> MergedRows:
        """The rows selected by `mask`."""
        return MergedRows(self.codes[mask], self.weights[mask])


def _distinct_rows(codes: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """One row of each kind, in lexicographic order, and the kind of every row.

    As many columns as fit into one number are sorted at once. The ranks of the rows, where
    equal rows have the same rank, are then the first digit of the next number.
    """
    rank, span = np.zeros(len(codes), dtype=np.int64), 1
    first = np.zeros(min(len(codes), 1), dtype=np.int64)
    for column in codes.T:
        card = int(column.max(initial=0)) + 1
        if span > _LARGEST // card:
            _, first, rank = np.unique(rank, return_index=True, return_inverse=True)
            span = len(first)
            if span == len(codes):
                return first, rank
        rank *= card
        rank += column
        span *= card
    if span > 1:
        _, first, rank = np.unique(rank, return_index=True, return_inverse=True)
    return first, rank


def units(weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rows as units of weight 1, the last unit of a row with what remains.

    Folds are drawn for units, so that a weight of 3 is divided like three equal rows. If the
    total weight is larger than `MOST_UNITS`, so are the units.

    Returns
    -------
    row
        The row of each unit, in their order.
    weight
        The weight of each unit.

    Examples
    --------
    >>> row, weight = units(np.array([2.0, 0.5, 1.25]))
    >>> row.tolist(), weight.tolist()
    ([0, 0, 1, 2, 2], [1.0, 1.0, 0.5, 1.0, 0.25])
    """
    size = max(1.0, float(weights.sum()) / MOST_UNITS)
    number = np.maximum(np.ceil(weights / size * (1 - _ROUNDING)), 1).astype(np.int64)
    row = np.repeat(np.arange(len(weights)), number)
    weight = np.full(len(row), size)
    weight[np.cumsum(number) - 1] = weights - (number - 1) * size
    return row, weight


def assign_folds(n_rows: int, folds: int, seed: int) -> npt.NDArray[np.int64]:
    """Random folds of nearly equal size, for rows in lexicographic order of their codes.

    Examples
    --------
    >>> sorted(assign_folds(5, 2, seed=0).tolist())
    [0, 0, 0, 1, 1]
    """
    if not 2 <= folds <= n_rows:
        raise OptionError(
            f"the number of folds must lie between 2 and the {n_rows} rows, not {folds}"
        )
    rng = np.random.default_rng(seed)
    return rng.permutation(np.arange(n_rows, dtype=np.int64) % folds)
