"""Rows for a limit N on the number of features in use, or on their cost.

A feature is used if its own family has parents, or if it is a parent in the family of another
variable. Name one variable w(i) as the witness of each feature i: i itself or any other. Then

    sum_i c_i sum_{f of w(i) that uses i} eta[f] <= N

holds for every structure whose features cost at most N, because each inner sum is at most 1, and 0
if i is not used; for a number of features, all costs c_i are 1. The witness that uses i most at a
point gives the most violated of these rows, so separation is exact, and no columns are needed that
count features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from milpbn._types import FloatArray
from milpbn.engines.branch_and_cut.cuts.source import Line, RowSource
from milpbn.families.candidates import CLASS, FamilySpace

if TYPE_CHECKING:
    from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle


@dataclass(frozen=True)
class FeatureRow(RowSource):
    """The witness of every feature, in variable order, for one of the limits."""

    witnesses: tuple[int, ...]
    of: str = "features"

    def inequality(self, oracle: CutOracle) -> tuple[FloatArray, float]:
        """See :class:`RowSource`."""
        own = oracle.features[self.of]
        return own.coefficients(self), own.limit

    def line(self, oracle: CutOracle) -> Line:
        """See :class:`RowSource`."""
        return {"kind": "features", "witnesses": self.witnesses}


class FeatureOracle:
    """Separates rows for a limit on the features in use.

    Parameters
    ----------
    space
        The candidate families, with this limit.
    of
        The name of the limit: ``"features"`` or ``"cost"``.
    tolerance
        A row is violated if it is exceeded by more than this.
    """

    def __init__(self, space: FamilySpace, of: str = "features", tolerance: float = 1e-5) -> None:
        weights, self.limit = space.budget_use.features[of]
        self.of, self._weights = of, weights[CLASS + 1 :]
        self.tolerance = tolerance * max(1.0, float(weights.max()))
        self._child = space.child
        self._first = space.offsets[:-1]
        self._touches = space.budget_use.touches.astype(np.float64)

    def coefficients(self, row: FeatureRow) -> FloatArray:
        """``(F,)``: what the features cost that each family is the witness of."""
        witness = np.array([CLASS, *row.witnesses])
        counted = witness[None, :] == self._child[:, None]
        out: FloatArray = (self._touches * counted)[:, CLASS + 1 :] @ self._weights
        return out

    def separate(self, eta: FloatArray) -> list[FeatureRow]:
        """The most violated row at a point, if there is one."""
        use = np.add.reduceat(self._touches * eta[:, None], self._first, axis=0)
        # use[w, i]: the weight of the families of w that use i; the class is no feature.
        features = use[:, CLASS + 1 :]
        if features.max(axis=0) @ self._weights <= self.limit + self.tolerance:
            return []
        return [FeatureRow(tuple(features.argmax(axis=0).tolist()), self.of)]
