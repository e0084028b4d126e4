"""States as texts: their order, and the numbers that they stand for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable


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
    if not are_numbers(distinct):
        return tuple(distinct)
    return tuple(sorted(distinct, key=float))


def are_numbers(texts: Iterable[str]) -> bool:
    """Whether all texts are numbers.

    Examples
    --------
    >>> are_numbers(["1", " 2.5"]), are_numbers(["1", "x"]), are_numbers(["1", ""])
    (True, False, False)
    """
    numbers = map(as_number, texts)
    return all(number is not None and not math.isnan(number) for number in numbers)


def as_number(value: object) -> float | None:
    """A value as a number; NaN for a blank text, None if it is not a number."""
    if isinstance(value, str):
        value = value.strip() or "nan"
        if "_" in value:  # Python reads 1_000 as a number, data files do not
            return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def codes_by_number(states: tuple[str, ...]) -> dict[float, int]:
    """The code of each number among the states, except for numbers that two states share."""
    numbers = [as_number(state) for state in states]
    times = Counter(numbers)
    return {
        number: code
        for code, number in enumerate(numbers)
        if number is not None and times[number] == 1
    }
