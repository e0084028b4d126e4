"""A minimum cut of a small dense graph, compiled.

Written by hand because the graphs have tens of vertices: building a sparse graph with
whole-number capacities for a library costs more than the flow itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Capacities are weights of a linear program's solution: less than this is zero.
_ZERO = 1e-9


@njit(cache=True, nogil=True)
def minimum_cut(capacity, source, sink):  # type: ignore[no-untyped-def]
    """The vertices on the source's side; shortest augmenting paths, `capacity` is used up."""
    n = len(capacity)
    before = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    while True:
        before[:] = -1
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
            return before >= 0
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
