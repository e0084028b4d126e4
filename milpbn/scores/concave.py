"""Scores that are concave in the families, with a penalty for parameters.

The margins of a row are linear in the family indicators, and the score of a row is a concave
function of them. So a linear program can bound it by tangents, and the score can be maximised
exactly. The penalty is a linear cost per family: the programs stay what they are, and sparser
networks win.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from milpbn._types import AnyFamilies, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.errors import OptionError
from milpbn.families.candidates import FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.scores.base import Score, SearchState
from milpbn.scores.penalised import PenalisedState
from milpbn.scores.pruning import prune_penalised
from milpbn.scores.rows import RowObjective, RowScore


@dataclass(frozen=True)
class ConcaveObjective(RowObjective):
    """A concave score on one data set.

    `penalty` is the cost of one free parameter. If families were pruned, `least_penalty` is the
    penalty for which this was proven; it holds for every larger one.
    """

    penalty: float = 0.0
    least_penalty: float = 0.0

    @cached_property
    def costs(self) -> FloatArray:
        """``(F,)``: minus the penalty for the free parameters of each family."""
        return -self.penalty * self.space.free_parameters

    def cost(self, families: AnyFamilies) -> float:
        """Minus the penalty for the free parameters of a structure."""
        return float(self.costs[np.asarray(families)].sum())

    @cached_property
    def least_cost(self) -> float:
        """The cost of the sparsest choice of families: no structure costs less."""
        return float(np.maximum.reduceat(self.costs, self.space.offsets[:-1]).sum())

    def with_score(self, score: Score) -> Self:
        """See :class:`~milpbn.scores.Objective`: another score of this kind."""
        penalised = self.with_penalty(score.cost_per_parameter(self.rows.total))
        return replace(penalised, gamma=score.hinge)

    def with_penalty(self, penalty: float) -> Self:
        """See :class:`~milpbn.scores.Objective`."""
        if penalty < self.least_penalty:
            least = self.least_penalty
            raise ValueError(f"families were pruned for penalties >= {least:g}, not {penalty:g}")
        return replace(self, penalty=penalty)

    def pruned(self, checkpoint: Checkpoint = no_checkpoint) -> Self:
        """See :class:`~milpbn.scores.Objective`: families were pruned for the penalty."""
        return replace(self, least_penalty=self.penalty)

    def value(self, families: AnyFamilies) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        return super().value(families) + self.cost(families)

    def state(self, families: AnyFamilies) -> SearchState:  # type: ignore[override]
        """See :class:`~milpbn.scores.Objective`."""
        state = super().state(families)
        return PenalisedState(state, self.costs) if self.penalty else state


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
class ConcaveScore(RowScore):
    """Common settings of the concave scores.

    Parameters
    ----------
    smoothing, validation, fold_seed
        See :class:`~milpbn.scores.rows.RowScore`.
    penalty
        Cost of one free parameter; ``"bic"`` is half the logarithm of the number of rows.
    """

    exact = True
    penalty: float | str = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "penalty", parse_penalty(self.penalty))

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`; a penalty of 0 is omitted."""
        shown = super().settings()
        return shown if self.penalty else {k: v for k, v in shown.items() if k != "penalty"}

    def cost_per_parameter(self, n_rows: float) -> float:
        """See :class:`~milpbn.scores.Score`: the penalty."""
        if self.penalty == BIC:
            return 0.5 * math.log(max(n_rows, 1.0))  # weights may add up to less than a row
        return float(self.penalty)

    def prune(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> FamilySpace:
        """See :class:`~milpbn.scores.Score`: what cannot earn the penalty can go."""
        return prune_penalised(self, space, rows, checkpoint) if self.penalty else space

    def plain(self) -> ConcaveScore:
        """See :class:`~milpbn.scores.Score`: without the penalty."""
        return replace(self, penalty=0.0)
