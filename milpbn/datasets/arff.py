"""ARFF files with numeric, nominal, string and date attributes.

SciPy's reader detects the quotation mark in the first data row only and does not report
line numbers, so that common files fail without a hint. Hence this reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from milpbn.datasets.text import column_names
from milpbn.datasets.values import is_number
from milpbn.errors import DataError

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_FIELD = re.compile(rf"[ \t]*({_QUOTED}|[^,'\"][^,]*|)[ \t]*(,|$)")
_NUMERIC_TYPES = ("numeric", "real", "integer")
# A date may be followed by its format, but the values themselves show it.
_TEXT_TYPE = re.compile(rf"string|date(?:\s+(?:{_QUOTED}|\S+))?", re.IGNORECASE)


@dataclass(frozen=True)
class _Attribute:
    name: str
    numeric: bool
    states: tuple[str, ...] = ()  # of a nominal attribute; a string has none


def parse_arff(text: str, where: str) -> tuple[pd.DataFrame, dict[str, tuple[str, ...]]]:
    """The columns of an ARFF file, and the declared states of the nominal ones."""
    lines = _content_lines(text)
    attributes = _parse_header(lines, where)
    names = column_names([attribute.name for attribute in attributes], where)
    rows = [_parse_row(line, number, attributes, where) for number, line in lines]
    if not attributes or not rows:
        what = "rows after @data" if attributes else "@attribute lines"
        raise DataError(f"{where}: the ARFF file has no {what}")
    columns = {}
    for name, attribute, values in zip(names, attributes, zip(*rows, strict=True), strict=True):
        dtype = np.float64 if attribute.numeric else object
        columns[name] = pd.Series(values, dtype=dtype)
    states = {name: a.states for name, a in zip(names, attributes, strict=True) if a.states}
    return pd.DataFrame(columns), states


def _content_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines, without blank lines and comments."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


def _parse_header(lines: Iterator[tuple[int, str]], where: str) -> list[_Attribute]:
    """The attributes; leaves `lines` at the first data row."""
    attributes: list[_Attribute] = []
    for number, line in lines:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@data":
            return attributes
        if keyword.startswith("@attribute"):
            attributes.append(_parse_attribute(line, number, where))
        elif keyword != "@relation":
            raise DataError(f"{where}: cannot read line {number} of the ARFF header: {line[:60]!r}")
    raise DataError(f"{where}: the ARFF file has no @data line")


def _parse_attribute(line: str, number: int, where: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise DataError(f"{where}: line {number}: cannot read the attribute {line[:60]!r}")
    name, kind = _unquote(match[1]), match[2].strip()
    if kind.lower() in _NUMERIC_TYPES:
        return _Attribute(name, numeric=True)
    if _TEXT_TYPE.fullmatch(kind):
        return _Attribute(name, numeric=False)
    if not kind.startswith("{"):
        raise DataError(
            f"{where}: line {number}: attribute {name!r} has the type {kind[:40]!r}, but only "
            f"numeric, nominal, string and date attributes can be read; remove it or list its "
            f"values in braces"
        )
    fields = _split_fields(kind[1:-1]) if kind.endswith("}") else None
    if fields is None or "" in fields:
        raise DataError(
            f"{where}: line {number}: the values of attribute {name!r} must be on one line, "
            f"in braces, separated by commas"
        )
    return _Attribute(name, False, tuple(dict.fromkeys(map(_unquote, fields))))


def _parse_row(
    line: str, number: int, attributes: list[_Attribute], where: str
) -> list[float | str | None]:
    if line.startswith("{"):
        raise DataError(f"{where}: line {number}: sparse ARFF rows are not supported; use CSV")
    if "," not in line:
        line = line.replace("\t", ",")
    fields = _split_fields(line)
    if fields is None:
        raise DataError(f"{where}: cannot read line {number}; look for an unclosed quotation mark")
    if len(fields) != len(attributes):
        raise DataError(
            f"{where}: line {number} has {len(fields)} fields, but there are "
            f"{len(attributes)} attributes"
        )
    return [
        _parse_value(field, attribute, f"{where}: line {number}")
        for field, attribute in zip(fields, attributes, strict=True)
    ]


def _parse_value(field: str, attribute: _Attribute, where: str) -> float | str | None:
    if field == "?":
        return None
    value = _unquote(field)
    if attribute.numeric:
        if not is_number(value):
            raise DataError(
                f"{where}: {value!r} is not a number, but {attribute.name!r} is numeric"
            )
        return float(value)
    if attribute.states and value not in attribute.states:
        raise DataError(f"{where}: {value!r} is not a declared value of {attribute.name!r}")
    return value


def _split_fields(line: str) -> list[str] | None:
    """The fields of a line, still quoted; None if a quotation mark is not closed."""
    fields = []
    position = 0
    while match := _FIELD.match(line, position):
        fields.append(match[1].strip())
        if not match[2]:
            return fields
        position = match.end()
    return None


def _unquote(field: str) -> str:
    if len(field) > 1 and field[0] in "'\"" and field[-1] == field[0]:
        return re.sub(r"\\(.)", r"\1", field[1:-1])
    return field
