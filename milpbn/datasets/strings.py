"""Columns of strings from files without types, stored so that large ones stay small and quick.

A column in which every string is a plain number keeps its strings in Arrow's memory: they are
converted at once, and no string becomes a Python object. Any other column is a Categorical, so
that rules about its values look at each distinct string once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

# "None" is not one of them: it is an answer in many surveys.
MISSING_TOKENS = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"})

# Most columns that are not numbers, or have blanks around them, show it in this many rows.
_HEAD = 100


def string_column(values: pa.ChunkedArray) -> pd.Series[Any]:
    """Strings without surrounding blanks; tokens for missing values are missing.

    Examples
    --------
    >>> string_column(pa.chunked_array([["1.50", "2"], [None]])).tolist()
    ['1.50', '2', <NA>]
    >>> string_column(pa.chunked_array([["red", " NA"], [" red "]])).tolist()
    ['red', nan, 'red']
    """
    values = _trimmed(values)
    numbers = parse_numbers(values)
    if numbers is not None and int(np.isfinite(numbers).sum()) == len(values) - values.null_count:
        return pd.Series(pd.arrays.ArrowExtensionArray(values))
    encoded = values.combine_chunks().dictionary_encode()
    texts = [text.strip() for text in encoded.dictionary.to_pylist()]
    codes: dict[str, int] = {}
    by_text = [-1 if t in MISSING_TOKENS else codes.setdefault(t, len(codes)) for t in texts]
    index = encoded.indices.fill_null(len(texts)).to_numpy()
    column = pd.Categorical.from_codes(
        np.array([*by_text, -1])[index], categories=pd.Index(list(codes), dtype=object)
    )
    return pd.Series(column)


def parse_numbers(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.float64] | None:
    """The strings as numbers, NaN for null; None unless all of them can be converted.

    Arrow also converts ``inf`` and ``nan``, and nothing else that is not a number to us.
    """
    try:
        values.slice(0, _HEAD).cast(pa.float64())
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return np.array(numbers, dtype=np.float64)  # a copy, which may be changed


def is_arrow_text(values: pd.Series[Any]) -> bool:
    """Whether the strings of a column are stored by Arrow."""
    dtype = values.dtype
    return isinstance(dtype, pd.ArrowDtype) and pa.types.is_string(dtype.pyarrow_dtype)


def arrow_numbers(values: pd.Series[Any]) -> npt.NDArray[np.float64] | None:
    """The numbers of a column whose strings are stored by Arrow, as :func:`parse_numbers`."""
    return parse_numbers(pa.array(values.array))


def with_objects(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with Python strings, ``None`` for missing, in place of Arrow's and Categoricals."""
    columns = {str(name): _objects(frame[name]) for name in frame.columns}
    return pd.DataFrame(columns, index=frame.index, columns=frame.columns)


def _objects(values: pd.Series[Any]) -> pd.Series[Any]:
    if is_arrow_text(values):
        texts = pa.array(values.array).to_numpy(zero_copy_only=False)
        return pd.Series(texts, dtype=object)
    if isinstance(values.dtype, pd.CategoricalDtype):
        texts = np.array([*values.cat.categories, None], dtype=object)
        return pd.Series(texts[values.cat.codes], dtype=object)
    return values


def _trimmed(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The strings without blanks around them and with tokens as nulls, if there are such blanks."""
    head = values.slice(0, _HEAD)
    if pc.ascii_trim_whitespace(head).equals(head):
        return values
    trimmed = pc.ascii_trim_whitespace(values)
    missing = pc.is_in(trimmed, value_set=pa.array(sorted(MISSING_TOKENS)))
    return pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
