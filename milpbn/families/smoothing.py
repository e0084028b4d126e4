"""How counts become probabilities: Laplace or epsilon smoothing.

References
----------
Peharz & Pernkopf (2012), Exact maximum margin structure learning of Bayesian networks
(Laplace).
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers (epsilon).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from milpbn._types import FloatArray
from milpbn.errors import OptionError

# What remains of a sum of weights, relative to it, if all of its parts are taken away.
_ROUNDING = 1e-9


class Smoothing(ABC):
    """Turns counts into log-probabilities."""

    @abstractmethod
    def estimate(self, counts: FloatArray, total: FloatArray, n_states: int) -> FloatArray:
        """``log theta[x | h]`` from ``n[x, h]``, ``n[h]`` and the number of states of x."""

    def log_theta(self, counts: FloatArray, axis: int) -> FloatArray:
        """``log theta[x | h]`` where `axis` runs over the states x."""
        return self.estimate(counts, counts.sum(axis=axis, keepdims=True), counts.shape[axis])

    def without_one(self, counts: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
        """``log theta[x | h]`` after one observation of h is taken away: of x, or of another state.

        A count below one becomes zero: with weights, a row may count less than one.

        Examples
        --------
        >>> own, other = Laplace().without_one(np.array([3.0, 1.0]), axis=0)
        >>> np.exp(own).round(3).tolist(), np.exp(other).round(3).tolist()
        ([0.6, 0.2], [0.8, 0.4])
        """
        left = minus(counts.sum(axis=axis, keepdims=True), 1.0)
        states = counts.shape[axis]
        own = self.estimate(minus(counts, 1.0), left, states)
        return own, self.estimate(counts, left, states)

    def without_own(self, counts: FloatArray, axis: int) -> FloatArray:
        """``log theta[x | h]`` after one observation of x is taken away, or all if it is less.

        Unlike in :meth:`without_one`, the total loses no more than x does.
        """
        total = counts.sum(axis=axis, keepdims=True)
        left = minus(total, np.minimum(counts, 1.0))
        return self.estimate(minus(counts, 1.0), left, counts.shape[axis])


def minus(counts: FloatArray, taken: FloatArray | float) -> FloatArray:
    """Counts after some are taken away: never negative, and zero if only rounding is left."""
    left = counts - taken
    out: FloatArray = np.where(left > _ROUNDING * counts, left, 0.0)
    return out


@dataclass(frozen=True)
class Laplace(Smoothing):
    """``theta[x|h] = (n[x,h] + a) / (n[h] + a r)``.

    Examples
    --------
    >>> np.exp(Laplace().log_theta(np.array([3.0, 0.0]), axis=0)).round(3).tolist()
    [0.8, 0.2]
    """

    a: float = 1.0

    def __post_init__(self) -> None:
        if not (self.a > 0 and math.isfinite(self.a)):
            raise OptionError(f"Laplace smoothing needs a positive count, not {self.a}")

    def estimate(self, counts: FloatArray, total: FloatArray, n_states: int) -> FloatArray:
        """See :class:`Smoothing`."""
        out: FloatArray = np.log((counts + self.a) / (total + self.a * n_states))
        return out

    def __str__(self) -> str:
        return f"laplace:{_exactly(self.a)}"


@dataclass(frozen=True)
class Epsilon(Smoothing):
    """Relative frequencies with every zero (and 0/0) replaced by epsilon.

    The probabilities need not sum to one.

    Examples
    --------
    >>> np.exp(Epsilon().log_theta(np.array([3.0, 0.0]), axis=0)).round(6).tolist()
    [1.0, 1e-05]
    """

    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise OptionError(f"epsilon smoothing needs 0 < epsilon < 1, not {self.epsilon}")

    def estimate(self, counts: FloatArray, total: FloatArray, n_states: int) -> FloatArray:
        """See :class:`Smoothing`."""
        theta = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
        out: FloatArray = np.log(np.where(theta > 0, theta, self.epsilon))
        return out

    def __str__(self) -> str:
        return f"epsilon:{_exactly(self.epsilon)}"


def _exactly(value: float) -> str:
    """The shortest text that is read as the same number: model files store it."""
    return repr(float(value)).removesuffix(".0")


def parse_smoothing(text: str | Smoothing) -> Smoothing:
    """Read ``laplace``, ``laplace:0.5``, ``epsilon`` or ``epsilon:1e-6``.

    Examples
    --------
    >>> parse_smoothing("laplace:0.5")
    Laplace(a=0.5)
    """
    if not isinstance(text, str):
        return text
    name, _, value = text.partition(":")
    kinds: dict[str, Callable[..., Smoothing]] = {"laplace": Laplace, "epsilon": Epsilon}
    if name not in kinds:
        raise OptionError(f"unknown smoothing {text!r}; use laplace[:COUNT] or epsilon[:VALUE]")
    try:
        return kinds[name](float(value)) if value else kinds[name]()
    except ValueError as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"smoothing {text!r}: {value!r} is not a number") from None
