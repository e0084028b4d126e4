"""SBM, the soft binary margin: every row's class against all others taken as one.

For each row the parameters are re-estimated with the class collapsed to
{c_u, all others}; the margin is the first state against the second, one number a
row however many classes there are. With two classes SBM equals SM.

References
----------
Peharz & Pernkopf (2012), Exact maximum margin structure learning of Bayesian
networks, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from milpbn.families.tables import FamilyTables
from milpbn.scores.margin import MarginScore


@dataclass(frozen=True)
class SoftBinaryMargin(MarginScore):
    """The soft binary margin."""

    name = "sbm"
    title = "soft binary margin"
    binary = True
    _tables_of = FamilyTables.own_against_rest
