"""Test rows from a second file, with the columns of the training rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from milpbn.datasets.assemble import labelled_rows, unknown_columns
from milpbn.datasets.infer import states_of
from milpbn.datasets.raw import RawFrame
from milpbn.datasets.readers import read_raw
from milpbn.datasets.readings import read_columns
from milpbn.datasets.table import Table
from milpbn.datasets.values import show_text, to_numbers
from milpbn.errors import DataError
from milpbn.words import count


def add_test_rows(table: Table, path: str | Path) -> Table:
    """The table with the rows of another file as test rows.

    All decisions about columns are those of the table, which has one class variable. In a
    numeric column, values that are not numbers are treated as missing.

    Parameters
    ----------
    table
        The training rows.
    path
        A file with the same columns; others are ignored.
    """
    raw = read_raw(path)
    target = str(table.target.name)
    wanted, names = [*table.sources, target], list(map(str, raw.frame.columns))
    if absent := [name for name in wanted if name not in names]:
        raise DataError(
            f"{raw.name}: {unknown_columns(absent, names)}; the test rows need the columns of "
            f"{table.name}"
        )
    frame, notes = labelled_rows(raw, (target,))
    frame = read_columns(frame[wanted], table.readings)
    known = set(table.target)
    labels = [str(label) for label in states_of(frame[target])]
    labels = [label if label in known else show_text(label) for label in labels]
    features, more_notes = _features(frame, table, raw)
    n_train = len(table)
    return replace(
        table,
        features=pd.concat([table.features, features], ignore_index=True),
        targets=pd.DataFrame({target: pd.Series([*table.target, *labels], dtype=object)}),
        is_train=np.arange(n_train + len(frame)) < n_train,
        # Weights matter in learning only.
        weights=None if table.weights is None else np.append(table.weights, np.ones(len(frame))),
        notes=(*table.notes, *raw.notes, *notes, *more_notes),
        source={**table.source, "test": dict(raw.source)},
    )


def _features(frame: pd.DataFrame, table: Table, raw: RawFrame) -> tuple[pd.DataFrame, list[str]]:
    """The columns as numbers or states, like those of the table."""
    features, notes = {}, []
    for name in map(str, table.features.columns):
        if name not in table.numeric:
            features[name] = states_of(frame[name])
            continue
        numbers = to_numbers(frame[name])
        odd = int((np.isnan(numbers) & frame[name].notna().to_numpy()).sum())
        if odd:
            notes.append(
                f"{raw.name}: column {name!r}: {count(odd, 'value')} treated as missing (not a "
                "number)."
            )
        features[name] = pd.Series(numbers, name=name)
    return pd.DataFrame(features), notes
