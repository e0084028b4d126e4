"""CL: parameters that maximise the conditional log-likelihood of the classes.

On a naive Bayes structure this is multinomial logistic regression, and on structures like
trees it is logistic regression with products of features; there every local optimum of the
conditional log-likelihood is global (Roos et al. 2005). Without regularisation it overfits,
and for separable rows it has no maximum. There are three choices:

- ``selection="l2"``: a Gaussian prior around tables in which no feature depends on the class, see
  :mod:`~milpbn.parameters.priors`. It divides tables into the effects of fewer and more features
  and compares neighbouring bins of numbers (``prior="smooth"``), or is the ridge of logistic
  regression (``prior="independence"``). With ``prior="ml"``, the mean
  is the maximum-likelihood solution instead. The weight is chosen by cross-validation of the
  held-out conditional log-likelihood. The choices include an infinite weight, which is the mean.
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
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from milpbn._types import FloatArray
from milpbn.clock import Clock
from milpbn.errors import OptionError
from milpbn.parameters.discriminative import Discriminative, FoldMaker, Plan, value_of
from milpbn.parameters.losses import ConditionalLoss
from milpbn.parameters.priors import ML, PRIORS, SMOOTH
from milpbn.parameters.selection import choose_setting, choose_steps
from milpbn.parameters.tables import Rows

SELECTIONS = ("l2", "cross-tuning", "none")

PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
"""Weights of the prior that are tried, from strong to weak."""

_FIRST = PENALTIES.index(3.0)
"""The weight that is tried first, and is used if there is no time to choose one."""

# Consecutive worse settings, and steps without a better held-out score, before stopping.
_PATIENCE = 1
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
    prior
        The prior with ``selection="l2"``: ``"smooth"``, ``"independence"`` or ``"ml"``.
    """

    name = "cl"
    title = "maximum conditional likelihood"
    measure = "conditional log-likelihood"
    default_loss = _LOSS
    selection: str = "l2"
    penalty: float | None = None
    prior: str = SMOOTH

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
        if self.prior not in PRIORS:
            raise OptionError(f"prior must be one of {', '.join(PRIORS)}, not {self.prior!r}")

    @property
    def beats_ml(self) -> bool:
        """See :class:`~milpbn.parameters.discriminative.Discriminative`."""
        return self.selection != "l2" or self.prior == ML

    @property
    def resolutions(self) -> tuple[int, ...]:
        """See :class:`~milpbn.parameters.Parameters`; parts that are smooth can be finer."""
        smooth = self.selection == "l2" and PRIORS[self.prior].smooth
        return (0, 0, 1) if smooth else super().resolutions

    def settled(self, chosen: Mapping[str, Any]) -> ConditionalLikelihood:
        """See :class:`~milpbn.parameters.Parameters`."""
        if self.penalty is not None or "penalty" not in chosen:
            return self
        return replace(self, penalty=PENALTIES[_place(chosen)])

    def plan(self, folds: FoldMaker, clock: Clock, guess: Mapping[str, Any]) -> Plan:
        """See :class:`~milpbn.parameters.discriminative.Discriminative`."""
        if self.selection == "none":
            return Plan(_LOSS, 0.0, {})
        if self.selection == "cross-tuning":
            return self._plan_steps(folds, clock)
        if self.penalty is not None:
            return Plan(_LOSS, self.penalty, {}, prior=self.prior)
        choice = choose_setting(
            folds(self.prior),
            PENALTIES,
            lambda fold, penalty: fold.problem(_LOSS, penalty),
            _held_out,
            first=_place(guess),
            with_start=True,
            method=self.method,
            patience=_PATIENCE,
            checkpoint=clock.checkpoint,
        )
        if choice.stopped == "interrupted":
            return Plan(_LOSS, 0.0, {}, 0, choice.stopped)
        if choice.index < 0:
            return Plan(_LOSS, math.inf, {"penalty": "infinite"}, prior=self.prior)
        penalty = PENALTIES[choice.index]
        return Plan(_LOSS, penalty, {"penalty": penalty}, prior=self.prior)

    def _plan_steps(self, folds: FoldMaker, clock: Clock) -> Plan:
        choice = choose_steps(
            folds(),
            lambda fold: fold.problem(_LOSS),
            _held_out,
            method=self.method,
            most=_MOST_STEPS,
            patience=_STEPS_PATIENCE,
            checkpoint=clock.checkpoint,
        )
        return Plan(_LOSS, 0.0, {"steps": choice.index}, choice.index, choice.stopped)


def _place(chosen: Mapping[str, Any]) -> int:
    """The position of a weight that was chosen; that of the strongest for an infinite one."""
    penalty = chosen.get("penalty", PENALTIES[_FIRST])
    return PENALTIES.index(penalty) if penalty in PENALTIES else 0


def _held_out(rows: Rows, log_theta: FloatArray) -> float:
    return value_of(_LOSS, rows, log_theta)
