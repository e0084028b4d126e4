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
from milpbn.network.inference import log_joint
from milpbn.network.network import fit_network
from milpbn.scores.definition import by_fold, n_free_parameters
from milpbn.scores.margin import MarginScore
from milpbn.structure import Structure


@dataclass(frozen=True)
class SoftBinaryMargin(MarginScore):
    """The soft binary margin."""

    name = "sbm"
    title = "soft binary margin"
    binary = True
    _tables_of = FamilyTables.own_against_rest

    def definition(
        self, structure: Structure, variables: Sequence[Variable], codes: Codes
    ) -> float:
        """See :class:`~milpbn.scores.Score`."""
        two = (Variable(variables[0].name, ("own", "rest")), *variables[1:])

        def margins(train: Codes, test: Codes) -> FloatArray:
            out = np.empty(len(test))
            for c in range(variables[0].card):
                collapsed = train.copy()
                collapsed[:, 0] = train[:, 0] != c
                network = fit_network(structure, two, collapsed, self.smoothing)
                joint = log_joint(network, test[test[:, 0] == c, 1:])
                out[test[:, 0] == c] = joint[:, 0] - joint[:, 1]
            return out

        earned = np.minimum(by_fold(self, codes, margins), self.hinge).sum()
        cost = self.cost_per_parameter(len(codes)) * n_free_parameters(structure, variables)
        return float(earned) - cost
