"""The screening that every table goes through, from any file, frame or array, before encoding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from milpbn.clock import Checkpoint, column_by_column, no_checkpoint
from milpbn.datasets.infer import NUMERIC, Column, Rules, decide_column, order_of
from milpbn.datasets.notes import Note, grouped
from milpbn.datasets.readings import DATE, DURATION, TIME, Reading

# Two columns are compared only if they agree in about this many rows.
_SAMPLED = 100


@dataclass(frozen=True)
class Screened:
    """The columns that are left, and what was decided.

    Attributes
    ----------
    features
        Numeric columns as float64 with NaN, the others as ``str`` with ``None``.
    numeric
        The columns that are numbers.
    readings
        How columns are made from raw ones, for those that are not taken as they are.
    ordered
        The columns whose categories have an order, and these categories.
    unused
        The raw columns of which nothing is left under their name.
    notes
        One sentence for each kind of decision.
    """

    features: pd.DataFrame
    numeric: tuple[str, ...]
    readings: dict[str, Reading]
    ordered: dict[str, tuple[str, ...]]
    unused: tuple[str, ...]
    notes: tuple[str, ...]


def screen(
    frame: pd.DataFrame,
    rules: Rules,
    wanted: Mapping[str, str],
    checkpoint: Checkpoint = no_checkpoint,
) -> Screened:
    """Decide every column of a raw frame.

    Parameters
    ----------
    frame
        The raw columns: strings, numbers, Booleans, dates, times.
    rules
        How columns are decided.
    wanted
        The kind, ``"numeric"`` or ``"categorical"``, that the user chose for some columns.
    checkpoint
        Called between columns if there are many; may raise to stop.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {
    ...         "price": [f"${1000 + 7 * i:,}" for i in range(8)],
    ...         "sold": pd.date_range("2021-11-28", periods=8),
    ...         "unit": "EUR",
    ...     }
    ... )
    >>> screened = screen(frame, Rules("shop"), {})
    >>> screened.features.columns.tolist()
    ['price', 'sold.year', 'sold.month', 'sold.weekday']
    >>> for note in screened.notes:
    ...     print(note)
    shop: column 'unit' is dropped: 'EUR' is its only value.
    shop: column 'price' is read as numbers (unit $); categorical=['price'] reads it as categories.
    shop: column 'sold' holds dates and is replaced by 'sold.year', 'sold.month', 'sold.weekday';
    dates='drop' leaves it out.
    """
    names = [str(name) for name in frame.columns]
    rules = replace(rules, taken=rules.taken.union(names))
    wanted = {**_with_bins(frame, rules), **wanted}
    decisions = []
    for j, name in enumerate(column_by_column(names, checkpoint)):
        decisions.append(decide_column(frame.iloc[:, j].rename(name), rules, wanted.get(name)))
    notes = [note for decision in decisions for note in decision.notes]
    columns = {str(c.values.name): c for decision in decisions for c in decision.columns}
    for repeated, note in _repeated(columns, wanted):
        del columns[repeated]
        notes.append(note)
    made = {name: column.values for name, column in columns.items()}
    return Screened(
        features=pd.DataFrame(made, index=frame.index, copy=False),
        numeric=tuple(name for name, c in columns.items() if c.is_numeric),
        readings={name: c.reading for name, c in columns.items() if c.reading is not None},
        ordered={name: c.order for name, c in columns.items() if c.order},
        unused=tuple(name for name in names if name not in made),
        notes=tuple(grouped(rules.where, notes, rules.names)),
    )


def _with_bins(frame: pd.DataFrame, rules: Rules) -> dict[str, str]:
    """The columns that are numbers because they have bins of their own, or a direction."""
    named = rules.binned | rules.directed
    columns = (column.rename(str(name)) for name, column in frame.items() if str(name) in named)
    return {str(column.name): NUMERIC for column in columns if not order_of(column, rules)}


def _repeated(columns: Mapping[str, Column], wanted: Mapping[str, str]) -> list[tuple[str, Note]]:
    """Columns that have the values of an earlier column, unless the user chose their kind."""
    samples = {name: _sample(column) for name, column in columns.items()}
    times = Counter(samples.values())
    seen: dict[tuple[bool, int], list[str]] = {}
    found = []
    for name, column in columns.items():
        if times[samples[name]] == 1:
            continue  # no other column can be the same
        hashed = pd.util.hash_pandas_object(column.values, index=False).to_numpy()
        key = column.is_numeric, hash(hashed.tobytes())
        same = [other for other in seen.get(key, ()) if column.values.equals(columns[other].values)]
        if same and name not in wanted:
            found.append((name, Note(_same_kind(column), name, repr(same[0]))))
        else:
            seen.setdefault(key, []).append(name)
    return found


def _sample(column: Column) -> Hashable:
    """Some values of a column, which are the same in equal columns."""
    step = max(1, len(column.values) // _SAMPLED)
    values = column.values.to_numpy()[::step]
    return values.tobytes() if column.is_numeric else tuple(values)


def _same_kind(column: Column) -> str:
    if column.reading is not None and column.reading.kind in (DATE, TIME, DURATION):
        return "same moments"
    return "same numbers" if column.is_numeric else "same categories"
