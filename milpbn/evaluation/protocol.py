"""Training and test rows: the split or folds of a data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import KFold

from milpbn.datasets.table import Table
from milpbn.errors import DataError, OptionError
from milpbn.learning.validation import DEFAULT_FOLDS, Split, stratified_folds

# The usual number in the literature on several class variables.
_SEVERAL_FOLDS = 10


def splits(
    table: Table, folds: int | None, seed: int, fold_file: str | Path | None = None
) -> list[Split]:
    """(training rows, test rows): the data set's own test rows, published folds, or new folds.

    Folds are stratified by the class; with several class variables they are drawn at random.

    Parameters
    ----------
    table
        Rows to evaluate on.
    folds
        Number of cross-validation folds, even if there are test rows; None for the data set's
        own protocol.
    seed
        Random seed for the folds.
    fold_file
        A file with the number of every row's test fold, see :func:`read_folds`.
    """
    if fold_file is not None:
        numbers = read_folds(fold_file, len(table))
        return [
            (np.flatnonzero(numbers != k), np.flatnonzero(numbers == k)) for k in np.unique(numbers)
        ]
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


def read_folds(path: str | Path, n_rows: int) -> npt.NDArray[np.int64]:
    """Fold numbers from a file: a header, then the number of a row's test fold on each line."""
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read folds from {path}: {error}") from None
    if frame.shape != (n_rows, 1):
        raise DataError(
            f"{path} has {frame.shape[0]} rows and {frame.shape[1]} columns; expected one column "
            f"with a header and {n_rows} fold numbers, one per row"
        )
    try:
        numbers = frame.iloc[:, 0].to_numpy().astype(np.int64)
    except ValueError as error:
        raise DataError(f"{path}: fold numbers must be integers: {error}") from None
    if len(np.unique(numbers)) < 2:
        raise DataError(f"{path}: all rows are in one fold; at least two are needed")
    return numbers
