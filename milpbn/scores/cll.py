"""CLL, the conditional log-likelihood of the classes.

    CLL = sum_u w_u log P(c_u | z_u) - penalty * (number of free parameters)
        = - sum_u w_u log(1 + sum_{c != c_u} exp(-d_u(c))) - ...

It is a concave function of the margins d_u(c), which are linear in the families. So
branch-and-cut maximises it exactly; a single linear program would need infinitely many rows.

References
----------
Grossman & Domingos (2004), Learning Bayesian network classifiers by maximizing
conditional likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from milpbn._types import AnyFamilies, Codes, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.encoding.columns import Variable
from milpbn.families.candidates import FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.scores.base import CLL
from milpbn.scores.concave import ConcaveObjective, ConcaveScore
from milpbn.scores.definition import fold_rows, log_joints, n_free_parameters, row_weights
from milpbn.structure import AnyStructure

# A log-loss per row below this counts as this large where a gap is relative to it.
_NEXT_TO_NOTHING = 0.01


def _scale(total: float) -> float:
    return max(1.0, _NEXT_TO_NOTHING * total)


def log_posteriors(margins: FloatArray) -> FloatArray:
    """``-log(1 + sum_c exp(-d(c)))`` of the margins of each row."""
    if margins.ndim > 1:  # the margin against all other classes together
        least = margins.min(axis=1)
        margins = least - np.log(np.exp(least[:, None] - margins).sum(axis=1))
    out: FloatArray = -np.logaddexp(0.0, -margins)
    return out


@dataclass(frozen=True)
class PosteriorObjective(ConcaveObjective):
    """The conditional log-likelihood on one data set."""

    kind = CLL

    @property
    def scale(self) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        return _scale(self.rows.total)

    def row_values(self, families: AnyFamilies) -> FloatArray:
        """See :class:`~milpbn.scores.Objective`: the log-posterior of the class."""
        return log_posteriors(self.tables.margins(families))

    @property
    def worth_of_a_row(self) -> float:
        """See :class:`~milpbn.scores.concave.ConcaveObjective`."""
        return math.log(self.space.n_classes)

    def quick_bound(self) -> float:
        """All posteriors are 1, and no structure is sparser than the sparsest families."""
        return self.least_cost


@dataclass(frozen=True)
class ConditionalLogLikelihood(ConcaveScore):
    """The conditional log-likelihood, on the training rows or cross-validated on them."""

    name = "cll"
    title = "conditional log-likelihood"
    per_class = True
    smooth = True
    certified = True

    def scale(self, total: float) -> float:
        """See :class:`~milpbn.scores.Score`: on some sets there is almost no loss to speak of."""
        return _scale(total)

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> PosteriorObjective:
        """See :class:`~milpbn.scores.Score`."""
        tables, penalty = self.tables(space, rows), self.cost_per_parameter(rows.total)
        return PosteriorObjective(tables, penalty=penalty)

    def definition(
        self,
        structure: AnyStructure,
        variables: Sequence[Variable],
        codes: Codes,
        weights: FloatArray | None = None,
    ) -> float:
        """See :class:`~milpbn.scores.Score`."""
        codes, weights, fold = fold_rows(self, codes, row_weights(codes, weights))
        joint = log_joints(self, structure, variables, codes, weights, fold)
        own = scipy.special.log_softmax(joint, axis=1)[np.arange(len(codes)), codes[:, 0]]
        cost = self.cost_per_parameter(weights.sum()) * n_free_parameters(structure, variables)
        return float(weights @ own) - cost
