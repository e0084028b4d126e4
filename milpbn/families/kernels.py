"""Compiled loops over rows: the score of a structure after exchanging one family.

This is written in numba because it is the hot loop of every search, and an array library
would build an array of rows x candidates x classes. The entry of a candidate is looked up in
its table, a block of rows stays in the cache while all candidates are scored on it, and a
candidate is abandoned once the remaining rows cannot lift it over the threshold.

Margins are differences in single precision, sums over blocks are in double precision. These
values rank candidates; a move that is made is scored again in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from milpbn.compiled import jit
from milpbn.families.tables import TIE

BLOCK = 128
"""Rows per block; row arrays are padded to a multiple of it."""

FAR = np.float32(1e6)
"""The margin against a class that is not a competitor (the row's class, padding)."""

HINGE, RATE, CLL = 0, 1, 2
"""Row scores: min(gamma, margin); 1 if margin > 0; log posterior of the row's class."""

# A tie in single precision, where margins are exact to about 1e-5.
_TIE = np.float32(1e-5)

_jit = jit(fastmath=True)


@_jit
def _row_scores(margins, weights, first, kind, gamma):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    if kind == HINGE:
        for j in range(BLOCK):
            total += weights[first + j] * min(margins[j], gamma)
    elif kind == RATE:
        for j in range(BLOCK):
            if margins[j] > _TIE:
                total += weights[first + j]
    else:
        for j in range(BLOCK):
            total += weights[first + j] * margins[j]
    return total


@_jit
def _keys(keys, family, pointer, variable, stride, base, offset, codes, first):  # type: ignore[no-untyped-def]
    for j in range(BLOCK):
        keys[j] = base[family] + offset[first + j]
    for q in range(pointer[family], pointer[family + 1]):
        step, v = stride[q], variable[q]
        for j in range(BLOCK):
            keys[j] += step * codes[v, first + j]


@_jit
def add_family_one(  # type: ignore[no-untyped-def]
    joint, family, sign, pointer, variable, stride, base, offset, codes, labels, tables
):
    """Add (or subtract) the margins of a family to those of the rows; one competitor per row."""
    keys = np.empty(BLOCK, np.int32)
    for first in range(0, len(joint), BLOCK):
        _keys(keys, family, pointer, variable, stride, base, offset, codes, first)
        for j in range(BLOCK):
            joint[first + j] += sign * tables[keys[j] + labels[first + j]]


@_jit
def add_family_many(  # type: ignore[no-untyped-def]
    joint, family, sign, pointer, variable, stride, base, offset, codes, labels, tables
):
    """Add (or subtract) the margins of a family against every class to those of the rows."""
    keys = np.empty(BLOCK, np.int32)
    for first in range(0, len(joint), BLOCK):
        _keys(keys, family, pointer, variable, stride, base, offset, codes, first)
        for j in range(BLOCK):
            k, u = keys[j], first + j
            own = tables[k, labels[u]]
            for c in range(joint.shape[1]):
                joint[u, c] += sign * (own - tables[k, c])


@_jit
def value_one(joint, weights, kind, gamma):  # type: ignore[no-untyped-def]
    """The score of the margins in double precision; one competitor per row."""
    total = 0.0
    for u in range(len(joint)):
        margin = joint[u]
        if kind == HINGE:
            total += weights[u] * min(margin, gamma)
        elif kind == RATE:
            total += weights[u] * (margin > TIE)
        else:
            total -= weights[u] * np.log1p(np.exp(-margin))
    return total


@_jit
def value_many(joint, weights, kind, gamma):  # type: ignore[no-untyped-def]
    """The score of the margins against every class in double precision."""
    total = 0.0
    for u in range(len(joint)):
        if kind == CLL:
            others = 0.0
            for c in range(joint.shape[1]):
                others += np.exp(-joint[u, c])
            total -= weights[u] * np.log1p(others)
            continue
        margin = joint[u, 0]
        for c in range(1, joint.shape[1]):
            margin = min(margin, joint[u, c])
        if kind == HINGE:
            total += weights[u] * min(margin, gamma)
        else:
            total += weights[u] * (margin > TIE)
    return total


@lru_cache(maxsize=8)
def many_classes_kernel(width: int) -> Callable[..., None]:
    """The kernel for `width` columns per table row (classes, padded to a multiple of 8).

    The width is a constant of the compiled loop, so that the compiler can vectorise it.
    """

    @_jit
    def kernel(  # type: ignore[no-untyped-def]
        candidates, pointer, variable, stride, base, offset, codes, tables, rest, labels,
        weights, remaining, kind, gamma, top, threshold, out,
    ):  # fmt: skip
        keys = np.empty(BLOCK, np.int32)
        margins = np.empty(BLOCK, np.float32)
        active = np.arange(len(candidates))
        n_active = len(candidates)
        out[:] = 0.0
        for block in range(len(remaining)):
            first = block * BLOCK
            kept = 0
            for a in range(n_active):
                candidate = active[a]
                _keys(
                    keys, candidates[candidate], pointer, variable, stride, base, offset, codes,
                    first,
                )  # fmt: skip
                if kind == CLL:
                    # log P(own) = -log(1 + sum_c exp(-d(c)))
                    for j in range(BLOCK):
                        k, u = keys[j], first + j
                        own = tables[k, labels[u]]
                        total = np.float32(1.0)
                        for c in range(width):
                            total += np.exp(tables[k, c] - rest[u, c] - own)
                        margins[j] = -np.log(total)
                else:
                    for j in range(BLOCK):
                        k, u = keys[j], first + j
                        least = FAR
                        for c in range(width):
                            least = min(least, rest[u, c] - tables[k, c])
                        margins[j] = least + tables[k, labels[u]]
                out[candidate] += _row_scores(margins, weights, first, kind, gamma)
                if out[candidate] + top * remaining[block] >= threshold:
                    active[kept] = candidate
                    kept += 1
                else:
                    out[candidate] = -np.inf
            n_active = kept
            if n_active == 0:
                break

    return kernel


@_jit
def one_competitor_kernel(  # type: ignore[no-untyped-def]
    candidates, pointer, variable, stride, base, offset, codes, tables, rest, labels,
    weights, remaining, kind, gamma, top, threshold, out,
):  # fmt: skip
    """The kernel for one margin per row: two classes, or the row's class against the rest.

    `tables` is flat: the margin of a family at key k for label y is
    ``tables[k * n_labels + y]``. `labels` holds y; `base`, `offset` and `stride` are already
    multiplied by n_labels.
    """
    keys = np.empty(BLOCK, np.int32)
    margins = np.empty(BLOCK, np.float32)
    active = np.arange(len(candidates))
    n_active = len(candidates)
    out[:] = 0.0
    for block in range(len(remaining)):
        first = block * BLOCK
        kept = 0
        for a in range(n_active):
            candidate = active[a]
            _keys(
                keys, candidates[candidate], pointer, variable, stride, base, offset, codes, first
            )  # fmt: skip
            for j in range(BLOCK):
                u = first + j
                margins[j] = rest[u] + tables[keys[j] + labels[u]]
            if kind == CLL:
                for j in range(BLOCK):
                    margins[j] = -np.log(np.float32(1.0) + np.exp(-margins[j]))
            out[candidate] += _row_scores(margins, weights, first, kind, gamma)
            if out[candidate] + top * remaining[block] >= threshold:
                active[kept] = candidate
                kept += 1
            else:
                out[candidate] = -np.inf
        n_active = kept
        if n_active == 0:
            break


@_jit
def cut_coefficients_one(  # type: ignore[no-untyped-def]
    families, pointer, variable, stride, base, offset, codes, tables, labels, weights, out
):
    """``out[f] = sum_u weights[u] * alpha(f, u)`` over the given rows; one competitor per row."""
    n = codes.shape[1]
    for f in families:
        total = 0.0
        for u in range(n):
            key = base[f] + offset[u] + labels[u]
            for q in range(pointer[f], pointer[f + 1]):
                key += stride[q] * codes[variable[q], u]
            total += weights[u] * tables[key]
        out[f] = total


@_jit
def cut_coefficients_many(  # type: ignore[no-untyped-def]
    families, pointer, variable, stride, base, offset, codes, tables, labels, against, weights, out
):
    """``out[f] = sum_u weights[u] * alpha(f, u, against[u])`` over the given rows."""
    n = codes.shape[1]
    for f in families:
        total = 0.0
        for u in range(n):
            key = base[f] + offset[u]
            for q in range(pointer[f], pointer[f + 1]):
                key += stride[q] * codes[variable[q], u]
            total += weights[u] * (tables[key, labels[u]] - tables[key, against[u]])
        out[f] = total


@_jit
def replacements(  # type: ignore[no-untyped-def]
    pairs, subset, saving, pointer, variable, stride, base, offset, codes, values, own, ratios,
    weights, out,
):  # fmt: skip
    """For every family f, a subset g whose choice in its place never loses; -1 if none is found.

    The subsets of f are ``subset[pairs[f]:pairs[f + 1]]``. With g in place of f every margin
    falls by at most ``alpha(f,u,c) - alpha(g,u,c)``. A row loses at most the largest fall or
    nothing, and the sum over the rows must not exceed what g saves. If `ratios`, the entries
    of a row's own class are the margins.
    """
    for f in range(len(out)):
        out[f] = -1
        for q in range(pairs[f], pairs[f + 1]):
            g, lost, u = subset[q], 0.0, 0
            while u < codes.shape[1] and lost <= saving[q]:
                y = codes[0, u]
                key, other = base[f] + offset[u], base[g] + offset[u]
                for k in range(pointer[f], pointer[f + 1]):
                    key += stride[k] * codes[variable[k], u]
                for k in range(pointer[g], pointer[g + 1]):
                    other += stride[k] * codes[variable[k], u]
                fall = own[key, y] - own[other, y]
                if not ratios:
                    most = -1e300
                    for c in range(values.shape[1]):
                        if c != y:
                            most = max(most, values[other, c] - values[key, c])
                    fall += most
                lost += weights[u] * max(fall, 0.0)
                u += 1
            if lost <= saving[q]:
                out[f] = g
                break
