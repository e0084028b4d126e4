"""Which rows learn and which test: a set's own split or folds, and the split for selection."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseCrossValidator, KFold, ShuffleSplit, StratifiedKFold

from milpbn.datasets.table import Table
from milpbn.errors import DataError, OptionError

Rows = npt.NDArray[np.intp]
Split = tuple[Rows, Rows]

DEFAULT_FOLDS = 5


def splits(table: Table, folds: int | None, seed: int) -> list[Split]:
    """(training rows, test rows): the set's own test rows, or stratified folds.

    Parameters
    ----------
    table
        Rows to evaluate on.
    folds
        Cross-validate with so many folds, test rows or not; None for the set's own
        protocol, with 5 folds where it has no test rows.
    seed
        Of the folds.
    """
    if folds is None and table.has_test:
        assert table.is_train is not None
        return [(np.flatnonzero(table.is_train), np.flatnonzero(~table.is_train))]
    count = DEFAULT_FOLDS if folds is None else folds
    if count < 2:
        raise OptionError(f"cross-validation needs at least 2 folds, not {count}")
    if len(table.target) < count:
        raise DataError(f"{table.name}: {len(table.target)} rows are too few for {count} folds")
    return list(_stratified(count, seed).split(np.zeros(len(table.target)), table.target))


class _Folds(StratifiedKFold):  # type: ignore[misc]
    """Stratified folds that also take classes with fewer rows than folds."""

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
    """How the exact paper selects hyper-parameters, as a scikit-learn splitter.

    More than 1000 training rows: a fifth of them, drawn once, validates. Fewer:
    five-fold cross-validation inside the training rows.

    Parameters
    ----------
    random_state
        Seed of the draw and of the folds.

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
            raise OptionError("how often is split depends on the number of rows: give X")
        return int(self._splitter(len(X)).get_n_splits(X, y))
