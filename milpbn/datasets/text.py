"""Text files: from bytes to UTF-8, and from separated values to columns of strings."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from milpbn.clock import Checkpoint, column_by_column, no_checkpoint
from milpbn.datasets.arrow_csv import regular_columns
from milpbn.datasets.strings import MISSING_TOKENS, string_column
from milpbn.datasets.values import is_number
from milpbn.errors import DataError
from milpbn.words import quoted

__all__ = ["MISSING_TOKENS", "column_names", "detect_separator", "parse_csv", "to_utf8"]

SEPARATORS = (",", ";", "\t", "|")

# A column has decimal commas if at least this share of its values looks like it.
_DECIMAL_COMMA_SHARE = 0.95

_SAMPLE = 1 << 16
# Rows that are Python strings at the same time.
_SOME = 10_000
_CONTROL = bytes(code for code in (*range(0x20), 0x7F) if chr(code) not in "\t\n\v\f\r")
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?", re.ASCII)


def to_utf8(data: bytes, where: str) -> tuple[bytes, list[str]]:
    """The text of a file in UTF-8 without a byte order mark, and a note if it was not UTF-8."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise DataError(f"{where}: the text is in UTF-16; save it as UTF-8 and try again")
    if data.startswith(b"PK\x03\x04"):
        raise DataError(
            f"{where}: this is an Excel workbook or another zip file; save the table as CSV "
            f"(UTF-8) and try again"
        )
    notes = []
    try:
        if not data.isascii():
            data.decode("utf-8")
        data = data.removeprefix(codecs.BOM_UTF8)
    except UnicodeDecodeError:
        data = data.decode("latin-1").encode("utf-8")
        notes.append(
            f"{where}: the text is not UTF-8 and is read as Latin-1; "
            f"save it as UTF-8 if letters look wrong."
        )
    data = data.removesuffix(b"\x1a")  # the end mark of DOS files
    if len(data.translate(None, _CONTROL)) < len(data):
        first = min(at for code in _CONTROL if (at := data.find(code)) >= 0)
        line = data.count(b"\n", 0, first) + 1
        raise DataError(
            f"{where}: this is not a text file: line {line} has the control character "
            f"{chr(data[first])!r}; remove it if it got there by mistake. CSV, ARFF and Parquet "
            f"files can be read, plain or gzipped"
        )
    return data, notes


def parse_csv(
    data: bytes, where: str, checkpoint: Checkpoint = no_checkpoint
) -> tuple[pd.DataFrame, list[str]]:
    """Columns of strings, and notes about how they were read.

    Arrow reads regular files. All others, and those with an error, are read row by row, so that
    the message about an error names its line.
    """
    separator = detect_separator(data[: 4 * _SAMPLE + 4].decode("utf-8", errors="ignore"))
    rows = _rows(data, separator, where)
    header = next(rows, None)
    if header is None:
        raise DataError(f"{where}: the file is empty; the first line must hold column names")
    names = column_names(header[1], where)
    fields = regular_columns(data, separator, len(names))
    if fields is None:
        fields = _columns(_records(rows, len(names), where), len(names))
    if len(fields[0]) == 0:
        raise DataError(f"{where}: there are column names, but no rows below them")
    columns, with_commas = {}, []
    for j, name in enumerate(column_by_column(names, checkpoint)):
        values = string_column(fields[j])
        fields[j] = None  # frees memory: the next column takes as much
        if separator != "," and _has_decimal_commas(values):
            values = values.cat.rename_categories(_with_point)
            with_commas.append(name)
        columns[name] = values
    what = "columns" if len(with_commas) > 1 else "column"
    are = "are" if len(with_commas) > 1 else "is"
    note = f"{where}: {what} {quoted(with_commas)} {are} read with decimal commas."
    return pd.DataFrame(columns), [note] if with_commas else []


def detect_separator(text: str) -> str:
    r"""The separator that splits all lines of a sample into the same number of fields.

    If several do, the one that gives the most fields. If none does, the one that splits
    most lines like the header; the line that differs is reported later.

    Examples
    --------
    >>> detect_separator("weight, kg;size;class\n70,5;180,0;a\n65,0;170,5;b\n")
    ';'
    """
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        sample = sample[: sample.rfind("\n") + 1] or sample
    candidates = []
    for separator in SEPARATORS:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator)
        widths = [len(fields) for fields in reader if fields]  # too short for csv.Error
        if widths and widths[0] > 1:
            alike = widths.count(widths[0]) / len(widths)
            candidates.append((alike, widths[0], separator))
    # max returns the first of equal candidates, so the order of SEPARATORS breaks ties.
    return max(candidates, key=lambda candidate: candidate[:2], default=(1.0, 1, ","))[2]


MAX_COLUMNS = 100_000
"""Largest number of columns of a file; looking at one takes up to a millisecond."""


def column_names(header: Sequence[str], where: str) -> list[str]:
    """Stripped names, with ``column 3`` if the third one is blank; equal names are an error."""
    if len(header) > MAX_COLUMNS:
        raise DataError(
            f"{where}: there are {len(header)} columns; at most {MAX_COLUMNS} can be read, so "
            "choose columns first"
        )
    names = [name.strip() or f"column {j}" for j, name in enumerate(header, 1)]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(
            f"{where}: several columns are named {quoted(twice)}; "
            f"rename them so that each name occurs once"
        )
    return names


def _rows(data: bytes, separator: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """The last line number and the fields of each row; blank lines count after the header."""
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    started = False
    try:
        for fields in reader:
            started = started or bool(fields)
            if started:
                yield reader.line_num, fields
    except csv.Error as error:
        raise DataError(
            f"{where}: line {reader.line_num} cannot be read: {error}; look for an unclosed "
            f"quotation mark"
        ) from error


def _records(rows: Iterator[tuple[int, list[str]]], width: int, where: str) -> Iterator[list[str]]:
    """The fields of each row, which must be `width` many.

    Blank lines are skipped. In a file with one column, however, a blank line between rows
    is a missing value.
    """
    blank = 0
    for line, fields in rows:
        if not fields:
            blank += 1
            continue
        if width == 1:
            yield from [[""]] * blank
        blank = 0
        if len(fields) != width:
            raise DataError(
                f"{where}: line {line} has {len(fields)} fields, but there are {width} column "
                f"names; look for a missing or extra separator or quotation mark"
            )
        yield fields


def _columns(records: Iterator[list[str]], width: int) -> list[pa.ChunkedArray]:
    """Rows as columns of strings, some at a time: a list of all rows takes much more memory."""
    chunks: list[list[pa.Array]] = [[] for _ in range(width)]
    while some := list(islice(records, _SOME)):
        for column, values in zip(chunks, zip(*some, strict=True), strict=True):
            column.append(pa.array(values, pa.string()))
    return [pa.chunked_array(column, pa.string()) for column in chunks]


def _has_decimal_commas(values: pd.Series[Any]) -> bool:
    """Whether nearly all strings are numbers, some have a comma, and none has a point."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return False  # plain numbers
    texts, codes = values.cat.categories, values.cat.codes.to_numpy()
    times = np.bincount(codes[codes >= 0], minlength=len(texts))
    commas = sum(n for t, n in zip(texts, times, strict=True) if _COMMA_NUMBER.fullmatch(t))
    plain = [(t, n) for t, n in zip(texts, times, strict=True) if is_number(t)]
    return (
        commas > 0
        and not any("." in text for text, _ in plain)
        and commas + sum(n for _, n in plain) >= _DECIMAL_COMMA_SHARE * times.sum()
    )


def _with_point(value: str) -> str:
    return value.replace(",", ".") if _COMMA_NUMBER.fullmatch(value) else value
