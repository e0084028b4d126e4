"""Common parts of the soft-margin scores: linear margins under a concave hinge.

For row u and competitor c the margin is linear in the family indicators,
``d_u(c) = sum_{i,S} alpha(i,S,u,c) eta[i,S]``, and the score is

    sum_u w_u min(gamma, min_c d_u(c)) - penalty * (number of free parameters).

The penalty is a linear cost per family: the programs stay what they are, and sparser networks win.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.errors import OptionError
from milpbn.families.candidates import CLASS, FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.scores.base import SearchState
from milpbn.scores.penalised import PenalisedState
from milpbn.scores.rows import HINGE, RowObjective, RowScore


@dataclass(frozen=True)
class MarginObjective(RowObjective):
    """A soft margin on one data set.

    `penalty` is the cost of one free parameter. If families were pruned, `least_penalty` is the
    penalty for which this was proven; it holds for every larger one.
    """

    kind = HINGE
    penalty: float = 0.0
    least_penalty: float = 0.0

    @cached_property
    def costs(self) -> FloatArray:
        """``(F,)``: minus the penalty for the free parameters of each family."""
        return -self.penalty * self.space.free_parameters

    @cached_property
    def _least_cost(self) -> float:
        """The cost of the sparsest choice of families: no structure costs less."""
        return float(np.maximum.reduceat(self.costs, self.space.offsets[:-1]).sum())

    def with_score(self, score: MarginScore) -> MarginObjective:
        """The same tables with the gamma and the penalty of another score."""
        penalty = score.cost_per_parameter(self.rows.total)
        if penalty < self.least_penalty:
            least = self.least_penalty
            raise ValueError(f"families were pruned for penalties >= {least:g}, not {penalty:g}")
        return replace(self, gamma=score.hinge, penalty=penalty)

    def state(self, families: AnyFamilies) -> SearchState:  # type: ignore[override]
        """See :class:`~milpbn.scores.Objective`."""
        state = super().state(families)
        return PenalisedState(state, self.costs) if self.penalty else state

    @property
    def n_competitors(self) -> int:
        """Margins per row: |C| - 1, or 1 for the binary margin."""
        return 1 if self.binary else self.space.n_classes - 1

    @cached_property
    def relevant(self) -> npt.NDArray[np.bool_]:
        """Families that can change a margin: the class is the child or a parent."""
        relevant: npt.NDArray[np.bool_] = self.space.has_class | (self.space.child == CLASS)
        return relevant

    def alpha(self, family: int, rows: slice = slice(None)) -> FloatArray:
        """``(U, competitors)`` coefficients alpha(i, S, u, c) of one family."""
        return self.tables.alpha(family, rows)

    def value(self, families: AnyFamilies) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        margins = float(self.rows.weights @ np.minimum(self.margins(families), self.gamma))
        return margins + float(self.costs[np.asarray(families)].sum())

    def margin_range(self, checkpoint: Checkpoint = no_checkpoint) -> tuple[FloatArray, FloatArray]:
        """``(U,)`` lower and upper bounds on the margin of each row, over all choices of families.

        Each variable contributes its smallest (largest) alpha for each competitor; then the
        smallest sum over the competitors is taken. Acyclicity is ignored, so both bounds are
        valid.
        """
        shape = (len(self.rows), self.n_competitors)
        low, high = np.zeros(shape), np.zeros(shape)
        for i in range(self.space.n_variables):
            families = [f for f in self.space.of(i) if self.relevant[f]]
            # An irrelevant family (a feature without parents) contributes exactly 0.
            has_zero = len(families) < len(self.space.of(i))
            least = np.zeros(shape) if has_zero else np.full(shape, np.inf)
            most = np.zeros(shape) if has_zero else np.full(shape, -np.inf)
            for f in families:
                alpha = self.alpha(f)
                checkpoint()
                np.minimum(least, alpha, out=least)
                np.maximum(most, alpha, out=most)
            low += least
            high += most
        return low.min(axis=1), high.min(axis=1)

    def quick_bound(self) -> float:
        """No row scores more than gamma, and no structure is sparser than the sparsest families."""
        return self.gamma * self.rows.total + self._least_cost

    def row_bound(self, highest: FloatArray) -> float:
        """No row scores more than gamma or its highest margin (see `margin_range`)."""
        return float(self.rows.weights @ np.minimum(highest, self.gamma)) + self._least_cost


BIC = "bic"
"""The penalty that grows with the number of rows as in the BIC score."""


def parse_penalty(value: float | str) -> float | str:
    """Read a penalty: a number that is not negative, or ``"bic"``.

    Examples
    --------
    >>> parse_penalty("0.5"), parse_penalty("bic")
    (0.5, 'bic')
    """
    if isinstance(value, str) and value.lower() == BIC:
        return BIC
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise OptionError(f"the penalty must be a number from 0 on, or {BIC}, not {value!r}")
    return number


def parse_penalties(text: str) -> tuple[float | str, ...]:
    """Read several penalties separated by commas.

    Examples
    --------
    >>> parse_penalties("0, 0.5, bic")
    (0.0, 0.5, 'bic')
    """
    return tuple(parse_penalty(one.strip()) for one in text.split(","))


@dataclass(frozen=True)
class MarginScore(RowScore):
    """Settings shared by SM and SBM.

    Parameters
    ----------
    smoothing, validation, fold_seed
        See :class:`~milpbn.scores.rows.RowScore`.
    p
        Desired class probability; ``gamma = log(p / (1 - p))``.
    gamma
        Desired log-margin; overrides `p`.
    penalty
        Cost of one free parameter; ``"bic"`` is half the logarithm of the number of rows.
    """

    exact = True
    p: float | None = 0.9
    gamma: float | None = None
    penalty: float | str = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma is not None:
            if not (self.gamma > 0 and math.isfinite(self.gamma)):
                raise OptionError(f"gamma must be a positive number, not {self.gamma}")
            object.__setattr__(self, "p", None)
        elif self.p is None or not 0.5 < self.p < 1:
            raise OptionError(f"p must lie strictly between 0.5 and 1, not {self.p}")
        object.__setattr__(self, "penalty", parse_penalty(self.penalty))

    @property
    def hinge(self) -> float:
        """The gamma that is used: `gamma`, or the one that follows from `p`."""
        if self.gamma is not None:
            return self.gamma
        assert self.p is not None
        return math.log(self.p / (1 - self.p))

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`; gamma is always included."""
        p = {} if self.p is None else {"p": self.p}
        shown = {**p, "gamma": self.hinge, **super().settings()}
        return shown if self.penalty else {k: v for k, v in shown.items() if k != "penalty"}

    def cost_per_parameter(self, n_rows: float) -> float:
        """The penalty that is used for this many rows, or for this sum of their weights."""
        if self.penalty == BIC:
            return 0.5 * math.log(max(n_rows, 1.0))  # weights may add up to less than a row
        return float(self.penalty)

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> MarginObjective:
        """See :class:`~milpbn.scores.Score`."""
        tables, penalty = self.tables(space, rows), self.cost_per_parameter(rows.total)
        return MarginObjective(tables, self.hinge, penalty)
