"""MM: parameters that maximise the soft margin.

The objective is the soft margin of the structure scores (see :mod:`milpbn.scores.margin`),
smoothed as in :mod:`milpbn.parameters.losses`. 1 / lambda is the margin above which a row is
not rewarded. Lambda is chosen by cross-validation of the classification rate. As in CL, there
is a Gaussian prior around maximum likelihood. Its weight is on the scale of the margin,

    sum_u w_u g(lambda d_u) - lambda * penalty / 2 |beta - beta_ML|^2,

so that one weight is suitable for all values of lambda.

References
----------
Pernkopf, Wohlmayr & Tschiatschek (2012), Maximum margin Bayesian network classifiers.
Pernkopf & Wohlmayr (2013), Stochastic margin-based structure learning of Bayesian network
classifiers, section 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from milpbn._types import FloatArray
from milpbn.clock import Clock
from milpbn.errors import OptionError
from milpbn.parameters.discriminative import Discriminative, FoldMaker, Plan
from milpbn.parameters.losses import MarginLoss
from milpbn.parameters.selection import choose_setting
from milpbn.parameters.tables import Rows

LAMBDAS = (2.0, 1.0, 0.5, 0.25, 0.1, 0.05)
"""Values of lambda that are tried, from small to large desired margins."""

_FALLBACK = 0.5
"""Lambda if there is no time to choose one."""


@dataclass(frozen=True)
class MaximumMargin(Discriminative):
    """Maximum soft margin.

    Parameters
    ----------
    method, folds, seed
        See :class:`~milpbn.parameters.discriminative.Discriminative`.
    lambda_
        The scale of the margin; chosen if None.
    penalty
        The weight of the prior.
    """

    name = "mm"
    title = "maximum margin"
    measure = "soft margin"
    default_loss = MarginLoss(_FALLBACK)
    lambda_: float | None = None
    penalty: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lambda_ is not None and not 0 < self.lambda_ < math.inf:
            raise OptionError(f"lambda must be a positive number, not {self.lambda_}")
        if not 0 <= self.penalty < math.inf:
            raise OptionError(f"penalty must be a number >= 0, not {self.penalty}")

    def loss_of(self, chosen: Mapping[str, Any]) -> MarginLoss:
        """See :class:`~milpbn.parameters.discriminative.Discriminative`."""
        return MarginLoss(self.lambda_ or float(chosen.get("lambda", _FALLBACK)))

    def settled(self, chosen: Mapping[str, Any]) -> MaximumMargin:
        """See :class:`~milpbn.parameters.Parameters`."""
        return replace(self, lambda_=self.lambda_ or chosen.get("lambda"))

    def plan(self, folds: FoldMaker, clock: Clock, guess: Mapping[str, Any]) -> Plan:
        """See :class:`~milpbn.parameters.discriminative.Discriminative`."""
        if self.lambda_ is not None:
            return Plan(MarginLoss(self.lambda_), self.lambda_ * self.penalty, {})
        first = float(guess.get("lambda", _FALLBACK))
        choice = choose_setting(
            folds(),
            LAMBDAS,
            lambda fold, scale: fold.problem(MarginLoss(scale), scale * self.penalty),
            _rate,
            first=LAMBDAS.index(first),
            with_start=False,
            method=self.method,
            patience=len(LAMBDAS),
            checkpoint=clock.checkpoint,
        )
        if choice.stopped == "interrupted":
            penalty = _FALLBACK * self.penalty
            return Plan(self.default_loss, penalty, {}, stopped=choice.stopped)
        scale = LAMBDAS[choice.index]
        return Plan(MarginLoss(scale), scale * self.penalty, {"lambda": scale})


def _rate(rows: Rows, log_theta: FloatArray) -> float:
    joint = rows.log_joint(log_theta)
    return float(rows.weights @ (np.argmax(joint, axis=1) == rows.labels))
