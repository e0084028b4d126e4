"""The scikit-learn interface that all classifiers for several class variables share.

Here labels are turned into codes and features into a matrix; subclasses learn from codes
and predict codes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from milpbn._types import Codes, FloatArray
from milpbn.datasets.frames import categorical_columns
from milpbn.errors import DataError, OptionError
from milpbn.estimators.base import TableClassifier, encode_labels
from milpbn.mdc.features import MIXED, FeatureEncoder, Features
from milpbn.mdc.metrics import exact_match_score

# newton-cholesky factorises a matrix of (columns x classes) squared; beyond this lbfgs is faster.
_NEWTON_SIZE = 600


def default_base(n_columns: int, n_classes: int) -> LogisticRegression:
    """Logistic regression with the solver that suits its size, trained until it converges."""
    if n_columns * n_classes <= _NEWTON_SIZE:
        return LogisticRegression(solver="newton-cholesky")
    return LogisticRegression(solver="lbfgs", max_iter=1000)


BASES: dict[str, Callable[[], Any]] = {
    "logistic": lambda: None,
    "gaussian-nb": GaussianNB,
    "forest": lambda: RandomForestClassifier(min_samples_leaf=5),
}
"""Base estimators by their names on the command line; None is the default."""


def prepare_base(base: Any, seed: int | None) -> Any:
    """A copy of the base estimator with its unset seeds set; it must give probabilities."""
    if not hasattr(base, "fit") or not is_classifier(base):
        raise OptionError(f"base_estimator must be a scikit-learn classifier, not {base!r}")
    if not hasattr(base, "predict_proba"):
        raise OptionError(
            f"base_estimator {type(base).__name__} has no predict_proba; choose a classifier that "
            "gives probabilities, or wrap it in sklearn.calibration.CalibratedClassifierCV"
        )
    base = clone(base)
    if seed is not None:
        seeds = {
            name: seed
            for name, value in base.get_params().items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        }
        base.set_params(**seeds)
    return base


class MultiDimensionalClassifier(TableClassifier):
    """Base of the classifiers that predict several class variables.

    Subclasses have the parameters ``base_estimator``, ``categorical_features``, ``mixed``
    and ``random_state``.
    """

    base_estimator: Any
    mixed: str
    random_state: int | None

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
        return self

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
        table = y if isinstance(y, pd.DataFrame | pd.Series) else np.asarray(y)
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

    def _base(self, features: Features, n_classes: int) -> Any:
        seed = self.random_state
        if self.base_estimator is None:
            return default_base(features.matrix.shape[1], n_classes)
        return prepare_base(self.base_estimator, seed)
