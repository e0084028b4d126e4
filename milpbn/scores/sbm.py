"""SBM, the soft binary margin: the class of each row against all other classes as one.

For each row the parameters are re-estimated with the class collapsed to
{c_u, all others}. The margin compares these two states: one number per row, for any number
of classes. With two classes SBM equals SM.

References
----------
Peharz & Pernkopf (2012), Exact maximum margin structure learning of Bayesian
networks, section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.families.tables import FamilyTables
from milpbn.scores.definition import fold_rows, log_joints, n_free_parameters, row_weights
from milpbn.scores.margin import MarginScore
from milpbn.structure import Structure


@dataclass(frozen=True)
class SoftBinaryMargin(MarginScore):
    """The soft binary margin."""

    name = "sbm"
    title = "soft binary margin"
    certified = True
    _tables_of = FamilyTables.own_against_rest

    def definition(
        self,
        structure: Structure,
        variables: Sequence[Variable],
        codes: Codes,
        weights: FloatArray | None = None,
    ) -> float:
        """See :class:`~milpbn.scores.Score`."""
        two = (Variable(variables[0].name, ("own", "rest")), *variables[1:])
        weights = row_weights(codes, weights)
        cost = self.cost_per_parameter(weights.sum()) * n_free_parameters(structure, variables)
        codes, weights, fold = fold_rows(self, codes, weights)
        earned = 0.0
        for c in range(variables[0].card):
            collapsed = codes.copy()
            collapsed[:, 0] = codes[:, 0] != c
            own = codes[:, 0] == c
            joint = log_joints(self, structure, two, collapsed, weights, fold)[own]
            earned += float(weights[own] @ np.minimum(joint[:, 0] - joint[:, 1], self.hinge))
        return earned - cost
