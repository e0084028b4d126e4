"""Common parts of CL and MM: start, choice by cross-validation, final optimisation."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from milpbn._types import Codes, FloatArray
from milpbn.clock import Clock
from milpbn.encoding.columns import Variable
from milpbn.errors import OptionError
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Smoothing
from milpbn.network.multinet import Classifier, fit_classifier
from milpbn.parameters.base import Parameters
from milpbn.parameters.convert import layout_of, with_tables
from milpbn.parameters.losses import Loss
from milpbn.parameters.optimise import MAX_ITERATIONS, METHODS, Problem, climb
from milpbn.parameters.priors import ML, PRIORS
from milpbn.parameters.selection import Fold, make_folds
from milpbn.parameters.tables import Rows, TableLayout
from milpbn.result import ParameterReport
from milpbn.structure import AnyStructure

_SELECTION_SHARE = 0.7
"""The maximum share of the remaining time for cross-validation."""


@dataclass(frozen=True)
class Plan:
    """The final optimisation, with everything chosen.

    Attributes
    ----------
    loss, penalty
        See :class:`~milpbn.parameters.optimise.Problem`. An infinite penalty means the mean of
        the prior itself.
    chosen
        What cross-validation chose, for the report.
    max_iterations
        Steps of the final optimisation.
    stopped
        Why there is no time for it, or empty.
    prior
        The prior, see :data:`~milpbn.parameters.priors.PRIORS`.
    """

    loss: Loss
    penalty: float
    chosen: dict[str, Any]
    max_iterations: int = MAX_ITERATIONS
    stopped: str = ""
    prior: str = ML


@dataclass(frozen=True)
class Discriminative(Parameters):
    """Settings of the optimiser and of the choice by cross-validation.

    Parameters
    ----------
    method
        ``"l-bfgs"``, or ``"cg"`` for Polak-Ribiere conjugate gradients (Pernkopf & Bilmes
        2010), which reach the same optimum with more evaluations.
    folds
        Number of folds of the training rows for choosing settings.
    seed
        Seed for the division into folds.
    """

    measure: ClassVar[str]
    default_loss: ClassVar[Loss]
    """The loss for the report if there was no time to choose one."""
    method: str = "l-bfgs"
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise OptionError(f"method must be one of {', '.join(METHODS)}, not {self.method!r}")
        if self.folds < 2:
            raise OptionError(f"folds must be at least 2, not {self.folds}")

    @property
    def resolutions(self) -> tuple[int, ...]:
        """See :class:`~milpbn.parameters.Parameters`."""
        return (0, 1)

    def loss_of(self, chosen: Mapping[str, Any]) -> Loss:
        """The loss that was minimised, given what cross-validation chose."""
        return self.default_loss

    @property
    def beats_ml(self) -> bool:
        """Whether the loss on the training rows is never worse than that of maximum likelihood."""
        return True

    @abstractmethod
    def plan(self, folds: FoldMaker, clock: Clock, guess: Mapping[str, Any]) -> Plan:
        """Choose the settings that are not given; begin with a guess, which may be empty."""

    def _plan(self, folds: FoldMaker, clock: Clock, guess: Mapping[str, Any]) -> Plan:
        """The plan, also if Ctrl-C comes between two optimisations."""
        try:
            return self.plan(folds, clock, guess)
        except KeyboardInterrupt:
            return Plan(self.default_loss, 0.0, {}, stopped="interrupted")

    def fit(
        self,
        structure: AnyStructure,
        variables: Sequence[Variable],
        codes: Codes,
        smoothing: Smoothing,
        clock: Clock | None = None,
        weights: FloatArray | None = None,
        guess: Mapping[str, Any] | None = None,
    ) -> tuple[Classifier, ParameterReport]:
        """See :class:`~milpbn.parameters.Parameters`."""
        began, clock = time.perf_counter(), clock or Clock()
        network = fit_classifier(structure, variables, codes, smoothing, weights)
        layout, merged = layout_of(network), MergedRows.from_codes(codes, weights)
        maker = FoldMaker(layout, merged, smoothing, self.folds, self.seed)
        first = clock.until(clock.elapsed + _SELECTION_SHARE * clock.remaining)
        plan = self._plan(maker, first, guess or {})
        prior, fixed = PRIORS[plan.prior], math.isinf(plan.penalty)
        layout = prior.layout(layout)
        rows = Rows.of(layout, merged)
        start = rows.maximum_likelihood(smoothing)
        mean, weight = prior.mean(rows, smoothing), 0.0 if fixed else plan.penalty
        found = climb(
            Problem(rows, plan.loss, mean, weight, prior.precision(layout)),
            mean if fixed else start,
            method=self.method,
            max_iterations=0 if plan.stopped or fixed else plan.max_iterations,
            checkpoint=clock.checkpoint,
        )
        report = ParameterReport(
            method=str(self),
            measure=self.measure,
            start=value_of(plan.loss, rows, layout.log_theta(start)),
            objective=value_of(plan.loss, rows, layout.log_theta(found.beta)),
            chosen=plan.chosen,
            iterations=found.iterations,
            ended=plan.stopped or found.ended,
            seconds=time.perf_counter() - began,
        )
        return with_tables(network, layout, layout.log_theta(found.beta)), report


@dataclass(frozen=True)
class FoldMaker:
    """Makes the folds when they are needed."""

    layout: TableLayout
    rows: MergedRows
    smoothing: Smoothing
    folds: int
    seed: int

    def __call__(self, prior: str = ML) -> list[Fold]:
        """See :func:`~milpbn.parameters.selection.make_folds`."""
        return make_folds(self.layout, self.rows, self.smoothing, self.folds, self.seed, prior)


def value_of(loss: Loss, rows: Rows, log_theta: FloatArray) -> float:
    """The loss of given log-probabilities, without a penalty."""
    return loss(rows.log_joint(log_theta), rows.labels, rows.weights)[0]
