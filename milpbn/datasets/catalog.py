"""The bundled data sets: what the catalog says about each, and how its rows are loaded."""

from __future__ import annotations

import difflib
import hashlib
import io
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from milpbn._types import BoolArray
from milpbn.datasets.generators import GENERATORS
from milpbn.datasets.table import AUTO, DROP, Table
from milpbn.errors import DataError, OptionError
from milpbn.messages import Message, option


@dataclass(frozen=True)
class CatalogEntry:
    """What the catalog says about one data set.

    Attributes
    ----------
    name
        The key that :func:`load_dataset` takes.
    title, description
        One line each, for display.
    rows, complete_rows
        Number of rows, and of those without a missing value.
    features
        Number of feature columns.
    classes
        Number of classes of each target.
    targets
        The class columns; more than one for a multi-dimensional data set.
    numeric
        The numeric columns.
    missing
        ``"drop"``: the set consists of its complete rows, as in the publications; ``"state"``:
        a missing value is a state.
    split
        ``"first"``, ``"seeded"`` or ``"generated"`` if there are test rows, else
        ``"folds"``.
    train, test
        Training and test rows, before incomplete rows are left out; test is 0 under
        ``"folds"``.
    folds
        Number of folds for cross-validation; 0 if there are test rows.
    seed
        Random seed of a seeded split.
    groups
        Classes made from a numeric target, each with its first and last value.
    papers
        What the publications did, and how milpbn differs.
    source, licence
        Attribution.
    file, sha256
        The bundled file; empty for a generated set.
    generator, arguments
        The generating function; empty for a file.
    """

    name: str
    title: str
    description: str
    rows: int
    complete_rows: int
    features: int
    classes: tuple[int, ...]
    targets: tuple[str, ...]
    numeric: tuple[str, ...]
    missing: str
    papers: str
    source: str
    licence: str
    train: int
    test: int = 0
    split: str = "folds"
    folds: int = 0
    seed: int = 0
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    file: str = ""
    sha256: str = ""
    generator: str = ""
    arguments: Mapping[str, int] = field(default_factory=dict)


def data_root() -> Path:
    """The folder of the bundled files: inside the installed package, or in the repository."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_data", package.parent / "data"):
        if (folder / "catalog.toml").is_file():
            return folder
    raise DataError(f"the bundled data sets are not in {package / '_data'}; reinstall milpbn")


@lru_cache(maxsize=1)
def load_catalog() -> Mapping[str, CatalogEntry]:
    """All entries by name, in the order of the catalog.

    Examples
    --------
    >>> load_catalog()["iris"].classes
    (3,)
    """
    with (data_root() / "catalog.toml").open("rb") as file:
        tables = tomllib.load(file)
    return MappingProxyType({name: _entry(name, table) for name, table in tables.items()})


def entry(name: str) -> CatalogEntry:
    """The entry with this name; ``mdc/`` may be left out.

    Examples
    --------
    >>> entry("iriss")
    Traceback (most recent call last):
    milpbn.errors.DataError: there is no data set 'iriss'; did you mean iris?
    """
    catalog = load_catalog()
    found = catalog.get(name) or catalog.get(f"mdc/{name}")
    if found is not None:
        return found
    by_lower = {known.lower(): known for known in catalog}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3)
    hint = (
        f"did you mean {' or '.join(by_lower[key] for key in near)}?"
        if near
        else f"the data sets are {', '.join(catalog)}"
    )
    raise DataError(f"there is no data set {name!r}; {hint}")


def load_frame(name: str) -> pd.DataFrame:
    """All columns of a data set as they are in its file, targets included.

    Numeric columns hold numbers, the others ``str``, with ``None`` for missing. Nothing
    is split, grouped or left out. In a generated set, the training rows come first.
    """
    return _frame_of(entry(name))


def load_dataset(name: str, *, seed: int | None = None, missing: str | None = None) -> Table:
    """Load a data set of the catalog, with one class variable or several.

    Incomplete rows are left out if the publications leave them out, and so are rows that a seeded
    split uses neither for training nor for testing. Notes say so.

    Parameters
    ----------
    name
        See :func:`load_catalog`; ``mdc/`` may be left out.
    seed
        Draw other training and test rows, of the same numbers, with this random seed. Only for
        data sets whose split is seeded or generated.
    missing
        A policy for missing values in place of the catalog's; see
        :class:`~milpbn.datasets.table.Table`. ``"auto"`` and ``"state"`` keep all rows.

    Examples
    --------
    >>> table = load_dataset("satimage")
    >>> len(table.train()), len(table.test())
    (4435, 2000)
    >>> load_dataset("Jura").targets.columns.tolist()
    ['class_1', 'class_2']
    >>> len(load_dataset("car", seed=7).test())
    576
    >>> len(load_dataset("crx")), len(load_dataset("crx", missing="auto"))
    (653, 690)
    """
    found = entry(name) if seed is None else _redrawn(entry(name), seed)
    found = found if missing is None else replace(found, missing=missing)
    if found.generator:
        arguments = ", ".join(f"{key}={value}" for key, value in found.arguments.items())
        source = {"dataset": found.name, "generator": f"{found.generator}({arguments})"}
        table = replace(_generate(found), name=found.name, source=source)
        return replace(table, folds=found.folds, missing=found.missing)
    frame = _frame_of(found)
    usable = np.ones(len(frame), dtype=bool)
    if found.missing == DROP:
        usable &= frame.notna().all(axis=1).to_numpy()
    kept, is_train = _split(found, usable)
    targets = frame[list(found.targets)]
    table = Table(
        name=found.name,
        features=frame.drop(columns=targets.columns),
        targets=targets.apply(_group, groups=found.groups) if found.groups else targets,
        numeric=found.numeric,
        is_train=is_train,
        missing=found.missing,
        folds=found.folds,
        notes=tuple(_notes_on_rows(found, usable, kept)),
        source={
            "dataset": found.name,
            "sha256": found.sha256,
            **({} if seed is None else {"seed": str(seed)}),
        },
    )
    return table if kept.all() else table.rows(kept)


def _redrawn(found: CatalogEntry, seed: int) -> CatalogEntry:
    """The entry with another seed for its split."""
    if found.split not in ("seeded", "generated"):
        raise OptionError(
            f"{found.name} has no split that is drawn at random, so it cannot have another seed"
        )
    if found.generator:
        return replace(found, arguments={**found.arguments, "seed": seed})
    return replace(found, seed=seed)


def _entry(name: str, table: dict[str, Any]) -> CatalogEntry:
    """One table of the catalog; an unknown key is an error."""
    fields = dict(table)
    targets = fields.pop("targets", None) or [fields.pop("target")]
    classes = fields.pop("classes")
    groups = {label: tuple(ends) for label, ends in fields.pop("groups", {}).items()}
    return CatalogEntry(
        name=name,
        targets=tuple(targets),
        classes=tuple(classes) if isinstance(classes, list) else (classes,),
        numeric=tuple(fields.pop("numeric")),
        groups=groups,
        train=fields.pop("train", table["rows"]),
        **fields,
    )


def _generate(found: CatalogEntry) -> Table:
    return GENERATORS[found.generator](**found.arguments)


def _frame_of(found: CatalogEntry) -> pd.DataFrame:
    if found.generator:
        table = _generate(found)
        return table.features.join(table.targets)
    path = data_root() / found.file
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{found.name}: cannot read {path}: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != found.sha256:
        raise DataError(f"{path} has changed: its checksum is not the catalog's; reinstall milpbn")
    frame = pd.read_csv(
        io.BytesIO(data),
        compression="gzip",
        dtype=str,
        keep_default_na=False,
        na_values=[""],
    )
    return pd.DataFrame(
        {
            column: values.astype(np.float64)
            if column in found.numeric
            else values.astype(object).where(values.notna(), None)
            for column, values in frame.items()
        }
    )


def _split(found: CatalogEntry, usable: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Which of the usable rows are used, and which rows are training rows."""
    n = len(usable)
    if found.split != "seeded":
        return usable, np.arange(n) < found.train
    order = np.random.default_rng(found.seed).permutation(np.flatnonzero(usable))
    kept, is_train = np.zeros((2, n), dtype=bool)
    kept[order[: found.train + found.test]] = True
    is_train[order[: found.train]] = True
    return kept, is_train


def _notes_on_rows(found: CatalogEntry, usable: BoolArray, kept: BoolArray) -> Iterator[str]:
    """Which rows are left out, and why."""
    n = len(usable)
    if not usable.all():
        told = (
            f"{found.name}: left out {n - usable.sum()} of {n} rows with a missing value, as in "
            "the publications; "
        )
        yield Message(told, option("missing", AUTO), " keeps them.")
    if kept.sum() < usable.sum():
        yield (
            f"{found.name}: left out {usable.sum() - kept.sum()} of {usable.sum()} rows: the split "
            f"with seed {found.seed} draws {found.train} training rows and {found.test} test rows."
        )


def _group(labels: pd.Series[str], groups: Mapping[str, tuple[int, int]]) -> pd.Series[str]:
    """The label of the range that contains each number."""
    by_number = {
        str(number): label
        for label, (first, last) in groups.items()
        for number in range(first, last + 1)
    }
    return pd.Series([by_number[text] for text in labels], dtype=object, name=labels.name)
