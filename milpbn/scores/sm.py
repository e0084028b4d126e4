"""SM, the soft margin: every row against its strongest competing class.

    SM = sum_u w_u min(gamma, min_{c != c_u} [log P(c_u, z_u) - log P(c, z_u)])

References
----------
Peharz & Pernkopf (2012), Exact maximum margin structure learning of Bayesian networks.
"""

from __future__ import annotations

from dataclasses import dataclass

from milpbn.scores.margin import MarginScore


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
