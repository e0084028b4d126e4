"""The scikit-learn interface that all classifiers for several class variables share.

Here rows and labels become a table, by the rules for files; subclasses learn from the table and
predict codes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from milpbn._types import Codes, FloatArray
from milpbn.datasets.frames import labelled_table
from milpbn.datasets.table import Table
from milpbn.datasets.values import show_value
from milpbn.errors import DataError, DataWarning, OptionError
from milpbn.estimators.base import TableClassifier, encode_labels, rows_with_weight
from milpbn.estimators.notes import warn_caller
from milpbn.evaluation.metrics import exact_match_score
from milpbn.mdc.base_estimators import make_base
from milpbn.mdc.features import FeatureEncoder, Features
from milpbn.mdc.local_models import Fits
from milpbn.mdc.rows import class_states


class MultiDimensionalClassifier(TableClassifier):
    """Base of the classifiers that predict several class variables.

    Subclasses have the parameters ``base_estimator``, ``categorical_features``,
    ``numeric_features``, ``missing``, ``dates``, ``n_jobs`` and ``random_state``. They set
    ``base_``, ``encoder_`` and ``fits_`` when they learn.
    """

    base_estimator: Any
    numeric_features: Sequence[int] | Sequence[str]
    missing: str
    dates: str
    n_jobs: int | None
    random_state: int | None
    base_: Any
    encoder_: FeatureEncoder
    fits_: Fits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MultiDimensionalClassifier:
        """Learn from labelled rows.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Numbers, categories, dates and times; NaN and None are missing.
        y : DataFrame or array of shape (n_samples, d)
            One column of class labels for each class variable. A flat `y` is one of them.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, not negative. A weight of 2 counts a row twice in means, counts
            and scores, and is passed to the base models. Rows with a weight of 0 are left out.

        Returns
        -------
        self
            The fitted classifier.
        """
        table = self._table(X, y, sample_weight)
        for note in table.notes:
            warn_caller(note, DataWarning)
        return self._fit(table)

    def fit_table(self, table: Table) -> MultiDimensionalClassifier:
        """Learn from the rows of a table, whose columns have been decided already."""
        self._frame(table.features, reset=True)
        states = {name: np.array(s, dtype=object) for name, s in class_states(table).items()}
        self.set_targets(states, flat=False)
        return self._fit(table)

    def _fit(self, table: Table) -> MultiDimensionalClassifier:
        self._learn(table)
        for message, category in self._warnings():
            warn_caller(message, category)
        return self

    def _warnings(self) -> Iterator[tuple[str, type[Warning]]]:
        """What the user should know about the fit."""
        if self.fits_.unconverged:
            yield self.fits_.notes()[0], ConvergenceWarning
        yield from ((message, UserWarning) for message in sorted(self.fits_.messages))

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Table:
        """The rows as a table; the labels of the class variables are kept as they are."""
        frame = self._frame(X, reset=True)
        labels, flat = self._labels(y, frame)
        frame, labels, weights = rows_with_weight(frame, labels, sample_weight)
        classes, known = {}, []
        for name in labels.columns:
            own, index = encode_labels(name, labels[name].to_numpy())
            states = tuple(str(show_value(c)) for c in own)
            if len(set(states)) < len(states):
                raise OptionError(f"{name}: two labels are the same when written as strings")
            shown = pd.Series(np.array(states, dtype=object)[index], name=name, dtype=object)
            classes[name] = shown, states
            known.append(own)
        self.set_targets(dict(zip(classes, known, strict=True)), flat=flat)
        return labelled_table(
            frame,
            classes,
            several=True,
            weights=weights,
            categorical_features=self.categorical_features,
            numeric_features=self.numeric_features,
            missing=self.missing,
            dates=self.dates,
        )

    def _labels(self, y: Any, frame: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
        """A column per class variable, and whether `y` is flat."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        table = y if isinstance(y, pd.DataFrame | pd.Series | np.ndarray) else _from_lists(y)
        if table.ndim not in (1, 2):
            raise DataError(
                f"y must have a row per sample and a column per class variable, not the shape "
                f"{table.shape}"
            )
        check_consistent_length(frame, table)
        # As in scikit-learn's own multi-output classifiers, a flat y gives flat predictions.
        flat = table.ndim == 1
        labels = pd.DataFrame(table).reset_index(drop=True)
        # Numbered columns have no names worth keeping.
        if flat or not all(isinstance(c, str) for c in labels.columns):
            labels.columns = pd.Index([f"y{j}" for j in range(labels.shape[1])])
        names = list(labels.columns)
        twice = sorted({n for n in names if names.count(n) > 1 or n in frame.columns})
        if twice:
            where = "also a feature" if twice[0] in frame.columns else "named twice"
            raise DataError(
                f"the class variable {twice[0]!r} is {where}; rename it or leave it out"
            )
        return labels, flat

    def set_targets(self, classes: dict[str, npt.NDArray[Any]], *, flat: bool) -> None:
        """Set what follows from the labels of the class variables."""
        self._flat = flat
        self.target_names_ = tuple(classes)
        self.target_classes_ = list(classes.values())
        self.n_outputs_ = len(classes)
        self.classes_ = self.target_classes_[0] if flat else self.target_classes_

    @abstractmethod
    def _learn(self, table: Table) -> None:
        """Fit to the rows of a table."""

    @abstractmethod
    def _encode(self, frame: pd.DataFrame) -> Features:
        """Encode raw rows."""

    @abstractmethod
    def _predict_codes(self, features: Features) -> Codes:
        """``(rows, d)`` codes."""

    @abstractmethod
    def marginals(self, features: Features) -> list[FloatArray]:
        """P(y_j | x) of encoded rows, for each class variable."""

    def _features(self, X: Any) -> Features:
        check_is_fitted(self)
        features = self._encode(self._frame(X, reset=False))
        for name, values in features.unseen.items():
            if name in self.encoder_.numeric:
                raise DataError(f"column {name!r} is numeric but holds {next(iter(values))!r}")
        return features

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The predicted labels, ``(n_samples, d)``; flat if `y` was."""
        codes = self._predict_codes(self._features(X))
        columns = [classes[codes[:, j]] for j, classes in enumerate(self.target_classes_)]
        if len({c.dtype.kind for c in columns}) > 1:
            # Numbers in one array with strings would become strings.
            columns = [c.astype(object) for c in columns]
        return columns[0] if self._flat else np.column_stack(columns)

    def predict_proba(self, X: Any) -> list[FloatArray] | FloatArray:
        """For each class variable, ``(n_samples, r_j)`` in the order of ``classes_[j]``.

        A list, as in scikit-learn; an array if `y` was flat.
        """
        marginals = self.marginals(self._features(X))
        return marginals[0] if self._flat else marginals

    def _measure(self) -> Callable[..., float]:
        return exact_match_score

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The exact match score; for another loss, the score that belongs to it."""
        true, predicted = (np.asarray(v, dtype=object) for v in (y, self.predict(X)))
        if self._flat:
            true, predicted = true.reshape(-1, 1), predicted.reshape(-1, 1)
        return self._measure()(true, predicted, sample_weight)

    @property
    def leaves_choice(self) -> bool:
        """Whether validation chooses settings of the base models."""
        return len(make_base(self.base_estimator).candidates()) > 1

    def selected(self) -> dict[str, Any]:
        """What validation has chosen."""
        return {"base": str(self.base_)} if self.leaves_choice else {}


def _from_lists(y: Any) -> pd.DataFrame | pd.Series[Any] | npt.NDArray[Any]:
    """Lists as columns: an array of strings would turn numbers and NaN into strings."""
    raw = np.asarray(y, dtype=object)
    if raw.ndim == 1:
        return pd.Series(raw).infer_objects()
    return pd.DataFrame(raw).infer_objects() if raw.ndim == 2 else raw
