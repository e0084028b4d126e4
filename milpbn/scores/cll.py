"""CLL, the conditional log-likelihood of the classes.

    CLL = sum_u w_u log P(c_u | z_u) = - sum_u w_u log(1 + sum_{c != c_u} exp(-d_u(c)))

References
----------
Grossman & Domingos (2004), Learning Bayesian network classifiers by maximizing
conditional likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, logsumexp

from milpbn._types import AnyFamilies, Codes, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.encoding.columns import Variable
from milpbn.families.candidates import FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.scores.definition import fold_rows, log_joints, row_weights
from milpbn.scores.rows import CLL, RowObjective, RowScore
from milpbn.structure import AnyStructure


@dataclass(frozen=True)
class PosteriorObjective(RowObjective):
    """The conditional log-likelihood on one data set."""

    kind = CLL

    def value(self, families: AnyFamilies) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        with_own = np.column_stack([np.zeros(len(self.rows)), -self.tables.margins(families)])
        return -float(self.rows.weights @ logsumexp(with_own, axis=1))

    def quick_bound(self) -> float:
        """Zero: all posteriors are 1."""
        return 0.0


@dataclass(frozen=True)
class ConditionalLogLikelihood(RowScore):
    """The conditional log-likelihood, on the training rows or cross-validated on them."""

    name = "cll"
    title = "conditional log-likelihood"
    per_class = True

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> PosteriorObjective:
        """See :class:`~milpbn.scores.Score`."""
        return PosteriorObjective(self.tables(space, rows))

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
        return float(weights @ log_softmax(joint, axis=1)[np.arange(len(codes)), codes[:, 0]])
