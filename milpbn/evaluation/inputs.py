"""The features of a table as a matrix, for classifiers of other libraries.

:class:`RawColumns` prepares the columns as a careful user would, :class:`States` gives the states
of milpbn's encoder. Both learn from training rows, keep every row, and come in the forms that
classifiers need: with an indicator per category, or with codes of categories.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from milpbn._types import BoolArray, FloatArray
from milpbn.datasets.table import Table
from milpbn.datasets.values import to_numbers
from milpbn.encoding import Encoder

SCALED = "scaled"
"""An indicator per category; numbers are complete and on one scale."""

INDICATORS = "indicators"
"""An indicator per category; numbers as they are, NaN if missing."""

CATEGORIES = "categories"
"""Codes of categories and numbers as they are; NaN if missing or never seen in training."""

# Categories with fewer training rows are pooled.
_LEAST_ROWS = 3
# Gradient boosting takes so many categories.
_MOST_CATEGORIES = 255


class Inputs(Protocol):
    """Turns rows into a matrix."""

    @property
    def categorical(self) -> BoolArray:
        """Which columns of the matrix are codes, in the form :data:`CATEGORIES`."""

    def matrix(self, features: pd.DataFrame) -> FloatArray:
        """All rows, in the form that was fitted."""


class RawColumns:
    """The columns as they are: numbers are numbers, dates their parts, and the rest categories.

    Missing numbers become the median with an indicator, where a classifier cannot take them, and
    columns without any number are left out. Rare categories are pooled, and a category never seen
    in training has no indicator.

    Parameters
    ----------
    table
        The training rows.
    form
        :data:`SCALED`, :data:`INDICATORS` or :data:`CATEGORIES`.

    Examples
    --------
    >>> features = pd.DataFrame({"size": [1.0, 2.0, np.nan], "kind": ["a", "a", "a"]})
    >>> table = Table("toy", features, pd.DataFrame({"class": ["p", "q", "q"]}), ("size",))
    >>> RawColumns(table, CATEGORIES).matrix(features.assign(kind=["a", "new", None]))
    array([[ 1.,  0.],
           [ 2., nan],
           [nan, nan]])
    """

    def __init__(self, table: Table, form: str) -> None:
        self._numeric = [name for name in table.numeric if table.features[name].notna().any()]
        self._categorical = table.categorical
        indicators = OneHotEncoder(
            min_frequency=_LEAST_ROWS, handle_unknown="ignore", sparse_output=False
        )
        codes = OrdinalEncoder(
            min_frequency=_LEAST_ROWS,
            max_categories=_MOST_CATEGORIES,
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
            encoded_missing_value=np.nan,
        )
        complete = SimpleImputer(strategy="median", add_indicator=True)
        numbers = make_pipeline(complete, StandardScaler()) if form == SCALED else "passthrough"
        categories = codes if form == CATEGORIES else indicators
        self._columns = ColumnTransformer(
            [("numbers", numbers, self._numeric), ("categories", categories, self._categorical)],
            sparse_threshold=0.0,
        )
        self._columns.fit(self._cleaned(table.features))

    @property
    def categorical(self) -> BoolArray:
        """See :class:`Inputs`."""
        n_columns = len(self._numeric) + len(self._categorical)
        return np.arange(max(n_columns, 1)) >= len(self._numeric)

    def matrix(self, features: pd.DataFrame) -> FloatArray:
        """See :class:`Inputs`."""
        found = self._columns.transform(self._cleaned(features))
        return np.asarray(_with_a_column(found), dtype=np.float64)

    def _cleaned(self, features: pd.DataFrame) -> pd.DataFrame:
        """Numbers as float64, and categories as objects; NaN for missing."""
        columns: dict[str, Any] = {name: to_numbers(features[name]) for name in self._numeric}
        for name in self._categorical:
            values = features[name].astype(object)
            columns[name] = values.where(values.notna(), np.nan).to_numpy()
        return pd.DataFrame(columns, index=range(len(features)))


@dataclass(frozen=True)
class _Codes:
    """States as they are; missing and unknown ones are NaN."""

    def transform(self, codes: FloatArray) -> FloatArray:
        return np.where(codes < 0, np.nan, codes)


class States:
    """The states of milpbn's encoder, an indicator for each, or their codes.

    Parameters
    ----------
    table
        The training rows; its `bins` and `missing` say how they become states.
    form
        In the form :data:`CATEGORIES`, the states are codes.
    """

    def __init__(self, table: Table, form: str) -> None:
        self._encoder = Encoder.fit(table)
        self._cards = [v.card for v in self._encoder.variables[1:]] or [1]
        states = [list(range(card)) for card in self._cards]
        indicators = OneHotEncoder(categories=states, handle_unknown="ignore", sparse_output=False)
        codes = self._codes(table.features)
        self._form = _Codes() if form == CATEGORIES else indicators.fit(codes)

    @property
    def categorical(self) -> BoolArray:
        """See :class:`Inputs`; columns with very many states are taken as numbers."""
        return np.array(self._cards) <= _MOST_CATEGORIES

    def matrix(self, features: pd.DataFrame) -> FloatArray:
        """See :class:`Inputs`."""
        return np.asarray(self._form.transform(self._codes(features)), dtype=np.float64)

    def _codes(self, features: pd.DataFrame) -> Any:
        return _with_a_column(self._encoder.transform(features).codes)


def _with_a_column(matrix: Any) -> Any:
    """The matrix, or a constant column if no feature is left."""
    return matrix if matrix.shape[1] else np.zeros((len(matrix), 1), dtype=matrix.dtype)


RAW = "raw"

INPUTS: Mapping[str, Any] = {RAW: RawColumns, "states": States}
"""The kinds of inputs, by name."""
