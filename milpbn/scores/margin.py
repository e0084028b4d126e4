"""Common parts of the soft-margin scores: linear margins under a concave hinge.

For row u and competitor c the margin is linear in the family indicators,
``d_u(c) = sum_{i,S} alpha(i,S,u,c) eta[i,S]``, and the score is

    sum_u w_u min(gamma, min_c d_u(c)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.errors import OptionError
from milpbn.families.candidates import CLASS, FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.scores.rows import HINGE, RowObjective, RowScore


@dataclass(frozen=True)
class MarginObjective(RowObjective):
    """A soft margin on one data set."""

    kind = HINGE

    @property
    def n_competitors(self) -> int:
        """Margins per row: |C| - 1, or 1 for the binary margin."""
        return 1 if self.binary else self.space.n_classes - 1

    @cached_property
    def relevant(self) -> npt.NDArray[np.bool_]:
        """Families that can change a margin: the class is the child or a parent."""
        sets = self.space.parent_sets
        has_class = np.fromiter((CLASS in s for s in sets), dtype=bool, count=len(sets))
        relevant: npt.NDArray[np.bool_] = has_class | (self.space.child == CLASS)
        return relevant

    def alpha(self, family: int, rows: slice = slice(None)) -> FloatArray:
        """``(U, competitors)`` coefficients alpha(i, S, u, c) of one family."""
        return self.to_margins(self.tables.by_row(family, rows), rows)

    def value(self, families: AnyFamilies) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        return float(self.rows.weights @ np.minimum(self.margins(families), self.gamma))

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
        """No row scores more than gamma."""
        return self.gamma * self.rows.total

    def row_bound(self, highest: FloatArray) -> float:
        """No row scores more than gamma or its highest margin (see `margin_range`)."""
        return float(self.rows.weights @ np.minimum(highest, self.gamma))


@dataclass(frozen=True)
class MarginScore(RowScore):
    """Settings shared by SM and SBM.

    Parameters
    ----------
    smoothing, folds, fold_seed
        See :class:`~milpbn.scores.rows.RowScore`.
    p
        Desired class probability; ``gamma = log(p / (1 - p))``.
    gamma
        Desired log-margin; overrides `p`.
    """

    exact = True
    binary: ClassVar[bool] = False
    p: float | None = 0.9
    gamma: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma is not None:
            if not (self.gamma > 0 and math.isfinite(self.gamma)):
                raise OptionError(f"gamma must be a positive number, not {self.gamma}")
            object.__setattr__(self, "p", None)
        elif self.p is None or not 0.5 < self.p < 1:
            raise OptionError(f"p must lie strictly between 0.5 and 1, not {self.p}")

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

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> MarginObjective:
        """See :class:`~milpbn.scores.Score`."""
        return MarginObjective(self.tables(space, rows, checkpoint), self.hinge, self.binary)
