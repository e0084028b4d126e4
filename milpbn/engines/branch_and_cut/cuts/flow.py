"""Sets of vertices with too much weight inside, by minimum cuts of small dense graphs.

The code is compiled and does not use a graph library: the graphs have tens of vertices and
there are thousands of them, so converting them to a library's format would take longer than
the minimum cuts.
"""

from __future__ import annotations

import numpy as np

from milpbn.compiled import jit

# Weights come from the solution of a linear program: less than this is zero.
_ZERO = 1e-9
# How much more than its size minus 1 a heavy set weighs.
_TOO_HEAVY = 1e-6


@jit(lazily=True)
def minimum_cut(capacity, source, sink):  # type: ignore[no-untyped-def]
    """The source's side of a minimum cut, by shortest augmenting paths; changes `capacity`."""
    n = len(capacity)
    before = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    side = np.empty(n, np.bool_)
    while True:
        for v in range(n):
            before[v] = -1
        before[source] = source
        queue[0] = source
        head, tail = 0, 1
        while head < tail and before[sink] < 0:
            v = queue[head]
            head += 1
            for w in range(n):
                if before[w] < 0 and capacity[v, w] > _ZERO:
                    before[w] = v
                    queue[tail] = w
                    tail += 1
        if before[sink] < 0:
            for v in range(n):
                side[v] = before[v] >= 0
            return side
        room = np.inf
        w = sink
        while w != source:
            room = min(room, capacity[before[w], w])
            w = before[w]
        w = sink
        while w != source:
            capacity[before[w], w] -= room
            capacity[w, before[w]] += room
            w = before[w]


@jit(lazily=True)
def core(weights):  # type: ignore[no-untyped-def]
    """Vertices that can belong to a smallest set with ``weight inside > size - 1``.

    Such a set without one of its vertices is no longer heavy, so each vertex is connected to
    the others by a weight above 1. Vertices with less are removed until none is left.
    """
    n = len(weights)
    alive = np.empty(n, np.bool_)
    for v in range(n):
        alive[v] = True
    changed = True
    while changed:
        changed = False
        for v in range(n):
            if alive[v]:
                degree = 0.0
                for w in range(n):
                    if alive[w]:
                        degree += weights[v, w]
                if degree <= 1.0 + _ZERO:
                    alive[v] = False
                    changed = True
    members = np.empty(n, np.int64)
    size = 0
    for v in range(n):
        if alive[v]:
            members[size] = v
            size += 1
    return members[:size]


@jit(lazily=True)
def connected_components(weights):  # type: ignore[no-untyped-def]
    """A label per vertex, the same for vertices that a path joins; weights are symmetric."""
    n = len(weights)
    label, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    for v in range(n):
        label[v] = -1
    for root in range(n):
        if label[root] >= 0:
            continue
        label[root] = root
        stack[0] = root
        size = 1
        while size > 0:
            size -= 1
            v = stack[size]
            for w in range(n):
                if label[w] < 0 and weights[v, w] > _ZERO:
                    label[w] = root
                    stack[size] = w
                    size += 1
    return label


@jit(lazily=True)
def heavy_sets(weights):  # type: ignore[no-untyped-def]
    """Sets K with ``weight inside K > |K| - 1``, one per row, for symmetric weights.

    There is one minimum cut per vertex, the root, which must be in the set:

        cut(K) / 2 + sum_{i in K} (1 - degree(i) / 2) = |K| - weight inside K.

    Vertices of sets that were already found are skipped as roots. Only vertices joined to the
    root by a path are considered, so unrelated sets are not merged.
    """
    members = core(weights)
    m = len(members)
    inner = np.zeros((m, m))
    degree = np.zeros(m)
    for a in range(m):
        for b in range(m):
            inner[a, b] = weights[members[a], members[b]]
            degree[a] += inner[a, b]
    label = connected_components(inner)
    found = np.zeros((m, len(weights)), np.bool_)
    covered = np.zeros(m, np.bool_)
    k = 0
    for root in range(m):
        if covered[root]:
            continue
        side = minimum_cut(_network(inner, degree, label, root), m, m + 1)
        size, weight = 0, 0.0
        for a in range(m):
            if side[a]:
                size += 1
                for b in range(m):
                    if side[b]:
                        weight += inner[a, b] / 2
        if weight > size - 1 + _TOO_HEAVY:
            for a in range(m):
                if side[a]:
                    covered[a] = True
                    found[k, members[a]] = True
            k += 1
    return found[:k]


@jit(lazily=True)
def _network(inner, degree, label, root):  # type: ignore[no-untyped-def]
    """Capacities between the vertices, a source (m) and a sink (m + 1)."""
    m = len(inner)
    capacity = np.zeros((m + 2, m + 2))
    for a in range(m):
        for b in range(m):
            capacity[a, b] = inner[a, b] / 2
        if label[a] == label[root]:
            price = 1.0 - degree[a] / 2
            if price < 0:
                capacity[m, a] = -price
            else:
                capacity[a, m + 1] = price
    capacity[m, root] = m + 1.0
    return capacity
