"""Base models by name: classifiers for P(class variable | features), and their settings.

The regularisation of logistic regression can be chosen on held-out rows: C is the value with the
highest log-likelihood of the held-out rows of
:class:`~milpbn.selection.validation.ValidationSplit`. GBNC takes the best class network in which
no class variable has more than one parent: features that say nothing about a class variable on
their own may say a lot within the configurations of a parent. All base models then share C. It is
the variance of a Gaussian prior on the coefficients, so it does not depend on the number of rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from milpbn._types import Codes, FloatArray
from milpbn.clock import Clock
from milpbn.errors import OptionError
from milpbn.families.candidates import ParentSet
from milpbn.mdc.local_models import Fits, held_out_log_likelihood
from milpbn.selection.validation import ValidationSplit
from milpbn.specs import Specified, read_specified

STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
"""Values of C that are tried, from strong to weak regularisation."""

# newton-cholesky factorises a matrix of (columns x classes) squared; beyond this lbfgs is faster.
_NEWTON_SIZE = 600


class Base(Specified, ABC):
    """A kind of base model with its settings."""

    @abstractmethod
    def estimator(self, n_columns: int, n_classes: int, seed: int | None) -> Any:
        """An unfitted classifier for data of this size."""

    def candidates(self) -> Sequence[Base]:
        """The settings among which validation chooses."""
        return (self,)

    def default(self) -> Base:
        """The settings if there is nothing to choose by, or no time to choose."""
        return self


@dataclass(frozen=True)
class Logistic(Base):
    """Logistic regression, trained until it converges.

    Parameters
    ----------
    C
        Inverse strength of the regularisation; chosen by validation if None.
    """

    name = "logistic"
    C: float | None = None

    def __post_init__(self) -> None:
        if self.C is not None:
            _check_positive("C", self.C)

    def estimator(self, n_columns: int, n_classes: int, seed: int | None) -> LogisticRegression:
        """The solver suits the size of the problem."""
        assert self.C is not None, "validation has not chosen C"
        if n_columns * n_classes <= _NEWTON_SIZE:
            return LogisticRegression(C=self.C, solver="newton-cholesky")
        return LogisticRegression(C=self.C, solver="lbfgs", max_iter=1000)

    def candidates(self) -> Sequence[Logistic]:
        """One for each of :data:`STRENGTHS`, if C is to be chosen."""
        return (self,) if self.C is not None else [replace(self, C=c) for c in STRENGTHS]

    def default(self) -> Logistic:
        """The default of scikit-learn, C = 1."""
        return self if self.C is not None else replace(self, C=1.0)


@dataclass(frozen=True)
class GaussianNaiveBayes(Base):
    """Gaussian naive Bayes; the setting is scikit-learn's."""

    name = "gaussian-nb"
    var_smoothing: float = 1e-9

    def __post_init__(self) -> None:
        _check_positive("var_smoothing", self.var_smoothing)

    def estimator(self, n_columns: int, n_classes: int, seed: int | None) -> GaussianNB:
        """See :class:`Base`."""
        return GaussianNB(var_smoothing=self.var_smoothing)


@dataclass(frozen=True)
class RandomForest(Base):
    """A random forest; the settings are scikit-learn's."""

    name = "forest"
    n_estimators: int = 100
    min_samples_leaf: int = 5

    def __post_init__(self) -> None:
        _check_positive("n_estimators", self.n_estimators)
        _check_positive("min_samples_leaf", self.min_samples_leaf)

    def estimator(self, n_columns: int, n_classes: int, seed: int | None) -> RandomForestClassifier:
        """See :class:`Base`."""
        return RandomForestClassifier(
            self.n_estimators, min_samples_leaf=self.min_samples_leaf, random_state=seed
        )


@dataclass(frozen=True)
class StochasticGradient(Base):
    """Logistic regression by stochastic gradient descent on features scaled to [0, 1].

    These are the base models of the public code for GBNC (Yang 2022), with scikit-learn's
    settings. They stop before the likelihood is at its maximum, so prefer :class:`Logistic`.
    With more than two classes there is one model per class against the rest.

    Parameters
    ----------
    alpha
        Strength of the regularisation.
    """

    name = "sgd"
    alpha: float = 1e-4

    def __post_init__(self) -> None:
        _check_positive("alpha", self.alpha)

    def estimator(self, n_columns: int, n_classes: int, seed: int | None) -> Any:
        """See :class:`Base`."""
        descent = SGDClassifier(loss="log_loss", alpha=self.alpha, random_state=seed)
        return make_pipeline(MinMaxScaler(), descent)


@dataclass(frozen=True)
class Given(Base):
    """A scikit-learn classifier; its seeds are set where they are not."""

    classifier: Any

    def __post_init__(self) -> None:
        base = self.classifier
        if not hasattr(base, "fit") or not is_classifier(base):
            raise OptionError(
                f"base_estimator must be a scikit-learn classifier or one of {', '.join(BASES)}, "
                f"not {base!r}"
            )
        if not hasattr(base, "predict_proba"):
            raise OptionError(
                f"base_estimator {type(base).__name__} has no predict_proba; choose a classifier "
                "that gives probabilities, or wrap it in sklearn.calibration.CalibratedClassifierCV"
            )

    def __str__(self) -> str:
        return type(self.classifier).__name__

    def estimator(self, n_columns: int, n_classes: int, seed: int | None) -> Any:
        """A copy."""
        base = clone(self.classifier)
        if seed is not None:
            unset = (
                name
                for name, value in base.get_params().items()
                if value is None and (name == "random_state" or name.endswith("__random_state"))
            )
            base.set_params(**dict.fromkeys(unset, seed))
        return base


BASES: dict[str, type[Base]] = {
    b.name: b for b in (Logistic, GaussianNaiveBayes, RandomForest, StochasticGradient)
}
"""Kinds of base models by name."""


def make_base(given: Any) -> Base:
    """Read a base model: a name with settings, a scikit-learn classifier, or None.

    Examples
    --------
    >>> make_base("logistic:C=0.1").estimator(3, 2, 0)
    LogisticRegression(C=0.1, solver='newton-cholesky')
    >>> make_base(None) == make_base("logistic:C=auto")
    True
    """
    if given is None:
        return Logistic()
    return read_specified(given, "base", BASES) if isinstance(given, str) else Given(given)


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise OptionError(f"{name} must be a positive number, not {value}")


FamilyScores = Sequence[dict[ParentSet, float]]


def _best_apart(scores: FamilyScores) -> float:
    """The best score if every class variable may choose for itself."""
    return sum(max(own.values()) for own in scores)


def choose_base(
    base: Base,
    matrix: FloatArray,
    codes: Codes,
    cards: Sequence[int],
    parent_sets: Sequence[Sequence[ParentSet]],
    best: Callable[[FamilyScores], float] = _best_apart,
    *,
    seed: int,
    n_jobs: int | None = None,
    clock: Clock | None = None,
) -> Base:
    """The candidate that predicts held-out rows best, the first of equals.

    Candidates are ordered from strong to weak regularisation. The first one that is worse than
    the best so far ends the search.

    Parameters
    ----------
    base
        The base model; returned as it is if it leaves nothing to choose.
    matrix
        The features that base models see.
    codes, cards
        States of all nodes, class variables first, and their numbers of states.
    parent_sets
        For each class variable the parent sets with which candidates are tried.
    best
        The best score of a class network, given the scores of all these families.
    seed
        Random seed for the division of the rows.
    n_jobs
        Number of processes.
    clock
        Raises an error if the time is over.
    """
    candidates = base.candidates()
    if len(candidates) == 1 or matrix.shape[1] == 0:
        return base.default()
    families = [(child, parents) for child, sets in enumerate(parent_sets) for parents in sets]
    chosen, highest = base.default(), -math.inf
    with Parallel(n_jobs=n_jobs, return_as="generator") as parallel:
        for candidate in candidates:
            results = parallel(
                delayed(_held_out)(candidate, matrix, codes, cards, child, parents, seed)
                for child, parents in families
            )
            scores: FamilyScores = [{} for _ in parent_sets]
            try:
                for (child, parents), likelihood in zip(families, results, strict=True):
                    scores[child][parents] = likelihood
                    if clock is not None:
                        clock.checkpoint()
            finally:
                results.close()
            value = best(scores)
            if value < highest:
                break
            if value > highest:
                chosen, highest = candidate, value
    return chosen


def _held_out(
    base: Base,
    matrix: FloatArray,
    codes: Codes,
    cards: Sequence[int],
    child: int,
    parents: ParentSet,
    seed: int,
) -> float:
    folds = validation_folds(codes[:, child], seed)
    estimator = base.estimator(matrix.shape[1], cards[child], seed)
    return held_out_log_likelihood(matrix, codes, cards, child, parents, estimator, folds, Fits())


def validation_folds(labels: Codes, seed: int) -> Codes:
    """The fold of each row for the choice of settings; -1 for rows that are never held out."""
    folds = np.full(len(labels), -1)
    for number, (_, held_out) in enumerate(ValidationSplit(seed).split(labels, labels)):
        folds[held_out] = number
    return folds
