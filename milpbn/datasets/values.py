"""Single values: which strings are numbers, and how a value is written as a state."""

from __future__ import annotations

import re
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.datasets.strings import MISSING_TOKENS, arrow_numbers, is_arrow_text

# float() would also accept "inf", "nan", "1_000" and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

_BLANK = ("", "nan")

# A float may not hold a longer number exactly as it is written.
_EXACT = 15


def is_number(text: str) -> bool:
    """Whether a text is a decimal number.

    Examples
    --------
    >>> [is_number(text) for text in ("-1.5e3", ".5", "1,5", "inf", "")]
    [True, True, False, False, False]
    """
    return _NUMBER.fullmatch(text) is not None


def show_number(number: float) -> str:
    """A number as the name of a state: integers without a point.

    Examples
    --------
    >>> show_number(2.0), show_number(2.5)
    ('2', '2.5')
    """
    integral = float(number).is_integer() and abs(number) < 10**_EXACT
    return str(int(number)) if integral else repr(float(number))


def show_text(text: str) -> str:
    """A text as the name of a state; 1, 1.0 and 01 are the same number and the same state.

    Examples
    --------
    >>> show_text("1.0"), show_text("01"), show_text("one")
    ('1', '1', 'one')
    """
    return show_number(float(text)) if len(text) <= _EXACT and is_number(text) else text


def show_value(value: object) -> str | None:
    """Any scalar as the name of a state; None if it is not a text, a number or a Boolean."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real | Decimal):
        return show_number(float(value))
    return None


def holds_numbers(values: pd.Series[Any]) -> bool:
    """Whether the type of a column is a number, or its objects are all numbers."""
    if values.dtype == object:
        kind = pd.api.types.infer_dtype(values, skipna=True)
        return kind in ("integer", "floating", "mixed-integer-float", "decimal")
    return values.dtype.kind in "iuf"


def unusable(values: pd.Series[Any]) -> pd.Series[Any]:
    """The values that are not finite numbers, strings or Booleans."""
    kind = values.dtype.kind
    if is_arrow_text(values):
        return values.iloc[:0]
    if isinstance(values.dtype, pd.CategoricalDtype):
        odd = [c for c in values.cat.categories if not _is_finite_scalar(c)]
        return values[values.isin(odd)] if odd else values.iloc[:0]
    if kind == "O":  # objects, and what pandas stores like them: strings
        if pd.api.types.infer_dtype(values, skipna=True) in ("string", "boolean"):
            return values.iloc[:0]
        present = values[values.notna()]
        usable = [_is_finite_scalar(value) for value in present]
        return present[~np.array(usable, dtype=bool)]
    if kind in "biuf":
        return values[np.isinf(to_numbers(values))]
    return values


def _is_finite_scalar(value: object) -> bool:
    return isinstance(value, str) or (show_value(value) not in (None, "inf", "-inf"))


def to_numbers(values: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """A column as numbers; NaN for values that are missing or not numbers."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    if is_arrow_text(values) and (found := arrow_numbers(values)) is not None:
        found[np.isinf(found)] = np.nan
        return found
    index, distinct = pd.factorize(values)
    shown = (show_value(value) or "" for value in distinct)
    numbers = np.array([float(text) if is_number(text) else np.nan for text in shown] + [np.nan])
    numbers[np.isinf(numbers)] = np.nan  # 1e999 is too large for a float
    return numbers[index]  # a missing value has the code -1, which selects the last number


def without_tokens(values: pd.Series[Any]) -> pd.Series[Any]:
    """The column as a CSV file would give it: missing values are missing, no blanks around strings.

    A column of strings that are numbers, besides the tokens ``?`` or ``NA``, is one of numbers:
    the tokens made it one of strings.

    Examples
    --------
    >>> without_tokens(pd.Series(["1.5", "?", "2"])).tolist()
    [1.5, nan, 2.0]
    >>> without_tokens(pd.Series([" red", "", "red", "NA"])).dropna().tolist()
    ['red', 'red']
    """
    if values.dtype.kind != "O":  # strings, objects and categories
        return values
    try:
        strings = [v for v in values.dropna().unique() if isinstance(v, str)]
    except TypeError:  # lists and the like, which nothing here can read
        return values
    tokens = [v for v in strings if v.strip() in MISSING_TOKENS]
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.remove_categories(tokens) if tokens else values
    padded = {v: v.strip() for v in strings if v != v.strip()}
    if not tokens and not padded:
        return values
    kept = values.astype(object).mask(values.isin(tokens), None)
    kept = kept.map(lambda v: padded.get(v, v)) if padded else kept
    if any(v.strip() not in _BLANK for v in tokens) and kept.notna().any():
        numbers = to_numbers(kept)
        if np.isfinite(numbers).sum() == kept.notna().sum():
            return pd.Series(numbers, index=values.index, name=values.name)
    return kept
