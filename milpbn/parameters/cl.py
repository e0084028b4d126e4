"""CL: parameters that maximise the conditional log-likelihood of the classes.

On a naive Bayes structure this is multinomial logistic regression, and on structures like
trees it is logistic regression with products of features; there every local optimum of the
conditional log-likelihood is global (Roos et al. 2005). Without regularisation it overfits,
and for separable rows it has no maximum. There are three choices:

- ``selection="l2"``: a Gaussian prior around the maximum-likelihood solution,
  ``CLL - penalty / 2 |beta - beta_ML|^2``. Its weight is chosen by cross-validation of the
  held-out conditional log-likelihood. The choices include an infinite weight, which is
  maximum likelihood.
- ``selection="cross-tuning"``: the number of steps is chosen by cross-validation, as in
  Pernkopf & Bilmes (2010).
- ``selection="none"``: no regularisation.

References
----------
Greiner, Su, Shen & Zhou (2005), Structural extension to logistic regression:
discriminative parameter learning of belief net classifiers.
Roos, Wettig, Grünwald, Myllymäki & Tirri (2005), On discriminative Bayesian network
classifiers and logistic regression.
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, sections 4.2 and 6.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from milpbn._types import FloatArray
from milpbn.clock import Clock
from milpbn.errors import OptionError
from milpbn.parameters.discriminative import Discriminative, FoldMaker, Plan, value_of
from milpbn.parameters.losses import ConditionalLoss
from milpbn.parameters.optimise import Problem
from milpbn.parameters.selection import choose_setting, choose_steps
from milpbn.parameters.tables import Rows

SELECTIONS = ("l2", "cross-tuning", "none")

PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
"""Weights of the prior that are tried, from strong to weak."""

# Consecutive worse settings, and steps without a better held-out score, before stopping.
_PATIENCE = 2
_STEPS_PATIENCE = 20
_MOST_STEPS = 200

_LOSS = ConditionalLoss()


@dataclass(frozen=True)
class ConditionalLikelihood(Discriminative):
    """Maximum conditional likelihood.

    Parameters
    ----------
    method, folds, seed
        See :class:`~milpbn.parameters.discriminative.Discriminative`.
    selection
        The kind of regularisation, see the module.
    penalty
        The weight of the prior with ``selection="l2"``; chosen if None.
    """

    name = "cl"
    title = "maximum conditional likelihood"
    measure = "conditional log-likelihood"
    default_loss = _LOSS
    selection: str = "l2"
    penalty: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.selection not in SELECTIONS:
            raise OptionError(
                f"selection must be one of {', '.join(SELECTIONS)}, not {self.selection!r}"
            )
        if self.penalty is not None and not 0 <= self.penalty < math.inf:
            raise OptionError(f"penalty must be a number >= 0, not {self.penalty}")
        if self.penalty is not None and self.selection != "l2":
            raise OptionError("penalty can be given only with selection=l2")

    def plan(self, folds: FoldMaker, clock: Clock) -> Plan:
        """See :class:`~milpbn.parameters.discriminative.Discriminative`."""
        if self.selection == "none":
            return Plan(_LOSS, 0.0, {})
        if self.selection == "cross-tuning":
            return self._plan_steps(folds, clock)
        if self.penalty is not None:
            return Plan(_LOSS, self.penalty, {})
        choice = choose_setting(
            folds(),
            PENALTIES,
            lambda fold, penalty: Problem(fold.train, _LOSS, fold.start, penalty),
            _held_out,
            with_start=True,
            method=self.method,
            patience=_PATIENCE,
            checkpoint=clock.checkpoint,
        )
        if choice.stopped == "interrupted" or choice.index < 0:
            # An infinite weight: the start is the optimum.
            chosen = {} if choice.stopped else {"penalty": "infinite"}
            return Plan(_LOSS, 0.0, chosen, 0, choice.stopped)
        return Plan(_LOSS, PENALTIES[choice.index], {"penalty": PENALTIES[choice.index]})

    def _plan_steps(self, folds: FoldMaker, clock: Clock) -> Plan:
        choice = choose_steps(
            folds(),
            lambda fold: Problem(fold.train, _LOSS, fold.start),
            _held_out,
            method=self.method,
            most=_MOST_STEPS,
            patience=_STEPS_PATIENCE,
            checkpoint=clock.checkpoint,
        )
        return Plan(_LOSS, 0.0, {"steps": choice.index}, choice.index, choice.stopped)


def _held_out(rows: Rows, log_theta: FloatArray) -> float:
    return value_of(_LOSS, rows, log_theta)
