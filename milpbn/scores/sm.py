"""SM, the soft margin: the class of each row against its strongest competitor.

    SM = sum_u w_u min(gamma, min_{c != c_u} [log P(c_u, z_u) - log P(c, z_u)])
         - penalty * (number of free parameters)

References
----------
Peharz & Pernkopf (2012), Exact maximum margin structure learning of Bayesian networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.scores.definition import margins, n_free_parameters, row_weights
from milpbn.scores.margin import MarginScore
from milpbn.structure import AnyStructure


@dataclass(frozen=True)
class SoftMargin(MarginScore):
    """The soft margin; the MM score of Pernkopf & Wohlmayr (2013) is SM times 1 / gamma.

    Examples
    --------
    >>> round(SoftMargin(p=0.9).hinge, 6)
    2.197225
    """

    name = "sm"
    aliases = ("mm",)
    title = "soft margin"
    per_class = True
    certified = True

    def definition(
        self,
        structure: AnyStructure,
        variables: Sequence[Variable],
        codes: Codes,
        weights: FloatArray | None = None,
    ) -> float:
        """See :class:`~milpbn.scores.Score`."""
        weights = row_weights(codes, weights)
        margin, weight = margins(self, structure, variables, codes, weights)
        earned = float(weight @ np.minimum(margin, self.hinge))
        cost = self.cost_per_parameter(weights.sum()) * n_free_parameters(structure, variables)
        return earned - cost
