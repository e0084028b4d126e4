"""Training and test rows of the publications, or random splits if theirs are not known."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from milpbn import load_dataset
from milpbn.datasets import read_table
from milpbn.datasets.catalog import entry
from milpbn.datasets.table import Table
from milpbn.encoding import EncodedData
from milpbn.evaluation.protocol import hold_out, splits
from milpbn.learning.classifier import encode
from reproduction.options import Options

UCI25 = (
    *("australian", "breast", "chess", "cleve", "corral", "crx", "diabetes", "flare", "german"),
    *("glass", "glass2", "heart", "hepatitis", "iris", "letter", "lymphography", "mofn-3-7-10"),
    *("pima", "shuttle-small", "vote", "satimage", "segment", "soybean-large", "vehicle"),
    "waveform-21",
)
"""The data sets of Pernkopf & Bilmes (2005, 2010), in their order."""

# Files with the rows of the publications: how many of them are training rows (None: folds), and
# the numeric columns.
_ORIGINAL: dict[str, tuple[int | None, Sequence[str]]] = {
    "chess": (2130, ()),
    "mofn-3-7-10": (300, ()),
    "waveform-21": (300, [f"X{j:02}" for j in range(21)]),
    "cleve": (None, ("age", "trestbps", "chol", "thalach", "oldpeak")),
}

# Columns that are categories in the catalog, but were discretised in the publications.
_DISCRETISED = {
    "cleve": ("ca", "major vessels colored"),
    "heart": ("sex", "cp", "fbs", "restecg", "exang", "slope", "ca", "thal"),
    "lymphography": ("lym_dimin", "lym_enlar", "no_nodes"),
}

SEVERAL = ("Edm", "Rf1", "WaterQuality")
"""Data sets with several class variables that are not bundled."""

# A given file has no test rows: as many are held out as of USPS, 3000 of 11000.
_TEST_SHARE = 3 / 11


def verify_folder() -> Path | None:
    """The folder with data that are not bundled, if there is one."""
    folder = os.environ.get("MILPBN_VERIFY_DATA")
    return Path(folder) if folder else None


def original(name: str) -> Table | None:
    """A data set with the rows of the publications, or None if they are not available."""
    folder = verify_folder()
    path = None if folder is None or name not in _ORIGINAL else folder / f"{name}.csv.gz"
    if path is None or not path.exists():
        return None
    n_train, numeric = _ORIGINAL[name]
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    features = frame.drop(columns="class")
    return Table(
        name=name,
        features=features.astype(dict.fromkeys(numeric, float)),
        targets=frame["class"],
        numeric=tuple(numeric),
        is_train=None if n_train is None else np.arange(len(frame)) < n_train,
        folds=entry(name).folds,
        source={"dataset": name, "rows": "of the publications"},
    )


def _in_verify_folder(name: str) -> Path | None:
    """A file with a data set of several class variables, if it is at hand."""
    folder = verify_folder()
    path = None if folder is None else folder / "mdc" / name
    return path if path is not None and path.exists() else None


def _file(name: str, options: Options) -> Path | None:
    """The file of a data set that is not bundled, if it is at hand."""
    if name in SEVERAL and name not in options.files:
        return _in_verify_folder(f"{name}.csv.gz")
    return options.files.get(name)


def fold_file(name: str) -> Path | None:
    """The published folds of a data set with several class variables, if they are at hand."""
    return _in_verify_folder(f"{name}.folds.csv.gz")


def available(name: str, options: Options) -> bool:
    """Whether the rows of a data set are at hand."""
    return name not in SEVERAL or _file(name, options) is not None


def n_splits(name: str, options: Options) -> int:
    """How many random splits a data set gets; 0 if its rows, or its folds, are those to use."""
    path = _file(name, options)
    if path is not None:
        return options.splits if len(_targets(path)) == 1 else 0
    if original(name) is not None or entry(name).split not in ("seeded", "generated"):
        return 0
    return options.splits


def load(name: str, split: int, options: Options) -> Table:
    """The rows of a data set; `split` counts random splits from 1, and 0 is its own protocol.

    As in the publications, incomplete rows are left out, unless a missing value is a state.
    """
    table = _load(name, split, options)
    return table.rows(~table.incomplete) if table.missing == "drop" else table


def _load(name: str, split: int, options: Options) -> Table:
    path = _file(name, options)
    if path is not None:
        table = _read(name, path, options)
        return hold_out(table, _TEST_SHARE, seed=split) if split else table
    if split:
        return load_dataset(name, seed=split)
    return _as_published(original(name) or load_dataset(name))


def _as_published(table: Table) -> Table:
    """The table with the numbers and categories of the publications, where these are evident.

    Pernkopf & Bilmes (2005, table 4) print numbers of parameters. They show that the 16 values of
    letter's attributes are states, and that other columns are discretised.
    """
    if table.name == "letter":
        values = tuple(map(str, range(16)))
        states = dict.fromkeys(table.features.columns, values)
        features = table.features.astype(int).astype(str).astype(object)
        return replace(table, features=features, numeric=(), states=states)
    more = [c for c in _DISCRETISED.get(table.name, ()) if c in table.features]
    features = table.features.astype(dict.fromkeys(more, float))
    return replace(table, features=features, numeric=(*table.numeric, *more))


def n_parts(name: str, options: Options) -> int:
    """How many pairs of training and test rows a data set has: random splits, folds, or one."""
    if drawn := n_splits(name, options):
        return drawn
    found = entry(name)
    return (options.folds or found.folds) if found.folds else 1


def encoded(name: str, number: int, options: Options) -> EncodedData:
    """The states of one pair of training and test rows, counted from 1."""
    if n_splits(name, options):
        return encode(load(name, number, options)).data
    table = load(name, 0, options)
    train, _ = splits(table, None if table.has_test else options.folds, seed=0)[number - 1]
    is_train = np.isin(np.arange(len(table)), train)
    return encode(replace(table, is_train=is_train)).data


def _read(name: str, path: Path, options: Options) -> Table:
    targets = _targets(path)
    states = [c for c in _columns(path) if c not in targets] if options.discrete else ()
    return replace(read_table(path, targets, categorical=states), name=name)


def _targets(path: Path) -> list[str]:
    """The class columns of a file: class_1, class_2 and so on, or the last column."""
    columns = _columns(path)
    return [c for c in columns if re.fullmatch(r"class_\d+", c)] or columns[-1:]


def _columns(path: Path) -> list[str]:
    return list(pd.read_csv(path, nrows=0).columns)
