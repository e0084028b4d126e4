"""How one raw column becomes state codes, and the names of its states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count as counting
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import Codes
from milpbn.encoding.texts import as_number, codes_by_number
from milpbn.errors import DataError
from milpbn.words import between_cuts, count, name_in_list

NUMERIC = "numeric"
CATEGORICAL = "categorical"

UNKNOWN = -1  # the code of a value that has no state
_MISSING, _UNSEEN = -1, -2  # distinguished inside this module only

# With so many bins, cuts are easier to read than intervals.
_MANY_BINS = 8
# Of more cuts than this, the first and the last are listed; ``milpbn inspect --tables`` has all.
_MOST_CUTS = 12

Kept = tuple[float, ...] | tuple[str, ...]
"""The cuts or the states of a column that a resolution keeps."""


@dataclass(frozen=True)
class Coarsening:
    """Fewer states for a variable: each of its states belongs to one of them.

    Attributes
    ----------
    states
        The coarse states.
    of
        For each state of the variable, the index of its coarse state. Every coarse state has at
        least one.

    Examples
    --------
    >>> Coarsening(("low", "high"), (0, 0, 1)).card
    2
    """

    states: tuple[str, ...]
    of: tuple[int, ...]

    def __post_init__(self) -> None:
        if set(self.of) != set(range(len(self.states))):
            raise DataError(f"states {self.states} do not fit the map {self.of} of a coarsening")

    @property
    def card(self) -> int:
        """The number of coarse states."""
        return len(self.states)


@dataclass(frozen=True)
class Variable:
    """A discrete variable of the model.

    Attributes
    ----------
    name
        The name of its column.
    states
        The states that the codes 0, 1, ... stand for.
    coarsenings
        The other resolutions in which a family may see the variable. Resolution 0 is `states`,
        and resolution r > 0 is ``coarsenings[r - 1]``.
    ordered
        How many states, from the first on, have an order: the bins of a number. A last state for
        missing or other values has no neighbours.
    search
        The resolution in which structures are searched.
    monotone
        1 if the second class may not become less likely along the ordered states, -1 if it may not
        become more likely, 0 if both may happen.

    Examples
    --------
    >>> petal = Variable(
    ...     "petal",
    ...     ("(-inf, 2.45]", "(2.45, 4.75]", "(4.75, inf)"),
    ...     (Coarsening(("(-inf, 2.45]", "(2.45, inf)"), (0, 1, 1)),),
    ... )
    >>> petal.card
    3
    >>> [petal.resolution(r).card for r in range(petal.n_resolutions)]
    [3, 2]
    """

    name: str
    states: tuple[str, ...]
    coarsenings: tuple[Coarsening, ...] = field(default=(), repr=False)
    ordered: int = field(default=0, repr=False, compare=False)
    search: int = field(default=0, repr=False, compare=False)
    monotone: int = field(default=0, repr=False, compare=False)

    def __post_init__(self) -> None:
        if any(len(coarse.of) != len(self.states) for coarse in self.coarsenings):
            raise DataError(f"variable {self.name!r}: a coarsening has another number of states")

    @property
    def card(self) -> int:
        """The number of states."""
        return len(self.states)

    @property
    def n_resolutions(self) -> int:
        """The number of resolutions, all states included."""
        return 1 + len(self.coarsenings)

    def resolution(self, index: int) -> Coarsening:
        """One of the resolutions; the first leaves the states as they are."""
        if index == 0:
            return Coarsening(self.states, tuple(range(self.card)))
        return self.coarsenings[index - 1]

    def ordered_in(self, resolution: int) -> int:
        """How many states of a resolution have an order; none if it joins states apart."""
        of = self.resolution(resolution).of[: self.ordered]
        return len(set(of)) if list(of) == sorted(of) else 0

    def searched(self) -> Variable:
        """The variable as a search for structures sees it."""
        if self.search == 0:
            return self
        coarse = self.coarsenings[self.search - 1]
        ordered = self.ordered_in(self.search)
        return Variable(self.name, coarse.states, ordered=ordered, monotone=self.monotone)


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
    special
        For a numeric column, the values that are states of their own, after the bins.
    missing_state
        Whether there is a last state for missing values.
    coarsenings
        The other resolutions. Each keeps some of the cuts of a numeric column; of a category, it
        keeps some of the states and pools the others. Missing and special values stay states of
        their own.
    search
        The resolution in which structures are searched.
    ordered
        For a category, whether its states have an order; numbers always have one.
    monotone
        The direction of the effect on the class, see :class:`Variable`.

    Examples
    --------
    >>> column = ColumnCode("petal", "numeric", cuts=(2.45, 4.75), missing_state=True)
    >>> column.variable.states
    ('(-inf, 2.45]', '(2.45, 4.75]', '(4.75, inf)', 'missing')
    >>> column.encode(pd.Series(["1.4", "4.75", "5", None, "long"]))
    CodedColumn(codes=array([0, 1, 2, 3, 3], dtype=int32), unseen={'long': 1}, n_missing=1)
    >>> column = ColumnCode("petal", "numeric", cuts=(2.45, 4.75), coarsenings=((4.75,),))
    >>> column.variable.coarsenings
    (Coarsening(states=('(-inf, 4.75]', '(4.75, inf)'), of=(0, 0, 1)),)
    >>> column = ColumnCode("income", "numeric", cuts=(1000.0,), special=(-999.0,))
    >>> column.variable.states, column.encode(pd.Series([-999, 20, 5000])).codes
    (('(-inf, 1000]', '(1000, inf)', '-999'), array([2, 0, 1], dtype=int32))
    """

    name: str
    kind: str
    cuts: tuple[float, ...] = ()
    states: tuple[str, ...] = ()
    missing_state: bool = False
    pool: bool = False
    coarsenings: tuple[Kept, ...] = ()
    search: int = 0
    ordered: bool = False
    special: tuple[float, ...] = ()
    monotone: int = 0

    def __post_init__(self) -> None:
        if self.kind not in (NUMERIC, CATEGORICAL):
            raise DataError(f"column {self.name!r}: unknown kind {self.kind!r}")
        if not all(map(math.isfinite, self.cuts)) or any(a >= b for a, b in pairwise(self.cuts)):
            raise DataError(f"column {self.name!r}: the cuts must be finite and increasing")
        if not all(map(math.isfinite, self.special)) or len(set(self.special)) < len(self.special):
            raise DataError(f"column {self.name!r}: the special values must be finite and distinct")
        if len(set(self.states)) < len(self.states):
            raise DataError(f"column {self.name!r}: a state is listed twice in {self.states}")
        for kept in self.coarsenings:
            if not kept or kept != tuple(own for own in self._finest if own in kept):
                raise DataError(f"column {self.name!r}: {kept} is not one of its coarsenings")
        if self.monotone not in (-1, 0, 1):
            raise DataError(f"column {self.name!r}: there is no direction {self.monotone}")
        if not 0 <= self.search <= len(self.coarsenings):
            raise DataError(f"column {self.name!r}: there is no resolution {self.search}")

    @property
    def _finest(self) -> Kept:
        return self.cuts if self.kind == NUMERIC else self.states

    @cached_property
    def variable(self) -> Variable:
        """The variable that this column becomes, with readable states."""
        coarse = (
            Coarsening(self._labelled(kept, pool=self.kind != NUMERIC), self._coarse_codes(kept))
            for kept in self.coarsenings
        )
        states, ordered = self._labelled(self._finest, pool=self.pool), 0
        if self.kind == NUMERIC:
            ordered = len(self.cuts) + 1
        elif self.ordered:
            ordered = len(self.states)
        return Variable(self.name, states, tuple(coarse), ordered, self.search, self.monotone)

    def _labelled(self, kept: Kept, *, pool: bool) -> tuple[str, ...]:
        """The states for some of the cuts or states, and those of other and missing values."""
        numeric = self.kind == NUMERIC
        states = _interval_labels([*map(float, kept)]) if numeric else tuple(map(str, kept))
        states = (*states, *(repr(value).removesuffix(".0") for value in self.special))
        if pool:
            states = (*states, _free("other", states))
        if self.missing_state:
            states = (*states, _free("missing", states))
        return states

    def _coarse_codes(self, kept: Kept) -> tuple[int, ...]:
        """For each state of the variable, its state if only these cuts or states are kept."""
        rest = len(kept)  # above the last cut, or the pool
        if self.kind == NUMERIC:
            # A bin contains its upper end: it belongs where that end does.
            ends = np.array(kept, dtype=np.float64)
            of = [*np.searchsorted(ends, self.cuts, side="left").tolist(), rest]
            for _ in self.special:
                rest += 1
                of.append(rest)
        else:
            place = {str(state): code for code, state in enumerate(kept)}
            of = [place.get(state, rest) for state in self.states] + [rest] * self.pool
        return (*of, *([rest + 1] if self.missing_state else ()))

    @property
    def readable_states(self) -> tuple[str, ...]:
        """The states of the variable, with intervals in words.

        Examples
        --------
        >>> ColumnCode("petal", "numeric", cuts=(2.45, 4.75), missing_state=True).readable_states
        ('<= 2.45', '2.45 to 4.75', '> 4.75', 'missing')
        """
        return self.readable(0)

    def readable(self, resolution: int) -> tuple[str, ...]:
        """The states of one resolution of the variable, with intervals in words."""
        states = self.variable.resolution(resolution).states
        if self.kind != NUMERIC:
            return states
        cuts = self.cuts_of(resolution)
        intervals = between_cuts(cuts) if cuts else ["any number"]
        return (*intervals, *states[len(intervals) :])

    def cuts_of(self, resolution: int) -> tuple[float, ...]:
        """The cuts of one resolution; none for a category."""
        if self.kind != NUMERIC:
            return ()
        return tuple(map(float, (self.cuts, *self.coarsenings)[resolution]))

    @property
    def words(self) -> dict[str, str]:
        """The states of all resolutions, with intervals in words."""
        pairs = (
            zip(self.variable.resolution(r).states, self.readable(r), strict=True)
            for r in range(self.variable.n_resolutions)
        )
        return {state: shown for own in pairs for state, shown in own}

    def in_words(self, resolution: int, letter: str = "") -> str:
        """The column in one of its resolutions, in the user's units.

        A `letter` tells apart resolutions with the same number of states.

        Examples
        --------
        >>> ages = ColumnCode("age", "numeric", cuts=(30.0, 42.0, 55.0), coarsenings=((42.0,),))
        >>> ages.in_words(0), ages.in_words(1)
        ('age in 4 bins: <= 30, 30 to 42, 42 to 55, > 55', 'age in 2 bins: <= 42, > 42')
        """
        name, cuts = name_in_list(self.name), self.cuts_of(resolution)
        size = self.size(resolution, letter)
        if len(cuts) < _MANY_BINS:
            return f"{name} in {size}: {', '.join(self.readable(resolution))}"
        apart = [*self.readable(resolution)[len(cuts) + 1 :]]
        others = f" and {', '.join(apart)}" if apart else ""
        listed = [f"{cut:.10g}" for cut in cuts]
        if len(cuts) > _MOST_CUTS:
            listed[3:-1] = ["..."]
        return f"{name} in {size}{others}, cut at {', '.join(listed)}"

    def size(self, resolution: int, letter: str = "") -> str:
        """The number of bins or states of one resolution, in words."""
        number, numeric = self.variable.resolution(resolution).card, self.kind == NUMERIC
        bins = number - self.missing_state - len(self.special)
        found = count(bins, "bin") if numeric else count(number, "state")
        return f"{found} {letter}" if letter else found

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
        codes = self._codes_of(numbers)
        missing = np.isnan(numbers)
        codes[missing] = self._missing_code
        return CodedColumn(codes.astype(np.int32), {}, int(missing.sum()))

    def _codes_of(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The codes of numbers that are not missing."""
        codes = np.searchsorted(np.asarray(self.cuts, dtype=np.float64), numbers, side="left")
        for number, code in self.special_codes.items():
            codes[numbers == number] = code
        return codes

    @property
    def special_codes(self) -> dict[float, int]:
        """The code of each special value."""
        return {number: len(self.cuts) + 1 + i for i, number in enumerate(self.special)}

    def _code_numbers(self, distinct: Any) -> npt.NDArray[np.int64]:
        parsed = [as_number(value) for value in distinct]
        numbers = np.array([np.nan if x is None else x for x in parsed], dtype=np.float64)
        unseen = np.array([x is None for x in parsed], dtype=bool)
        codes = self._codes_of(numbers)
        return np.where(unseen, _UNSEEN, np.where(np.isnan(numbers), _MISSING, codes))

    def _code_texts(self, distinct: Any) -> npt.NDArray[np.int64]:
        by_text = {state: code for code, state in enumerate(self.states)}
        by_number = codes_by_number(self.states)
        other = len(self.states) if self.pool else _UNSEEN

        def code(value: object) -> int:
            text = str(value)
            spellings = [text, text.strip()]
            if isinstance(value, bool | np.bool_):  # a reader may have parsed "true" or "TRUE"
                spellings += [text.lower(), text.upper()]
            for spelling in spellings:
                if spelling in by_text:
                    return by_text[spelling]
            number = as_number(value)
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
            **({"coarsenings": list(map(list, self.coarsenings))} if self.coarsenings else {}),
            **({"search": self.search} if self.search else {}),
            **({"ordered": True} if self.ordered else {}),
            **({"special": list(self.special)} if self.special else {}),
            **({"monotone": self.monotone} if self.monotone else {}),
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
            coarsenings=tuple(
                tuple(map(float, kept)) if numeric else tuple(map(str, kept))
                for kept in data.get("coarsenings", ())
            ),
            search=int(data.get("search", 0)),
            ordered=bool(data.get("ordered", False)),
            special=tuple(map(float, data.get("special", ()))),
            monotone=int(data.get("monotone", 0)),
        )


def _free(name: str, taken: tuple[str, ...]) -> str:
    names = (f"{name}_{i}" if i > 1 else name for i in counting(1))
    return next(n for n in names if n not in taken)


def _interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Names of the bins; their ends are rounded as long as they stay distinct."""
    ends = [f"{cut:.10g}" for cut in cuts]
    if len(set(ends)) < len(ends):
        ends = [f"{cut:.17g}" for cut in cuts]
    return tuple(
        f"({low}, {high}{')' if high == 'inf' else ']'}"
        for low, high in pairwise(["-inf", *ends, "inf"])
    )
