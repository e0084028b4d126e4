"""Training rows with equal ones merged: U distinct rows with weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from milpbn.errors import DataError


@dataclass(frozen=True)
class MergedRows:
    """Distinct rows and how often each occurs.

    Merging changes no score, because scores are sums over rows, and often saves
    much (iris: 150 rows, 24 distinct).

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
        """Merge the equal rows of `codes`."""
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
