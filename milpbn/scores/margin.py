"""What the soft-margin scores share: linear margins under one concave hinge.

For row u and competitor c the margin is linear in the family indicators,
``d_u(c) = sum_{i,S} alpha(i,S,u,c) eta[i,S]``, and the score is

    sum_u w_u min(gamma, min_c d_u(c)).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.errors import OptionError
from milpbn.families.candidates import CLASS, FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Laplace, Smoothing
from milpbn.families.tables import FamilyTables
from milpbn.scores.base import Families, FloatArray, Objective, Score


@dataclass(frozen=True)
class MarginObjective(Objective):
    """A soft margin on one data set.

    `tables` holds log-probabilities and the margins are differences between a
    row's own class and each competitor; with ``binary`` it holds log ratios of the
    own class against the rest, and each row has one competitor.
    """

    tables: FamilyTables
    gamma: float
    binary: bool

    @property
    def space(self) -> FamilySpace:  # type: ignore[override]
        """The candidate families."""
        return self.tables.space

    @property
    def rows(self) -> MergedRows:
        """The training rows."""
        return self.tables.rows

    @property
    def n_competitors(self) -> int:
        """Margins per row: |C| - 1, or 1 for the binary margin."""
        return 1 if self.binary else self.space.n_classes - 1

    @cached_property
    def competitors(self) -> npt.NDArray[np.intp]:
        """``(U, |C| - 1)``: the classes each row competes with, ascending."""
        others = np.arange(self.space.n_classes - 1)[None, :]
        return others + (others >= self.rows.labels[:, None])

    @cached_property
    def relevant(self) -> npt.NDArray[np.bool_]:
        """Families that can change a margin: the class is the child or a parent."""
        sets = self.space.parent_sets
        has_class = np.fromiter((CLASS in s for s in sets), dtype=bool, count=len(sets))
        relevant: npt.NDArray[np.bool_] = has_class | (self.space.child == CLASS)
        return relevant

    def _to_margins(self, by_class: FloatArray, rows: slice) -> FloatArray:
        own = np.take_along_axis(by_class, self.rows.labels[rows, None].astype(np.intp), axis=1)
        if self.binary:
            return own
        return own - np.take_along_axis(by_class, self.competitors[rows], axis=1)

    def alpha(self, family: int, rows: slice = slice(None)) -> FloatArray:
        """``(U, competitors)`` coefficients alpha(i, S, u, c) of one family."""
        return self._to_margins(self.tables.by_row(family, rows), rows)

    def margins(self, families: Families) -> FloatArray:
        """``(U,)``: the smallest margin of every row under a structure."""
        smallest: FloatArray = self._to_margins(self.tables.total(families), slice(None)).min(
            axis=1
        )
        return smallest

    def value(self, families: Families) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        return float(self.rows.weights @ np.minimum(self.margins(families), self.gamma))

    def margin_range(self, checkpoint: Checkpoint = no_checkpoint) -> tuple[FloatArray, FloatArray]:
        """``(U,)`` lowest and highest margin any choice of families gives a row.

        Each variable contributes its smallest (largest) alpha for every competitor;
        the row then takes the smallest over competitors. Acyclicity is ignored, so
        both ends are safe.
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
        """No row earns more than gamma."""
        return self.gamma * self.rows.total


@dataclass(frozen=True)
class MarginScore(Score):
    """Settings shared by SM and SBM.

    Parameters
    ----------
    p
        Desired class probability; ``gamma = log(p / (1 - p))``.
    gamma
        Desired log-margin; overrides `p`.
    smoothing
        How counts become probabilities.
    """

    p: float | None = 0.9
    gamma: float | None = None
    smoothing: Smoothing = field(default_factory=Laplace)
    generative = False

    def __post_init__(self) -> None:
        if self.gamma is not None:
            if not (self.gamma > 0 and math.isfinite(self.gamma)):
                raise OptionError(f"gamma must be a positive number, not {self.gamma}")
            object.__setattr__(self, "p", None)
        elif self.p is None or not 0.5 < self.p < 1:
            raise OptionError(f"p must lie strictly between 0.5 and 1, not {self.p}")

    @property
    def hinge(self) -> float:
        """The gamma in force."""
        if self.gamma is not None:
            return self.gamma
        assert self.p is not None
        return math.log(self.p / (1 - self.p))

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`."""
        p = {} if self.p is None else {"p": self.p}
        return {**p, "gamma": self.hinge, "smoothing": str(self.smoothing)}

    @abstractmethod
    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> MarginObjective:
        """See :class:`~milpbn.scores.Score`."""
