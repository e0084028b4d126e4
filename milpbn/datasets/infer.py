"""What each raw column is: numbers, categories, or nothing a classifier can use.

Each decision that a user may want to change leaves a note that names the column and
the option that overrules the decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.datasets.values import holds_numbers, show_value, to_numbers, unusable
from milpbn.errors import DataError
from milpbn.messages import Message, Spelling, option
from milpbn.words import count

Numbers = npt.NDArray[np.float64]

# A numeric column with no more values than this has one state per value.
FEW_VALUES = 5
# From this share of numbers on, the strings among them are probably typing errors.
MOSTLY_NUMBERS = 0.95
# Shorter columns are never treated as identifiers, nor shorter targets as measurements.
SHORT_COLUMN = 20
# A category that is different in more than this share of the rows identifies rows.
IDENTIFIER_SHARE = 0.9


@dataclass(frozen=True)
class Decision:
    """What becomes of a column.

    Attributes
    ----------
    values
        float64 with NaN, or ``str`` with ``None``; None if the column is dropped.
    is_numeric
        Whether the values are numbers.
    notes
        Sentences for the user.
    """

    values: pd.Series[Any] | None
    is_numeric: bool = False
    notes: tuple[str, ...] = ()


def decide_column(
    values: pd.Series[Any],
    where: str,
    *,
    wanted: str | None,
    untyped: bool,
    missing: str,
    few_values: int = FEW_VALUES,
) -> Decision:
    """Decide one column.

    Parameters
    ----------
    values
        The raw column; notes give its name.
    where
        The file or table, for messages.
    wanted
        ``"numeric"`` or ``"categorical"`` if the user chose so, else None.
    untyped
        Whether strings may stand for numbers, as in a CSV file.
    missing
        The policy for missing values: under ``"drop"``, a column with a single value
        is constant even if that value is sometimes missing.
    few_values
        A numeric column with no more values than this has one state per value.
    """
    _check_type(values, where)
    label = f"{where}: column {values.name!r}"
    known = int(values.notna().sum())
    if known == 0:
        return Decision(None, notes=(f"{label} is dropped: it has no values.",))
    if wanted == "numeric":
        decision = _as_asked_numbers(values, label, known)
    elif wanted == "categorical":
        decision = Decision(states_of(values))
    elif holds_numbers(values):
        decision = _as_numbers(values, to_numbers(values), label, few_values)
    elif untyped:
        decision = _as_texts_or_numbers(values, label, known, few_values)
    else:
        decision = _as_categories(values, label, known)
    if decision.values is not None and _is_constant(decision.values, missing):
        only = show_value(decision.values.dropna().iloc[0])
        note = f"{label} is dropped: {only!r} is its only value."
        return Decision(None, notes=(*(decision.notes if wanted else ()), note))
    return decision


def _check_type(values: pd.Series[Any], where: str) -> None:
    bad = unusable(values)
    if len(bad):
        raise DataError(
            Message(
                f"{where}: column {values.name!r} holds values of type {values.dtype} such as "
                f"{str(bad.iloc[0])[:60]!r}; finite numbers, strings and Booleans can be used: "
                "convert the column, or leave it out with ",
                _naming("drop", values),
            )
        )


def _is_constant(values: pd.Series[Any], missing: str) -> bool:
    return values.nunique() == 1 and (missing == "drop" or bool(values.notna().all()))


def _as_texts_or_numbers(
    values: pd.Series[Any], label: str, known: int, few_values: int
) -> Decision:
    """Numbers if all strings are numbers, else categories."""
    numbers = to_numbers(values)
    parsed = int(np.isfinite(numbers).sum())
    if parsed == known:
        return _as_numbers(values, numbers, label, few_values)
    decision = _as_categories(values, label, known)
    if parsed < MOSTLY_NUMBERS * known:
        return decision
    note = Message(
        f"{label} holds {parsed} numbers but also {_examples(values, numbers)}, and is read as "
        "categories; ",
        _naming("numeric", values),
        " treats the other values as missing.",
    )
    return Decision(decision.values, notes=(note, *decision.notes))


def _as_asked_numbers(values: pd.Series[Any], label: str, known: int) -> Decision:
    numbers = to_numbers(values)
    parsed = int(np.isfinite(numbers).sum())
    if parsed == 0:
        raise DataError(
            Message(
                f"{label} holds no numbers, only {_examples(values, numbers)}; remove ",
                _naming("numeric", values),
            )
        )
    notes: tuple[str, ...] = ()
    if parsed < known:
        notes = (
            f"{label}: {count(known - parsed, 'value')} treated as missing (not a number): "
            f"{_examples(values, numbers)}.",
        )
    return Decision(_series(numbers, values), True, notes)


def _as_numbers(values: pd.Series[Any], numbers: Numbers, label: str, few_values: int) -> Decision:
    known = numbers[~np.isnan(numbers)]
    if _is_row_number(known):
        note = Message(
            f"{label} is dropped: it counts up or down like a row number; ",
            _naming("numeric", values),
            " keeps it.",
        )
        return Decision(None, notes=(note,))
    distinct = len(np.unique(known))
    if distinct > few_values:
        return Decision(_series(numbers, values), True)
    note = Message(
        f"{label} has only {distinct} different numbers and is read as categories; ",
        _naming("numeric", values),
        " keeps it numeric.",
    )
    return Decision(states_of(_series(numbers, values)), notes=(note,))


def _as_categories(values: pd.Series[Any], label: str, known: int) -> Decision:
    distinct = values.nunique()
    if known > SHORT_COLUMN and distinct > IDENTIFIER_SHARE * known:
        note = Message(
            f"{label} is dropped: it has {distinct} different values in {known} rows, like an "
            "identifier; ",
            _naming("categorical", values),
            " keeps it.",
        )
        return Decision(None, notes=(note,))
    return Decision(states_of(values))


def _is_row_number(known: Numbers) -> bool:
    steps = np.diff(known)
    return (
        len(known) > SHORT_COLUMN
        and bool(np.all(steps > 0) or np.all(steps < 0))
        and bool(np.all(known == np.floor(known)))
    )


def states_of(values: pd.Series[Any]) -> pd.Series[Any]:
    """The values as strings, ``None`` for missing."""
    index, distinct = pd.factorize(values)
    texts = np.array([*map(show_value, distinct), None], dtype=object)
    return pd.Series(texts[index], dtype=object, name=values.name)


def _series(numbers: Numbers, like: pd.Series[Any]) -> pd.Series[Any]:
    return pd.Series(numbers, name=like.name)


def _examples(values: pd.Series[Any], numbers: Numbers, limit: int = 3) -> str:
    """Some of the values that are not numbers."""
    texts = values[np.isnan(numbers) & values.notna().to_numpy()].drop_duplicates()
    listed = ", ".join(repr(str(text)) for text in texts.iloc[:limit])
    return listed + (" and others" if len(texts) > limit else "")


def _naming(name: str, column: pd.Series[Any]) -> Spelling:
    """The option that names this column."""
    return option(name, [str(column.name)])
