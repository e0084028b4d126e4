"""The classifier for one class variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Clock
from milpbn.datasets.bins import MDLP
from milpbn.datasets.frames import labelled_table
from milpbn.datasets.monotone import in_words
from milpbn.datasets.own_bins import Bins
from milpbn.datasets.table import AUTO, Table, weighted
from milpbn.datasets.targets import check_classes
from milpbn.datasets.values import show_value
from milpbn.datasets.weights import parse_class_weight
from milpbn.encoding.encoder import Encoder
from milpbn.encoding.texts import are_numbers
from milpbn.errors import DataError, DataWarning, OptionError
from milpbn.estimators.base import encode_labels, refuse_missing_labels, rows_with_weight
from milpbn.estimators.explained import ExplainedClassifier
from milpbn.estimators.notes import warn_caller
from milpbn.explanation import drift_of
from milpbn.families import Constraints
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings, make_settings
from milpbn.learning.update import add_rows
from milpbn.parameters.ml import MaximumLikelihood
from milpbn.schema import labels_from
from milpbn.scores import Score
from milpbn.search import Learner
from milpbn.settings import (
    RUN_SETTINGS,
    SETTINGS,
    ColumnNames,
    ScoreNames,
    check_settings,
    declared,
)
from milpbn.settings.columns import MAX_STATES
from milpbn.structure import Structure
from milpbn.words import quoted

PARAMETERS = {one.of_estimator: name for name, one in SETTINGS.items() if one.of_estimator}
"""The settings that the parameters are, most of them by the same name."""

_NAMES = {name: parameter for parameter, name in PARAMETERS.items()}
_OF_COLUMNS = [_NAMES[name] for name in declared(ColumnNames) if name in _NAMES]
_OF_RUN = [p for p, name in PARAMETERS.items() if name in RUN_SETTINGS]


def _tables_are_counts(estimator: BNClassifier) -> bool:
    """Whether the tables are functions of counts, so that rows can be added."""
    if estimator.parameters == MaximumLikelihood.name and estimator.class_weight is None:
        return True
    raise AttributeError(
        "partial_fit needs parameters='ml' and no class_weight; otherwise fit again with all rows"
    )


class BNClassifier(ExplainedClassifier):
    """Bayesian network classifier whose structure is learned exactly.

    Numeric columns are discretised, see `bins`; dates, times and numbers with a unit become numeric
    columns; other columns are treated as categories. What is decided about columns and rows is
    reported as :class:`~milpbn.DataWarning`.

    Parameters
    ----------
    structure_score : {"sm", "sbm", "mdl", "bic", "bdeu", "cr", "cll"} or Score, default="sm"
        Score that the structure maximises; ``"cr"`` is for heuristics only, and
        ``"cll"`` for these and for branch-and-cut. A
        score object has its own settings, as in ``milpbn.scores.make_score("bdeu", ess=10)``.
    p : float, default=0.9
        Desired class probability of the margin scores; ``gamma = log(p / (1 - p))``.
    gamma : float, default=None
        Desired log-margin; overrides `p`.
    penalty : float or "bic", default=0.0
        Cost of one free parameter, for the scores ``"sm"``, ``"sbm"`` and ``"cll"``: sparser
        networks for larger values.
        ``"bic"`` is half the logarithm of the number of rows.
    validation : int, "loo", "none" or None, default=None
        Which rows score a row (not for ``"mdl"``, ``"bdeu"``): all (``"none"``), all others
        (``"loo"``), other folds (a number). None: "loo" if columns have several resolutions.
    max_parents : int, default=2
        Maximum number of parents per variable, including the class.
    class_parents : bool, default=True
        Whether features may be parents of the class.
    augmented : bool, default=False
        Whether a feature with parents must have the class among them; for margin
        scores this is always the case.
    smoothing : str, default="laplace"
        Smoothing of the parameters: ``"laplace[:COUNT]"`` or ``"epsilon[:VALUE]"``.
    parameters : {"ml", "cl", "mm"}, default="ml"
        How the parameters of the structure are learned: maximum likelihood,
        conditional likelihood or margin. Settings follow a colon, as in
        ``"cl:penalty=0.1"``. The structure is always scored with maximum likelihood.
    constraints : Constraints, default=None
        Required and forbidden arcs, tiers, parent limits, budgets. Columns of arrays are
        called x0, x1, ..., the class is called "class".
    max_arcs : int, default=None
        Maximum number of arcs.
    max_features : int, default=None
        Maximum number of features that have an arc; the classifier ignores the others.
    max_parameters : int, default=None
        Maximum number of free parameters of the network.
    max_cost : int, default=None
        Maximum cost of the features that have an arc, see `feature_costs`.
    feature_costs : dict, default=None
        What features cost, as whole numbers: ``{"test": 5, "xray": 20}``. Others cost nothing.
    categorical_features : "from_dtype" or array-like of int or str, default="from_dtype"
        Which columns are categories: by their dtype and values, or in any case the given
        positions or names.
    numeric_features : array-like of int or str, default=()
        Columns to read as numbers, by position or name; values that are not numbers become
        missing.
    ordered : dict of lists, default=None
        Categorical columns with an order, and all their categories in this order:
        ``{"size": ["S", "M", "L"]}``. Neighbours then have similar effects, as for numbers.
        Ordered categoricals of pandas need not be listed.
    missing : {"auto", "state", "drop"}, default="auto"
        What becomes of missing values in the training rows. ``"auto"``: a state of their own, and
        columns that are mostly empty are left out; ``"state"``: a state in every column;
        ``"drop"``: incomplete rows are left out. In prediction, a missing value without a state is
        summed out exactly.
    dates : {"expand", "drop", "keep"}, default="expand"
        Replace dates by year, month, weekday and time of day, leave them out, or read them as
        categories.
    max_states : int or None, default=50
        Categories with more states keep the most frequent ones; the others are pooled into one
        state. None for no limit.
    bins : {"mdlp", "fine", "quantile:K", "auto"} or dict, default="mdlp"
        How numeric columns are cut: where the classes change, by MDLP; into fine bins for
        parameters with smooth effects (``"cl"`` or ``"mm"``), with coarser ones for the search;
        into K bins with about the same number of rows; or in several resolutions per column,
        among which every family of the structure chooses. A dict has own cuts of some columns, as
        in ``{"income": [1000, 2000], "*": "auto"}``, where ``"*"`` stands for the others.
    special : dict, default=None
        Values of numeric columns that are states of their own: ``{"income": [-999]}``.
    min_bin_share : float, default=0.0
        The smallest share of a column's rows that a bin may have, unless its cuts are given.
    monotone : dict, default=None
        The effect of some features on two classes: ``{"age": "increasing"}`` if the second class
        (``classes_[1]``) may not become less likely along the feature, everything else equal, or
        ``"decreasing"``. The result is the best of all networks whose tables keep this.
    class_weight : "balanced", dict or None, default=None
        A factor for the weights of the rows of each class: ``{class: factor}``, 1 for classes
        that are not listed, or ``"balanced"`` to give all classes the same total weight.
    method : str or Learner, default="branch-and-cut"
        An exact engine; a heuristic (see ``milpbn.search.LEARNERS``), by name or as an
        object with its own settings; or ``"multinet-cmi"`` or ``"multinet-ear"`` for one
        structure per class.
    time_limit : float, default=60.0
        Seconds for `fit`; None for no limit.
    gap : float, default=0.0
        Relative gap at which to stop; 0 requires a proof of optimality.
    threads : int, default=1
        Number of threads for passes over the rows, and for the monolithic engine.
    random_state : int, default=0
        Random seed for the solver and the heuristics.
    start : Structure, str or None, default="local-search"
        A structure to start from, or the name of the heuristic that looks for one
        in a small share of the time.
    engine : str or Learner, default=None
        The former name of `method`, for one more release.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    structure_ : Structure or ClassStructures
        The learned structure; for a multinet, one per class.
    result_ : Result
        Everything about the run: status, bound, gap, trace, times.
    optimal_ : bool
        Whether the structure is proven optimal.
    objective_, bound_, gap_ : float
        Score of the structure, upper bound on the score of any structure, relative gap.
        Heuristics give no bound: then the last two are None.
    network_ : Network or Multinet
        Structure and parameters.
    parameters_ : ParameterReport
        How the parameters were learned.
    encoder_ : Encoder
        How columns become states.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The mean absolute contribution of each column to the log-odds of the predicted class
        in the training rows; see :meth:`explain`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    milpbn.learn_structure : The learner on encoded data.

    References
    ----------
    Peharz & Pernkopf (2012), Exact maximum margin structure learning of Bayesian
    networks.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BNClassifier(max_parents=1).fit(X, y)
    >>> model.optimal_, round(model.objective_, 4), model.score(X, y)
    (True, 298.8924, 0.96)
    """

    def __init__(
        self,
        *,
        structure_score: str | Score = "sm",
        p: float = 0.9,
        gamma: float | None = None,
        penalty: float | str = 0.0,
        validation: int | str | None = None,
        max_parents: int = 2,
        class_parents: bool = True,
        augmented: bool = False,
        smoothing: str = "laplace",
        parameters: str = "ml",
        constraints: Constraints | None = None,
        max_arcs: int | None = None,
        max_features: int | None = None,
        max_parameters: int | None = None,
        max_cost: int | None = None,
        feature_costs: Mapping[str, int] | None = None,
        categorical_features: str | Sequence[int] | Sequence[str] = "from_dtype",
        numeric_features: Sequence[int] | Sequence[str] = (),
        ordered: Mapping[str, Sequence[str]] | None = None,
        missing: str = AUTO,
        dates: str = "expand",
        max_states: int | None = MAX_STATES,
        bins: Bins = MDLP,
        special: Mapping[str, Sequence[float]] | None = None,
        min_bin_share: float = 0.0,
        monotone: Mapping[str, str] | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        method: str | Learner = "branch-and-cut",
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        threads: int = 1,
        random_state: int = 0,
        start: Structure | str | None = "local-search",
        engine: str | Learner | None = None,
    ) -> None:
        self.structure_score = structure_score
        self.p = p
        self.gamma = gamma
        self.penalty = penalty
        self.validation = validation
        self.max_parents = max_parents
        self.class_parents = class_parents
        self.augmented = augmented
        self.smoothing = smoothing
        self.parameters = parameters
        self.constraints = constraints
        self.max_arcs = max_arcs
        self.max_features = max_features
        self.max_parameters = max_parameters
        self.max_cost = max_cost
        self.feature_costs = feature_costs
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.ordered = ordered
        self.missing = missing
        self.dates = dates
        self.max_states = max_states
        self.bins = bins
        self.special = special
        self.min_bin_share = min_bin_share
        self.monotone = monotone
        self.class_weight = class_weight
        self.method = method
        self.time_limit = time_limit
        self.gap = gap
        self.threads = threads
        self.random_state = random_state
        self.start = start
        self.engine = engine

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BNClassifier:
        """Learn encoder, structure and parameters.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Numbers and categories; NaN and None are missing.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, not negative. A weight of 2 is the same as repeating the row, in
            cuts, counts, scores and parameters. Rows with a weight of 0 are left out.

        Returns
        -------
        self
            The fitted classifier. A ``ConvergenceWarning`` is issued if the time limit
            is reached before the proof.
        """
        if y is not None:  # scikit-learn says less about missing labels
            refuse_missing_labels("y", np.asarray(y, dtype=object).ravel())
        if self.engine is not None:
            told = "BNClassifier: the parameter engine is now called method"
            warn_caller(told, DeprecationWarning)
        clock = Clock(self._names()["time_limit"])
        frame, y = self._frame(X, y, reset=True), np.asarray(y).ravel()
        table = self._table(*rows_with_weight(frame, y, sample_weight))
        self._note(table.notes)
        self._take(self._learn(table, clock))
        self._note([*self.encoder_.notes(table), *self._settings().notes(self.network_.variables)])
        self._warn()
        return self

    @available_if(_tables_are_counts)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> BNClassifier:
        """Add rows: the first call is :meth:`fit`, later ones count the tables again.

        Only with parameters of maximum likelihood and without class weights. The tables are those
        of all rows so far. Cuts, states and the structure stay those of the first rows, and so do
        ``result_`` and ``optimal_``. For the best structure of all rows, fit again with
        ``start=model.structure_``. Rows with a missing or unknown value that has no state are left
        out. A ``DataWarning`` names columns that look different in the new rows.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The new rows.
        y : array-like of shape (n_samples,)
            Their class labels.
        classes : array-like, default=None
            All classes; each must have a row in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, only in the first call; then there can be no other.

        Returns
        -------
        self
            The fitted classifier.

        Examples
        --------
        >>> from milpbn import BNClassifier, load_dataset
        >>> car = load_dataset("car")
        >>> X, y = car.features, car.target
        >>> model = BNClassifier(method="nb").partial_fit(X[::2], y[::2])
        >>> model = model.partial_fit(X[1::2], y[1::2])
        >>> both = BNClassifier(method="nb").fit(X, y)
        >>> bool((model.predict_proba(X) == both.predict_proba(X)).all())
        True
        """
        if not hasattr(self, "model_"):
            self.fit(X, y, sample_weight)
            known = self.classes_.tolist()
            wanted = known if classes is None else np.asarray(classes).ravel().tolist()
            if absent := [c for c in wanted if c not in known]:
                raise DataError(f"the class {absent[0]!r} has no row; the first call needs some")
            return self
        if sample_weight is not None:
            raise OptionError("later rows cannot have weights; fit again with all rows")
        codes = self._new_rows(X, y)
        drift = drift_of(self.network_, self.encoder_, codes)
        self._take(add_rows(self.model_, codes))
        if drift.changed:
            self._note([f"The new rows look different in {quoted(drift.changed)}."])
        return self

    def _new_rows(self, X: Any, y: Any) -> IntArray:
        """Codes of labelled rows; all labels must be known."""
        refuse_missing_labels("y", np.asarray(y, dtype=object).ravel())
        codes = self.encode_rows(X, y)
        if (codes[:, 0] < 0).any():
            row = int(np.flatnonzero(codes[:, 0] < 0)[0])
            label = np.asarray(y).ravel().tolist()[row]
            raise DataError(
                f"the class {label!r} in row {row + 1} was not in the rows of the first call; fit "
                "again with all rows"
            )
        return codes

    def _learn(self, table: Table, clock: Clock) -> Model:
        return learn_classifier(table, self._settings(), clock=clock)

    def _settings(self) -> Settings:
        return make_settings(**self._names())

    def _note(self, notes: Iterable[str]) -> None:
        for note in notes:
            warn_caller(note, DataWarning)

    def _of_columns(self) -> dict[str, Any]:
        """What the parameters say about columns."""
        return {parameter: getattr(self, parameter) for parameter in _OF_COLUMNS}

    def _names(self) -> dict[str, Any]:
        """The settings of a run, by their names; they are checked."""
        names = {PARAMETERS[parameter]: getattr(self, parameter) for parameter in _OF_RUN}
        if self.engine is not None:
            names["method"] = self.engine
        check_settings(names, _NAMES)
        return names

    def _take(self, model: Model) -> None:
        """Set the fitted attributes from a model."""
        self.model_ = model
        self.encoder_, self.network_ = model.encoder, model.network
        self.result_, self.parameters_ = model.result, model.parameters
        result = model.result
        self.structure_ = result.structure
        self.objective_, self.bound_, self.gap_ = result.objective, result.bound, result.gap_rel
        self.optimal_ = result.status == "optimal"

    def _warn(self) -> None:
        if self.gap_ is None or self.gap_ <= self.gap or self.optimal_:
            return
        why = {
            "time_limit": f"the time limit of {self.time_limit} s was reached before the proof",
            "interrupted": "the run was interrupted before the proof",
        }.get(self.result_.status, "the run ended without a proof")
        warn_caller(
            f"{why}; the structure is within a gap of {100 * self.gap_:.3g} %. "
            "Raise time_limit, or accept such a gap, for example with gap=0.05.",
            ConvergenceWarning,
        )

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier as a model file, the same as ``milpbn solve --out``.

        Parameters
        ----------
        path : str or Path
            The file. ``milpbn inspect``, ``predict``, ``verify`` and ``export`` read it.
        """
        check_is_fitted(self)
        data = {
            **self.model_.data,
            "features": self._columns_in,
            "classes": {"labels": self.classes_.tolist(), "dtype": self.classes_.dtype.str},
            "named_features": hasattr(self, "feature_names_in_"),
        }
        replace(self.model_, data=data).save(path)

    @classmethod
    def load(cls, path: str | Path) -> BNClassifier:
        """Read a model file as a fitted classifier.

        Parameters
        ----------
        path : str or Path
            A file written by :meth:`save` or by ``milpbn solve --out``.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = BNClassifier(max_parents=1).fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     model.save(Path(folder, "iris.json"))
        ...     again = BNClassifier.load(Path(folder, "iris.json"))
        >>> bool((again.predict(X) == model.predict(X)).all())
        True
        """
        return cls.from_model(Model.load(path))

    @classmethod
    def from_model(cls, model: Model) -> BNClassifier:
        """A fitted classifier from a model; see also :meth:`milpbn.Model.to_estimator`."""
        settings, encoder = Settings.from_dict(model.settings), model.encoder
        score, constraints = settings.score, settings.space.constraints or Constraints()
        told = {
            **{name: one.default for name, one in declared(ScoreNames).items()},
            **settings.to_dict(),
            "score": score,
            "gamma": getattr(score, "gamma", None),
            "constraints": constraints or None,
            **asdict(constraints.budgets),
            "feature_costs": dict(constraints.feature_costs) or None,
        }
        estimator = cls(**{parameter: told[PARAMETERS[parameter]] for parameter in _OF_RUN})
        own = encoder.own_bins
        estimator.set_params(
            missing=encoder.missing,
            bins=own.together(encoder.bins),
            special=dict(own.special) or None,
            min_bin_share=own.min_share,
            monotone=in_words(encoder.monotone) or None,
            ordered=_orders(encoder),
        )
        # A score that name, p, gamma and smoothing describe is called by its name.
        by_name = clone(estimator).set_params(structure_score=score.name)
        if make_settings(**by_name._names()).score == score:
            estimator.structure_score = score.name
        estimator._take(model)
        states = encoder.target.variable.states
        told = model.data.get("classes", {"labels": states, "dtype": None})
        estimator.classes_ = labels_from(told["labels"], told["dtype"])
        factors = model.data.get("class_weight")
        if isinstance(factors, dict):
            by_state = zip(estimator.classes_.tolist(), states, strict=True)
            factors = {label: factors[s] for label, s in by_state if s in factors}
        estimator.class_weight = factors
        # Older files do not list the columns: then they are those that the encoder knows.
        known = [*(c.name for c in encoder.columns), *encoder.dropped]
        columns = np.array(model.data.get("features", known), dtype=object)
        estimator.n_features_in_ = len(columns)
        estimator._columns_in = columns.tolist()
        if model.data.get("named_features", True):
            estimator.feature_names_in_, estimator._needed = columns, encoder.sources()
        return estimator

    def _table(self, frame: pd.DataFrame, y: Any, weights: FloatArray | None) -> Table:
        self.classes_, index = encode_labels("y", y)
        states = tuple(str(show_value(c)) for c in self.classes_)
        if len(set(states)) < len(states):
            raise OptionError("two class labels are the same when written as strings")
        name = "class"
        while name in frame.columns:
            name += "_"
        labels = pd.Series(np.array(states, dtype=object)[index], name=name, dtype=object)
        if self.classes_.dtype.kind in "iuf":
            ways = "pandas.qcut(y, 5) cuts it into classes, y.astype(str) accepts its values"
            check_classes(labels.value_counts(), "y", True, f"{ways} as classes")
        table = labelled_table(frame, {name: (labels, states)}, **self._of_columns())
        known = dict(zip(self.classes_.tolist(), states, strict=True))
        return weighted(table, weights, parse_class_weight(self.class_weight, known))


def _orders(encoder: Encoder) -> dict[str, list[str]] | None:
    """The declared orders that the columns of a model show; numbers need no declaration."""
    return {
        column.name: list(column.states)
        for column in encoder.columns
        if column.ordered and not column.pool and not are_numbers(column.states)
    } or None
