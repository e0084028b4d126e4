"""A sparse MILP as arrays, with names created only on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray

IndexArray = npt.NDArray[np.int32]


@dataclass(frozen=True)
class RowBlock:
    """Rows of one kind, ``lower <= A x <= upper``, in compressed sparse row form.

    ``starts`` has one more entry than there are rows.
    """

    kind: str
    starts: npt.NDArray[np.int64]
    index: IndexArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    name: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.lower)


@dataclass(frozen=True)
class ColumnBlock:
    """Columns of one kind, with cost and finite bounds."""

    kind: str
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    integer: bool
    name: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.cost)


@dataclass(frozen=True)
class SparseModel:
    """Maximise ``cost . x`` over column blocks, subject to row blocks."""

    title: str
    columns: tuple[ColumnBlock, ...]
    rows: tuple[RowBlock, ...]
    legend: Callable[[], list[str]]
    """Lines that map column names back to variables and parent sets."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return sum(len(b) for b in self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(len(b) for b in self.rows)

    @property
    def n_nonzeros(self) -> int:
        """Number of matrix entries."""
        return sum(len(b.index) for b in self.rows)

    def column_names(self) -> list[str]:
        """Names of all columns, in order."""
        return [b.name(k) for b in self.columns for k in range(len(b))]

    def row_names(self) -> list[str]:
        """Names of all rows, in order."""
        return [b.name(k) for b in self.rows for k in range(len(b))]
