"""From raw columns to a table: the user's options, the targets, then the features one by one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.datasets.infer import FEW_VALUES, SHORT_COLUMN, decide_column
from milpbn.datasets.table import Table
from milpbn.datasets.text import column_names
from milpbn.datasets.values import holds_numbers, is_number, show_text, show_value, unusable
from milpbn.errors import DataError
from milpbn.messages import Message, option
from milpbn.words import count, quoted

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
        The columns, with distinct names.
    untyped
        Whether strings may stand for numbers, as in a CSV file.
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
    source: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Columns:
    """What the user says about the columns.

    Attributes
    ----------
    targets
        The class columns.
    categorical, numeric
        Columns whose kind is given.
    drop
        Columns to leave out.
    """

    targets: tuple[str, ...]
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The arguments of :func:`~milpbn.datasets.readers.read_table`, for a JSON file."""
        return {
            "target": self.targets[0] if len(self.targets) == 1 else list(self.targets),
            "categorical": list(self.categorical),
            "numeric": list(self.numeric),
            "drop": list(self.drop),
        }


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
    """Build a table from columns in memory, by the rules for files.

    Numbers are numeric; strings, categories and Booleans are categorical. The columns of an
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
    columns = Columns((str(labels.name),), tuple(categorical), tuple(numeric), tuple(drop))
    return build_table(raw, columns, missing)


def build_table(raw: RawFrame, columns: Columns, missing: str) -> Table:
    """Decide the targets and every other column of a raw frame.

    Two rules depend on the number of targets. One target: a numeric column with few values
    becomes categorical, and incomplete rows stay, because the encoder leaves them out and
    counts them. Several targets: base models take numbers as they are, so that they stay
    numeric, and under ``missing="drop"`` incomplete rows are left out here.
    """
    wanted = _check_columns(raw, columns)
    several = len(columns.targets) > 1
    frame, notes = labelled_rows(raw, columns.targets)
    labels = {target: _decide_target(frame[target], raw) for target in columns.targets}
    decisions = {
        name: decide_column(
            frame[name],
            raw.name,
            wanted=wanted.get(name),
            untyped=raw.untyped,
            missing=missing,
            few_values=0 if several else FEW_VALUES,
        )
        for name in map(str, frame.columns)
        if name not in (*columns.targets, *columns.drop)
    }
    features = {name: d.values for name, d in decisions.items() if d.values is not None}
    numeric = tuple(name for name in features if decisions[name].is_numeric)
    table = Table(
        name=raw.name,
        features=pd.DataFrame(features),
        targets=pd.DataFrame(labels),
        numeric=numeric,
        states={c: raw.states[c] for c in features if c in raw.states and c not in numeric},
        missing=missing,
        notes=(*raw.notes, *notes, *(note for d in decisions.values() for note in d.notes)),
        source=dict(raw.source),
    )
    _check_usable(table)
    table = _complete_rows(table) if several and missing == "drop" else table
    return replace(table, notes=(*table.notes, *_notes_on_classes(table)))


def _check_columns(raw: RawFrame, columns: Columns) -> dict[str, str]:
    """The kind that the user wants for some columns."""
    names = [str(name) for name in raw.frame.columns]
    targets = columns.targets
    if not targets:
        raise DataError(f"{raw.name}: no target is named; there must be at least one")
    absent = [target for target in targets if target not in names]
    if absent:
        raise DataError(f"{raw.name}: target: {unknown_columns(absent, names)}")
    twice = sorted({target for target in targets if targets.count(target) > 1})
    if twice:
        raise DataError(f"{raw.name}: the target {twice[0]!r} is named twice")
    kinds = {"categorical": columns.categorical, "numeric": columns.numeric}
    for kind, chosen in {**kinds, "drop": columns.drop}.items():
        unknown = sorted(set(chosen).difference(names))
        if unknown:
            told = unknown_columns(unknown, names)
            raise DataError(Message(f"{raw.name}: ", option(kind), f": {told}"))
        taken = [target for target in targets if target in chosen]
        if taken:
            told = f": {quoted(taken)} is a target"
            raise DataError(Message(f"{raw.name}: ", option(kind, taken), told))
    both = sorted(set(columns.categorical) & set(columns.numeric))
    if both:
        raise DataError(
            Message(
                f"{raw.name}: {quoted(both)} cannot be both ",
                option("categorical"),
                " and ",
                option("numeric"),
                "; choose one",
            )
        )
    return {name: kind for kind, chosen in kinds.items() for name in chosen}


def labelled_rows(raw: RawFrame, targets: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """The rows that have a value in every target, and a note if some have not."""
    labelled = raw.frame[list(targets)].notna().all(axis=1).to_numpy(dtype=bool)
    what = f"target {targets[0]!r}" if len(targets) == 1 else "one of the targets"
    if not labelled.any():
        raise DataError(f"{raw.name}: {what} is missing in every row; choose another column")
    left_out = count(int((~labelled).sum()), "row")
    notes = [] if labelled.all() else [f"{raw.name}: left out {left_out} where {what} is missing."]
    return raw.frame.loc[labelled].reset_index(drop=True), notes


def _decide_target(values: pd.Series[Any], raw: RawFrame) -> pd.Series[str]:
    """The labels as strings."""
    label = f"{raw.name}: target {values.name!r}"
    if len(unusable(values)):
        raise DataError(
            f"{label} must contain strings or finite numbers, not values of type {values.dtype}"
        )
    index, distinct = pd.factorize(values)
    shown = [str(show_value(value)) for value in distinct]
    numbers = holds_numbers(values) or (raw.untyped and all(map(is_number, shown)))
    if numbers:
        shown = [show_text(text) for text in shown]
    labels = pd.Series(np.array(shown, dtype=object)[index], dtype=object, name=values.name)
    _check_classes(labels.value_counts(), label, numbers)
    return labels


def _check_classes(counts: pd.Series[int], label: str, numbers: bool) -> None:
    n_classes, n_rows = len(counts), int(counts.sum())
    if n_classes == 1:
        raise DataError(f"{label} is {counts.index[0]!r} in every row; two classes are needed")
    fractions = numbers and not all(float(text).is_integer() for text in counts.index)
    too_many = n_rows > SHORT_COLUMN and n_classes > n_rows / 2
    if too_many or (fractions and n_classes > MANY_FRACTIONS):
        raise DataError(
            f"{label} has {n_classes} different values in {n_rows} rows, such as "
            f"{quoted(counts.index[:3])}: this looks like regression, not classification; "
            f"choose another target or group its values into classes"
        )


def unknown_columns(unknown: Sequence[str], names: Sequence[str]) -> str:
    """Which columns do not exist, and which names are close."""
    by_lower = {name.lower(): name for name in names}
    near = {
        by_lower[match]
        for name in unknown
        for match in difflib.get_close_matches(name.lower(), by_lower, n=3)
    }
    hint = f"close matches: {quoted(sorted(near))}" if near else f"columns: {quoted(names)}"
    return f"there is no column {quoted(unknown)} ({hint})"


def _check_usable(table: Table) -> None:
    """There must be a feature, and complete rows of two classes where only they are used."""
    if table.features.shape[1] == 0:
        why = (part for note in table.notes[:5] for part in (" ", note))
        raise DataError(Message(f"{table.name}: no feature is left to learn from.", *why))
    if table.missing != "drop":
        return
    absent = table.features.isna()
    complete = table.targets.loc[~absent.any(axis=1).to_numpy(dtype=bool)]
    alike = [str(name) for name in complete.columns if complete[name].nunique() < 2]
    if alike:
        worst = str(absent.sum().idxmax())
        what = (
            f"all complete rows have the same class of target {alike[0]!r}"
            if len(complete)
            else "no row is complete"
        )
        raise DataError(
            Message(
                f"{table.name}: {what}; the feature {worst!r} is missing most often, in "
                f"{int(absent[worst].sum())} of {len(absent)} rows. Use ",
                option("missing", "state"),
                ", or leave out columns with ",
                option("drop"),
            )
        )


def _complete_rows(table: Table) -> Table:
    """The rows without a missing feature, and a note if there are others."""
    complete = table.features.notna().all(axis=1).to_numpy(dtype=bool)
    if complete.all():
        return table
    left_out = count(int((~complete).sum()), "row")
    note = f"{table.name}: left out {left_out} where a feature is missing."
    return replace(table.rows(complete), notes=(*table.notes, note))


def _notes_on_classes(table: Table) -> list[str]:
    notes = []
    for name, labels in table.targets.items():
        counts = labels.value_counts()
        single = sorted(counts.index[counts == 1])
        if single:
            what = f"{table.name}: target {name!r} has classes with a single row"
            notes.append(f"{what}: {quoted(single)}.")
    return notes


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
        raise DataError(f"{name}: the target must be one value per row") from error
    if values.ndim != 1 or len(values) != len(frame):
        raise DataError(
            f"{name}: the target must be one value for each of the {len(frame)} rows, "
            f"not of shape {values.shape}"
        )
    label = "class" if own_name is None else str(own_name)
    while own_name is None and label in frame.columns:
        label += "_"
    return pd.Series(values, name=label).reset_index(drop=True)
