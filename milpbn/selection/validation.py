"""Training rows divided into rows to learn from and rows to validate on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseCrossValidator, KFold, ShuffleSplit, StratifiedKFold

from milpbn.datasets.table import Table
from milpbn.errors import OptionError

RowNumbers = npt.NDArray[np.intp]
Split = tuple[RowNumbers, RowNumbers]

DEFAULT_FOLDS = 5


def part(table: Table, numbers: RowNumbers) -> Table:
    """Some rows of a table, in its order, all as training rows."""
    mask = np.isin(np.arange(len(table)), numbers)
    return replace(table.rows(mask), is_train=None)


class _Folds(StratifiedKFold):  # type: ignore[misc]
    """See :func:`stratified_folds`."""

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


def stratified_folds(folds: int, seed: int) -> StratifiedKFold:
    """Stratified folds that also accept classes with fewer rows than folds."""
    return _Folds(folds, shuffle=True, random_state=seed)


class EnoughFolds(BaseCrossValidator):  # type: ignore[misc]
    """Stratified folds, as many as hold out a thousand rows, and five if there are fewer rows.

    The noise in comparing settings depends on the number of rows that are held out in total.

    Parameters
    ----------
    random_state
        Random seed for the folds.

    Examples
    --------
    >>> import numpy as np
    >>> [EnoughFolds().get_n_splits(np.zeros(m), np.arange(m) % 2) for m in (800, 2000, 9000)]
    [5, 3, 1]
    """

    ENOUGH = 1000

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """(training rows, validation rows), once or up to five times."""
        rows = 0
        for train, held_out in stratified_folds(
            min(DEFAULT_FOLDS, len(X)), self.random_state
        ).split(X, y):
            yield train, held_out
            rows += len(held_out)
            if rows >= self.ENOUGH:
                return

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Between 1 and 5; the rows must be given."""
        return sum(1 for _ in self.split(X, y))


class ValidationSplit(BaseCrossValidator):  # type: ignore[misc]
    """Splitter of scikit-learn for selecting hyper-parameters as in Peharz & Pernkopf (2012).

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
        return stratified_folds(min(DEFAULT_FOLDS, n_rows), self.random_state)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """(training rows, validation rows), once or five times."""
        yield from self._splitter(len(X)).split(X, y)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """1 for more than 1000 rows, else 5; the rows must be given."""
        if X is None:
            raise OptionError("the number of splits depends on the number of rows: pass X")
        return int(self._splitter(len(X)).get_n_splits(X, y))
