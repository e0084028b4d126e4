"""CR, the classification rate: the number of rows whose class is the most probable one.

    CR = sum_u w_u [ log P(c_u, z_u) > log P(c, z_u) for all c != c_u ]

A tie counts as an error, so that the rate does not depend on the order of the classes.
It is the number of rows, not the fraction. It is not concave in the families, so milpbn has
no linear program for it: only heuristics maximise it.

References
----------
Keogh & Pazzani (1999), Learning augmented Bayesian classifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from milpbn._types import AnyFamilies, Codes, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.encoding.columns import Variable
from milpbn.families.candidates import FamilySpace
from milpbn.families.rows import TIE, MergedRows
from milpbn.scores.base import RATE
from milpbn.scores.definition import margins, row_weights
from milpbn.scores.rows import RowObjective, RowScore
from milpbn.structure import AnyStructure


@dataclass(frozen=True)
class RateObjective(RowObjective):
    """The classification rate on one data set."""

    kind = RATE

    @property
    def unit(self) -> float:
        """See :class:`~milpbn.scores.Objective`: all rows."""
        return self.rows.total

    def row_values(self, families: AnyFamilies) -> FloatArray:
        """See :class:`~milpbn.scores.Objective`: 1 if the class is the most probable one."""
        return (self.margins(families) > TIE).astype(np.float64)

    def quick_bound(self) -> float:
        """The number of rows: all are classified correctly."""
        return self.rows.total


@dataclass(frozen=True)
class ClassificationRate(RowScore):
    """The classification rate, on the training rows or cross-validated on them."""

    name = "cr"
    title = "classification rate"
    per_class = True

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> RateObjective:
        """See :class:`~milpbn.scores.Score`."""
        return RateObjective(self.tables(space, rows))

    def definition(
        self,
        structure: AnyStructure,
        variables: Sequence[Variable],
        codes: Codes,
        weights: FloatArray | None = None,
    ) -> float:
        """See :class:`~milpbn.scores.Score`."""
        rows = row_weights(codes, weights)
        margin, weight = margins(self, structure, variables, codes, rows)
        return float(weight @ (margin > TIE))
