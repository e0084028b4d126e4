"""From raw columns to a table: the user's options, the target, then column by column."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.datasets.infer import SHORT_COLUMN, decide_column
from milpbn.datasets.table import Table
from milpbn.datasets.text import column_names
from milpbn.datasets.values import holds_numbers, is_number, show_text, show_value, unusable
from milpbn.errors import DataError
from milpbn.words import count

# A target of decimal fractions with more values than this is a measurement.
MANY_FRACTIONS = 20


@dataclass(frozen=True)
class RawFrame:
    """The columns of a file before any decision.

    Attributes
    ----------
    name
        What messages begin with.
    frame
        The columns, named by distinct texts.
    untyped
        Whether texts may stand for numbers, as in a CSV file.
    states
        Declared states of some columns.
    notes
        What was decided while reading.
    source
        Where the rows came from.
    """

    name: str
    frame: pd.DataFrame
    untyped: bool
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    source: Mapping[str, str] = field(default_factory=dict)


def table_from_frame(
    frame: pd.DataFrame | npt.NDArray[Any],
    target: pd.Series[Any] | npt.ArrayLike,
    name: str = "data",
    *,
    categorical: Iterable[str] = (),
    numeric: Iterable[str] = (),
    missing: str = "drop",
    drop: Iterable[str] = (),
) -> Table:
    """Build a table from columns in memory, with the decisions made for files.

    Numbers are numeric; texts, categories and truth values are categorical. Columns of an
    array are named x0, x1, ...

    Examples
    --------
    >>> frame = pd.DataFrame({"x": range(8, 0, -1), "color": list("aabbaabb")})
    >>> table = table_from_frame(frame, list("uuuuvvvv"))
    >>> table.numeric, table.target.name
    (('x',), 'class')
    """
    if not isinstance(frame, pd.DataFrame):
        frame = _frame_from_array(frame, name)
    frame = frame.reset_index(drop=True)
    frame.columns = pd.Index(column_names([str(column) for column in frame.columns], name))
    labels = _series_from_target(target, frame, name)
    if labels.name in frame.columns:
        raise DataError(f"{name}: the target {labels.name!r} is also a feature; leave it out")
    raw = RawFrame(name, frame.assign(**{str(labels.name): labels}), untyped=False)
    return build_table(
        raw,
        str(labels.name),
        categorical=categorical,
        numeric=numeric,
        missing=missing,
        drop=drop,
    )


def build_table(
    raw: RawFrame,
    target: str,
    *,
    categorical: Iterable[str] = (),
    numeric: Iterable[str] = (),
    missing: str = "drop",
    drop: Iterable[str] = (),
) -> Table:
    """Decide the target and every column of a raw frame."""
    dropped = set(drop)
    wanted = check_options(raw, target, set(categorical), set(numeric), dropped)
    has_label, labels, notes = decide_target(raw.frame[target], raw.name, raw.untyped)
    frame = raw.frame.loc[has_label].reset_index(drop=True)
    features: dict[str, pd.Series[Any]] = {}
    numbers = []
    for name in map(str, frame.columns):
        if name == target or name in dropped:
            continue
        decision = decide_column(
            frame[name], raw.name, wanted=wanted.get(name), untyped=raw.untyped, missing=missing
        )
        notes += decision.notes
        if decision.values is not None:
            features[name] = decision.values
            numbers += [name] if decision.is_numeric else []
    table = Table(
        name=raw.name,
        features=pd.DataFrame(features),
        target=labels,
        numeric=tuple(numbers),
        states={c: raw.states[c] for c in features if c in raw.states and c not in numbers},
        missing=missing,
        notes=(*raw.notes, *notes),
        source=dict(raw.source),
    )
    _check_usable(table)
    return table


def decide_target(
    values: pd.Series[Any], where: str, untyped: bool
) -> tuple[npt.NDArray[np.bool_], pd.Series[str], list[str]]:
    """Which rows have a label, these labels as texts, and notes."""
    label = f"{where}: target {values.name!r}"
    has_label = values.notna().to_numpy(dtype=bool)
    if not has_label.any():
        raise DataError(f"{label} has no value at all; choose another column")
    notes = []
    if not has_label.all():
        notes.append(f"{label} is missing in {count(int((~has_label).sum()), 'row')}, left out.")
    if len(unusable(values)):
        raise DataError(
            f"{label} must hold texts or finite numbers, not values of type {values.dtype}"
        )
    index, distinct = pd.factorize(values[has_label])
    shown = [str(show_value(value)) for value in distinct]
    numbers = holds_numbers(values) or (untyped and all(map(is_number, shown)))
    if numbers:
        shown = [show_text(text) for text in shown]
    labels = pd.Series(np.array(shown, dtype=object)[index], dtype=object, name=values.name)
    counts = labels.value_counts()
    _check_classes(counts, label, numbers)
    single = sorted(counts.index[counts == 1])
    if single:
        notes.append(f"{label} has classes with a single row: {_quoted(single)}.")
    return has_label, labels, notes


def _check_classes(counts: pd.Series[int], label: str, numbers: bool) -> None:
    n_classes, n_rows = len(counts), int(counts.sum())
    if n_classes == 1:
        raise DataError(f"{label} says {counts.index[0]!r} in every row; two classes are needed")
    fractions = numbers and not all(float(text).is_integer() for text in counts.index)
    too_many = n_rows > SHORT_COLUMN and n_classes > n_rows / 2
    if too_many or (fractions and n_classes > MANY_FRACTIONS):
        raise DataError(
            f"{label} has {n_classes} different values in {n_rows} rows, such as "
            f"{_quoted(counts.index[:3])}: this looks like regression, not classification; "
            f"choose another target or group its values into classes"
        )


def check_options(
    raw: RawFrame,
    target: str,
    categorical: set[str],
    numeric: set[str],
    dropped: set[str],
) -> dict[str, str]:
    """The kind that the user wants for some columns."""
    names = [str(name) for name in raw.frame.columns]
    if target not in names:
        raise DataError(f"{raw.name}: target: {unknown_columns([target], names)}")
    options = {"categorical": categorical, "numeric": numeric, "drop": dropped}
    for option, columns in options.items():
        unknown = sorted(columns.difference(names))
        if unknown:
            raise DataError(f"{raw.name}: --{option}: {unknown_columns(unknown, names)}")
        if target in columns:
            raise DataError(f"{raw.name}: --{option} {target}: this column is the target")
    both = sorted(categorical & numeric)
    if both:
        raise DataError(
            f"{raw.name}: {_quoted(both)} cannot be both --categorical and --numeric; choose one"
        )
    return {name: kind for kind in ("categorical", "numeric") for name in options[kind]}


def unknown_columns(unknown: Sequence[str], names: Sequence[str]) -> str:
    """A sentence that says which columns are not there, and which come close."""
    by_lower = {name.lower(): name for name in names}
    near = {
        by_lower[match]
        for name in unknown
        for match in difflib.get_close_matches(name.lower(), by_lower, n=3)
    }
    hint = f"close matches are {_quoted(sorted(near))}" if near else f"there are {_quoted(names)}"
    return f"there is no column {_quoted(unknown)} ({hint})"


def _check_usable(table: Table) -> None:
    if table.features.shape[1] == 0:
        why = " ".join(table.notes[:5])
        raise DataError(f"{table.name}: no feature is left to learn from. {why}".rstrip())
    if table.missing != "drop":
        return
    absent = table.features.isna()
    complete = ~absent.any(axis=1).to_numpy(dtype=bool)
    if table.target[complete].nunique() < 2:
        worst = str(absent.sum().idxmax())
        what = "every row misses" if not complete.any() else "all rows but those of one class miss"
        raise DataError(
            f"{table.name}: {what} some feature, most often {worst!r} "
            f"({int(absent[worst].sum())} of {len(absent)} rows); use --missing state, or leave "
            f"out columns with --drop"
        )


def _frame_from_array(array: npt.NDArray[Any], name: str) -> pd.DataFrame:
    array = np.asarray(array)
    if array.ndim != 2:
        raise DataError(f"{name}: the features must be a table with rows and columns")
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])


def _series_from_target(
    target: pd.Series[Any] | npt.ArrayLike, frame: pd.DataFrame, name: str
) -> pd.Series[Any]:
    """The target with a name, and with the rows numbered like those of the frame."""
    own_name = target.name if isinstance(target, pd.Series) else None
    try:
        values = target if isinstance(target, pd.Series) else np.asarray(target)
    except ValueError as error:  # lists of different lengths
        raise DataError(f"{name}: the target must be one value for each row") from error
    if values.ndim != 1 or len(values) != len(frame):
        raise DataError(
            f"{name}: the target must be one value for each of the {len(frame)} rows, "
            f"not of shape {values.shape}"
        )
    label = "class" if own_name is None else str(own_name)
    while own_name is None and label in frame.columns:
        label += "_"
    return pd.Series(values, name=label).reset_index(drop=True)


def _quoted(names: Iterable[object], limit: int = 20) -> str:
    listed = [repr(name) for name in names]
    more = len(listed) - limit
    return ", ".join(listed[:limit]) + (f" and {more} more" if more > 0 else "")
