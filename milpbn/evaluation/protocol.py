"""Training and test rows: the split or folds of a data set, and the split for selection."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import BaseCrossValidator, KFold, ShuffleSplit, StratifiedKFold

from milpbn.datasets.table import Table
from milpbn.errors import DataError, OptionError

RowNumbers = npt.NDArray[np.intp]
Split = tuple[RowNumbers, RowNumbers]

DEFAULT_FOLDS = 5
# The usual number in the literature on several class variables.
_SEVERAL_FOLDS = 10


def part(table: Table, numbers: RowNumbers) -> Table:
    """Some rows of a table, in its order, all as training rows."""
    mask = np.isin(np.arange(len(table)), numbers)
    return replace(table.rows(mask), is_train=None)


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
    return list(_stratified(count, seed).split(np.zeros(len(table)), table.target))


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


class _Folds(StratifiedKFold):  # type: ignore[misc]
    """Stratified folds that also accept classes with fewer rows than folds."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """See scikit-learn."""
        _, counts = np.unique(np.asarray(y), return_counts=True)
        if counts.max() < self.n_splits:
            plain = KFold(self.n_splits, shuffle=True, random_state=self.random_state)
            yield from plain.split(X)
            return
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            yield from super().split(X, y)


def _stratified(folds: int, seed: int) -> StratifiedKFold:
    return _Folds(folds, shuffle=True, random_state=seed)


class ValidationSplit(BaseCrossValidator):  # type: ignore[misc]
    """How Peharz & Pernkopf (2012) select hyper-parameters, as a scikit-learn splitter.

    With more than 1000 training rows a fifth of them, drawn once, is held out for validation.
    With fewer, five-fold cross-validation within the training rows is used.

    Parameters
    ----------
    random_state
        Random seed for the draw and the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from milpbn import BNClassifier
    >>> search = GridSearchCV(BNClassifier(), {"p": [0.6, 0.9]}, cv=ValidationSplit())
    >>> y = np.arange(2000) % 2
    >>> [(len(train), len(test)) for train, test in ValidationSplit().split(y, y)]
    [(1600, 400)]
    >>> ValidationSplit().get_n_splits(y[:1000])
    5
    """

    LARGE = 1000
    SHARE = 0.2

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def _splitter(self, n_rows: int) -> BaseCrossValidator:
        if n_rows > self.LARGE:
            return ShuffleSplit(1, test_size=self.SHARE, random_state=self.random_state)
        return _stratified(min(DEFAULT_FOLDS, n_rows), self.random_state)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """(training rows, validation rows), once or five times."""
        yield from self._splitter(len(X)).split(X, y)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """1 for more than 1000 rows, else 5; the rows must be given."""
        if X is None:
            raise OptionError("the number of splits depends on the number of rows: pass X")
        return int(self._splitter(len(X)).get_n_splits(X, y))
