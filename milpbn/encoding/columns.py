"""How one raw column becomes state codes, and the names of its states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import Codes
from milpbn.errors import DataError
from milpbn.words import between_cuts

NUMERIC = "numeric"
CATEGORICAL = "categorical"

UNKNOWN = -1  # the code of a value that has no state
_MISSING, _UNSEEN = -1, -2  # distinguished inside this module only


@dataclass(frozen=True)
class Variable:
    """A discrete variable of the model.

    Attributes
    ----------
    name
        The name of its column.
    states
        The states that the codes 0, 1, ... stand for.

    Examples
    --------
    >>> Variable("petal", ("(-inf, 2.45]", "(2.45, inf)")).card
    2
    """

    name: str
    states: tuple[str, ...]

    @property
    def card(self) -> int:
        """The number of states."""
        return len(self.states)


@dataclass(frozen=True)
class CodedColumn:
    """The codes of one column, and the values that could not be coded.

    Attributes
    ----------
    codes
        One code per row; -1 for a category never seen, and for a missing value if the
        column has no missing state. In a numeric column, what is not a number is missing.
    unseen
        How often each value without a state occurs.
    n_missing
        The number of missing values.
    """

    codes: Codes
    unseen: dict[str, int]
    n_missing: int


@dataclass(frozen=True)
class ColumnCode:
    """How one raw column becomes state codes.

    Attributes
    ----------
    name
        The name of the column.
    kind
        ``"numeric"`` or ``"categorical"``.
    cuts
        For a numeric column, the cut points in increasing order: value v has the
        code ``number of cuts < v``.
    states
        For a categorical column, the strings that the codes 0, 1, ... stand for.
    pool
        Whether a category has a state, after `states`, for all other values.
    missing_state
        Whether there is a last state for missing values.

    Examples
    --------
    >>> column = ColumnCode("petal", "numeric", cuts=(2.45, 4.75), missing_state=True)
    >>> column.variable.states
    ('(-inf, 2.45]', '(2.45, 4.75]', '(4.75, inf)', 'missing')
    >>> column.encode(pd.Series(["1.4", "4.75", "5", None, "long"]))
    CodedColumn(codes=array([0, 1, 2, 3, 3], dtype=int32), unseen={'long': 1}, n_missing=1)
    """

    name: str
    kind: str
    cuts: tuple[float, ...] = ()
    states: tuple[str, ...] = ()
    missing_state: bool = False
    pool: bool = False

    def __post_init__(self) -> None:
        if self.kind not in (NUMERIC, CATEGORICAL):
            raise DataError(f"column {self.name!r}: unknown kind {self.kind!r}")
        if not all(map(math.isfinite, self.cuts)) or any(a >= b for a, b in pairwise(self.cuts)):
            raise DataError(f"column {self.name!r}: the cuts must be finite and increasing")
        if len(set(self.states)) < len(self.states):
            raise DataError(f"column {self.name!r}: a state is listed twice in {self.states}")

    @property
    def variable(self) -> Variable:
        """The variable that this column becomes, with readable states."""
        states = _interval_labels(self.cuts) if self.kind == NUMERIC else self.states
        if self.pool:
            states = (*states, _free("other", states))
        if self.missing_state:
            states = (*states, _free("missing", states))
        return Variable(self.name, states)

    @property
    def readable_states(self) -> tuple[str, ...]:
        """The states of the variable, with intervals in words.

        Examples
        --------
        >>> ColumnCode("petal", "numeric", cuts=(2.45, 4.75), missing_state=True).readable_states
        ('<= 2.45', '2.45 to 4.75', '> 4.75', 'missing')
        """
        states = self.variable.states
        if self.kind != NUMERIC:
            return states
        intervals = between_cuts(self.cuts) if self.cuts else ["any number"]
        return (*intervals, *states[len(intervals) :])

    def encode(self, values: pd.Series[Any]) -> CodedColumn:
        """Code a column of numbers or strings, from any reader.

        A text is matched to a state as it is, then without surrounding blanks, then as a
        number (``1.0`` is the state ``1``). A blank text and the text ``nan`` are missing
        unless they are states. Any other value takes the pool, if there is one.
        """
        if self.kind == NUMERIC and pd.api.types.is_numeric_dtype(values.dtype):
            return self._encode_numbers(values.to_numpy(dtype=np.float64, na_value=np.nan))
        try:
            index, distinct = pd.factorize(values, use_na_sentinel=True)
        except TypeError as error:
            raise DataError(f"column {self.name!r}: values must be strings or numbers") from error
        raw = self._code_numbers(distinct) if self.kind == NUMERIC else self._code_texts(distinct)
        raw = np.append(raw, _MISSING)  # a missing value has the index -1: the last
        # What is not a number was treated as missing in the training rows, too.
        absent = (raw == _MISSING) | ((raw == _UNSEEN) & (self.kind == NUMERIC))
        codes = np.where(absent, self._missing_code, np.maximum(raw, UNKNOWN)).astype(np.int32)
        index = np.where(index < 0, len(distinct), index)
        tally = np.bincount(index, minlength=len(raw))
        unseen: Counter[str] = Counter()
        for j in np.flatnonzero(raw == _UNSEEN):
            unseen[str(distinct[int(j)])] += int(tally[j])  # 7 and "7" are counted together
        return CodedColumn(codes[index], dict(unseen), int(tally[raw == _MISSING].sum()))

    @property
    def _missing_code(self) -> int:
        return self.variable.card - 1 if self.missing_state else UNKNOWN

    def _encode_numbers(self, numbers: npt.NDArray[np.float64]) -> CodedColumn:
        codes = np.searchsorted(np.asarray(self.cuts, dtype=np.float64), numbers, side="left")
        missing = np.isnan(numbers)
        codes[missing] = self._missing_code
        return CodedColumn(codes.astype(np.int32), {}, int(missing.sum()))

    def _code_numbers(self, distinct: Any) -> npt.NDArray[np.int64]:
        parsed = [_parse(value) for value in distinct]
        numbers = np.array([np.nan if x is None else x for x in parsed], dtype=np.float64)
        unseen = np.array([x is None for x in parsed], dtype=bool)
        codes = np.searchsorted(np.asarray(self.cuts, dtype=np.float64), numbers, side="left")
        return np.where(unseen, _UNSEEN, np.where(np.isnan(numbers), _MISSING, codes))

    def _code_texts(self, distinct: Any) -> npt.NDArray[np.int64]:
        by_text = {state: code for code, state in enumerate(self.states)}
        by_number = _codes_by_number(self.states)
        other = len(self.states) if self.pool else _UNSEEN

        def code(value: object) -> int:
            text = str(value)
            spellings = [text, text.strip()]
            if isinstance(value, bool | np.bool_):  # a reader may have parsed "true" or "TRUE"
                spellings += [text.lower(), text.upper()]
            for spelling in spellings:
                if spelling in by_text:
                    return by_text[spelling]
            number = _parse(value)
            if number is None:
                return other
            return _MISSING if math.isnan(number) else by_number.get(number, other)

        return np.array([code(value) for value in distinct], dtype=np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a JSON file; numbers are read back exactly."""
        rule: dict[str, Any] = (
            {"cuts": list(self.cuts)} if self.kind == NUMERIC else {"states": list(self.states)}
        )
        return {
            "name": self.name,
            "kind": self.kind,
            **rule,
            "missing_state": self.missing_state,
            **({"pool": True} if self.pool else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ColumnCode:
        """The inverse of :meth:`to_dict`."""
        numeric = data["kind"] == NUMERIC
        return cls(
            name=str(data["name"]),
            kind=str(data["kind"]),
            cuts=tuple(map(float, data["cuts"])) if numeric else (),
            states=() if numeric else tuple(map(str, data["states"])),
            missing_state=bool(data["missing_state"]),
            pool=bool(data.get("pool", False)),
        )


def _free(name: str, taken: tuple[str, ...]) -> str:
    names = (f"{name}_{i}" if i > 1 else name for i in count(1))
    return next(n for n in names if n not in taken)


def sorted_states(texts: Iterable[str]) -> tuple[str, ...]:
    """Distinct strings in order: by number if all are numbers, else as strings.

    Examples
    --------
    >>> sorted_states(["10", "9", "9", "2.5"])
    ('2.5', '9', '10')
    >>> sorted_states(["10", "9", "x"])
    ('10', '9', 'x')
    """
    distinct = sorted(set(texts))
    numbers = [number for text in distinct if (number := _parse(text)) is not None]
    if len(numbers) < len(distinct) or any(map(math.isnan, numbers)):
        return tuple(distinct)
    return tuple(text for _, text in sorted(zip(numbers, distinct, strict=True)))


def _parse(value: object) -> float | None:
    """A value as a number; NaN for a blank text, None if it is not a number."""
    if isinstance(value, str):
        value = value.strip() or "nan"
        if "_" in value:  # Python reads 1_000 as a number, data files do not
            return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _codes_by_number(states: tuple[str, ...]) -> dict[float, int]:
    """The code of each number among the states, except for numbers that two states share."""
    numbers = [_parse(state) for state in states]
    times = Counter(numbers)
    return {
        number: code
        for code, number in enumerate(numbers)
        if number is not None and times[number] == 1
    }


def _interval_labels(cuts: tuple[float, ...]) -> tuple[str, ...]:
    """Names of the bins; their ends are rounded as long as they stay distinct."""
    ends = [f"{cut:.10g}" for cut in cuts]
    if len(set(ends)) < len(ends):
        ends = [f"{cut:.17g}" for cut in cuts]
    return tuple(
        f"({low}, {high}{')' if high == 'inf' else ']'}"
        for low, high in pairwise(["-inf", *ends, "inf"])
    )
