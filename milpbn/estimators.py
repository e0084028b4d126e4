"""The scikit-learn face of milpbn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import MethodType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from milpbn.anytime import SolveOptions
from milpbn.clock import Clock
from milpbn.datasets.frames import categorical_columns, frame_of, texts
from milpbn.datasets.table import Table
from milpbn.datasets.values import show_value
from milpbn.encoding import Encoder
from milpbn.errors import DataError, OptionError
from milpbn.families import Constraints, parse_smoothing
from milpbn.learning import SearchSpace, run_method, structure_clock
from milpbn.network.inference import log_posterior
from milpbn.parameters import make_parameters
from milpbn.scores import Score, make_score
from milpbn.search import Learner
from milpbn.structure import Structure


class _ScoreParameter:
    """Lets ``score`` be both a parameter and scikit-learn's accuracy method.

    The papers and the command line say "score" for what a structure maximises;
    scikit-learn says ``model.score(X, y)``. The parameter lives in the instance
    dictionary, where `get_params` finds it; looking ``score`` up gives the method.
    """

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        method = ClassifierMixin.score
        return method if instance is None else MethodType(method, instance)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["score"] = value


class BNClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian network classifier whose structure is learned exactly.

    Numeric columns are discretised by MDLP; other columns are taken as categories.

    Parameters
    ----------
    score : {"sm", "sbm", "mdl", "bic", "bdeu", "cr", "cll"} or Score, default="sm"
        What the structure maximises; ``"cr"`` and ``"cll"`` for heuristics alone. An object
        brings settings of its own, as ``milpbn.scores.make_score("bdeu", ess=10)``.
    p : float, default=0.9
        Desired class probability of the margin scores; ``gamma = log(p / (1 - p))``.
    gamma : float, default=None
        Desired log-margin; overrides `p`.
    max_parents : int, default=2
        Parents per variable, the class counted.
    class_parents : bool, default=True
        Whether features may be parents of the class.
    augmented : bool, default=False
        Whether a feature with parents must have the class among them; for margin
        scores this is always so.
    smoothing : str, default="laplace"
        ``"laplace[:COUNT]"`` or ``"epsilon[:VALUE]"``.
    parameters : {"ml", "cl", "mm"}, default="ml"
        How the parameters of the structure are learned: maximum likelihood,
        conditional likelihood or margin. Settings follow a colon, as in
        ``"cl:penalty=0.1"``. The structure's score is that of maximum likelihood.
    constraints : Constraints, default=None
        Required and forbidden arcs, tiers, parent limits. Columns of arrays are
        called x0, x1, ..., the class is called "class".
    categorical_features : "from_dtype" or array-like of int or str, default="from_dtype"
        Which columns are categories: those whose dtype is not a number, or the
        given positions or names.
    missing : {"drop", "state"}, default="drop"
        Training rows with a missing feature are left out, or missing is a state
        of its own. In prediction a missing feature is summed out exactly.
    engine : str or Learner, default="branch-and-cut"
        An exact engine, or a heuristic (see ``milpbn.search.LEARNERS``) by name or as an
        object with settings of its own, or ``"multinet-cmi"`` or ``"multinet-ear"`` for one
        structure a class.
    time_limit : float, default=60.0
        Seconds for `fit`; None for no limit.
    gap : float, default=0.0
        Relative gap at which to stop; 0 asks for a proof.
    threads : int, default=1
        Solver threads; 1 is deterministic.
    random_state : int, default=0
        Seed of the solver and of heuristics.
    start : Structure, str or None, default="local-search"
        A structure to begin with, or the heuristic that looks for one in a small
        share of the time.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    structure_ : Structure or ClassStructures
        The learned structure; of a multinet, one for every class.
    result_ : Result
        Everything about the run: status, bound, gap, trace, times.
    optimal_ : bool
        Whether the structure is proven optimal.
    objective_, bound_, gap_ : float
        Score of the structure, upper bound on any score, relative gap. Heuristics have no
        bound: the last two are None then.
    network_ : Network or Multinet
        Structure and parameters.
    parameters_ : ParameterReport
        How the parameters were learned.
    encoder_ : Encoder
        How columns become states.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

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

    score = _ScoreParameter()

    def __init__(
        self,
        *,
        score: str | Score = "sm",
        p: float = 0.9,
        gamma: float | None = None,
        max_parents: int = 2,
        class_parents: bool = True,
        augmented: bool = False,
        smoothing: str = "laplace",
        parameters: str = "ml",
        constraints: Constraints | None = None,
        categorical_features: str | Sequence[int] | Sequence[str] = "from_dtype",
        missing: str = "drop",
        engine: str | Learner = "branch-and-cut",
        time_limit: float | None = 60.0,
        gap: float = 0.0,
        threads: int = 1,
        random_state: int = 0,
        start: Structure | str | None = "local-search",
    ) -> None:
        self.score = score
        self.p = p
        self.gamma = gamma
        self.max_parents = max_parents
        self.class_parents = class_parents
        self.augmented = augmented
        self.smoothing = smoothing
        self.parameters = parameters
        self.constraints = constraints
        self.categorical_features = categorical_features
        self.missing = missing
        self.engine = engine
        self.time_limit = time_limit
        self.gap = gap
        self.threads = threads
        self.random_state = random_state
        self.start = start

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, as everywhere in scikit-learn."""
        return {**super().get_params(deep), "score": self.__dict__["score"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any) -> BNClassifier:
        """Learn encoder, structure and parameters.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Numbers and categories; NaN and None are missing.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            The fitted classifier. A ``ConvergenceWarning`` is issued when the time
            limit came before the proof.
        """
        clock, parameters = Clock(self.time_limit), make_parameters(self.parameters)
        frame = self._frame(X, y, reset=True)
        table = self._table(frame, y)
        self.encoder_ = Encoder.fit(table)
        data = self.encoder_.encode(table)
        self.result_ = run_method(
            data,
            make_score(
                self.__dict__["score"], p=self.p, gamma=self.gamma, smoothing=self.smoothing
            ),
            SearchSpace(self.max_parents, self.class_parents, self.constraints, self.augmented),
            method=self.engine,
            clock=structure_clock(clock, parameters),
            start=self.start,
            options=SolveOptions(gap=self.gap, threads=self.threads, seed=self.random_state),
        )
        self.network_, self.parameters_ = parameters.fit(
            self.result_.structure,
            data.variables,
            data.train(),
            parse_smoothing(self.smoothing),
            clock,
        )
        self._publish()
        return self

    def _publish(self) -> None:
        result = self.result_
        self.structure_ = result.structure
        self.objective_, self.bound_, self.gap_ = result.objective, result.bound, result.gap_rel
        self.optimal_ = result.status == "optimal"
        if self.gap_ is not None and self.gap_ > self.gap and not self.optimal_:
            why = {
                "time_limit": f"the time limit of {self.time_limit} s came before the proof",
                "interrupted": "the run was interrupted before the proof",
            }.get(result.status, "the run ended without a proof")
            warnings.warn(
                f"{why}; the structure is within a gap of {100 * self.gap_:.3g} %. "
                "Raise time_limit, or accept such a gap, for example with gap=0.05.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of every row."""
        best = self.predict_log_proba(X).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Class probabilities, in the order of ``classes_``."""
        proba: npt.NDArray[np.float64] = np.exp(self.predict_log_proba(X))
        return proba

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Logarithms of the class probabilities."""
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        return log_posterior(self.network_, self.encoder_.transform(frame).codes)

    def _frame(self, X: Any, y: Any = "no_validation", *, reset: bool) -> pd.DataFrame:
        checked = validate_data(self, X, y, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return frame_of(X, checked[0] if isinstance(checked, tuple) else checked)

    def _table(self, frame: pd.DataFrame, y: Any) -> Table:
        check_classification_targets(y)
        labels = np.asarray(y).ravel()
        self.classes_, index = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"y holds one class only ({self.classes_[0]!r}); two are needed")
        states = tuple(str(show_value(c)) for c in self.classes_)
        if len(set(states)) < len(states):
            raise OptionError("two class labels look the same when written as text")
        name = "class"
        while name in frame.columns:
            name += "_"
        categorical = categorical_columns(frame, self.categorical_features)
        columns = {
            c: texts(frame[c]) if c in categorical else pd.to_numeric(frame[c]).astype(float)
            for c in map(str, frame.columns)
        }
        return Table(
            name="X",
            features=pd.DataFrame(columns),
            targets=pd.DataFrame({name: np.array(states, dtype=object)[index]}, dtype=object),
            numeric=tuple(c for c in columns if c not in categorical),
            states={name: states},
            missing=self.missing,
        )
