"""Training rows with equal rows merged: U distinct rows with weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from milpbn.errors import DataError, OptionError


@dataclass(frozen=True)
class MergedRows:
    """Distinct rows with their multiplicities.

    Merging changes no score, because scores are sums over rows, and often saves a lot (iris:
    150 rows, 24 distinct).

    Attributes
    ----------
    codes
        ``(U, n)`` state codes, the class in column 0.
    weights
        ``(U,)`` multiplicities.

    Examples
    --------
    >>> rows = MergedRows.from_codes(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> rows.codes.tolist(), rows.weights.tolist()
    ([[0, 1], [1, 1]], [2.0, 1.0])
    """

    codes: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]

    @classmethod
    def from_codes(cls, codes: npt.NDArray[np.integer]) -> MergedRows:
        """Merge equal rows of `codes`."""
        if codes.size and codes.min() < 0:
            raise DataError("training rows must be complete: a code is negative (missing)")
        distinct, counts = np.unique(codes, axis=0, return_counts=True)
        return cls(np.ascontiguousarray(distinct, dtype=np.int32), counts.astype(np.float64))

    @property
    def total(self) -> float:
        """M, the number of rows before merging."""
        return float(self.weights.sum())

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        """The class of each distinct row."""
        out: npt.NDArray[np.int32] = self.codes[:, 0]
        return out

    def __len__(self) -> int:
        return len(self.weights)

    def split(self, folds: int, seed: int) -> tuple[MergedRows, npt.NDArray[np.int64]]:
        """The rows divided into random folds, and the fold of each distinct row."""
        rows = np.repeat(self.codes, self.weights.astype(np.int64), axis=0)
        fold = assign_folds(len(rows), folds, seed)
        divided, counts = np.unique(np.column_stack([rows, fold]), axis=0, return_counts=True)
        codes = np.ascontiguousarray(divided[:, :-1], dtype=np.int32)
        return MergedRows(codes, counts.astype(np.float64)), divided[:, -1].astype(np.int64)

    def select(self, mask: npt.NDArray[np.bool_]) -> MergedRows:
        """The rows selected by `mask`."""
        return MergedRows(self.codes[mask], self.weights[mask])


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
