"""Separated values read by Arrow, for files in which its rules and those of milpbn agree."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyarrow import csv

from milpbn.datasets.strings import MISSING_TOKENS

# A row must fit into a block; threads share the blocks. Arrow counts its bytes in 32 bits.
_BLOCK, _LARGEST_BLOCK = 1 << 22, 1 << 30
_QUOTE, _LINE_ENDS = ord('"'), b"\r\n"


def regular_columns(data: bytes, separator: str, width: int) -> list[pa.ChunkedArray] | None:
    r"""The columns of a regular file as strings, without the row of column names.

    A file is regular if it has several columns, every row has `width` fields, and quotation
    marks are only around whole fields, or doubled in them. Fields that are exactly a token for a
    missing value are null.

    Parameters
    ----------
    data
        UTF-8 text.
    separator
        The separator of the fields.
    width
        The number of fields of the first row.

    Returns
    -------
    list of ChunkedArray or None
        None if the file is not regular.

    Examples
    --------
    >>> columns = regular_columns(b'a,b\n1,"x, y"\n?,z\n', ",", 2)
    >>> [column.to_pylist() for column in columns]
    [['1', None], ['x, y', 'z']]
    >>> regular_columns(b'a,b\n1,2,3\n', ",", 2) is None
    True
    """
    if width < 2 or not _quotes_are_regular(data, separator):
        return None
    names = [f"f{j}" for j in range(width)]
    block = min(max(_BLOCK, 16 * (data.find(b"\n") + 1)), _LARGEST_BLOCK)
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=names, block_size=block),
            csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in data),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=sorted(MISSING_TOKENS),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.slice(1) for column in table.columns]


def _quotes_are_regular(data: bytes, separator: str) -> bool:
    """Whether quotation marks only open and close fields, or are doubled inside of them.

    Of all quotation marks, the first, third, ... must follow a separator, a line end or the mark
    before, and the second, fourth, ... must be followed by one of these.
    """
    if b'"' not in data:
        return True
    bytes_ = np.frombuffer(data, dtype=np.uint8)
    at_edge = np.zeros(256, dtype=bool)
    at_edge[[_QUOTE, ord(separator), *_LINE_ENDS]] = True
    closing = 0  # 1 if the next mark closes a field
    for start in range(0, len(data), _BLOCK):
        marks = start + np.flatnonzero(bytes_[start : start + _BLOCK] == _QUOTE)
        opens, closes = marks[closing::2], marks[1 - closing :: 2]
        before = opens[opens > 0] - 1
        after = closes[closes < len(data) - 1] + 1
        if not (at_edge[bytes_[before]].all() and at_edge[bytes_[after]].all()):
            return False
        closing = (closing + len(marks)) % 2
    return closing == 0
