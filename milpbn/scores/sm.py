"""SM, the soft margin: every row against its strongest competing class.

    SM = sum_u w_u min(gamma, min_{c != c_u} [log P(c_u, z_u) - log P(c, z_u)])

References
----------
Peharz & Pernkopf (2012), Exact maximum margin structure learning of Bayesian networks.
"""

from __future__ import annotations

from dataclasses import dataclass

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.families.tables import FamilyTables
from milpbn.scores.margin import MarginObjective, MarginScore


@dataclass(frozen=True)
class SoftMargin(MarginScore):
    """The soft margin.

    Examples
    --------
    >>> round(SoftMargin(p=0.9).hinge, 6)
    2.197225
    """

    name = "sm"
    title = "soft margin"

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> MarginObjective:
        """See :class:`~milpbn.scores.Score`."""
        tables = FamilyTables.log_probabilities(space, rows, self.smoothing, checkpoint)
        return MarginObjective(tables, self.hinge, binary=False)
