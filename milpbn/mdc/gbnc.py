"""Generalised Bayesian network classifiers: the class network learned exactly."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from milpbn._types import Codes, FloatArray
from milpbn.anytime import SolveOptions
from milpbn.clock import Clock, OutOfTime
from milpbn.errors import MilpbnError, OptionError
from milpbn.families import Constraints
from milpbn.learning.maximise import maximise
from milpbn.learning.methods import ENGINES
from milpbn.learning.settings import Settings
from milpbn.mdc import inference
from milpbn.mdc.base import MultiDimensionalClassifier
from milpbn.mdc.bases import make_base
from milpbn.mdc.candidates import Nodes, ParentChoice, parent_choices
from milpbn.mdc.dynamic import best_score
from milpbn.mdc.features import Features
from milpbn.mdc.local_scores import make_local_score
from milpbn.mdc.metrics import exact_match_score, hamming_score
from milpbn.mdc.rescore import check_equal, score_by_prediction
from milpbn.mdc.score import HeldOutCLL, PenalisedCLL
from milpbn.mdc.training import TrainedFamilies, Trainer, TrainingListener, best_class_network
from milpbn.network.factors import Factor
from milpbn.result import Listener, Result, Status, TracePoint
from milpbn.structure import Structure

LOSSES = ("subset", "hamming")

# A simple start with variable 0 as the parent of all others is not naive Bayes here.
_SOURCES = {"naive-bayes": "star"}
# Up to this many class variables the optimum is computed a second time, in milliseconds.
_CROSS_CHECK = 10
# The part of a time limit that is reserved for the class network: share, and maximum in seconds.
_SOLVE_SHARE, _SOLVE_SECONDS = 0.1, 5.0
# The part of the rest that the choice of the base models may take.
_CHOICE_SHARE = 0.3


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
    validation : int, default=None
        Score each row by base models that are trained without its fold, with this number of
        folds, instead of penalising the likelihood of the training rows.
    max_parents : int, default=None
        Maximum number of class parents per class variable; None for no limit.
    mixed : {"partition", "one-hot"}, default="partition"
        How categorical features are used: as parents that partition the rows further,
        chosen by the same score; or as indicator columns for the base models.
    max_discrete_parents : int, default=1
        Maximum number of categorical features that partition the rows of a class variable;
        None for no limit.
    loss : {"subset", "hamming"}, default="subset"
        Predictions minimise the expected subset 0/1 loss (the most probable joint state)
        or the expected Hamming loss (the mode of every marginal). It may be changed after
        fitting.
    constraints : Constraints, default=None
        Required and forbidden arcs, tiers, parent limits between class variables and from
        categorical features to them.
    categorical_features : "from_dtype" or array-like of int or str, default="from_dtype"
        Which columns are categories: those whose dtype is not a number, or the given ones.
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
        validation: int | None = None,
        max_parents: int | None = None,
        mixed: str = "partition",
        max_discrete_parents: int | None = 1,
        loss: str = "subset",
        constraints: Constraints | None = None,
        categorical_features: str | Sequence[int] | Sequence[str] = "from_dtype",
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
        self.engine = engine
        self.start = start
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, features: Features, codes: Codes) -> None:
        clock = Clock(self.time_limit)
        if not self.verbose:
            self.learn_codes(features, codes, clock)
            return
        from milpbn.mdc.progress import TrainingBar

        with TrainingBar(sys.stderr) as bar:
            self.learn_codes(features, codes, clock, training_listener=bar)

    def learn_codes(
        self,
        features: Features,
        codes: Codes,
        clock: Clock,
        *,
        start_source: str = "warm-start",
        training_listener: TrainingListener | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Learn from encoded rows with a running clock; shared by `fit` and the command line."""
        self._check_loss()
        if self.engine not in ENGINES:
            raise OptionError(f"engine must be one of {', '.join(ENGINES)}, not {self.engine!r}")
        try:
            trainer = self._trainer(features, codes, clock, training_listener)
            trained = trainer.run()
        except OutOfTime:
            raise MilpbnError(
                f"the time limit of {clock.limit:g} s was reached before every class variable had "
                "a base model; allow more time"
            ) from None
        clock.close_phase("training")
        start = self.start
        settings = Settings(
            score=self._score_of(trained),
            method=self.engine,
            start=trained.nearest(start) if isinstance(start, Structure) else start,
            start_source=start_source,
            options=SolveOptions(seed=self.random_state or 0),
        )
        result = self._solve(trained, settings, clock, listener)
        assert isinstance(result.structure, Structure)
        chosen = trained.objective.space.families(result.structure)[: trainer.nodes.d]
        self.local_models_ = [trained.models[f] for f in chosen]
        self.training_ = trained.training
        self.fits_ = trainer.fits
        again = score_by_prediction(
            self.local_models_, trainer.bases, features, codes, trainer.nodes, trainer.local_score
        )
        check_equal("prediction", again, "training", result.objective)
        clock.close_phase("checking")
        self.publish(replace(result, seconds=dict(clock.phases)))

    def _trainer(
        self, features: Features, codes: Codes, clock: Clock, listener: TrainingListener | None
    ) -> Trainer:
        """The trainer of base models; part of the time is reserved for the class network."""
        nodes = self.nodes()
        reserve = min(_SOLVE_SECONDS, _SOLVE_SHARE * clock.limit)
        limited = clock if np.isinf(clock.limit) else clock.until(clock.end - reserve)
        every_code = np.column_stack([codes, features.codes])
        choices = parent_choices(
            nodes,
            max_parents=self.max_parents,
            max_discrete_parents=self.max_discrete_parents,
            constraints=self.constraints,
        )
        bases, notes = self._bases(features, every_code, choices, limited)
        if self.leaves_choice:
            clock.close_phase("choosing")
        trainer = Trainer(
            features.matrix,
            every_code,
            nodes,
            choices,
            bases,
            make_local_score(every_code, nodes.cards, self.validation, self.random_state or 0),
            n_jobs=self.n_jobs,
            clock=limited,
            listener=listener,
        )
        trainer.fits.messages.update(notes)
        return trainer

    def _bases(
        self, features: Features, codes: Codes, choices: Sequence[ParentChoice], clock: Clock
    ) -> tuple[list[Any], list[str]]:
        """The base estimators, and a note if there was no time to choose them."""
        nodes = self.nodes()
        small = [[c.forced, *c.extensions(c.forced)] for c in choices]
        share = clock.until(clock.elapsed + _CHOICE_SHARE * clock.remaining)
        best = partial(best_class_network, nodes)
        try:
            chosen = self._choose_base(features, codes, nodes.cards, small, best=best, clock=share)
        except OutOfTime:
            self.base_ = make_base(self.base_estimator).default()
            note = f"there was no time to choose the base models; {self.base_} is used"
            return self._estimators(self.base_, features, self._cards), [note]
        return chosen, []

    def _score_of(self, trained: TrainedFamilies) -> PenalisedCLL:
        """The score in reports."""
        told = trained.objective, "base models", str(make_base(self.base_estimator)), self.mixed
        if self.validation is None:
            return PenalisedCLL(*told)
        return HeldOutCLL(*told, validation=self.validation, fold_seed=self.random_state or 0)

    def _seed(self) -> int | None:
        # Held-out scores can only be checked if base models can be trained again.
        return super()._seed() if self.validation is None else self.random_state or 0

    def nodes(self) -> Nodes:
        """The class variables, then the features that may partition their rows."""
        partition = self.encoder_.partition
        return Nodes(
            (*self.target_names_, *(v.name for v in partition)),
            (*map(len, self.target_classes_), *(v.card for v in partition)),
            len(self.target_classes_),
        )

    def _solve(
        self,
        trained: TrainedFamilies,
        settings: Settings,
        clock: Clock,
        listener: Listener | None,
    ) -> Result:
        bound = trained.open_bound

        def covering(point: TracePoint) -> TracePoint:
            point = replace(point, source=_SOURCES.get(point.source, point.source))
            # Families that were never scored: every bound must cover them too.
            if bound is None or point.bound is None:
                return point
            return replace(point, bound=max(point.bound, bound))

        told = None if listener is None else lambda point: listener(covering(point))
        result = maximise(trained.objective, settings, clock, told)
        if result.status is Status.OPTIMAL and len(self.target_classes_) <= _CROSS_CHECK:
            second = best_score(trained.objective, len(self.target_classes_))
            check_equal("dynamic programming", second, "the engine", result.objective)
        result = replace(
            result,
            source=_SOURCES.get(result.source, result.source),
            trace=tuple(map(covering, result.trace)),
        )
        return result if bound is None else replace(result, status=trained.status, bound=bound)

    def publish(self, result: Result) -> None:
        """Set the fitted attributes from a result; its structure omits features not in use."""
        assert isinstance(result.structure, Structure)
        d, names = len(self.target_classes_), self.nodes().names
        used = sorted({p for m in self.local_models_ for p in m.parents if p >= d})
        shown = (*names[:d], *(names[p] for p in used))
        self.structure_ = Structure.from_arcs(shown, result.structure.arcs)
        self.result_ = replace(result, structure=self.structure_)
        self.objective_, self.bound_, self.gap_ = result.objective, result.bound, result.gap_rel
        self.optimal_ = result.status is Status.OPTIMAL

    def _warnings(self) -> Iterator[tuple[str, type[Warning]]]:
        if not self.optimal_:
            yield (
                f"the run ended ({self.result_.status}) before every parent set was scored; the "
                "class network is the best one over the scored sets. Raise time_limit or lower "
                "max_parents",
                ConvergenceWarning,
            )
        yield from super()._warnings()

    def _check_loss(self) -> None:
        if self.loss not in LOSSES:
            raise OptionError(f"loss must be one of {', '.join(LOSSES)}, not {self.loss!r}")

    def _batches(self, features: Features) -> Iterator[tuple[slice, list[Factor]]]:
        return inference.network_factors(self.local_models_, features, self._cards)

    def _predict_codes(self, features: Features) -> Codes:
        self._check_loss()
        if self.loss == "hamming":
            return np.column_stack([p.argmax(axis=1) for p in self.marginals(features)])
        parts = [inference.most_probable(f, self._cards) for _, f in self._batches(features)]
        return np.concatenate(parts)

    def marginals(self, features: Features) -> list[FloatArray]:
        """See :class:`MultiDimensionalClassifier`."""
        parts = [inference.marginals(f, self._cards) for _, f in self._batches(features)]
        return [np.exp(np.concatenate(column)) for column in zip(*parts, strict=True)]

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
            parts = [inference.joint_table(f, self._cards) for _, f in self._batches(features)]
            return np.concatenate(parts)
        codes = self.known_codes(y, len(features))
        out = np.empty(len(features))
        for rows, factors in self._batches(features):
            out[rows] = inference.log_probability(factors, codes[rows])
        return out

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The exact match score, or the Hamming score for ``loss="hamming"``."""
        measure = hamming_score if self.loss == "hamming" else exact_match_score
        return self._score(measure, X, y, sample_weight)
