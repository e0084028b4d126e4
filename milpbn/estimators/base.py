"""Shared by milpbn's scikit-learn classifiers: input validation, frames and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from milpbn._types import FloatArray
from milpbn.datasets.frames import as_pandas, frame_of
from milpbn.datasets.weights import check_weights
from milpbn.errors import DataError, DataWarning
from milpbn.estimators.notes import warn_caller
from milpbn.markup import folded
from milpbn.result import Result
from milpbn.words import quoted

Labels = TypeVar("Labels", npt.NDArray[Any], pd.DataFrame)


class TableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier for tables with numbers, categories and missing values."""

    categorical_features: str | Sequence[int] | Sequence[str]
    _columns_in: list[str] | None
    _needed: Sequence[str] | None = None
    """The columns that a model from a file needs; they are found by name, as on the command line.

    None after `fit`, which makes the columns those that scikit-learn expects.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _frame(self, X: Any, y: Any = "no_validation", *, reset: bool) -> pd.DataFrame:
        """Validate `X` (and a flat `y`) as scikit-learn does; columns keep their types."""
        X = as_pandas(X)
        _refuse_equal_names(X)
        self._needed = None if reset else self._needed
        if self._needed is not None and isinstance(X, pd.DataFrame):
            X = self._by_name(X)
        # As objects, columns of different types need no common type: there may be none.
        plain = not isinstance(X, pd.DataFrame) or all(t.kind in "biuf" for t in X.dtypes)
        given = X if plain else X.astype(object)
        checked = validate_data(
            self, given, y, reset=reset, dtype=None, ensure_all_finite="allow-nan"
        )
        array = checked[0] if isinstance(checked, tuple) else checked
        # scikit-learn has compared the names; an array after a frame goes by position.
        frame = frame_of(X, array, None if reset else self._columns_in)
        if reset:
            self._columns_in = list(frame.columns)
        return frame

    def _by_name(self, X: pd.DataFrame) -> pd.DataFrame:
        """The columns that scikit-learn expects; those that are absent are missing in every row."""
        assert self._needed is not None
        names = list(map(str, X.columns))
        absent = [name for name in self._needed if name not in names]
        if absent and len(absent) == len(self._needed):
            raise DataError(f"X: no column is named {quoted(absent)}; the model needs them")
        if absent:
            told = f"X: no column is named {quoted(absent)}; missing in every row"
            warn_caller(told, DataWarning)
        return X.set_axis(names, axis=1).reindex(columns=self._columns_in)

    def _repr_html_inner(self) -> str:
        return self._with_result(super()._repr_html_inner())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in shown:
            shown["text/html"] = self._with_result(shown["text/html"])
        return shown

    def _with_result(self, box: str) -> str:
        """scikit-learn's box for notebooks, with what was learned inside."""
        result: Result | None = getattr(self, "result_", None)
        if result is None:
            return box
        # The box ends with the container inside the outer element.
        end = box.rfind("</div></div>")
        inside = folded(f"learned: {result.status}", result._repr_html_())
        return f"{box[:end]}{inside}{box[end:]}" if end >= 0 else box + inside


def rows_with_weight(
    frame: pd.DataFrame, y: Labels, sample_weight: Any
) -> tuple[pd.DataFrame, Labels, FloatArray | None]:
    """The rows whose weight is not 0, their labels and their weights, if there are any."""
    if sample_weight is None:
        return frame, y, None
    weights = _check_sample_weight(sample_weight, frame, dtype=np.float64)
    check_weights(weights, weights, "sample_weight")
    used = weights > 0
    return frame[used].reset_index(drop=True), y[used], weights[used]


def _refuse_equal_names(X: Any) -> None:
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()].unique()
        raise DataError(
            f"X: several columns are named {quoted(map(str, twice))}; rename them so that each "
            "name occurs once"
        )


def refuse_missing_labels(name: str, values: npt.NDArray[Any]) -> None:
    """Raise an error if a label is missing."""
    gaps = np.flatnonzero(pd.isna(values))
    if len(gaps):
        more = f" and {len(gaps) - 1} more" if len(gaps) > 1 else ""
        raise DataError(
            f"the class variable {name!r} is missing (NaN) in row {gaps[0] + 1}{more}; leave out "
            "rows without a label"
        )


def encode_labels(
    name: str, values: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """The sorted labels of a class variable, and the position of each row's label."""
    refuse_missing_labels(name, values)
    try:
        classes, index = np.unique(values, return_inverse=True)
    except TypeError:
        raise DataError(f"the class variable {name!r} mixes strings and numbers") from None
    check_classification_targets(values)
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise DataError(
            f"the class variable {name!r} has only one class ({only!r}); two are needed"
        )
    return classes, index
