"""Text files: from bytes to text, and from separated values to columns of strings."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from milpbn.datasets.values import is_number
from milpbn.errors import DataError
from milpbn.words import quoted

SEPARATORS = (",", ";", "\t", "|")

# "None" is not one of them: it is an answer in many surveys.
MISSING_TOKENS = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"})

# A column has decimal commas if at least this share of its values looks like it.
_DECIMAL_COMMA_SHARE = 0.95

_SAMPLE = 1 << 16
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?", re.ASCII)


def decode(data: bytes, where: str) -> tuple[str, list[str]]:
    """The text of a file and a note if it is not UTF-8."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{where}: the text is in UTF-16; save it as UTF-8 and try again")
    notes = []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        notes.append(
            f"{where}: the text is not UTF-8 and is read as Latin-1; "
            f"save it as UTF-8 if letters look wrong."
        )
    text = text.removesuffix("\x1a")  # the end mark of DOS files
    if _CONTROL.search(text):
        raise DataError(
            f"{where}: this is not a text file (it holds NUL or control characters); "
            f"CSV, ARFF and Parquet files can be read, plain or gzipped"
        )
    return text, notes


def parse_csv(text: str, where: str) -> tuple[pd.DataFrame, list[str]]:
    """Columns of strings, ``None`` for missing, and notes about how they were read."""
    separator = detect_separator(text)
    rows = _rows(text, separator, where)
    header = next(rows, None)
    if header is None:
        raise DataError(f"{where}: the file is empty; the first line must hold column names")
    names = column_names(header[1], where)
    records = list(_records(rows, len(names), where))
    if not records:
        raise DataError(f"{where}: there are column names, but no rows below them")
    with_commas: list[str] = []
    columns = {}
    for name, fields in zip(names, zip(*records, strict=True), strict=True):
        values = [None if (value := f.strip()) in MISSING_TOKENS else value for f in fields]
        if separator != "," and _has_decimal_commas(values):
            values = [_with_point(value) for value in values]
            with_commas.append(name)
        columns[name] = pd.Series(values, dtype=object)
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
        try:
            widths = [len(fields) for fields in reader if fields]
        except csv.Error:
            continue
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


def _rows(text: str, separator: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """The last line number and the fields of each row; blank lines count after the header."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True
    )
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


def _has_decimal_commas(values: Sequence[str | None]) -> bool:
    """Whether nearly all strings are numbers, some have a comma, and none has a point."""
    known = [value for value in values if value is not None]
    commas = sum(_COMMA_NUMBER.fullmatch(value) is not None for value in known)
    plain = [value for value in known if is_number(value)]
    return (
        commas > 0
        and not any("." in value for value in plain)
        and commas + len(plain) >= _DECIMAL_COMMA_SHARE * len(known)
    )


def _with_point(value: str | None) -> str | None:
    return value.replace(",", ".") if value and _COMMA_NUMBER.fullmatch(value) else value
