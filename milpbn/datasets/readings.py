"""How a raw column is read when its values are not taken as they are.

A reading is decided once, on the rows to learn from, and stored with the model, so that rows to
predict are read in the same way from any file or frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from milpbn.datasets import moments
from milpbn.datasets.formats import parse_number, truth_of
from milpbn.datasets.values import show_value
from milpbn.errors import DataError
from milpbn.words import between_cuts

NUMBER, TRUTH, DATE, TIME, DURATION, CLASSES = (
    *("number", "truth", "date", "time", "duration", "classes"),
)


@dataclass(frozen=True)
class Reading:
    """How one column of a table is made from a raw column.

    Attributes
    ----------
    source
        The raw column.
    kind
        ``"number"``: numbers with a unit or separators; ``"truth"``: spellings of yes and no;
        ``"date"``: a part of a date; ``"time"``: hours since midnight; ``"duration"``: days;
        ``"classes"``: a numeric target, cut into classes.
    format
        The decimal mark of numbers, or the format of dates, as in ``strptime``.
    unit
        The unit of the numbers (``"$"``), or the part of the date (``"year"``); the text
        of the date if it is empty.
    cuts
        The cuts between classes.

    Examples
    --------
    >>> Reading("price", "number", ".", "$").apply(pd.Series(["$1,200.50", "$7", "7 EUR", None]))
    0    1200.5
    1       7.0
    2     7 EUR
    3       NaN
    dtype: object
    >>> Reading("day", "date", "%d.%m.%Y", "month").apply(pd.Series(["24.12.2021"])).tolist()
    [12.0]
    """

    source: str
    kind: str
    format: str = ""
    unit: str = ""
    cuts: tuple[float, ...] = ()

    def apply(self, values: pd.Series[Any]) -> pd.Series[Any]:
        """Read a raw column; a value that cannot be read, or has been read, stays as it is."""
        if self.kind == DATE and values.dtype.kind in "if":
            return values
        if self.kind == DATE:
            read = self._dates(moments.to_moments(values, self.format))
        else:
            read = self._by_value(values)
        odd = (read.isna() & values.notna()).to_numpy(dtype=bool)
        if not odd.any():
            return pd.Series(read, name=values.name)
        mixed = read.astype(object).to_numpy(copy=True)
        mixed[odd] = values.astype(object).to_numpy()[odd]
        return pd.Series(mixed, dtype=object, name=values.name)

    def _dates(self, when: pd.Series[Any]) -> pd.Series[Any]:
        if self.unit:
            return moments.part_of(when, self.unit)
        return moments.to_texts(when, self.format)

    def _by_value(self, values: pd.Series[Any]) -> pd.Series[Any]:
        """Read each distinct value once; what cannot be read is missing."""
        index, distinct = pd.factorize(values)
        read = [self._value(value) for value in distinct]
        text = self.kind in (TRUTH, CLASSES)
        kind = object if text else np.float64
        table = np.array([*read, None if text else np.nan], dtype=kind)
        return pd.Series(table[index], dtype=kind)

    def _value(self, value: object) -> Any:
        if self.kind == TIME:
            return moments.hours(value)
        if self.kind == DURATION:
            return moments.days(value)
        if self.kind == TRUTH:
            known = truth_of(value)
            return None if known is None else str(known)
        if self.kind == NUMBER and isinstance(value, Real | Decimal):
            return float(value)
        text = show_value(value) or ""
        number = parse_number(text, self.format or ".", self.unit)
        if self.kind == NUMBER:
            return number
        if np.isnan(number):
            return None
        labels = between_cuts(self.cuts)
        return labels[int(np.searchsorted(self.cuts, number, side="left"))]

    @property
    def measure(self) -> str:
        """What the numbers of the column count, for people; empty if there is nothing to add."""
        if self.kind == NUMBER:
            return self.unit
        if self.kind == DATE:
            return moments.MEASURES.get(self.unit, "")
        return {TIME: moments.MEASURES["time"], DURATION: "days"}.get(self.kind, "")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        return {k: list(v) if k == "cuts" else v for k, v in asdict(self).items() if v}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reading:
        """The inverse of :meth:`to_dict`."""
        told = dict(data)
        return cls(**{**told, "cuts": tuple(map(float, told.get("cuts", ())))})


def read_columns(frame: pd.DataFrame, readings: Mapping[str, Reading]) -> pd.DataFrame:
    """Raw columns as a model needs them; columns without a reading stay as they are."""
    made = {}
    for name, reading in readings.items():
        if reading.source not in frame.columns:
            raise DataError(f"there is no column {reading.source!r}, which the model needs")
        made[name] = reading.apply(frame[reading.source])
    sources = {reading.source for reading in readings.values()}
    kept = {str(c): frame[c] for c in frame.columns if c not in sources and c not in made}
    return pd.DataFrame({**kept, **made}, index=frame.index)
