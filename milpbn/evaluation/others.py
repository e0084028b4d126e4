"""Classifiers of other libraries: those of scikit-learn, and explainable boosting machines.

They get the raw columns, prepared as each of them needs it, or the same states as milpbn's
networks; see :mod:`~milpbn.evaluation.inputs`. The table :data:`OTHERS` has them by name; a name
with settings is ``sk:svm:inputs=states``.

Each library is imported when it is used: reports of other commands use this package too.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from milpbn._types import BoolArray, Codes, FloatArray
from milpbn.datasets.table import Table
from milpbn.encoding.fitting import categorical_code
from milpbn.errors import DataError, OptionError
from milpbn.evaluation.inputs import CATEGORIES, INDICATORS, INPUTS, RAW, SCALED, Inputs
from milpbn.evaluation.measures import LEAST_PROBABILITY
from milpbn.selection.criteria import CRITERIA, LOG_LOSS
from milpbn.selection.validation import DEFAULT_FOLDS, EnoughFolds, stratified_folds
from milpbn.specs import AUTO, Specified, read_specified


@dataclass(frozen=True)
class Fitted:
    """A fitted classifier of another library.

    Attributes
    ----------
    classes
        The labels, in the order of the columns of :meth:`proba`.
    inputs
        Learned from the training rows.
    model
        Fitted to their matrix.
    """

    classes: tuple[str, ...]
    inputs: Inputs
    model: Any

    @property
    def selected(self) -> dict[str, Any]:
        """Hyper-parameters that validation chose."""
        return dict(getattr(self.model, "best_params_", {}))

    def proba(self, features: pd.DataFrame) -> FloatArray:
        """``(M, |C|)``: probabilities of the classes for raw rows."""
        with threadpool_limits(1):
            return _proba(self.model, self.inputs.matrix(features), len(self.classes))


@dataclass(frozen=True)
class Other(Specified):
    """A classifier of another library, with its settings.

    Parameters
    ----------
    inputs
        What it learns from: ``"raw"`` columns or milpbn's ``"states"``.
    """

    form: ClassVar[str]
    inputs: str = RAW

    def __post_init__(self) -> None:
        self._check("inputs", tuple(INPUTS))

    def _check(self, setting: str, known: Sequence[str]) -> None:
        value = getattr(self, setting)
        if value not in known:
            raise OptionError(
                f"{self.name}: {setting} must be one of {', '.join(known)}, not {value!r}"
            )

    def classifier(self, categorical: BoolArray, seed: int) -> Any:
        """The classifier, for a matrix in which these columns are codes of categories."""
        raise NotImplementedError

    def fit(self, table: Table, seed: int) -> Fitted:
        """Learn from all rows of a table.

        Parameters
        ----------
        table
            The training rows.
        seed
            Random seed for the classifier and for the choice of its hyper-parameters.

        Examples
        --------
        >>> from milpbn import load_dataset
        >>> monks = load_dataset("monks-1")
        >>> tree = read_other("sk:tree").fit(monks.train(), seed=0)
        >>> tree.classes, tree.proba(monks.test().features).shape
        (('0', '1'), (432, 2))
        """
        target, weights = categorical_code(table, table.target), table.row_weights()
        labels = target.encode(table.target).codes
        more = {} if weights is None else {"sample_weight": weights}
        try:
            # One thread: folds run in parallel, and the sums do not depend on the machine.
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")  # about rare classes and slow convergence
                inputs = INPUTS[self.inputs](table, self.form)
                model = self.classifier(inputs.categorical, seed)
                model.fit(inputs.matrix(table.features), labels, **more)
        except ValueError as error:
            raise DataError(f"{self.name} cannot learn from these rows: {error}") from error
        return Fitted(target.variable.states, inputs, model)


def is_other(label: str) -> bool:
    """Whether a method is meant to be one of another library."""
    return label.partition(":")[0] in _LIBRARIES


def read_other(label: str) -> Other:
    """Read the name of a method, with its settings if there are any.

    Examples
    --------
    >>> read_other("sk:svm:inputs=states").inputs
    'states'
    """
    library, _, rest = label.partition(":")
    name, _, settings = rest.partition(":")
    kind = OTHERS.get(f"{library}:{name}")
    if kind is None:
        raise OptionError(
            f"unknown method {label!r}; the classifiers of other libraries are {', '.join(OTHERS)}"
        )
    return read_specified(f"{name}:{settings}", "method", {name: kind})


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
    return GridSearchCV(model, grid, scoring=scoring, cv=EnoughFolds(seed))


@dataclass(frozen=True)
class _Logistic(Other):
    """Logistic regression; C by log-loss."""

    name = "sk:logistic"
    form = SCALED

    def classifier(self, categorical: BoolArray, seed: int) -> Any:
        """See :class:`Other`."""
        from sklearn.linear_model import LogisticRegression

        grid = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
        return _search(LogisticRegression(max_iter=1000), grid, seed, _log_loss)


@dataclass(frozen=True)
class _SupportVectors(Other):
    """An SVM with a Gaussian kernel."""

    name = "sk:svm"
    form = SCALED

    def classifier(self, categorical: BoolArray, seed: int) -> Any:
        """See :class:`Other`."""
        return _Calibrated(seed)


class _Calibrated(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """C by accuracy, then probabilities by Platt's method."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: FloatArray, y: Codes, sample_weight: FloatArray | None = None) -> _Calibrated:
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


@dataclass(frozen=True)
class _RandomForest(Other):
    """A random forest."""

    name = "sk:random-forest"
    form = INDICATORS

    def classifier(self, categorical: BoolArray, seed: int) -> Any:
        """See :class:`Other`."""
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(random_state=seed, n_jobs=1)


@dataclass(frozen=True)
class _GradientBoosting(Other):
    """Gradient boosting of histograms.

    Parameters
    ----------
    inputs
        See :class:`Other`.
    early_stopping
        ``"yes"``: up to 1000 trees per class, until the log-loss of a tenth of the rows gets no
        better for 10 trees; ``"no"``: 100 trees; ``"auto"``: scikit-learn's default, which
        is 100 trees, and stops early with more than 10,000 rows.
    """

    name = "sk:gradient-boosting"
    form = CATEGORIES
    early_stopping: str = AUTO

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("early_stopping", (AUTO, "yes", "no"))

    def classifier(self, categorical: BoolArray, seed: int) -> Any:
        """See :class:`Other`."""
        if self.early_stopping == "yes":
            return _StoppedEarly(categorical, seed)
        early = AUTO if self.early_stopping == AUTO else False
        return _boosting(categorical, seed, early_stopping=early)


def _boosting(categorical: BoolArray, seed: int, **settings: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        categorical_features=categorical, random_state=seed, **settings
    )


class _StoppedEarly(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gradient boosting with early stopping, also with rare classes.

    Scikit-learn holds rows of every class out, at least one of each. A class with a single row has
    none to spare: the number of trees is then found without it.
    """

    _MOST_TREES = 1000
    _SHARE = 0.1

    def __init__(self, categorical: BoolArray, seed: int) -> None:
        self.categorical = categorical
        self.seed = seed

    def fit(
        self, X: FloatArray, y: Codes, sample_weight: FloatArray | None = None
    ) -> _StoppedEarly:
        """See scikit-learn."""
        counts = np.bincount(y)
        used = counts[y] > 1
        held_out = max(round(self._SHARE * used.sum()), int((counts > 1).sum()))
        weights = None if sample_weight is None else sample_weight[used]
        self.model_ = _boosting(
            self.categorical,
            self.seed,
            early_stopping=True,
            max_iter=self._MOST_TREES,
            validation_fraction=held_out,
        ).fit(X[used], y[used], sample_weight=weights)
        if not used.all():
            n_trees = self.model_.n_iter_
            model = _boosting(self.categorical, self.seed, early_stopping=False, max_iter=n_trees)
            self.model_ = model.fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """See scikit-learn."""
        return np.asarray(self.model_.predict_proba(X))


@dataclass(frozen=True)
class _Tree(Other):
    """A decision tree; its depth by log-loss."""

    name = "sk:tree"
    form = INDICATORS

    def classifier(self, categorical: BoolArray, seed: int) -> Any:
        """See :class:`Other`."""
        from sklearn.tree import DecisionTreeClassifier

        grid = {"max_depth": [1, 2, 3, 4, 6, 8, 12, None]}
        return _search(DecisionTreeClassifier(random_state=seed), grid, seed, _log_loss)


@dataclass(frozen=True)
class _ExplainableBoosting(Other):
    """The explainable boosting machine of InterpretML."""

    name = "interpret:ebm"
    form = CATEGORIES

    def __post_init__(self) -> None:
        super().__post_init__()
        if find_spec("interpret") is None:
            raise OptionError(f"{self.name} needs InterpretML: pip install 'milpbn[ebm]'")

    def classifier(self, categorical: BoolArray, seed: int) -> Any:
        """See :class:`Other`."""
        from interpret.glassbox import ExplainableBoostingClassifier

        types = ["nominal" if one else "continuous" for one in categorical]
        return ExplainableBoostingClassifier(feature_types=types, random_state=seed, n_jobs=1)


_KINDS = (
    _Logistic,
    _SupportVectors,
    _RandomForest,
    _GradientBoosting,
    _Tree,
    _ExplainableBoosting,
)

OTHERS: dict[str, type[Other]] = {kind.name: kind for kind in _KINDS}
"""The methods, by name."""

_LIBRARIES = {name.partition(":")[0] for name in OTHERS}
