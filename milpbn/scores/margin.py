"""Common parts of the soft-margin scores: linear margins under a concave hinge.

For row u and competitor c the margin is linear in the family indicators,
``d_u(c) = sum_{i,S} alpha(i,S,u,c) eta[i,S]``, and the score is

    sum_u w_u min(gamma, min_c d_u(c)) - penalty * (number of free parameters).
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
from milpbn.scores.base import HINGE
from milpbn.scores.concave import ConcaveObjective, ConcaveScore
from milpbn.settings import check_settings


@dataclass(frozen=True)
class MarginObjective(ConcaveObjective):
    """A soft margin on one data set."""

    kind = HINGE

    @property
    def unit(self) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        return self.gamma

    @property
    def worth_of_a_row(self) -> float:
        """See :class:`~milpbn.scores.concave.ConcaveObjective`."""
        return self.gamma

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

    def row_values(self, families: AnyFamilies) -> FloatArray:
        """See :class:`~milpbn.scores.Objective`: the smallest margin, at most gamma."""
        out: FloatArray = np.minimum(self.margins(families), self.gamma)
        return out

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
        return self.gamma * self.rows.total + self.least_cost

    def row_bound(self, highest: FloatArray) -> float:
        """No row scores more than gamma or its highest margin (see `margin_range`)."""
        return float(self.rows.weights @ np.minimum(highest, self.gamma)) + self.least_cost


@dataclass(frozen=True)
class MarginScore(ConcaveScore):
    """Settings shared by SM and SBM.

    Parameters
    ----------
    smoothing, validation, fold_seed, penalty
        See :class:`~milpbn.scores.concave.ConcaveScore`.
    p
        Desired class probability; ``gamma = log(p / (1 - p))``.
    gamma
        Desired log-margin; overrides `p`.
    """

    p: float | None = 0.9
    gamma: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma is None and self.p is None:
            raise OptionError("a margin score needs p or gamma")
        if self.gamma is not None:
            object.__setattr__(self, "p", None)
        check_settings({"p": self.p, "gamma": self.gamma})

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
        return {**p, "gamma": self.hinge, **super().settings()}

    def plain(self) -> MarginScore:
        """See :class:`~milpbn.scores.concave.ConcaveScore`."""
        return replace(self, p=MarginScore.p, gamma=None, penalty=0.0)

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> MarginObjective:
        """See :class:`~milpbn.scores.Score`."""
        tables, penalty = self.tables(space, rows), self.cost_per_parameter(rows.total)
        return MarginObjective(tables, self.hinge, penalty)
