"""The best class network by dynamic programming over subsets of the class variables.

    V(K) = max over j in K of V(K without j) + best score of j with parents inside K without j

It shares only the scores with the engines, so it serves as a cross-check.

References
----------
Silander & Myllymäki (2006), A simple approach for finding the globally optimal Bayesian
network structure.
"""

from __future__ import annotations

import numpy as np

from milpbn._types import FloatArray
from milpbn.scores import LinearObjective


def best_score(objective: LinearObjective, d: int) -> float:
    """The optimum over all acyclic structures.

    Parameters
    ----------
    objective
        A decomposable score; variables from `d` on are roots.
    d
        Number of class variables; memory and time grow with ``d 2**d``.
    """
    space = objective.space
    inside = [_best_inside(objective, j, d) for j in range(d)]
    value = np.full(1 << d, -np.inf)
    value[0] = sum(
        float(objective.weights[f]) for j in range(d, len(space.names)) for f in space.of(j)
    )
    for members in range(1, 1 << d):
        value[members] = max(
            value[members ^ (1 << j)] + inside[j][members ^ (1 << j)]
            for j in range(d)
            if members >> j & 1
        )
    return float(value[-1])


def _best_inside(objective: LinearObjective, child: int, d: int) -> FloatArray:
    """For every set of class variables, the best score of `child` with parents inside it."""
    space = objective.space
    best = np.full(1 << d, -np.inf)
    for f in space.of(child):
        members = sum(1 << p for p in space.parent_sets[f] if p < d)
        best[members] = max(best[members], objective.weights[f])
    # Allow one more variable at a time: after the last, the maximum is over all subsets.
    table = best.reshape((2,) * d)
    for axis in range(d):
        table = np.maximum.accumulate(table, axis=axis)
    return table.reshape(-1)
