"""The scikit-learn interface that all classifiers for several class variables share.

Here labels are turned into codes and features into a matrix; subclasses learn from codes
and predict codes.
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
from milpbn.datasets.frames import categorical_columns
from milpbn.errors import DataError, OptionError
from milpbn.estimators.base import TableClassifier, encode_labels
from milpbn.estimators.notes import warn_caller
from milpbn.families.candidates import ParentSet
from milpbn.mdc.bases import Base, choose_base, make_base
from milpbn.mdc.features import MIXED, FeatureEncoder, Features
from milpbn.mdc.local_models import Fits
from milpbn.mdc.metrics import exact_match_score


class MultiDimensionalClassifier(TableClassifier):
    """Base of the classifiers that predict several class variables.

    Subclasses have the parameters ``base_estimator``, ``categorical_features``, ``mixed``,
    ``n_jobs`` and ``random_state``. They set ``base_`` and ``fits_`` when they learn.
    """

    base_estimator: Any
    mixed: str
    n_jobs: int | None
    random_state: int | None
    base_: Base | None
    fits_: Fits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> MultiDimensionalClassifier:
        """Learn from labelled rows.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Numbers and categories; NaN and None are missing.
        y : DataFrame or array of shape (n_samples, d)
            One column of class labels for each class variable. A flat `y` is one of them.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._learn(*self.prepare(X, y))
        for message, category in self._warnings():
            warn_caller(message, category)
        return self

    def _warnings(self) -> Iterator[tuple[str, type[Warning]]]:
        """What the user should know about the fit."""
        if self.fits_.unconverged:
            yield self.fits_.notes()[0], ConvergenceWarning
        yield from ((message, UserWarning) for message in sorted(self.fits_.messages))

    def prepare(self, X: Any, y: Any) -> tuple[Features, Codes]:
        """Validate and encode labelled rows: the first half of `fit`."""
        if self.mixed not in MIXED:
            raise OptionError(f"mixed must be one of {', '.join(MIXED)}, not {self.mixed!r}")
        frame = self._frame(X, reset=True)
        codes = self._encode_targets(y, frame)
        categorical = categorical_columns(frame, self.categorical_features)
        self.encoder_ = FeatureEncoder.fit(frame, categorical, self.mixed)
        return self.encoder_.transform(frame), codes

    def _encode_targets(self, y: Any, frame: pd.DataFrame) -> Codes:
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
        # As in scikit-learn's own multi-output classifiers, a flat y gives flat predictions.
        flat = table.ndim == 1
        table = pd.DataFrame({"y0": table}) if flat else table
        check_consistent_length(frame, table)
        names = [f"y{j}" for j in range(table.shape[1])]
        if isinstance(table, pd.DataFrame):
            # Each column keeps its type; numbered columns have no names worth keeping.
            columns = [table.iloc[:, j].to_numpy() for j in range(table.shape[1])]
            if all(isinstance(c, str) for c in table.columns):
                names = list(table.columns)
        else:
            columns = list(table.T)
        twice = sorted({n for n in names if names.count(n) > 1 or n in frame.columns})
        if twice:
            where = "also a feature" if twice[0] in frame.columns else "named twice"
            raise DataError(
                f"the class variable {twice[0]!r} is {where}; rename it or leave it out"
            )
        self.target_names_ = tuple(names)
        self.target_classes_: list[npt.NDArray[Any]] = []
        codes = np.empty(table.shape, dtype=np.int64)
        for j, (name, values) in enumerate(zip(names, columns, strict=True)):
            classes, codes[:, j] = encode_labels(name, values)
            self.target_classes_.append(classes)
        self.restore_targets(flat=flat)
        return codes

    def restore_targets(self, *, flat: bool) -> None:
        """Set what follows from the labels and the shape of `y`; also for a model from a file."""
        self._flat = flat
        self.n_outputs_ = len(self.target_classes_)
        self.classes_ = self.target_classes_[0] if flat else self.target_classes_

    def known_codes(self, y: Any, n_rows: int) -> Codes:
        """The codes of labels, all of which must have been seen in training."""
        table = np.asarray(y, dtype=object)
        table = table.reshape(-1, 1) if self._flat else table
        if table.shape != (n_rows, len(self.target_classes_)):
            raise DataError(
                f"y must have the shape {(n_rows, len(self.target_classes_))}, not {table.shape}"
            )
        codes = np.empty(table.shape, dtype=np.int64)
        for j, classes in enumerate(self.target_classes_):
            index = {label: k for k, label in enumerate(classes.tolist())}
            unknown = [v for v in table[:, j] if v not in index]
            if unknown:
                raise DataError(
                    f"the class variable {self.target_names_[j]!r} has the value {unknown[0]!r}, "
                    "which was never seen in training"
                )
            codes[:, j] = [index[v] for v in table[:, j]]
        return codes

    @abstractmethod
    def _learn(self, features: Features, codes: Codes) -> None:
        """Fit to encoded rows."""

    @abstractmethod
    def _predict_codes(self, features: Features) -> Codes:
        """``(rows, d)`` codes."""

    @abstractmethod
    def marginals(self, features: Features) -> list[FloatArray]:
        """P(y_j | x) of encoded rows, for each class variable."""

    def _features(self, X: Any) -> Features:
        check_is_fitted(self)
        features = self.encoder_.transform(self._frame(X, reset=False))
        for name, values in features.unseen.items():
            if name in self.encoder_.numeric:
                raise DataError(f"column {name!r} is numeric but holds {next(iter(values))!r}")
        return features

    def predict_features(self, features: Features) -> npt.NDArray[Any]:
        """The predicted labels of encoded rows."""
        return self._decode(self._predict_codes(features))

    def _decode(self, codes: Codes) -> npt.NDArray[Any]:
        columns = [classes[codes[:, j]] for j, classes in enumerate(self.target_classes_)]
        if len({c.dtype.kind for c in columns}) > 1:
            # Numbers in one array with strings would become strings.
            columns = [c.astype(object) for c in columns]
        return columns[0] if self._flat else np.column_stack(columns)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The predicted labels, ``(n_samples, d)``; flat if `y` was."""
        return self.predict_features(self._features(X))

    def predict_proba(self, X: Any) -> list[FloatArray] | FloatArray:
        """For each class variable, ``(n_samples, r_j)`` in the order of ``classes_[j]``.

        A list, as in scikit-learn; an array if `y` was flat.
        """
        marginals = self.marginals(self._features(X))
        return marginals[0] if self._flat else marginals

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The exact match score of the predictions."""
        return self._score(exact_match_score, X, y, sample_weight)

    def _score(self, measure: Callable[[Any, Any], float], X: Any, y: Any, weight: Any) -> float:
        if weight is not None:
            raise OptionError("sample weights are not supported")
        true, predicted = (np.asarray(v, dtype=object) for v in (y, self.predict(X)))
        if self._flat:
            true, predicted = true.reshape(-1, 1), predicted.reshape(-1, 1)
        return measure(true, predicted)

    def _choose_base(
        self,
        features: Features,
        codes: Codes,
        cards: Sequence[int],
        parent_sets: Sequence[Sequence[ParentSet]],
        **options: Any,
    ) -> list[Any]:
        """The unfitted base estimators, one for each element of `parent_sets`; sets ``base_``.

        See :func:`~milpbn.mdc.bases.choose_base`.
        """
        self.base_ = choose_base(
            make_base(self.base_estimator),
            features.matrix,
            codes,
            cards,
            parent_sets,
            seed=self.random_state or 0,
            n_jobs=self.n_jobs,
            **options,
        )
        return self._estimators(self.base_, features, cards[: len(parent_sets)])

    def _estimators(self, base: Base, features: Features, cards: Sequence[int]) -> list[Any]:
        """Unfitted base estimators of class variables."""
        n_columns, seed = features.matrix.shape[1], self._seed()
        return [base.estimator(n_columns, card, seed) for card in cards]

    @property
    def _cards(self) -> list[int]:
        return [len(c) for c in self.target_classes_]

    @property
    def leaves_choice(self) -> bool:
        """Whether validation chooses settings of the base models."""
        return len(make_base(self.base_estimator).candidates()) > 1

    def selected(self) -> dict[str, Any]:
        """What validation has chosen."""
        return {"base": str(self.base_)} if self.leaves_choice else {}

    def _seed(self) -> int | None:
        """The seed of base estimators."""
        return self.random_state


def _from_lists(y: Any) -> pd.DataFrame | pd.Series[Any] | npt.NDArray[Any]:
    """Lists as columns: an array of strings would turn numbers and NaN into strings."""
    raw = np.asarray(y, dtype=object)
    if raw.ndim == 1:
        return pd.Series(raw).infer_objects()
    return pd.DataFrame(raw).infer_objects() if raw.ndim == 2 else raw
