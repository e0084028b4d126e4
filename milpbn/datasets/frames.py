"""The features that a scikit-learn estimator receives: a frame, and its categorical columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt
import pandas as pd

from milpbn.datasets.values import show_value
from milpbn.errors import OptionError


def frame_of(X: Any, checked: npt.NDArray[Any]) -> pd.DataFrame:
    """`X` as a frame: a frame keeps its types, the columns of an array are x0, x1, ...

    `checked` is the array that scikit-learn's validation returned for `X`.
    """
    if isinstance(X, pd.DataFrame):
        frame = X.reset_index(drop=True)
        frame.columns = pd.Index([str(c) for c in frame.columns])
        return frame
    frame = pd.DataFrame(checked, columns=[f"x{j}" for j in range(checked.shape[1])])
    return frame.infer_objects()


def categorical_columns(
    frame: pd.DataFrame, chosen: str | Sequence[int] | Sequence[str]
) -> set[str]:
    """The columns that are categories: by their dtype, or those chosen by position or name.

    Examples
    --------
    >>> categorical_columns(pd.DataFrame({"a": [1.5], "b": ["x"]}), "from_dtype")
    {'b'}
    """
    names = list(map(str, frame.columns))
    if isinstance(chosen, str):
        if chosen != "from_dtype":
            raise OptionError(
                f"categorical_features must be 'from_dtype' or a list of columns, not {chosen!r}"
            )
        numbers = [pd.api.types.is_numeric_dtype(t) for t in frame.dtypes]
        truth = [pd.api.types.is_bool_dtype(t) for t in frame.dtypes]
        return {c for c, n, b in zip(names, numbers, truth, strict=True) if b or not n}
    found = set()
    for c in chosen:
        known = c in names if isinstance(c, str) else -len(names) <= c < len(names)
        if not known:
            raise OptionError(f"categorical_features: there is no column {c!r}")
        found.add(c if isinstance(c, str) else names[c])
    return found


def texts(values: pd.Series[Any]) -> pd.Series[Any]:
    """A column of categories as strings, with None for missing values."""
    shown = [None if pd.isna(v) else show_value(v) for v in values]
    return pd.Series(shown, dtype=object, name=values.name)
