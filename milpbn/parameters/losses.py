"""Objectives of parameter learning: sums over rows of a smooth function of the log-joint.

CL, the conditional log-likelihood:

    sum_u w_u [ L_u(c_u) - log sum_c exp L_u(c) ],   L_u(c) = log P(c, z_u).

Its derivative by L_u(c) is w_u ([c = c_u] - W_u(c)) with the posterior W.

MM, the soft margin. The competitor of a row is a soft maximum over the other classes, and
the hinge min(1, y) is smoothed on an interval of width 2h around its corner (Huber):

    d_u = L_u(c_u) - (1 / eta) log sum_{c != c_u} exp(eta L_u(c))
    sum_u w_u g(lambda d_u),   g(y) = y                          for y <= 1 - h
                                      1 - (1 + h - y)^2 / (4 h)  between
                                      1                          for y >= 1 + h

References
----------
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 4.2.
Pernkopf, Wohlmayr & Tschiatschek (2012), Maximum margin Bayesian network classifiers.
Pernkopf & Wohlmayr (2013), Stochastic margin-based structure learning of Bayesian network
classifiers, section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray

Labels = npt.NDArray[np.integer]


class Loss(Protocol):
    """A row objective: its value, and its derivative by every entry of the log-joint."""

    def __call__(
        self, joint: FloatArray, labels: Labels, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Value and derivative from ``(U, |C|)`` log-joints; the derivative has the same shape."""
        ...


def soft_maximum(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``log sum exp`` over the classes, and the softmax."""
    top = values.max(axis=1, keepdims=True)
    shares = np.exp(values - top)
    total = shares.sum(axis=1, keepdims=True)
    shares /= total
    return (top + np.log(total)).ravel(), shares


@dataclass(frozen=True)
class ConditionalLoss:
    """The conditional log-likelihood (CL).

    Examples
    --------
    >>> value, by_joint = ConditionalLoss()(np.log([[3.0, 1.0]]), np.array([0]), np.ones(1))
    >>> round(float(np.exp(value)), 6), by_joint.round(6).tolist()
    (0.75, [[0.25, -0.25]])
    """

    def __call__(
        self, joint: FloatArray, labels: Labels, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """See :class:`Loss`."""
        at = np.arange(len(labels))
        evidence, posterior = soft_maximum(joint)
        value = float(weights @ (joint[at, labels] - evidence))
        by_joint = posterior * -weights[:, None]
        by_joint[at, labels] += weights
        return value, by_joint


@dataclass(frozen=True)
class MarginLoss:
    """The smoothed soft margin (MM).

    Parameters
    ----------
    scale
        The lambda of Pernkopf, Wohlmayr & Tschiatschek (2012): margins above ``1 / lambda``
        are not rewarded.
    h
        Half the width of the smoothed corner, on the scale of ``lambda d``.
    eta
        The sharpness of the soft maximum: it differs from the maximum by at most
        ``log(|C| - 1) / eta``.

    Examples
    --------
    >>> value, by_joint = MarginLoss(1.0)(np.array([[0.0, 2.0]]), np.array([0]), np.ones(1))
    >>> round(value, 6), by_joint.round(6).tolist()
    (-2.0, [[1.0, -1.0]])
    """

    scale: float
    h: float = 0.5
    eta: float = 10.0

    def __call__(
        self, joint: FloatArray, labels: Labels, weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """See :class:`Loss`."""
        at = np.arange(len(labels))
        others = self.eta * joint
        others[at, labels] = -np.inf
        best, shares = soft_maximum(others)
        y = self.scale * (joint[at, labels] - best / self.eta)
        corner = np.clip((1 + self.h - y) / (2 * self.h), 0.0, 1.0)
        value = np.where(y <= 1 - self.h, y, 1 - self.h * corner**2)
        slope = weights * self.scale * corner
        by_joint = shares * -slope[:, None]
        by_joint[at, labels] = slope
        return float(weights @ value), by_joint
