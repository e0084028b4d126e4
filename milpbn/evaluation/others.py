"""Classifiers of scikit-learn that learn from the same states as milpbn's networks.

The encoder of a fold turns columns into states, as for a network. Gradient boosting takes the
states as categories, and a value never seen in training as missing. The others see one indicator
per state, and no indicator for such a value.

Each classifier is imported when it is used: reports of other commands use this package too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from milpbn._types import Codes, FloatArray
from milpbn.datasets.table import Table
from milpbn.encoding import Encoder
from milpbn.errors import DataError, OptionError
from milpbn.evaluation.measures import LEAST_PROBABILITY
from milpbn.learning.criteria import CRITERIA, LOG_LOSS
from milpbn.learning.validation import DEFAULT_FOLDS, ValidationSplit, stratified_folds

PREFIX = "sk:"
"""What the names of these methods begin with."""

# Gradient boosting takes columns with more states than this as numbers.
_MOST_CATEGORIES = 255


@dataclass(frozen=True)
class OtherClassifier:
    """A fitted classifier of scikit-learn with the encoder of its rows.

    Attributes
    ----------
    encoder
        Learned from the training rows.
    model
        Fitted to the codes of the states.
    """

    encoder: Encoder
    model: Any

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of :meth:`proba`."""
        return self.encoder.target.variable.states

    @property
    def selected(self) -> dict[str, Any]:
        """Hyper-parameters that validation chose."""
        last = self.model[-1] if hasattr(self.model, "steps") else self.model
        return dict(getattr(last, "best_params_", {}))

    def proba(self, features: pd.DataFrame) -> FloatArray:
        """``(M, |C|)``: probabilities of the classes for raw rows."""
        codes = _with_a_column(self.encoder.transform(features).codes)
        with threadpool_limits(1):
            return _proba(self.model, codes, len(self.classes))


def fit_other(name: str, table: Table, seed: int) -> OtherClassifier:
    """Fit a classifier of scikit-learn to the states of a table.

    Parameters
    ----------
    name
        A key of :data:`OTHERS`.
    table
        The training rows.
    seed
        Random seed for the classifier and for the choice of its hyper-parameters.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> monks = load_dataset("monks-1")
    >>> tree = fit_other("sk:tree", monks.train(), seed=0)
    >>> tree.classes, tree.proba(monks.test().features).shape
    (('0', '1'), (432, 2))
    """
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    codes, weights = data.train(), data.train_weights()
    cards = [v.card for v in encoder.variables[1:]] or [1]
    try:
        # One thread: folds run in parallel, and the sums do not depend on the machine.
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")  # about rare classes and slow convergence
            model = OTHERS[name](cards, seed)
            last = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
            more = {} if weights is None else {f"{last}sample_weight": weights}
            model.fit(_with_a_column(codes[:, 1:]), codes[:, 0], **more)
    except ValueError as error:
        raise DataError(f"scikit-learn cannot learn from these rows: {error}") from error
    return OtherClassifier(encoder, model)


def check_other(name: str) -> None:
    """Raise an error for a name that is not one of these methods."""
    if name not in OTHERS:
        raise OptionError(
            f"unknown method {name!r}; the classifiers of scikit-learn are {', '.join(OTHERS)}"
        )


def _with_a_column(codes: Codes) -> Codes:
    """The codes, or a constant column if no feature is left."""
    return codes if codes.shape[1] else np.zeros((len(codes), 1), dtype=codes.dtype)


def _proba(model: Any, inputs: Any, n_classes: int) -> FloatArray:
    """Probabilities with a column for every class, zero for those not in the training rows."""
    out = np.zeros((len(inputs), n_classes))
    out[:, model.classes_] = model.predict_proba(inputs)
    return out


def _log_loss(model: Any, inputs: Any, labels: Codes) -> float:
    """A scorer for scikit-learn that knows classes without training rows."""
    proba = _proba(model, inputs, 1 + max(labels.max(), model.classes_.max()))
    proba[:, model.classes_] = np.maximum(proba[:, model.classes_], LEAST_PROBABILITY)
    with np.errstate(divide="ignore"):
        ones = np.ones(len(labels))
        return -CRITERIA[LOG_LOSS].measure(labels.astype(np.int64), np.log(proba), ones)


def _search(model: Any, grid: Mapping[str, Sequence[Any]], seed: int, scoring: Any) -> GridSearchCV:
    return GridSearchCV(model, grid, scoring=scoring, cv=ValidationSplit(seed))


class _SupportVectors(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An SVM with a Gaussian kernel; C by accuracy, then probabilities by Platt's method."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(
        self, X: FloatArray, y: Codes, sample_weight: FloatArray | None = None
    ) -> _SupportVectors:
        """See scikit-learn."""
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.svm import SVC

        search = _search(SVC(), {"C": [0.1, 1.0, 10.0, 100.0]}, self.seed, "accuracy")
        search.fit(X, y, sample_weight=sample_weight)
        # A list of folds, because scikit-learn's own refuse classes with fewer rows than folds.
        folds = list(stratified_folds(DEFAULT_FOLDS, self.seed).split(X, y))
        machine = SVC(**search.best_params_)
        self.model_ = CalibratedClassifierCV(machine, cv=folds, ensemble=False)
        self.model_.fit(X, y, sample_weight=sample_weight)
        self.best_params_, self.classes_ = search.best_params_, self.model_.classes_
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """See scikit-learn."""
        return np.asarray(self.model_.predict_proba(X))


def _on_indicators(cards: Sequence[int], model: Any) -> Any:
    states = [list(range(card)) for card in cards]
    indicators = OneHotEncoder(categories=states, handle_unknown="ignore", sparse_output=False)
    return make_pipeline(indicators, model)


def _logistic(cards: Sequence[int], seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    grid = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    model = LogisticRegression(max_iter=1000)
    return _on_indicators(cards, _search(model, grid, seed, _log_loss))


def _svm(cards: Sequence[int], seed: int) -> Any:
    return _on_indicators(cards, _SupportVectors(seed))


def _random_forest(cards: Sequence[int], seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return _on_indicators(cards, RandomForestClassifier(random_state=seed, n_jobs=1))


def _gradient_boosting(cards: Sequence[int], seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    few = [card <= _MOST_CATEGORIES for card in cards]
    return HistGradientBoostingClassifier(categorical_features=few, random_state=seed)


def _tree(cards: Sequence[int], seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    grid = {"max_depth": [1, 2, 3, 4, 6, 8, 12, None]}
    model = DecisionTreeClassifier(random_state=seed)
    return _on_indicators(cards, _search(model, grid, seed, _log_loss))


OTHERS: dict[str, Callable[[Sequence[int], int], Any]] = {
    f"{PREFIX}logistic": _logistic,
    f"{PREFIX}svm": _svm,
    f"{PREFIX}random-forest": _random_forest,
    f"{PREFIX}gradient-boosting": _gradient_boosting,
    f"{PREFIX}tree": _tree,
}
"""The methods, by name."""
