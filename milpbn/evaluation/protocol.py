"""Training and test rows: the split or folds of a data set."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import KFold

from milpbn.datasets.readers import unpacked
from milpbn.datasets.table import Table
from milpbn.errors import DataError, OptionError
from milpbn.files import read_limited
from milpbn.selection.validation import DEFAULT_FOLDS, Split, stratified_folds

FoldNumbers = npt.NDArray[np.int64]
"""The number of the test fold of each row."""

# The usual number in the literature on several class variables.
_SEVERAL_FOLDS = 10


def splits(table: Table, folds: int | FoldNumbers | None, seed: int) -> list[Split]:
    """(training rows, test rows): the data set's own test rows, given folds, or new folds.

    Folds are stratified by the class; with several class variables they are drawn at random.

    Parameters
    ----------
    table
        Rows to evaluate on.
    folds
        Number of cross-validation folds, even if there are test rows; or the number of the test
        fold of each row; None for the data set's own protocol.
    seed
        Random seed for the folds.
    """
    if isinstance(folds, np.ndarray):
        return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in np.unique(folds)]
    if folds is None and table.has_test:
        assert table.is_train is not None
        return [(np.flatnonzero(table.is_train), np.flatnonzero(~table.is_train))]
    several = table.targets.shape[1] > 1
    count = folds or table.folds or (_SEVERAL_FOLDS if several else DEFAULT_FOLDS)
    if count < 2:
        raise OptionError(f"cross-validation needs at least 2 folds, not {count}")
    if len(table) < count:
        raise DataError(f"{table.name}: {len(table)} rows are too few for {count} folds")
    if several:
        return list(KFold(count, shuffle=True, random_state=seed).split(np.zeros(len(table))))
    return list(stratified_folds(count, seed).split(np.zeros(len(table)), table.target))


def read_folds(path: str | Path, n_rows: int) -> FoldNumbers:
    """Fold numbers from a file: a header, then the number of a row's test fold on each line.

    The file may be gzipped.
    """
    try:
        # As bytes: pandas would open addresses and unpack archives without a limit.
        content = unpacked(read_limited(path), Path(path))
        frame = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read folds from {path}: {error}") from None
    if frame.shape != (n_rows, 1):
        raise DataError(
            f"{path} has {frame.shape[0]} rows and {frame.shape[1]} columns; expected one column "
            f"with a header and {n_rows} fold numbers, one per row"
        )
    return fold_numbers(frame.iloc[:, 0].tolist(), str(path))


def fold_numbers(values: Sequence[object], where: str) -> FoldNumbers:
    """Check fold numbers; `where` begins the messages.

    Examples
    --------
    >>> fold_numbers(["1", "2", "1"], "folds.csv")
    array([1, 2, 1])
    """
    try:
        numbers = np.array([int(str(value)) for value in values], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{where}: fold numbers must be integers: {error}") from None
    if len(np.unique(numbers)) < 2:
        raise DataError(f"{where}: all rows are in one fold; at least two are needed")
    return numbers


def hold_out(table: Table, share: float, seed: int = 0) -> Table:
    """The table with a share of its rows, drawn at random from each class, as test rows.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> table = hold_out(load_dataset("iris"), 0.2)
    >>> table.test().target.value_counts().tolist()
    [10, 10, 10]
    """
    if table.has_test:
        raise DataError(f"{table.name} already has test rows, so none can be held out")
    order = np.random.default_rng(seed).permutation(len(table))
    # Every (1 / share)-th row in the order of the classes.
    labels = pd.factorize(table.target)[0]
    order = order[np.argsort(labels[order], kind="stable")]
    steps = np.floor(np.arange(len(table) + 1) * share + 0.5)
    is_train = np.ones(len(table), dtype=bool)
    is_train[order[np.diff(steps) > 0]] = False
    if is_train.all() or not is_train.any():
        raise DataError(
            f"{table.name}: {share:g} of {len(table)} rows leaves no row to learn from or to test"
        )
    return replace(table, is_train=is_train)
