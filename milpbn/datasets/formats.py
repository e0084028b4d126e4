"""Strings that stand for a number or a truth value: units, separators, spellings."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from milpbn.datasets.values import is_number

_SYMBOLS = (
    r"(?:US|CA|AU|NZ|HK|R)?\$|[€£¥₹₽₩₺₴฿]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK)"
)
# A unit is a word of letters ("kg", "km/h", "m2"), a percent sign or a degree.
_UNIT = rf"{_SYMBOLS}|%|‰|°\s?[CFK]?|[^\W\d_]{{1,12}}(?:/[^\W\d_]{{1,6}})?[23²³]?"
_DECORATED = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>{_SYMBOLS})?\s?(?P<inner>[+-]?)"
    rf"(?P<body>[.\d](?:[\d.,'\u2019\s]*\d)?\.?)\s?(?P<after>{_UNIT})?"
)
_SPACES = r" '\u2019\u00a0\u202f"
_BODIES = {
    ".": re.compile(rf"(?:\d{{1,3}}(?:[,{_SPACES}]\d{{3}})+|\d+)(?:\.\d*)?|\.\d+", re.ASCII),
    ",": re.compile(rf"(?:\d{{1,3}}(?:[.{_SPACES}]\d{{3}})+|\d+)(?:,\d+)?", re.ASCII),
}
_SAMPLED = 100
# Shown in notes: what a number with this decimal mark looks like.
_SAMPLE = {".": "1,234.5", ",": "1.234,5"}

_TRUE = frozenset({"true", "yes", "y", "t", "on", "1"})
_FALSE = frozenset({"false", "no", "n", "f", "off", "0"})


@dataclass(frozen=True)
class NumberFormat:
    """The decimal mark and the unit that the numbers of a column share."""

    mark: str
    unit: str

    def __str__(self) -> str:
        separators = f"separators as in {_SAMPLE[self.mark]}"
        return f"unit {self.unit}" if self.unit else separators


def spell_truth(values: Iterable[object]) -> bool:
    """Whether the values are several spellings of yes and no.

    Single letters alone must be those of one pair: f, n and y may well be three categories.

    Examples
    --------
    >>> [spell_truth(v) for v in (["yes", "Y", "no"], ["y", "Y", "N"], ["f", "n", "y"], ["f", "n"])]
    [True, True, False, False]
    """
    values = list(values)
    if any(truth_of(value) is None for value in values):
        return False  # most columns end here, at their first value
    words = {_word(value) for value in values}
    known = {truth_of(value) for value in values}
    one_pair = words <= {"y", "n"} or words <= {"t", "f"} or any(len(word) > 1 for word in words)
    return known == {True, False} and len(values) > 2 and one_pair


def truth_of(value: object) -> bool | None:
    """The truth value that a string, a number or a Boolean spells.

    Examples
    --------
    >>> [truth_of(value) for value in ("Yes", "F", True, 0, "maybe")]
    [True, False, True, False, None]
    """
    word = _word(value)
    return True if word in _TRUE else False if word in _FALSE else None


def _word(value: object) -> str:
    return str(value).strip().lower().removesuffix(".0")


def parse_number(text: str, mark: str, unit: str) -> float:
    """A number with this decimal mark, with or without this unit; NaN for anything else.

    Examples
    --------
    >>> parse_number("-$1,200.50", ".", "$"), parse_number("55,2 %", ",", "%")
    (-1200.5, 55.2)
    >>> parse_number("12 kg", ".", "g")
    nan
    """
    text = text.strip()
    if mark == "." and is_number(text):
        number = float(text)
        return number if math.isfinite(number) else math.nan
    found = _split(text)
    if found is None or found[1] not in ("", unit) or not _BODIES[mark].fullmatch(found[0][1]):
        return math.nan
    sign, body = found[0]
    digits = re.sub(rf"[{_SPACES}{',' if mark == '.' else '.'}]", "", body).replace(mark, ".")
    return -float(digits) if sign == "-" else float(digits)


def number_format(texts: Iterable[str], share: float = 1.0) -> NumberFormat | None:
    """The format in which at least this share of the strings are numbers; None if there is none.

    Two units in one column are no format: the numbers could not be compared. Nor is a unit that
    only a few values have; but with a share of 0, the best format is taken in any case.

    Examples
    --------
    >>> number_format(["$1,200.50", "$7"]), number_format(["1.200,50", "7"])
    (NumberFormat(mark='.', unit='$'), NumberFormat(mark=',', unit=''))
    >>> number_format(["12 kg", "500 g"]), number_format(["1st", "2nd"])
    (None, None)
    """
    texts = list(texts)
    sample = texts[:_SAMPLED]
    if sum(_split(text.strip()) is not None for text in sample) < share * len(sample) / 2:
        return None  # most columns of words end here
    units = Counter(found[1] for text in texts if (found := _split(text.strip())))
    plain = units.pop("", 0)
    if len(units) > 1 and share == 1.0:
        return None
    if plain > units.total() > 0 and share > 0:
        return None  # as in 2, 3, 4, 5more
    candidates = [NumberFormat(mark, unit) for unit in sorted(units) or [""] for mark in _BODIES]
    best, most = None, 0
    for candidate in candidates:
        parsed = np.isfinite([parse_number(t, candidate.mark, candidate.unit) for t in texts])
        if (hits := int(parsed.sum())) > most:
            best, most = candidate, hits
    return best if most and most >= share * len(texts) else None


def _split(text: str) -> tuple[tuple[str, str], str] | None:
    """The sign and the digits of a number, and its unit."""
    match = _DECORATED.fullmatch(text)
    if match is None or (match["sign"] and match["inner"]):
        return None
    unit = " ".join(part for part in (match["before"], match["after"]) if part)
    return (match["sign"] or match["inner"], match["body"].strip()), unit
