"""Generalised Bayesian network classifiers as scikit-learn knows classifiers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from milpbn._types import Codes, FloatArray
from milpbn.datasets.table import AUTO, Table
from milpbn.errors import DataError
from milpbn.evaluation.metrics import exact_match_score, hamming_score, macro_recall_score
from milpbn.families import Constraints
from milpbn.mdc.base_estimators import make_base
from milpbn.mdc.estimator import MultiDimensionalClassifier
from milpbn.mdc.features import Features
from milpbn.mdc.inference import LOSSES
from milpbn.mdc.learn import learn_gbnc
from milpbn.mdc.model import GBNCModel
from milpbn.mdc.progress import TrainingBar
from milpbn.mdc.settings import FOLDS, GBNCSettings, check_choice
from milpbn.result import Status
from milpbn.structure import Structure

_MEASURES = dict(zip(LOSSES, (exact_match_score, hamming_score, macro_recall_score), strict=True))


class GBNCClassifier(MultiDimensionalClassifier):
    """Classifier for several class variables, with an exactly learned network between them.

    Every class variable depends on all features and on its parents among the class
    variables: one base model for each configuration of the parents. The class network
    maximises the conditional log-likelihood exactly: with a BIC penalty, or of held-out rows.

    Parameters
    ----------
    base_estimator : str or classifier, default=None
        ``"logistic"``, ``"gaussian-nb"``, ``"forest"`` or ``"sgd"``, with settings as in
        ``"logistic:C=0.1"``; or any scikit-learn classifier with ``predict_proba``. None is
        logistic regression with C chosen by validation, as ``"logistic:C=auto"``.
    validation : int or None, default=5
        Score each row by base models that are trained without its fold, with this number of
        folds; None penalises the likelihood of the training rows instead, which is faster.
    max_parents : int, default=None
        Maximum number of class parents per class variable; None for no limit.
    mixed : {"partition", "one-hot"}, default="partition"
        How categorical features are used: as parents that partition the rows further,
        chosen by the same score; or as indicator columns for the base models.
    max_discrete_parents : int, default=1
        Maximum number of categorical features that partition the rows of a class variable;
        None for no limit.
    loss : {"subset", "hamming", "balanced"}, default="subset"
        Predictions minimise the expected subset 0/1 loss (the most probable joint state)
        or the expected Hamming loss (the mode of every marginal), or maximise the expected macro
        recall, which counts rare labels as much as frequent ones. It may be changed after
        fitting.
    constraints : Constraints, default=None
        Required and forbidden arcs, tiers, parent limits between class variables and from
        categorical features to them.
    categorical_features : "from_dtype" or array-like of int or str, default="from_dtype"
        Which columns are categories: by their dtype and values, or in any case the given ones.
    numeric_features : array-like of int or str, default=()
        Columns that are numbers in any case.
    missing : {"auto", "state", "drop"}, default="auto"
        ``"auto"`` and ``"state"`` keep incomplete rows: a missing number becomes the mean, a
        missing category is a state of its own. ``"drop"`` leaves them out.
    dates : {"expand", "drop", "keep"}, default="expand"
        Replace dates and times with year, month, weekday and time of day, leave them out, or
        treat them as categories.
    engine : {"branch-and-cut", "monolithic"}, default="branch-and-cut"
        Engine that finds the class network.
    start : Structure, str or None, default=None
        A class network to start from, or the name of the heuristic that looks for one. The
        engine rarely needs either.
    time_limit : float, default=None
        Seconds for `fit`. If the limit is reached, families that were not scored are left
        out, and the bound covers what they might have gained.
    n_jobs : int, default=None
        Number of processes that train base models; joblib's backends apply
        (`joblib.parallel_config`).
    random_state : int, default=0
        Random seed for folds, for the search, and for base estimators whose own seed is not set.
    verbose : bool, default=False
        Show a progress bar on stderr.

    Attributes
    ----------
    classes_ : list of ndarray
        The labels of each class variable; one array if `y` was flat.
    target_names_ : tuple of str
        The class variables: columns of `y`, or y0, y1, ...
    model_ : GBNCModel
        The classifier as plain data, which model files contain.
    structure_ : Structure
        The class network: class variables, and the features that partition rows.
    result_ : Result
        Everything about the run: status, bound, gap, trace, times.
    training_ : Training
        The number of trained base models, and of parent sets that each lemma pruned.
    optimal_ : bool
        Whether the class network is proven optimal.
    objective_, bound_, gap_ : float
        Score of the class network, upper bound on the score of any network, relative gap.
    base_ : Base
        The kind of base model, with the settings that were chosen; None for other classifiers
        than those with names in a model from a file.
    fits_ : Fits
        How many base models were trained, how many did not converge, and their warnings.
    local_models_ : list of LocalModel
        The base models of each class variable.
    encoder_ : FeatureEncoder
        How features become the matrix that base models see.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Yang (2022), Generalized Bayesian network classifiers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> first = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    >>> second = np.where(rng.random(300) < 0.9, first, 1 - first)
    >>> model = GBNCClassifier().fit(X, np.column_stack([first, second]))
    >>> model.optimal_, len(model.structure_.arcs)
    (True, 1)
    >>> model.predict([[2.0, 0.0], [-2.0, 0.0]])
    array([[1, 1], [0, 0]])
    """

    def __init__(
        self,
        base_estimator: Any = None,
        *,
        validation: int | None = FOLDS,
        max_parents: int | None = None,
        mixed: str = "partition",
        max_discrete_parents: int | None = 1,
        loss: str = "subset",
        constraints: Constraints | None = None,
        categorical_features: str | Sequence[int] | Sequence[str] = "from_dtype",
        numeric_features: Sequence[int] | Sequence[str] = (),
        missing: str = AUTO,
        dates: str = "expand",
        engine: str = "branch-and-cut",
        start: Structure | str | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | None = 0,
        verbose: bool = False,
    ) -> None:
        self.base_estimator = base_estimator
        self.validation = validation
        self.max_parents = max_parents
        self.mixed = mixed
        self.max_discrete_parents = max_discrete_parents
        self.loss = loss
        self.constraints = constraints
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.missing = missing
        self.dates = dates
        self.engine = engine
        self.start = start
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def settings(self) -> GBNCSettings:
        """The parameters as the settings of a run."""
        same = (
            *("validation", "max_parents", "mixed", "max_discrete_parents", "loss", "constraints"),
            *("engine", "start", "time_limit", "n_jobs"),
        )
        return GBNCSettings(
            make_base(self.base_estimator),
            seed=self.random_state,
            start_source="none" if self.start is None else "warm-start",
            **{name: getattr(self, name) for name in same},
        )

    def _learn(self, table: Table) -> None:
        settings = self.settings()
        with TrainingBar(sys.stderr) if self.verbose else nullcontext() as bar:
            model = learn_gbnc(table, settings, watch=bar)
        classes = dict(zip(self.target_names_, self.target_classes_, strict=True))
        told = {
            "features": self._columns_in,
            "named_features": hasattr(self, "feature_names_in_"),
        }
        data = {**model.data, **told}
        self._take(replace(model, classes=classes, data=data, flat=self._flat))

    def _take(self, model: GBNCModel) -> None:
        """Set the fitted attributes from a model."""
        self.model_ = model
        self.encoder_, self.local_models_ = model.encoder, list(model.local_models)
        self.structure_, self.result_ = model.structure, model.result
        self.training_, self.base_, self.fits_ = model.training, model.base, model.fits
        result = model.result
        self.objective_, self.bound_, self.gap_ = result.objective, result.bound, result.gap_rel
        self.optimal_ = result.status is Status.OPTIMAL
        self.set_targets(model.classes, flat=model.flat)

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier as a model file, the same as ``milpbn mdc solve --out``.

        Parameters
        ----------
        path : str or Path
            The file. ``milpbn inspect``, ``predict``, ``verify`` and ``export`` read it.
        """
        check_is_fitted(self)
        self.model_.save(path)

    @classmethod
    def load(cls, path: str | Path, trusted: Sequence[str] = ()) -> GBNCClassifier:
        """Read a model file as a fitted classifier.

        Parameters
        ----------
        path : str or Path
            A file written by :meth:`save` or by ``milpbn mdc solve --out``.
        trusted : sequence of str, default=()
            Types of base estimators, by full name, that may be loaded in addition to those of
            scikit-learn and numpy that skops trusts.
        """
        return cls.from_model(GBNCModel.load(path, trusted))

    @classmethod
    def from_model(cls, model: GBNCModel) -> GBNCClassifier:
        """A fitted classifier from a model; see also :meth:`GBNCModel.to_estimator`."""
        settings, parameters = model.settings, cls._get_param_names()
        told = {name: value for name, value in vars(settings).items() if name in parameters}
        told["missing"] = model.data.get("missing", AUTO)
        estimator = cls(settings.base.given, random_state=settings.seed, **told)
        estimator._take(model)
        columns = model.data.get("features", model.sources())
        estimator._columns_in, estimator.n_features_in_ = list(columns), len(columns)
        if model.data.get("named_features", True):
            estimator.feature_names_in_ = np.array(columns, dtype=object)
            estimator._needed = model.sources()
        return estimator

    def _warnings(self) -> Iterator[tuple[str, type[Warning]]]:
        if not self.optimal_:
            yield (
                f"the run ended ({self.result_.status}) before every parent set was scored; the "
                "class network is the best one over the scored sets. Raise time_limit or lower "
                "max_parents",
                ConvergenceWarning,
            )
        yield from super()._warnings()

    def _encode(self, frame: pd.DataFrame) -> Features:
        return self.model_.encode(frame)

    def _predict_codes(self, features: Features) -> Codes:
        return self.model_.decide(features, self.loss)

    def marginals(self, features: Features) -> list[FloatArray]:
        """See :class:`MultiDimensionalClassifier`."""
        return self.model_.marginals(features)

    def predict_joint_log_proba(self, X: Any, y: Any = None) -> FloatArray:
        """Log-probabilities of joint states.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Rows.
        y : DataFrame or array of shape (n_samples, d), default=None
            A joint state for each row.

        Returns
        -------
        ndarray
            With `y`, ``(n_samples,)``: log P(y | x). Without it, ``(n_samples, r_1, ..., r_d)``
            for all joint states, if they fit into memory.
        """
        features = self._features(X)
        if y is None:
            return self.model_.joint_log_proba(features)
        labels = np.asarray(y, dtype=object)
        labels = labels.reshape(-1, 1) if self._flat else labels
        if labels.shape != (len(features), self.n_outputs_):
            wanted = len(features), self.n_outputs_
            raise DataError(f"y must have the shape {wanted}, not {labels.shape}")
        return self.model_.joint_log_proba(
            features, pd.DataFrame(labels, columns=list(self.target_names_))
        )

    def _measure(self) -> Callable[..., float]:
        check_choice("loss", self.loss, LOSSES)
        return _MEASURES[self.loss]
