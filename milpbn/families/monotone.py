"""Families whose terms are monotone along some features.

The log-odds of two classes is a sum of one term per family,

    log P(1, z) / P(0, z) = sum_i log theta[i](x_i | h, 1) / theta[i](x_i | h, 0),

or of the class's own table if it is the child. A feature is in its own family and in those of its
children. If each of these terms is monotone along the feature, for every state of the other
variables, so is their sum. This is a property of each family, so that the monotone structures are
those of a smaller search space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.encoding.columns import Variable
from milpbn.families.counts import FamilyCounts
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Smoothing
from milpbn.families.space import FamilySpace
from milpbn.families.tabulate import log_probabilities

TOLERANCE = 1e-9
"""Smaller steps in the wrong direction are rounding."""


@dataclass(frozen=True)
class Trend:
    """The direction of a feature, and how many states from the first on have an order.

    `n_ordered` is 0 if the states are seen in no order; then nothing is monotone along them.
    """

    direction: int
    n_ordered: int

    def worst(self, log_odds: FloatArray, axis: int) -> float:
        """The largest step in the wrong direction along an axis; 0 if there is none.

        Examples
        --------
        >>> Trend(1, 3).worst(np.array([0.1, 0.5, 0.3, -9.0]), 0)
        0.2
        """
        if self.n_ordered == 0:
            return float("inf")
        ordered = np.moveaxis(log_odds, axis, 0)[: self.n_ordered]
        steps = self.direction * np.diff(ordered, axis=0)
        return float(max(-steps.min(initial=0.0), 0.0))


def trends_of(variables: Sequence[Variable]) -> list[list[Trend | None]]:
    """The trend of every variable in each of its resolutions."""
    return [
        [Trend(v.monotone, v.ordered_in(r)) if v.monotone else None for r in range(v.n_resolutions)]
        for v in variables
    ]


def monotone_families(
    space: FamilySpace,
    rows: MergedRows,
    variables: Sequence[Variable],
    smoothing: Smoothing,
    checkpoint: Checkpoint = no_checkpoint,
) -> IntArray:
    """The families whose maximum-likelihood tables are monotone along the features that must be.

    Parameters
    ----------
    space, rows
        Families and training rows, of two classes.
    variables
        Their directions, see :attr:`~milpbn.encoding.columns.Variable.monotone`.
    smoothing
        How counts become probabilities.
    checkpoint
        Called between batches of families; may raise to stop.
    """
    trends = [trend for own in trends_of(variables) for trend in own]  # by view
    counts = FamilyCounts(space, rows)
    directed = np.array([*(trend is not None for trend in trends), False])
    concerned = directed[counts.key].any(axis=1) & (space.has_class | (space.child == 0))
    kept = ~concerned
    for batch in counts.batches(np.flatnonzero(concerned)):
        checkpoint()
        tables = log_probabilities(smoothing, *counts.of(batch))
        log_odds = tables[..., 1] - tables[..., 0]
        for f, own in zip(batch.tolist(), log_odds, strict=True):
            views = counts.key[f][counts.key[f] >= 0].tolist()
            table = own.reshape([int(counts.cards[v]) for v in views])
            along = ((axis, trends[v]) for axis, v in enumerate(views))
            kept[f] = all(t is None or t.worst(table, axis) <= TOLERANCE for axis, t in along)
    return np.flatnonzero(kept)
