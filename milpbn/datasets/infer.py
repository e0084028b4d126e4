"""What each raw column is: numbers, categories, dates, or nothing a classifier can use.

Each decision that a user may want to change leaves a note that names the column and
the option that overrules the decision.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.datasets import moments
from milpbn.datasets.formats import NumberFormat, number_format, spell_truth
from milpbn.datasets.notes import Names, Note
from milpbn.datasets.readings import DATE, DURATION, NUMBER, TIME, TRUTH, Reading
from milpbn.datasets.values import (
    holds_numbers,
    show_text,
    show_value,
    to_numbers,
    unusable,
    without_tokens,
)
from milpbn.errors import DataError, OptionError, by_name
from milpbn.messages import Message, Spelling, option
from milpbn.settings.columns import MAX_STATES
from milpbn.words import count, quoted

Numbers = npt.NDArray[np.float64]
Orders = Mapping[str, Sequence[str]]
"""Columns whose categories have an order, and these categories from first to last."""

NUMERIC, CATEGORICAL = "numeric", "categorical"

# A numeric column with no more values than this has one state per value.
FEW_VALUES = 5
# From this share of numbers (or dates) on, the others among them are probably typing errors.
MOSTLY = 0.95
# Shorter columns are never treated as identifiers, nor shorter targets as measurements.
SHORT_COLUMN = 20
# A category that is different in more than this share of the rows identifies rows.
IDENTIFIER_SHARE = 0.9
# Questions that most columns answer in their first rows are asked there first.
_SAMPLED = 1000
_ID_NAME = re.compile(r"(?:.*[^A-Za-z])?(?:id|Id|ID)|.*[a-z](?:Id|ID)", re.DOTALL)
# Truth values as other readers know them.
_TRUTH = frozenset({"True", "TRUE", "true", "False", "FALSE", "false"})
# Where the order of day and month is a matter of taste, the note says how it was read.
_AMBIGUOUS = ("%m/%d", "%d/%m", "%m-%d", "%d-%m")


@dataclass(frozen=True)
class Rules:
    """How columns are decided.

    Attributes
    ----------
    where
        The file or table, for messages.
    untyped
        Whether strings may stand for numbers, as in a CSV file.
    missing
        The policy for missing values: under ``"drop"``, a column with a single value
        is constant even if that value is sometimes missing.
    dates
        What becomes of dates and times: one of `milpbn.settings.columns.DATES`.
    max_states
        The number of states above which states are pooled later, or None.
    few_values
        A numeric column with no more values than this has one state per value.
    ordered
        Columns whose categories have an order, and these categories.
    taken
        Names that the parts of dates may not have.
    binned, directed
        The columns that have bins of their own, and those that have a monotone effect. They are
        numbers, unless the user says otherwise.
    names
        How Python calls the options.
    """

    where: str
    untyped: bool = False
    missing: str = "auto"
    dates: str = "expand"
    max_states: int | None = MAX_STATES
    few_values: int = FEW_VALUES
    ordered: Orders = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    binned: frozenset[str] = frozenset()
    directed: frozenset[str] = frozenset()
    names: Names = field(default_factory=Names)


@dataclass(frozen=True)
class Column:
    """A column of the table: float64 with NaN, or ``str`` with ``None``.

    Categories that have an order are in `order`.
    """

    values: pd.Series[Any]
    is_numeric: bool = False
    reading: Reading | None = None
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """What becomes of a raw column: the columns made from it, which may be none, and notes."""

    columns: tuple[Column, ...] = ()
    notes: tuple[Note, ...] = ()


def decide_column(values: pd.Series[Any], rules: Rules, wanted: str | None) -> Decision:
    """Decide one column; `wanted` is ``"numeric"`` or ``"categorical"`` if the user chose so."""
    typed = moments.typed_kind(values)
    if typed is None:
        _check_type(values, rules)
        values = values if rules.untyped else without_tokens(values)  # a reader left them out
    name, known = str(values.name), int(values.notna().sum())
    if known == 0:
        return Decision(notes=(Note("empty", name),))
    if typed is not None:
        decision = _as_moments(values, rules, typed, wanted)
    elif wanted == NUMERIC:
        decision = _as_asked_numbers(values, rules, known)
    elif order := order_of(values, rules):
        decision = _as_ordered(values, order, rules)
    elif wanted == CATEGORICAL:
        decision = _categories(values, rules)
    elif holds_numbers(values):
        decision = _as_numbers(values, to_numbers(values), rules)
    else:
        decision = _as_strings(values, rules, known)
    if len(decision.columns) == 1 and _is_constant(decision.columns[0].values, rules.missing):
        only = show_value(decision.columns[0].values.dropna().iloc[0])
        asked = decision.notes if wanted else ()
        return Decision(notes=(*asked, Note("constant", name, repr(only))))
    return decision


def _check_type(values: pd.Series[Any], rules: Rules) -> None:
    bad = unusable(values)
    if len(bad):
        drop = rules.names.option("drop", [str(values.name)])
        raise DataError(
            Message(
                f"{rules.where}: column {values.name!r} holds values of type {values.dtype} such "
                f"as {str(bad.iloc[0])[:60]!r}; finite numbers, strings, Booleans, dates and times "
                "can be used: convert the column, or leave it out",
                *((" with ", drop) if rules.names.drops else ()),
            )
        )


def _is_constant(values: pd.Series[Any], missing: str) -> bool:
    if values.iloc[:_SAMPLED].nunique() > 1:
        return False  # most columns end here
    return values.nunique() == 1 and (missing == "drop" or bool(values.notna().all()))


def _as_strings(values: pd.Series[Any], rules: Rules, known: int) -> Decision:
    """Numbers, dates, times or truth values if the strings stand for them, else categories."""
    if isinstance(values.dtype, pd.CategoricalDtype) and not rules.untyped:
        return _as_categories(values, rules, known)
    plain = to_numbers(values)
    if rules.untyped and np.isfinite(plain).sum() == known:
        return _as_numbers(values, plain, rules)
    distinct = list(values.dropna().unique())
    if rules.untyped and _TRUTH.issuperset(distinct) and not {"True", "False"}.issuperset(distinct):
        reading = Reading(str(values.name), TRUTH)
        return Decision((Column(reading.apply(values), reading=reading),))
    decision = None
    if all(isinstance(value, str) for value in distinct):
        decision = _as_written_numbers(values, rules, distinct, plain) or _as_written_moments(
            values, rules, distinct
        )
    return decision or _as_truth(values, distinct) or _as_categories(values, rules, known)


def _as_written_numbers(
    values: pd.Series[Any], rules: Rules, distinct: Sequence[str], plain: Numbers
) -> Decision | None:
    """Numbers, plain or with a unit or separators; None if they are to be read otherwise."""
    name, known = str(values.name), int(values.notna().sum())
    if np.isfinite(plain).sum() == known:
        if rules.max_states is None or len(distinct) <= rules.max_states:
            return None  # the type says strings
        note = Note("numbers", name, f"{len(distinct)} different ones")
        return Decision((Column(_series(plain, values), True),), (note,))
    if len(distinct) <= FEW_VALUES:
        return None
    reading, numbers = _read_numbers(values, distinct, plain, MOSTLY)
    parsed = int(np.isfinite(numbers).sum())
    if parsed < MOSTLY * known:
        return None
    if parsed < known:
        decision = _as_categories(values, rules, known)
        told = f"{parsed} numbers but also {_examples(values, numbers)}"
        return Decision(decision.columns, (Note("mostly numbers", name, told), *decision.notes))
    assert reading is not None
    decision = _as_numbers(values, numbers, rules)
    columns = tuple(Column(c.values, c.is_numeric, reading) for c in decision.columns)
    notes = (Note("numbers", name, _format_of(reading)),) if columns else ()
    return Decision(columns, (*notes, *decision.notes))


def _read_numbers(
    values: pd.Series[Any], distinct: Sequence[str], plain: Numbers, share: float
) -> tuple[Reading | None, Numbers]:
    """The numbers among the strings, and the reading if it finds more than the plain ones."""
    form = number_format(distinct, share)
    if form is None:
        return None, plain
    reading = Reading(str(values.name), NUMBER, form.mark, form.unit)
    numbers = to_numbers(reading.apply(values))
    more = np.isfinite(numbers).sum() > np.isfinite(plain).sum()
    return (reading, numbers) if more else (None, plain)


def _format_of(reading: Reading) -> str:
    return str(NumberFormat(reading.format, reading.unit))


def _as_asked_numbers(values: pd.Series[Any], rules: Rules, known: int) -> Decision:
    name = str(values.name)
    plain = to_numbers(values)
    if np.isfinite(plain).sum() == known:
        return Decision((Column(_series(plain, values), True),))
    distinct = [show_value(value) or "" for value in values.dropna().unique()]
    reading, numbers = _read_numbers(values, distinct, plain, 0.0)
    parsed = int(np.isfinite(numbers).sum())
    if parsed == 0:
        told = f"{rules.where}: column {name!r} holds no numbers, only "
        told += _examples(values, numbers)
        raise DataError(Message(told, *_way_out(name, rules)))
    notes: tuple[Note, ...] = ()
    if parsed < known:
        lost = count(known - parsed, "value")
        told = f"{lost} treated as missing (not a number): {_examples(values, numbers)}"
        notes = (Note("not a number", name, told),)
    return Decision((Column(_series(numbers, values), True, reading),), notes)


def _way_out(name: str, rules: Rules) -> tuple[str | Spelling, ...]:
    """What to change if a column should have numbers and has none."""
    if name in rules.binned:
        return "; remove it from ", Spelling("bins and special", "--cuts and --special")
    if name in rules.directed:
        declared = rules.names.option("ordered")
        return "; give the order of its categories with ", declared, ", or remove its direction"
    return "; remove ", rules.names.option("numeric", [name])


def _as_numbers(values: pd.Series[Any], numbers: Numbers, rules: Rules) -> Decision:
    name, known = str(values.name), numbers[~np.isnan(numbers)]
    if _is_row_number(known):
        return Decision(notes=(Note("row number", name),))
    if _identifies_rows(name, known):
        told = f"{len(known)} different integers"
        return Decision(notes=(Note("numeric identifier", name, told),))
    few = len(np.unique(known[:_SAMPLED])) <= rules.few_values
    distinct = len(np.unique(known)) if few else _SAMPLED
    if distinct > rules.few_values:
        return Decision((Column(_series(numbers, values), True),))
    note = Note("few numbers", name, str(distinct))
    return Decision((Column(states_of(_series(numbers, values))),), (note,))


def _as_moments(values: pd.Series[Any], rules: Rules, kind: str, wanted: str | None) -> Decision:
    """Dates, times or durations, by the type of the column."""
    if wanted == CATEGORICAL or (wanted is None and rules.dates == "keep"):
        if kind == "date":
            reading = Reading(str(values.name), DATE, moments.text_format(values))
            return Decision((Column(reading.apply(values), reading=reading),))
        return Decision((Column(values.astype(object).map(str, na_action="ignore")),))
    if wanted == NUMERIC:
        raise DataError(
            Message(
                f"{rules.where}: column {values.name!r} holds {kind}s, not numbers; remove ",
                rules.names.option("numeric", [str(values.name)]),
            )
        )
    return _expanded(values, rules, kind)


def _as_written_moments(
    values: pd.Series[Any], rules: Rules, distinct: Sequence[str]
) -> Decision | None:
    """Strings that are dates or times of day; None if they are not, or if they are kept."""
    if rules.dates == "keep":
        return None
    if moments.are_times(distinct, MOSTLY):
        return _expanded(values, rules, "time")
    form = moments.date_format(distinct, MOSTLY)
    return None if form is None else _expanded(values, rules, "date", form)


def _expanded(values: pd.Series[Any], rules: Rules, kind: str, form: str = "") -> Decision:
    """The parts of dates that differ between rows, or times and durations as numbers."""
    name = str(values.name)
    if rules.dates == "drop":
        return Decision(notes=(Note("dates dropped", name, f"{kind}s"),))
    if kind == "date":
        read = [(_free(f"{name}.{p}", rules), Reading(name, DATE, form, p)) for p in moments.PARTS]
    else:
        read = [(name, Reading(name, TIME if kind == "time" else DURATION))]
    numbers = {c: pd.Series(to_numbers(r.apply(values)), name=c) for c, r in read}
    columns = [Column(numbers[c], True, r) for c, r in read if numbers[c].nunique() > 1]
    if not columns:
        return Decision(notes=(Note("constant", name, repr(str(values.dropna().iloc[0]))),))
    if kind == "date":
        made = quoted(column.values.name for column in columns)
        order = f", read as {moments.show_format(form)}" if form.startswith(_AMBIGUOUS) else ""
        notes = [Note("dates", name, made + order)]
    else:
        notes = [Note("times", name, "hours" if kind == "time" else "days")]
    first = columns[0].values.to_numpy()
    lost = int((np.isnan(first) & values.notna().to_numpy()).sum())
    if lost:
        told = f"{count(lost, 'value')} treated as missing (not a {kind})"
        notes.append(Note("not a date", name, f"{told}: {_examples(values, first)}"))
    return Decision(tuple(columns), tuple(notes))


def _free(name: str, rules: Rules) -> str:
    return _free(f"{name}_", rules) if name in rules.taken else name


def _as_truth(values: pd.Series[Any], distinct: Sequence[object]) -> Decision | None:
    """Truth values, if the column spells them in more than two ways."""
    if not spell_truth(distinct):
        return None
    name = str(values.name)
    reading = Reading(name, TRUTH)
    spelled = quoted(sorted(str(show_value(v)) for v in distinct), limit=6)
    note = Note("truth", name, spelled)
    return Decision((Column(reading.apply(values), reading=reading),), (note,))


def _as_categories(values: pd.Series[Any], rules: Rules, known: int) -> Decision:
    name, distinct = str(values.name), values.nunique()
    if known > SHORT_COLUMN and distinct > IDENTIFIER_SHARE * known:
        told = f"{distinct} different values in {known} rows"
        return Decision(notes=(Note("identifier", name, told),))
    return _categories(values, rules)


def _categories(values: pd.Series[Any], rules: Rules) -> Decision:
    """The values as states, with a note if there are so many that the encoder pools some."""
    column, distinct = Column(states_of(values)), values.nunique()
    pooled = rules.max_states is not None and distinct > rules.max_states
    notes = (Note("many states", str(values.name), str(distinct)),) if pooled else ()
    return Decision((column,), notes)


def _as_ordered(values: pd.Series[Any], order: tuple[str, ...], rules: Rules) -> Decision:
    """Categories with an order, which lists all of them; 1.0 is the category 1."""
    index, distinct = pd.factorize(values)
    shown = [str(show_value(value)) for value in distinct]
    shown = [text if text in order else show_text(text) for text in shown]
    if undeclared := [text for text in shown if text not in order]:
        told = f"{rules.where}: column {values.name!r} holds {quoted(undeclared, 10)}, but only "
        told += f"{quoted(order)} are declared; add what is missing to "
        raise DataError(Message(told, rules.names.option("ordered")))
    states = np.array([*shown, None], dtype=object)[index]
    made = pd.Series(states, dtype=object, name=values.name)
    return Decision((Column(made, order=order),))


def order_of(values: pd.Series[Any], rules: Rules) -> tuple[str, ...]:
    """The categories of a column in their order, as declared or by its type; none if neither."""
    if declared := rules.ordered.get(str(values.name)):
        return tuple(declared)
    dtype = values.dtype
    if not isinstance(dtype, pd.CategoricalDtype) or not dtype.ordered:
        return ()
    return tuple(str(show_value(category)) for category in dtype.categories)


def parse_orders(ordered: Orders) -> dict[str, tuple[str, ...]]:
    """Check declared orders: at least two different categories for each column.

    Examples
    --------
    >>> parse_orders({"size": ["S", "M", "L"], "grade": [1, 2, 3]})
    {'size': ('S', 'M', 'L'), 'grade': ('1', '2', '3')}
    """
    found = {}
    for name, states in by_name(ordered, option("ordered"), '{"size": ["S", "M", "L"]}').items():
        listed = not isinstance(states, str) and isinstance(states, Sequence)
        own = tuple(str(show_value(state)) for state in states) if listed else ()
        if len(own) < 2 or len(set(own)) < len(own):
            told = f": {name!r} needs at least two different categories, in their order"
            raise OptionError(Message(option("ordered"), told))
        found[str(name)] = own
    return found


def _is_row_number(known: Numbers) -> bool:
    steps = np.diff(known)
    return (
        len(known) > SHORT_COLUMN
        and bool(np.all(steps > 0) or np.all(steps < 0))
        and bool(np.all(known == np.floor(known)))
    )


def _identifies_rows(name: str, known: Numbers) -> bool:
    """Whether a column of different integers is called an identifier."""
    return (
        len(known) > SHORT_COLUMN
        and _ID_NAME.fullmatch(name) is not None
        and bool(np.all(known == np.floor(known)))
        and len(np.unique(known)) == len(known)
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
