"""``omi-crcl``: the order of ``omi-cr``, parents by the classification rate with CL parameters.

For each candidate parent, the conditional log-likelihood of the whole structure is maximised
over its parameters; then the structure is judged by its classification rate on the training
rows. This costs one optimisation per candidate, so it is for small data. Each optimisation
starts from the parameters of the current structure, with frequencies in the one new table,
and is regularised by a fixed prior around Laplace-smoothed frequencies (weight 1, see
:mod:`milpbn.parameters.cl`): choosing a weight per candidate would cost fifty times as much.

Like ``tan-cmi``, it does not use the score that is maximised: its structure is the result and
is scored once, with maximum-likelihood parameters like every structure.

References
----------
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 6.1.
"""

from __future__ import annotations

import numpy as np

from milpbn._types import Families, FloatArray
from milpbn.families.candidates import CLASS
from milpbn.families.rows import TIE
from milpbn.families.smoothing import Laplace
from milpbn.parameters.losses import ConditionalLoss
from milpbn.parameters.optimise import Problem, climb
from milpbn.parameters.tables import ClassTable, Rows, TableLayout
from milpbn.search.base import Search
from milpbn.search.order_based import OMI, ParentSelection

_PENALTY = 1.0
_STEPS = 30
_TOLERANCE = 1e-4


class OMICRCL(OMI):
    """OMI whose parents are chosen with conditional-likelihood parameters."""

    name = "omi-crcl"
    title = "omi-cr with CL parameters inside"

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        selection = _ConditionalSelection(search, self.order(search), self.name)
        try:
            selection.first_round()
        finally:
            # A run that is stopped offers its current structure.
            search.offer(selection.state, self.name)


class _ConditionalSelection(ParentSelection):
    """Step 2 of the heuristic with parameters learned for every candidate."""

    def __init__(self, search: Search, order: list[int], source: str) -> None:
        super().__init__(search, order, source)
        rows = search.objective.rows
        assert rows is not None, "the order was computed from the rows"
        self.rows = rows
        self.rate = 0.0
        self._beta: dict[int, FloatArray] = {}
        """The parameters of the families of the current structure."""

    def tell(self) -> None:
        """Do nothing: only the final structure is reported, even if an earlier one scored more."""

    def choose(self, j: int, candidates: Families, must_gain: bool) -> bool:
        """See :class:`~milpbn.search.order_based.ParentSelection`."""
        feature = self.order[j]
        best, best_family, best_beta = -np.inf, -1, self._beta
        for family in candidates:
            self.search.checkpoint()
            families = self.state.families.copy()
            families[feature] = family
            rate, beta = self._rate(families)
            if rate > best:
                best, best_family, best_beta = rate, int(family), beta
        if best_family < 0 or (must_gain and best <= self.rate):
            return False
        self.state.exchange(feature, best_family)
        self.rate, self._beta = best, best_beta
        return True

    def _rate(self, families: Families) -> tuple[float, dict[int, FloatArray]]:
        """Rows classified correctly with CL parameters, and the parameters by family."""
        self.state.evaluations += 1
        space, kept = self.search.space, []
        tables, cards = [], space.views.cards.tolist()
        for i, family in enumerate(families.tolist()):
            seen = [view for view in space.parent_views[family].tolist() if view > CLASS]
            if i == CLASS:
                tables.append(ClassTable.of_class(seen, cards))
            elif space.has_class[family]:
                tables.append(ClassTable.of_feature(int(space.child_view[family]), seen, cards))
            else:
                continue
            kept.append(family)
        layout = TableLayout(tuple(tables), space.views)
        rows = Rows.of(layout, self.rows)
        anchor = rows.maximum_likelihood(Laplace())
        start = anchor.copy()
        for family, cells in zip(kept, layout.split(start), strict=True):
            if family in self._beta:
                cells[:] = self._beta[family].reshape(cells.shape)
        problem = Problem(rows, ConditionalLoss(), anchor, _PENALTY)
        found = climb(problem, start, max_iterations=_STEPS, tolerance=_TOLERANCE)
        joint = rows.log_joint(layout.log_theta(found.beta))
        at = np.arange(len(rows))
        own = joint[at, rows.labels]
        joint[at, rows.labels] = -np.inf
        rate = float(rows.weights @ (own - joint.max(axis=1) > TIE))
        return rate, dict(zip(kept, layout.split(found.beta), strict=True))
