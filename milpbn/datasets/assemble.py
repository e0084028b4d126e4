"""From raw columns to a table: the user's options, the targets, then the features one by one."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.datasets.bins import MDLP
from milpbn.datasets.frames import as_pandas
from milpbn.datasets.infer import FEW_VALUES, Rules
from milpbn.datasets.monotone import check_monotone
from milpbn.datasets.raw import Columns, RawFrame
from milpbn.datasets.screening import Screened, screen
from milpbn.datasets.table import AUTO, DROP, Table, without_holes
from milpbn.datasets.targets import decide_target
from milpbn.datasets.text import column_names
from milpbn.datasets.weights import weighted_rows
from milpbn.errors import DataError, OptionError
from milpbn.messages import Message, Spelling, option
from milpbn.settings import ColumnNames
from milpbn.words import count, quoted


def table_from_frame(
    frame: pd.DataFrame | npt.NDArray[Any],
    target: pd.Series[Any] | npt.ArrayLike,
    name: str = "data",
    **columns: Unpack[ColumnNames],
) -> Table:
    """Build a table from columns in memory, by the rules for files.

    Numbers are numeric; strings, categories and Booleans are categorical, unless the strings
    are dates, times or numbers with a unit. The columns of an array are named x0, x1, ... The
    options are those of :func:`read_table`.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": range(8, 0, -1), "color": list("aabbaabb")})
    >>> table = table_from_frame(frame, list("uuuuvvvv"))
    >>> table.numeric, table.target.name
    (('x',), 'class')
    """
    frame = as_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        frame = _frame_from_array(frame, name)
    frame = frame.reset_index(drop=True)
    frame.columns = pd.Index(column_names([str(column) for column in frame.columns], name))
    labels = _series_from_target(target, frame, name)
    if labels.name in frame.columns:
        raise DataError(f"{name}: the target {labels.name!r} is also a feature; leave it out")
    raw = RawFrame(name, frame.assign(**{str(labels.name): labels}), untyped=False)
    return build_table(raw, Columns.given([str(labels.name)], **columns))


def build_table(raw: RawFrame, columns: Columns, checkpoint: Checkpoint = no_checkpoint) -> Table:
    """Decide the targets and every other column of a raw frame.

    Two rules depend on the number of targets. One target: a numeric column with few values
    becomes categorical, and the encoder decides about missing values. Several targets: base
    models take numbers as they are, so that they stay numeric, and under ``missing="drop"``
    incomplete rows are left out here.
    """
    wanted = _check_columns(raw, columns)
    missing, monotone = columns.missing, columns.monotone
    bins, own = columns.bins, columns.own_bins
    several = len(columns.targets) > 1
    if several and monotone:
        raise OptionError(Message(option("monotone"), " needs a single target with two classes"))
    if several and (bins != MDLP or own):
        told = (
            " cannot be combined with several targets, whose base models take numbers as they are"
        )
        given = option("bins", bins) if bins != MDLP else Spelling("bins", own.on_command_line()[0])
        raise OptionError(Message(given, told))
    frame, notes = labelled_rows(raw, columns.targets)
    frame, weights, more_notes = weighted_rows(frame, raw, columns.weight)
    notes += more_notes
    targets = [decide_target(frame[name], raw, columns) for name in columns.targets]
    max_states = None if several else columns.max_states
    rules = Rules(
        raw.name,
        untyped=raw.untyped,
        missing=missing,
        dates=columns.dates,
        max_states=max_states,
        few_values=0 if several else FEW_VALUES,
        ordered=columns.ordered,
        taken=frozenset(columns.targets),
        binned=frozenset(own.columns),
        directed=frozenset(monotone),
    )
    left_out = [*columns.targets, *columns.drop, *((columns.weight,) if columns.weight else ())]
    screened = screen(frame.drop(columns=left_out), rules, wanted, checkpoint)
    own.check(raw.name, screened.features.columns, screened.numeric, screened.unused)
    check_monotone(raw.name, monotone, [*screened.features.columns, *screened.unused])
    table = Table(
        name=raw.name,
        features=screened.features,
        targets=pd.DataFrame({str(t.labels.name): t.labels for t in targets}),
        numeric=screened.numeric,
        states={
            **{c: raw.states[c] for c in _unread(screened) if c in raw.states},
            **screened.ordered,
            **{str(t.labels.name): t.states for t in targets if t.states},
        },
        weights=weights,
        missing=missing,
        readings={
            **screened.readings,
            **{t.reading.source: t.reading for t in targets if t.reading},
        },
        max_states=max_states,
        bins=bins,
        own_bins=own,
        monotone=dict(monotone),
        notes=(*raw.notes, *notes, *(n for t in targets for n in t.notes), *screened.notes),
        source=dict(raw.source),
        ordered=tuple(screened.ordered),
    )
    _check_usable(table)
    table = without_holes(table) if several else table
    more = _notes_on_classes(table)
    return replace(table, notes=(*table.notes, *more)) if more else table


def _unread(screened: Screened) -> list[str]:
    """The categories that are taken as they are."""
    made = {*screened.numeric, *screened.readings}
    return [name for name in map(str, screened.features.columns) if name not in made]


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
    lists = {**kinds, "drop": columns.drop, "ordered": tuple(columns.ordered)}
    for kind, chosen in lists.items():
        unknown = sorted(set(chosen).difference(names))
        if unknown:
            told = unknown_columns(unknown, names)
            raise DataError(Message(f"{raw.name}: ", option(kind), f": {told}"))
        taken = [target for target in targets if target in chosen]
        if taken and kind != "categorical":
            told = f": {quoted(taken)} is a target"
            raise DataError(Message(f"{raw.name}: ", option(kind, taken), told))
    _check_weight(raw, columns, names)
    for one, other in (("categorical", "numeric"), ("ordered", "numeric"), ("ordered", "drop")):
        both = sorted(set(lists[one]) & set(lists[other]))
        if both:
            words = option(one), " and ", option(other), "; choose one"
            raise DataError(Message(f"{raw.name}: {quoted(both)} cannot be both ", *words))
    return {name: kind for kind, chosen in kinds.items() for name in chosen}


def _check_weight(raw: RawFrame, columns: Columns, names: Sequence[str]) -> None:
    """The column of the weights exists and is used for nothing else."""
    weight = columns.weight
    if weight is None:
        return
    if weight not in names:
        told = unknown_columns([weight], names)
        raise DataError(Message(f"{raw.name}: ", option("weight"), f": {told}"))
    if weight in columns.targets:
        told = f": {weight!r} is a target"
        raise DataError(Message(f"{raw.name}: ", option("weight"), told))
    kinds = {"categorical": columns.categorical, "numeric": columns.numeric, "drop": columns.drop}
    for kind, chosen in kinds.items():
        if weight in chosen:
            words = option("weight"), " and ", option(kind), "; choose one"
            raise DataError(Message(f"{raw.name}: {weight!r} cannot be both ", *words))


def labelled_rows(raw: RawFrame, targets: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """The rows that have a value in every target, and a note if some have not."""
    labelled = raw.frame[list(targets)].notna().all(axis=1).to_numpy(dtype=bool)
    what = f"target {targets[0]!r}" if len(targets) == 1 else "one of the targets"
    if not labelled.any():
        raise DataError(f"{raw.name}: {what} is missing in every row; choose another column")
    if labelled.all():
        return raw.frame, []
    left_out = count(int((~labelled).sum()), "row")
    notes = [f"{raw.name}: left out {left_out} where {what} is missing."]
    return raw.frame.loc[labelled].reset_index(drop=True), notes


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
    if table.missing != DROP:
        return
    complete = table.targets.loc[~table.incomplete]
    alike = [str(name) for name in complete.columns if complete[name].nunique() < 2]
    if alike:
        absent = table.features.isna()
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
                option("missing", AUTO),
                ", or leave out columns with ",
                option("drop"),
            )
        )


def _notes_on_classes(table: Table) -> list[str]:
    notes = []
    for name, labels in table.targets.items():
        counts = labels.value_counts()
        single = sorted(counts.index[counts == 1])
        if single:
            notes.append(
                f"{table.name}: target {name!r} has classes with a single row, which cannot be in "
                f"both training and test rows: {quoted(single)}."
            )
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
