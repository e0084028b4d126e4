"""The features as base models see them: standardised numbers, and categories as codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import Codes, FloatArray
from milpbn.datasets.frames import texts
from milpbn.datasets.readings import Reading, read_columns
from milpbn.encoding.columns import CATEGORICAL, ColumnCode, Variable
from milpbn.encoding.texts import sorted_states
from milpbn.errors import DataError, ModelFileError

PARTITION, ONE_HOT = "partition", "one-hot"
MIXED = (PARTITION, ONE_HOT)
"""How categorical features are used."""


@dataclass(frozen=True)
class Features:
    """Encoded rows.

    Attributes
    ----------
    matrix
        What base models are trained on.
    codes
        The states of the discrete features that may partition the rows; -1 for a value
        never seen in training.
    unseen
        For each column with values never seen in training, how often each value occurs.
    missing_counts
        For each column with missing values, their number.
    """

    matrix: FloatArray
    codes: Codes
    unseen: Mapping[str, Mapping[str, int]]
    missing_counts: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.matrix)

    def rows(self, chosen: slice | npt.NDArray[np.integer]) -> Features:
        """Some of the rows."""
        return Features(self.matrix[chosen], self.codes[chosen], {}, {})


@dataclass(frozen=True)
class FeatureEncoder:
    """An encoder that is learned from training rows and applied to all rows.

    Numbers are standardised and a missing number becomes the training mean. A missing
    category is a separate state if it is missing in training rows too, otherwise unknown.

    Attributes
    ----------
    names
        All columns, in order.
    numeric, means, scales
        The numeric columns, their training means and standard deviations.
    categories
        The codes of the other columns.
    mixed
        ``"partition"``: categories partition the rows; ``"one-hot"``: they become
        indicator columns of the matrix.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [1.0, 3.0], "color": ["red", "blue"]})
    >>> encoder = FeatureEncoder.fit(frame, {"color"}, "one-hot")
    >>> encoder.transform(frame).matrix
    array([[-1.,  0.,  1.], [ 1.,  1.,  0.]])
    """

    names: tuple[str, ...]
    numeric: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    categories: tuple[ColumnCode, ...]
    mixed: str

    @classmethod
    def fit(
        cls,
        frame: pd.DataFrame,
        categorical: set[str],
        mixed: str,
        weights: FloatArray | None = None,
    ) -> FeatureEncoder:
        """Learn means, deviations and states, from rows with these weights."""
        names = tuple(map(str, frame.columns))
        numeric = tuple(c for c in names if c not in categorical)
        means, scales = [], []
        for c in numeric:
            values, _ = _numbers(frame, c)
            mean, deviation = _moments(values, weights)
            # A constant column has no scale; rounding may give it a meaningless deviation.
            negligible = deviation <= 1e-12 * max(1.0, abs(mean))
            means.append(mean)
            scales.append(1.0 if negligible else deviation)
        categories = tuple(_category(frame[c]) for c in names if c in categorical)
        return cls(names, numeric, tuple(means), tuple(scales), categories, mixed)

    @property
    def partition(self) -> tuple[Variable, ...]:
        """The discrete features that may partition the rows."""
        if self.mixed != PARTITION:
            return ()
        return tuple(c.variable for c in self.categories)

    @property
    def width(self) -> int:
        """Number of columns of the matrix that base models see."""
        one_hot = self.mixed != PARTITION
        return len(self.numeric) + one_hot * sum(c.variable.card for c in self.categories)

    def transform(self, frame: pd.DataFrame) -> Features:
        """Encode rows; columns are found by name."""
        absent = [c for c in self.names if c not in frame.columns]
        if absent:
            raise DataError(f"there is no column {absent[0]!r}, which the model needs")
        matrix = np.empty((len(frame), len(self.numeric)))
        missing_counts: dict[str, int] = {}
        unseen: dict[str, dict[str, int]] = {}
        for j, name in enumerate(self.numeric):
            values, odd = _numbers(frame, name)
            if odd:
                unseen[name] = odd
            holes = np.isnan(values)
            if n_missing := int(holes.sum()) - sum(odd.values()):
                missing_counts[name] = n_missing
            # The mean has the standardised value 0.
            matrix[:, j] = np.where(holes, 0.0, (values - self.means[j]) / self.scales[j])
        coded = [c.encode(texts(frame[c.name])) for c in self.categories]
        for c, column in zip(self.categories, coded, strict=True):
            if column.n_missing and not c.missing_state:
                missing_counts[c.name] = column.n_missing
            if column.unseen:
                unseen[c.name] = column.unseen
        codes = np.empty((len(frame), 0), dtype=np.int32)
        if self.mixed == PARTITION:
            codes = np.column_stack([codes, *(column.codes for column in coded)])
        else:
            indicators = (
                column.codes[:, None] == np.arange(c.variable.card)
                for c, column in zip(self.categories, coded, strict=True)
            )
            matrix = np.column_stack([matrix, *indicators])
        return Features(np.ascontiguousarray(matrix), codes, unseen, missing_counts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        return {
            "names": list(self.names),
            "numeric": list(self.numeric),
            "means": list(self.means),
            "scales": list(self.scales),
            "categories": [c.to_dict() for c in self.categories],
            "mixed": self.mixed,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FeatureEncoder:
        """Rebuild an encoder written by :meth:`to_dict`."""
        encoder = cls(
            names=tuple(map(str, data["names"])),
            numeric=tuple(map(str, data["numeric"])),
            means=tuple(map(float, data["means"])),
            scales=tuple(map(float, data["scales"])),
            categories=tuple(map(ColumnCode.from_dict, data["categories"])),
            mixed=str(data["mixed"]),
        )
        used = [*encoder.numeric, *(c.name for c in encoder.categories)]
        if sorted(used) != sorted(set(encoder.names)) or len(used) != len(encoder.names):
            raise ModelFileError("features: a column is missing, or is listed twice")
        if not len(encoder.numeric) == len(encoder.means) == len(encoder.scales):
            raise ModelFileError("features: numeric columns need one mean and one scale each")
        if not all(scale > 0 for scale in encoder.scales):
            raise ModelFileError("features: a scale is not positive")
        if encoder.mixed not in MIXED:
            raise ModelFileError(f"features.mixed: {encoder.mixed!r} is unknown")
        return encoder


def encode_frame(
    frame: pd.DataFrame, encoder: FeatureEncoder, readings: Mapping[str, Reading]
) -> Features:
    """Encode raw rows, or rows that have been read already; columns are found by name."""
    columns = set(map(str, frame.columns))
    raw = {
        name: reading
        for name, reading in readings.items()
        if name in encoder.names and (reading.source in columns or name not in columns)
    }
    return encoder.transform(read_columns(frame, raw) if raw else frame)


def _numbers(frame: pd.DataFrame, name: str) -> tuple[FloatArray, dict[str, int]]:
    """A column as numbers, NaN for missing values; and its strings that are not numbers."""
    values = frame[name]
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(numbers).any():
        raise DataError(f"column {name!r} holds an infinite number")
    known = values.notna().to_numpy(dtype=bool)
    odd = [text for v in values[known & np.isnan(numbers)] if (text := str(v).strip())]
    return numbers, dict(Counter(odd))


def _moments(values: FloatArray, weights: FloatArray | None) -> tuple[float, float]:
    """Mean and standard deviation of the values that are known; 0 if there are none."""
    known = ~np.isnan(values)
    if not known.any():
        return 0.0, 0.0
    values, weights = values[known], None if weights is None else weights[known]
    if weights is None:
        return float(values.mean()), float(values.std())
    mean = np.average(values, weights=weights)
    return float(mean), float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def _category(values: pd.Series[Any]) -> ColumnCode:
    shown = texts(values)
    known = shown.dropna()
    return ColumnCode(
        str(values.name),
        CATEGORICAL,
        states=sorted_states(map(str, known.unique())),
        missing_state=len(known) < len(shown),
    )
