"""Maximising an objective over the parameters with the optimisers of SciPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from threadpoolctl import ThreadpoolController

from milpbn._types import FloatArray
from milpbn.clock import Checkpoint, OutOfTime, no_checkpoint
from milpbn.parameters.losses import Loss
from milpbn.parameters.priors import Precision
from milpbn.parameters.tables import Rows

METHODS: dict[str, Literal["L-BFGS-B", "CG"]] = {"l-bfgs": "L-BFGS-B", "cg": "CG"}
"""Optimisers by name; CG is the Polak-Ribiere variant of conjugate gradients."""

MAX_ITERATIONS = 1000


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that use threads. Finding them takes longer than a small optimisation."""
    return ThreadpoolController()


@dataclass(frozen=True)
class Problem:
    """Maximise ``loss - penalty / 2 * Q(beta - anchor)`` with a quadratic form Q.

    Attributes
    ----------
    rows
        The training rows.
    loss
        The objective without the penalty.
    anchor
        The mean of the Gaussian prior.
    penalty
        The weight of the prior.
    precision
        The form Q; None for the sum of squares.
    """

    rows: Rows
    loss: Loss
    anchor: FloatArray
    penalty: float = 0.0
    precision: Precision | None = None

    def value(self, beta: FloatArray) -> tuple[float, FloatArray]:
        """The objective and its gradient."""
        log_theta = self.rows.layout.log_theta(beta)
        joint = self.rows.log_joint(log_theta)
        value, by_joint = self.loss(joint, self.rows.labels, self.rows.weights)
        gradient = self.rows.layout.to_beta(self.rows.counts(by_joint), log_theta)
        if self.penalty:
            away = beta - self.anchor
            form, half = self.precision.form(away) if self.precision else (away @ away, away)
            value -= 0.5 * self.penalty * float(form)
            gradient -= self.penalty * half
        return value, gradient


@dataclass(frozen=True)
class Optimum:
    """The result of an optimiser.

    Attributes
    ----------
    beta
        The best point found.
    value
        Its objective; never below that of the start.
    iterations
        Steps taken.
    ended
        ``"converged"``, ``"iterations"``, ``"time_limit"`` or ``"interrupted"``.
    """

    beta: FloatArray
    value: float
    iterations: int
    ended: str


def climb(
    problem: Problem,
    start: FloatArray,
    *,
    method: str = "l-bfgs",
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = 1e-5,
    after_step: Callable[[FloatArray], bool] | None = None,
    checkpoint: Checkpoint = no_checkpoint,
) -> Optimum:
    """Maximise from `start`; if out of time or interrupted, return the best point so far.

    Parameters
    ----------
    problem
        What is maximised.
    start
        Where to begin.
    method
        ``"l-bfgs"`` or ``"cg"``.
    max_iterations
        Maximum number of steps.
    tolerance
        Stop when no component of the gradient, per row, is larger.
    after_step
        Called with every new point; if it returns true, the run ends.
    checkpoint
        Raises when the time is over.
    """
    from scipy.optimize import minimize  # slow to import, and help texts list the learners

    best = start
    best_value = start_value = problem.value(start)[0]
    steps, per_row = 0, max(problem.rows.total, 1.0)

    def negative(beta: FloatArray) -> tuple[float, FloatArray]:
        nonlocal best, best_value
        checkpoint()
        value, gradient = problem.value(beta)
        if value > best_value:
            best, best_value = beta.copy(), value
        return -value / per_row, gradient / -per_row

    def step(beta: FloatArray) -> None:
        nonlocal steps
        steps += 1
        if after_step is not None and after_step(beta):
            raise StopIteration

    if max_iterations == 0:
        return Optimum(best, best_value, 0, "iterations")
    options: Any = {"maxiter": max_iterations, "gtol": tolerance}
    if method == "l-bfgs":
        # More curvature pairs than the default of 10 save steps here.
        options |= {"maxcor": 30, "maxfun": 20 * max_iterations, "ftol": 1e-3 * tolerance}
    try:
        # The vectors are short: threads in the linear algebra would only add overhead.
        with _libraries().limit(limits=1, user_api="blas"):
            found = minimize(  # type: ignore[call-overload]  # the stubs fix the vector's shape
                negative, start, jac=True, method=METHODS[method], callback=step, options=options
            )
        ended = "iterations" if found.nit >= max_iterations else "converged"
    except OutOfTime:
        ended = "time_limit"
    except KeyboardInterrupt:
        ended = "interrupted"
    assert best_value >= start_value
    return Optimum(best, best_value, steps, ended)
