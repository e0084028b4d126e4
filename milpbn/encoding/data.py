"""Encoded rows: the input of all later stages of milpbn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from milpbn._types import BoolArray, Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.errors import DataError


@dataclass(frozen=True, eq=False)
class EncodedFeatures:
    """Rows to predict, as codes.

    Attributes
    ----------
    codes
        Shape (M, number of features), in the order of ``encoder.variables[1:]``;
        -1 for a value never seen in training, and for a missing value if the
        feature has no missing state.
    unseen
        For each column with values never seen in training, how often each occurs.
    missing_counts
        The number of missing values of each column that has some.
    """

    codes: Codes
    unseen: dict[str, dict[str, int]]
    missing_counts: dict[str, int]


@dataclass(frozen=True, eq=False, repr=False)
class EncodedData:
    """Labelled rows as codes, the class first.

    Attributes
    ----------
    name
        The name of the table.
    variables
        The class, then the features in the order of their columns.
    codes
        Shape (M, n), C-contiguous; column j holds states of ``variables[j]``.
        The training rows that the encoder was fitted on are complete. In other rows,
        -1 stands for a feature value never seen in training (or missing, if the
        feature has no missing state), and in column 0 for an unknown label: such a
        row counts as an error in every accuracy.
    is_train
        True for training rows.
    weights
        The positive weight of each row; None if every row counts as one.
    n_dropped_rows
        Rows of the table left out because a feature was missing.
    notes
        The table's notes, then the encoder's, one sentence each.
    source
        Where the rows came from; see :class:`milpbn.datasets.table.Table`.

    Examples
    --------
    >>> import numpy as np
    >>> EncodedData(
    ...     name="toy",
    ...     variables=(Variable("class", ("no", "yes")), Variable("x", ("a", "b"))),
    ...     codes=np.array([[0, 1], [1, 0], [1, 1]], dtype=np.int32),
    ...     is_train=np.array([True, True, False]),
    ... )
    EncodedData('toy': 2 training and 1 test rows, 1 features, class 'class' with 2 states)
    """

    name: str
    variables: tuple[Variable, ...]
    codes: Codes
    is_train: BoolArray
    weights: FloatArray | None = None
    n_dropped_rows: int = 0
    notes: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)

    def train(self) -> Codes:
        """Codes of the training rows."""
        return self.codes[self.is_train]

    def train_weights(self) -> FloatArray | None:
        """Weights of the training rows; None if every row counts as one."""
        return None if self.weights is None else self.weights[self.is_train]

    def train_weight(self) -> float:
        """The sum of the weights of the training rows."""
        weights = self.train_weights()
        return float(self.is_train.sum() if weights is None else weights.sum())

    def test(self) -> Codes:
        """Codes of the held-out rows; empty if there are none."""
        return self.codes[~self.is_train]

    def select(self, mask: BoolArray) -> EncodedData:
        """The same data with only the rows of `mask`."""
        weights = None if self.weights is None else self.weights[mask]
        return replace(self, codes=self.codes[mask], is_train=self.is_train[mask], weights=weights)

    def followed_by(self, codes: Codes, source: Mapping[str, Any]) -> EncodedData:
        """The data with later training rows, those that are complete; `source` describes them."""
        if self.weights is not None:
            raise DataError(f"{self.name}: rows with weights cannot be followed by others")
        kept, left_out = complete_rows(codes)
        updates = [*self.source.get("updates", ()), {**source, "n_rows": len(kept)}]
        return replace(
            self,
            codes=np.concatenate([self.codes, kept]),
            is_train=np.append(self.is_train, np.ones(len(kept), dtype=bool)),
            n_dropped_rows=self.n_dropped_rows + left_out,
            source={**self.source, "updates": updates},
        )

    def first(self, n: int) -> EncodedData:
        """The data with only the first `n` training rows."""
        return self.select(~self.is_train | (self.is_train.cumsum() <= n))

    def searched(self) -> EncodedData:
        """The same rows as a search for structures sees them: numbers in coarser bins.

        The data themselves, if the search sees all states.
        """
        if not any(v.search for v in self.variables):
            return self
        codes = self.codes.copy()
        for j, variable in enumerate(self.variables):
            if variable.search:
                # The last entry is for the code -1, which stays.
                of = np.array([*variable.resolution(variable.search).of, -1], dtype=np.int32)
                codes[:, j] = of[codes[:, j]]
        return replace(self, variables=tuple(v.searched() for v in self.variables), codes=codes)

    def __repr__(self) -> str:
        n_train = int(self.is_train.sum())
        target = self.variables[0]
        return (
            f"EncodedData({self.name!r}: {n_train} training and "
            f"{len(self.codes) - n_train} test rows, {len(self.variables) - 1} features, "
            f"class {target.name!r} with {target.card} states)"
        )


def complete_rows(codes: Codes) -> tuple[Codes, int]:
    """The rows in which every code is known, and the number of the others."""
    complete = (codes >= 0).all(axis=1)
    return codes[complete], int((~complete).sum())
