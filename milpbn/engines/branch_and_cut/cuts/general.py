"""Separation of cluster rows for any number of parents.

For families with several feature parents, minimum cuts do not find a most violated cluster.
Clusters are grown from small ones, in a compiled loop because it runs over all pairs at every
point. If none is found, a small integer program decides:

    max sum_f eta[f] y[f] - sum_i z[i],   y[f] <= z[child of f],   y[f] <= sum_{p in S} z[p],

whose solutions above -1 are the violated clusters {i : z[i] = 1}.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from milpbn._types import FloatArray, IntArray
from milpbn.compiled import jit
from milpbn.engines.monolithic.emit_highs import Arrays, new_highs, run_here

# Time limit of the integer program.
_SECONDS = 5.0


@jit()
def grow_clusters(child, pointer, parent, weight, k, seeds):  # type: ignore[no-untyped-def]
    """Grow every seed, always by the variable that adds most.

    The point has families ``(child[f], parent[pointer[f]:pointer[f + 1]])`` with ``weight[f]``;
    those with k parents inside count. Returns the most violated cluster on each way, and its
    violation.
    """
    n = seeds.shape[1]
    clusters, violation = seeds.copy(), np.empty(len(seeds))
    gain = np.empty(n)
    for s in range(len(clusters)):
        inside = clusters[s].copy()
        size = 0
        for v in range(n):
            size += inside[v]
        violation[s] = -np.inf
        while True:
            value = float(k - size)
            gain[:] = -1.0
            for f in range(len(child)):
                there = 0
                for q in range(pointer[f], pointer[f + 1]):
                    if inside[parent[q]]:
                        there += 1
                if inside[child[f]]:
                    if there >= k:
                        value += weight[f]
                    elif there == k - 1:
                        for q in range(pointer[f], pointer[f + 1]):
                            if not inside[parent[q]]:
                                gain[parent[q]] += weight[f]
                elif there >= k:
                    gain[child[f]] += weight[f]
            if value > violation[s] + 1e-12:
                violation[s] = value
                for v in range(n):
                    clusters[s, v] = inside[v]
            best, best_gain = -1, -1.0
            for v in range(n):
                if not inside[v] and gain[v] > best_gain:
                    best, best_gain = v, gain[v]
            # Each step costs 1 and adds its gain: the violation must still be able to exceed 0.
            if best < 0 or value + (n - size) * best_gain < 0.0:
                break
            inside[best] = True
            size += 1
    return clusters, violation


def most_violated_cluster(
    child: IntArray, parents: Sequence[Sequence[int]], weight: FloatArray, n: int, seconds: float
) -> frozenset[int] | None:
    """The cluster with the most violated row, by an integer program; None if there is none."""
    n_f = len(child)
    rows: list[tuple[list[int], list[float]]] = []
    for f in range(n_f):
        rows.append(([f, n_f + int(child[f])], [1.0, -1.0]))
        rows.append(([f, *(n_f + p for p in parents[f])], [1.0] + [-1.0] * len(parents[f])))
    # At least two members, because the empty cluster has value 0.
    rows.append((list(range(n_f, n_f + n)), [1.0] * n))
    highs = new_highs(time_limit=min(_SECONDS, max(seconds, 0.0)))
    arrays = Arrays(
        [
            np.concatenate([weight, -np.ones(n)]),
            np.zeros(n_f + n),
            np.ones(n_f + n),
            np.arange(n_f + n) >= n_f,
        ],
        [[-np.inf] * 2 * n_f + [2.0], [0.0] * 2 * n_f + [n]],
        [
            np.cumsum([0, *(len(index) for index, _ in rows)]),
            [column for index, _ in rows for column in index],
            [value for _, values in rows for value in values],
        ],
    )
    arrays.pass_to(highs)
    run_here(highs)
    z = np.array(highs.getSolution().col_value)[n_f:]
    members = np.flatnonzero(z > 0.5)
    return frozenset(members.tolist()) if len(members) > 1 else None
