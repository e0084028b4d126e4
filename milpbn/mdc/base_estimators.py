"""Base models by name: classifiers for P(class variable | features), and their settings."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from milpbn.errors import OptionError
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

    @property
    def given(self) -> Any:
        """What :func:`make_base` reads."""
        return str(self)

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

    name = "given"

    def __str__(self) -> str:
        return type(self.classifier).__name__

    @property
    def given(self) -> Any:
        """The classifier."""
        return self.classifier

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


@dataclass(frozen=True)
class NamedOnly(Base):
    """A classifier of which only the name is known, in a model from a file."""

    name = "named"
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def given(self) -> Any:
        """Nothing: the default of classifiers."""
        return None

    def estimator(self, n_columns: int, n_classes: int, seed: int | None) -> Any:
        """There is none."""
        raise OptionError(f"the model file does not describe its base estimator, {self.text}")


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
