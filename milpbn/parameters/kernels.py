"""Compiled sums over rows: log-joints by look-up, and counts by scattering.

This is written in numba because every step of every optimiser calls these loops twice. An
array library would build an array of rows x tables x classes, or a one-hot design matrix,
while a row needs only one run of cells in each table.
"""

from __future__ import annotations

import numpy as np

from milpbn.compiled import jit

_jit = jit()


@_jit
def gather(cells, first, width, values, out):  # type: ignore[no-untyped-def]
    """``out[u, c]`` = sum over the tables of their entry for row u and class c."""
    for u in range(cells.shape[0]):
        for c in range(out.shape[1]):
            out[u, c] = 0.0
        for f in range(cells.shape[1]):
            cell, c0 = cells[u, f], first[f]
            for c in range(width[f]):
                out[u, c0 + c] += values[cell + c]


@_jit
def scatter(cells, first, width, amounts, out):  # type: ignore[no-untyped-def]
    """Add the amount of each row for class c to the cells of the row: weighted counts."""
    for u in range(cells.shape[0]):
        for f in range(cells.shape[1]):
            cell, c0 = cells[u, f], first[f]
            for c in range(width[f]):
                out[cell + c] += amounts[u, c0 + c]


@_jit
def log_softmax(base, shapes, beta, out):  # type: ignore[no-untyped-def]
    """The logarithm of the softmax over the middle axis of every ``(q, r, k)`` table."""
    for t in range(len(shapes)):
        q, r, k = shapes[t]
        for h in range(q):
            for c in range(k):
                at = base[t] + h * r * k + c
                top = beta[at]
                for x in range(1, r):
                    top = max(top, beta[at + x * k])
                total = 0.0
                for x in range(r):
                    total += np.exp(beta[at + x * k] - top)
                top += np.log(total)
                for x in range(r):
                    out[at + x * k] = beta[at + x * k] - top


@_jit
def through_softmax(base, shapes, log_theta, by_cell):  # type: ignore[no-untyped-def]
    """Convert a derivative by log theta to one by beta, in place: d - theta * (sum of d)."""
    for t in range(len(shapes)):
        q, r, k = shapes[t]
        for h in range(q):
            for c in range(k):
                at = base[t] + h * r * k + c
                total = 0.0
                for x in range(r):
                    total += by_cell[at + x * k]
                if total != 0.0:
                    for x in range(r):
                        by_cell[at + x * k] -= np.exp(log_theta[at + x * k]) * total


@_jit
def roughness(lower, upper, away, out):  # type: ignore[no-untyped-def]
    """The sum of squared differences of neighbours; half of its derivative is added to `out`."""
    total = 0.0
    for n in range(len(lower)):
        i, j = lower[n], upper[n]
        step = away[j] - away[i]
        total += step * step
        out[j] += step
        out[i] -= step
    return total
