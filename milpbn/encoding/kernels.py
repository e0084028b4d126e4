"""Compiled loops of the MDLP recursion: class counts, and the class entropy of every cut.

This is written in numba because a column of a million different values has as many cuts, at
every level of the recursion. From one cut to the next only a few class counts change.
"""

from __future__ import annotations

import numpy as np

from milpbn.compiled import jit

_jit = jit(lazily=True)

_TINY = np.finfo(np.float64).tiny


@_jit
def cumulate(values, weights, ends):  # type: ignore[no-untyped-def]
    """The distinct values, and in row j the class counts of all values below the j-th one.

    `values` are sorted within each class, and `ends` has the position after the last value of
    each class. Every row counts as one if there are no `weights`.
    """
    n, k = len(values), len(ends)
    at = np.empty(k, np.int64)
    distinct, counts = np.empty(n), np.empty((n + 1, k))
    for c in range(k):
        at[c] = ends[c - 1] if c else 0
        counts[0, c] = 0.0
    d = done = 0
    while done < n:
        least = np.inf
        for c in range(k):
            if at[c] < ends[c]:
                least = min(least, values[at[c]])
        for c in range(k):
            count = counts[d, c]
            while at[c] < ends[c] and values[at[c]] == least:
                count += weights[at[c]] if len(weights) else 1.0
                at[c] += 1
                done += 1
            counts[d + 1, c] = count
        distinct[d] = least
        d += 1
    return distinct[:d], counts[: d + 1]


@_jit
def _n_log_n(count, table):  # type: ignore[no-untyped-def]
    if len(table):
        return table[np.int64(count)]
    return count * np.log2(max(count, _TINY))


@_jit
def bits_of_cuts(cumulated, table):  # type: ignore[no-untyped-def]
    """N1 * E1 + N2 * E2 for each cut: N * E = N log2 N - sum_c n_c log2 n_c.

    `cumulated` has the class counts below each distinct value; the cuts are just below its rows,
    except for the first and the last. `table` has n log2 n for counts that are integers, or is
    empty.
    """
    last, k = len(cumulated) - 1, cumulated.shape[1]
    low, high = cumulated[0], cumulated[last]
    left, right, bits = np.empty(k), np.empty(k), np.empty(last - 1)
    below = above = 0.0
    for c in range(k):
        above += high[c] - low[c]
        left[c] = _n_log_n(0.0, table)
        right[c] = _n_log_n(high[c] - low[c], table)
    for j in range(1, last):
        classes = 0.0
        for c in range(k):
            more = cumulated[j, c] - cumulated[j - 1, c]
            if more != 0.0:
                below += more
                left[c] = _n_log_n(cumulated[j, c] - low[c], table)
                right[c] = _n_log_n(high[c] - cumulated[j, c], table)
            classes += left[c] + right[c]
        bits[j - 1] = _n_log_n(below, table) + _n_log_n(above - below, table) - classes
    return bits
