"""Compiled counting: all pairs of a variable in one sweep over the rows.

This is written in numba because a library function counts one pair at a time and builds the
key of every row for each of them. Here a block of rows stays in the cache while all variables
are counted on it, four at a time, so that the processor need not wait for a counter that the
row before has just changed.

A counter adds the weights in the order of the rows. Sums therefore do not depend on the
blocks, nor on how the variables are divided into sweeps.
"""

from __future__ import annotations

import numpy as np

from milpbn.compiled import jit

# Rows per block: their keys, weights and codes fit into the first-level cache.
_BLOCK = 1024

_jit = jit()


@_jit
def _n_log_n(n):  # type: ignore[no-untyped-def]
    return n * np.log(n) if n > 0 else 0.0


@_jit
def _count_four(x0, x1, x2, x3, keys, n_keys, weights, n0, n1, n2, n3):  # type: ignore[no-untyped-def]
    # Unsigned indices spare the compiler the check for negative ones.
    for u in range(len(weights)):
        key, w = keys[u], weights[u]
        n0[np.uint32(x0[u]) * n_keys + key] += w
        n1[np.uint32(x1[u]) * n_keys + key] += w
        n2[np.uint32(x2[u]) * n_keys + key] += w
        n3[np.uint32(x3[u]) * n_keys + key] += w


@_jit
def _count_one(x, keys, n_keys, weights, n):  # type: ignore[no-untyped-def]
    for u in range(len(weights)):
        n[np.uint32(x[u]) * n_keys + keys[u]] += weights[u]


@_jit
def _count_with(columns, weights, i, first, last, cards, counts, base):  # type: ignore[no-untyped-def]
    """Count the joint states of j, i and the class for each j in ``first:last``.

    The counters of j are ``counts[base[j - first]:base[j - first + 1]]``, the class varying
    fastest.
    """
    n_keys, n_classes = np.uint32(cards[i] * cards[0]), np.uint32(cards[0])
    keys = np.empty(_BLOCK, np.uint32)
    for begin in range(0, len(weights), _BLOCK):
        end = min(begin + _BLOCK, len(weights))
        for u in range(begin, end):
            keys[u - begin] = np.uint32(columns[i, u]) * n_classes + np.uint32(columns[0, u])
        k, w = keys[: end - begin], weights[begin:end]
        j = first
        while j + 4 <= last:
            b = base[j - first : j - first + 5]
            _count_four(
                columns[j, begin:end], columns[j + 1, begin:end], columns[j + 2, begin:end],
                columns[j + 3, begin:end], k, n_keys, w, counts[b[0] : b[1]],
                counts[b[1] : b[2]], counts[b[2] : b[3]], counts[b[3] : b[4]],
            )  # fmt: skip
            j += 4
        while j < last:
            own = counts[base[j - first] : base[j - first + 1]]
            _count_one(columns[j, begin:end], k, n_keys, w, own)
            j += 1


@_jit
def pair_sums(columns, weights, i, first, last, cards, with_class, alone):  # type: ignore[no-untyped-def]
    """Sums of ``n log n`` over the joint states of i and each j in ``first:last``.

    ``with_class[j]`` is the sum over the joint states of i, j and the class, and ``alone[j]``
    over those of i and j. `columns` holds the codes by variable, the class first.
    """
    n_classes = cards[0]
    base = np.zeros(last - first + 1, np.int64)
    for j in range(first, last):
        base[j - first + 1] = base[j - first] + cards[j] * cards[i] * n_classes
    counts = np.zeros(base[-1])
    _count_with(columns, weights, i, first, last, cards, counts, base)
    for j in range(first, last):
        joint, pair = 0.0, 0.0
        for cell in range(base[j - first], base[j - first + 1], n_classes):
            total = 0.0
            for n in counts[cell : cell + n_classes]:
                joint += _n_log_n(n)
                total += n
            pair += _n_log_n(total)
        with_class[j], alone[j] = joint, pair


@_jit
def group_sums(columns, features, rows, pointer, labels, weights, joint, single, rate, out):  # type: ignore[no-untyped-def]
    """For each feature, a sum over groups of rows and the feature's states in them.

    Group g are the rows ``rows[pointer[g]:pointer[g + 1]]``. With n(s, c) rows of state s and
    class c in a group and n(s) rows of state s, the sum is that of ``max_c n(s, c)`` if `rate`,
    else of ``sum_c n(s, c) log n(s, c) - n(s) log n(s)``.

    `joint` (states x classes) and `single` (states) are counters, zero before and after. They
    are read by going through the rows again, because most groups are small.
    """
    for f in range(len(features)):
        x, total = columns[features[f]], 0.0
        for g in range(len(pointer) - 1):
            group = rows[pointer[g] : pointer[g + 1]]
            for u in group:
                joint[x[u], labels[u]] += weights[u]
            for u in group:
                s, n = x[u], joint[x[u], labels[u]]
                joint[s, labels[u]] = 0.0
                if rate:
                    single[s] = max(single[s], n)
                else:
                    single[s] += n
                    total += _n_log_n(n)
            for u in group:
                n = single[x[u]]
                single[x[u]] = 0.0
                total += n if rate else -_n_log_n(n)
        out[f] = total
