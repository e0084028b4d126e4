"""Dates, times of day and durations: which columns hold them, and the numbers in them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

PARTS = ("year", "month", "weekday", "time")
"""The parts of a date: the year with its elapsed fraction, 1 to 12, 1 (Monday) to 7, hours."""

MEASURES = {"weekday": "1 = Monday, 7 = Sunday", "time": "hours since midnight"}
"""What the numbers of a part mean, where its name does not say it."""

_DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y"),
    *("%m-%d-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y"),
    *("%d-%b-%Y", "%d-%b-%y", "%m/%d/%y", "%d/%m/%y", "%Y-%m", "%a, %d %b %Y"),
)
_CLOCKS = ("", "%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
# What follows the minutes: fractions of a second and a time zone, which are left out.
_CLOCK_TAIL = re.compile(
    r"(?P<kept>.*?\d:\d\d(?::\d\d)?)(?:[.,]\d+)?(?P<half>\s*[AaPp][Mm])?"
    r"\s*(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
_T = re.compile(r"(\d)T(\d)", re.ASCII)
# A date has two digits with a separator between them, and at most this many characters.
_LIKE_A_DATE = re.compile(r"(?=.{6,40}$).*\d.*[-/., :].*\d.*", re.ASCII)
_TIME = re.compile(r"(\d{1,2}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(?:\s*([AaPp])[Mm])?", re.ASCII)
_LETTERS = {"%Y": "YYYY", "%y": "YY", "%m": "MM", "%d": "DD", "%b": "Mon", "%B": "Month"}


def typed_kind(values: pd.Series[Any]) -> str | None:
    """``"date"``, ``"time"`` or ``"duration"`` if the type of the column says so."""
    if values.dtype.kind in "Mm":
        return "date" if values.dtype.kind == "M" else "duration"
    if values.dtype != object:
        return None
    kind = pd.api.types.infer_dtype(values, skipna=True)
    return {
        "datetime": "date",
        "datetime64": "date",
        "date": "date",
        "time": "time",
        "timedelta": "duration",
        "timedelta64": "duration",
    }.get(kind)


def are_times(texts: Sequence[str], share: float) -> bool:
    """Whether at least this share of the strings are times of day."""
    return all(
        np.mean([not np.isnan(hours(text)) for text in part]) >= least
        for part, least in ((texts[:50], share / 2), (texts, share))
    )


def date_format(texts: Sequence[str], share: float) -> str | None:
    """The format in which most of the strings are dates; None unless this share of them are.

    Examples
    --------
    >>> date_format(["24.12.2021", "1.3.2022"], 1.0), date_format(["24.12"], 1.0)
    ('%d.%m.%Y', None)
    >>> date_format(["2021-12-24T15:19:00Z"], 1.0)
    '%Y-%m-%d %H:%M:%S'
    """
    sample = pd.Series([_plain(text) for text in texts[:50]], dtype=object)
    if sum(_LIKE_A_DATE.fullmatch(text) is not None for text in sample) < share * len(sample) / 2:
        return None
    likely = [
        form
        for day in _DAYS
        for clock in _CLOCKS
        if _parses(sample, form := f"{day} {clock}".strip()) >= min(share, 0.5)
    ]
    plain = pd.Series([_plain(text) for text in texts], dtype=object)
    shares = {form: _parses(plain, form) for form in likely}
    best = max(shares, key=shares.__getitem__, default=None)  # the first of equal ones
    return best if best is not None and shares[best] >= share else None


def show_format(form: str) -> str:
    """A format as people write it.

    Examples
    --------
    >>> show_format("%d/%m/%Y %H:%M")
    'DD/MM/YYYY'
    """
    day = form.partition(" %H")[0].partition(" %I")[0]
    return re.sub(r"%\w", lambda m: _LETTERS.get(m[0], m[0]), day)


def to_moments(values: pd.Series[Any], form: str) -> pd.Series[Any]:
    """A column as moments without a time zone; NaT for what is missing or not a date.

    Strings are read in the given format, or else as ISO 8601 dates.
    """
    if values.dtype.kind == "M":
        return pd.Series(values.dt.tz_localize(None), name=values.name)
    index, distinct = pd.factorize(values)
    typed = [isinstance(value, dt.date | np.datetime64) for value in distinct]
    plain = pd.Series([_plain(str(value)) for value in distinct], dtype=object)
    parsed = _parsed(plain, form) if form else np.full(len(plain), np.datetime64("NaT", "us"))
    odd = np.isnat(parsed)
    parsed[odd] = _parsed(plain[odd], "ISO8601")
    for j in np.flatnonzero(typed):
        moment: Any = pd.Timestamp(distinct[int(j)])
        parsed[j] = moment.tz_localize(None).to_datetime64()
    parsed = np.append(parsed, np.datetime64("NaT"))
    return pd.Series(parsed[index], name=values.name)


def part_of(moments: pd.Series[Any], part: str) -> pd.Series[Any]:
    """One part of each moment as a number.

    Examples
    --------
    >>> moments = pd.Series(pd.to_datetime(["2021-07-02 12:00", "2024-01-01 00:00"]))
    >>> [part_of(moments, part).tolist() for part in PARTS]
    [[2021.5, 2024.0], [7.0, 1.0], [5.0, 1.0], [12.0, 0.0]]
    """
    when = moments.dt
    clock = when.hour + when.minute / 60 + when.second / 3600
    if part == "year":
        days = 365 + when.is_leap_year.astype(float)
        return pd.Series(when.year + (when.day_of_year - 1 + clock / 24) / days)
    if part == "month":
        return pd.Series(when.month.astype(float))
    if part == "weekday":
        return pd.Series(when.day_of_week + 1.0)
    if part == "time":
        return pd.Series(clock.astype(float))
    raise ValueError(f"a date has no part {part!r}")


def text_format(values: pd.Series[Any]) -> str:
    """The format that writes dates as strings, with the time of day if some have one."""
    moments = to_moments(values, "").dropna()
    return "%Y-%m-%d" if (moments == moments.dt.normalize()).all() else "%Y-%m-%d %H:%M:%S"


def to_texts(moments: pd.Series[Any], form: str) -> pd.Series[Any]:
    """Moments as strings, None for missing ones."""
    texts: pd.Series[Any] = moments.dt.strftime(form).astype(object)
    return texts.where(moments.notna(), None)


def hours(value: object) -> float:
    """Hours since midnight of a time of day; NaN if it is none.

    Examples
    --------
    >>> hours("15:45"), hours("3:45 PM"), hours("25:00")
    (15.75, 15.75, nan)
    """
    if isinstance(value, dt.time):
        return value.hour + value.minute / 60 + (value.second + value.microsecond / 1e6) / 3600
    match = _TIME.fullmatch(str(value).strip())
    if match is None:
        return np.nan
    hour, half = int(match[1]), (match[4] or "").lower()
    if hour > 23 or (half and not 1 <= hour <= 12):
        return np.nan
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    return hour + int(match[2]) / 60 + float(match[3] or 0) / 3600


def days(value: object) -> float:
    """A duration in days; NaN if it is none."""
    if isinstance(value, dt.timedelta | np.timedelta64):
        return float(pd.Timedelta(value) / pd.Timedelta(days=1))
    return np.nan


def _plain(text: str) -> str:
    """A date as the formats have it: without fractions of a second and without a time zone."""
    text = _T.sub(r"\1 \2", text.strip())
    match = _CLOCK_TAIL.fullmatch(text)
    return f"{match['kept']}{(match['half'] or '').upper()}" if match else text


def _parsed(texts: pd.Series[Any], form: str) -> Any:
    parsed = pd.to_datetime(texts, format=form, errors="coerce")
    return parsed.to_numpy(dtype="datetime64[us]", copy=True)


def _parses(texts: pd.Series[Any], form: str) -> float:
    return float(np.mean(~np.isnat(_parsed(texts, form)))) if len(texts) else 0.0
