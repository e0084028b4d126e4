"""Tables with several class columns, for multi-dimensional classification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from milpbn.datasets.assemble import RawFrame, check_options, decide_target, unknown_columns
from milpbn.datasets.catalog import CatalogEntry, entry, load_catalog, load_frame
from milpbn.datasets.infer import decide_column
from milpbn.datasets.readers import read_raw
from milpbn.errors import DataError


@dataclass(frozen=True)
class MultiTable:
    """Raw rows with several class variables.

    Attributes
    ----------
    name
        Catalog name or file name; every message about the data begins with it.
    features
        Numeric columns are float64 with NaN, categorical ones ``str`` with ``None``.
    targets
        One column of labels, ``str``, for each class variable.
    numeric
        The columns of `features` that are numbers.
    folds
        How many folds the catalog proposes for cross-validation.
    notes
        What was decided while reading, one sentence each.
    source
        Where the rows came from; kept in model files.
    """

    name: str
    features: pd.DataFrame
    targets: pd.DataFrame
    numeric: tuple[str, ...]
    folds: int = 10
    notes: tuple[str, ...] = ()
    source: dict[str, str] = field(default_factory=dict)

    @property
    def categorical(self) -> list[str]:
        """The columns of `features` that are categories."""
        return [c for c in map(str, self.features.columns) if c not in self.numeric]

    def __len__(self) -> int:
        return len(self.features)


def load_multi_dataset(name: str) -> MultiTable:
    """A bundled data set with several class variables; ``mdc/`` may be left out.

    Examples
    --------
    >>> table = load_multi_dataset("Jura")
    >>> len(table), table.targets.columns.tolist()
    (359, ['class_1', 'class_2'])
    """
    found = _multi_entry(name)
    frame = load_frame(found.name)
    targets = list(found.targets)
    return MultiTable(
        name=found.name,
        features=frame.drop(columns=targets),
        targets=frame[targets],
        numeric=found.numeric,
        folds=found.folds,
        source={"dataset": found.name, "sha256": found.sha256},
    )


def _multi_entry(name: str) -> CatalogEntry:
    found = load_catalog().get(f"mdc/{name}") or entry(name)
    if len(found.targets) < 2:
        several = [n for n, e in load_catalog().items() if len(e.targets) > 1]
        raise DataError(
            f"the data set {name!r} has one class variable; use `milpbn solve` for it. With "
            f"several there are {', '.join(several)}"
        )
    return found


def read_multi_table(
    path: str | Path,
    targets: Sequence[str],
    *,
    categorical: Iterable[str] = (),
    numeric: Iterable[str] = (),
    missing: str = "drop",
    drop: Iterable[str] = (),
) -> MultiTable:
    """Read a file with several class columns.

    Parameters
    ----------
    path
        A CSV, ARFF or Parquet file, possibly gzipped.
    targets
        The class columns; rows where one is missing are left out.
    categorical, numeric
        Columns whose kind the user knows better.
    missing
        ``"drop"``: rows with a missing feature are left out; ``"state"``: they stay.
    drop
        Columns to leave out.
    """
    raw = read_raw(path)
    dropped = set(drop)
    _check_targets(raw, targets)
    for target in targets:
        wanted = check_options(raw, target, set(categorical), set(numeric), dropped)
    labelled = raw.frame[list(targets)].notna().all(axis=1).to_numpy(dtype=bool)
    if not labelled.any():
        raise DataError(f"{raw.name}: no row has a value in every target")
    notes = list(raw.notes)
    if not labelled.all():
        notes.append(f"{raw.name}: rows left out because a target is missing: {(~labelled).sum()}.")
    frame = raw.frame.loc[labelled].reset_index(drop=True)
    features: dict[str, pd.Series[Any]] = {}
    numbers = []
    for name in map(str, frame.columns):
        if name in targets or name in dropped:
            continue
        decision = decide_column(
            frame[name],
            raw.name,
            wanted=wanted.get(name),
            untyped=raw.untyped,
            missing=missing,
            few_values=0,  # base models take numbers as they are, however few
        )
        notes += decision.notes
        if decision.values is not None:
            features[name] = decision.values
            numbers += [name] if decision.is_numeric else []
    if not features:
        raise DataError(f"{raw.name}: no feature is left to learn from. {' '.join(notes[:5])}")
    table = pd.DataFrame(features)
    complete = np.ones(len(table), dtype=bool)
    if missing == "drop":
        complete = table.notna().all(axis=1).to_numpy(dtype=bool)
        if not complete.any():
            worst = str(table.isna().sum().idxmax())
            raise DataError(
                f"{raw.name}: every row misses some feature, most often {worst!r}; use --missing "
                "state, or leave out columns with --drop"
            )
        if not complete.all():
            notes.append(f"Rows left out because a feature is missing: {(~complete).sum()}.")
    labels = {}
    for target in targets:
        _, values, more = decide_target(
            frame.loc[complete, target].reset_index(drop=True), raw.name, raw.untyped
        )
        labels[target] = values
        notes += more
    return MultiTable(
        name=raw.name,
        features=table.loc[complete].reset_index(drop=True),
        targets=pd.DataFrame(labels),
        numeric=tuple(numbers),
        notes=tuple(notes),
        source=dict(raw.source),
    )


def read_multi_features(
    path: str | Path, expected: Sequence[str], targets: Sequence[str]
) -> pd.DataFrame:
    """Rows to predict: the expected columns, and those targets that are there.

    What a user should know of the reading is in ``attrs["notes"]``.
    """
    raw = read_raw(path)
    names = [str(c) for c in raw.frame.columns]
    absent = [c for c in expected if c not in names]
    if absent:
        raise DataError(f"{raw.name}: {unknown_columns(absent, names)}; the model needs it")
    frame = raw.frame[[*expected, *(t for t in targets if t in names)]]
    frame.attrs["notes"] = tuple(raw.notes)
    return frame


def _check_targets(raw: RawFrame, targets: Sequence[str]) -> None:
    names = [str(c) for c in raw.frame.columns]
    absent = [t for t in targets if t not in names]
    if absent:
        raise DataError(f"{raw.name}: targets: {unknown_columns(absent, names)}")
    twice = sorted({t for t in targets if list(targets).count(t) > 1})
    if twice:
        raise DataError(f"{raw.name}: the target {twice[0]!r} is named twice")
    if len(targets) < 2:
        raise DataError(
            f"{raw.name}: one target ({', '.join(targets)}) is no multi-dimensional problem; name "
            "at least two, or use `milpbn solve --target`"
        )
