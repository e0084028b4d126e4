"""Compiled loops over rows: the score of a structure after exchanging one family.

This is written in numba because it is the hot loop of every search, and an array library
would build an array of rows x candidates x classes. The entry of a candidate is looked up in
its table, a block of rows stays in the cache while all candidates are scored on it, and a
candidate is abandoned once the remaining rows cannot lift it over the threshold.

Margins are differences in single precision, sums over blocks are in double precision. These
values rank candidates; a move that is made is scored again in double precision.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray
from milpbn.compiled import jit
from milpbn.families.rows import TIE

BLOCK = 128
"""Rows per block; row arrays are padded to a multiple of it."""

FAR = np.float32(1e6)
"""The margin against a class that is not a competitor (the row's class, padding)."""

HINGE, RATE, CLL = 0, 1, 2
"""Row scores: min(gamma, margin); 1 if margin > 0; log posterior of the row's class."""

SAFE = np.float32(1e-2)
"""Room for rounding in single precision when rows are left out."""

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
def _keys(keys, n, family, key, cards, fold, codes, first, begin):  # type: ignore[no-untyped-def]
    """The rows of the table of a family, from `begin` on, that n data rows look up."""
    for j in range(n):
        keys[j] = fold[first + j]
    for q in range(key.shape[1]):
        v = key[family, q]
        if v < 0:
            break
        card = cards[v]
        for j in range(n):
            keys[j] = keys[j] * card + codes[v, first + j]
    for j in range(n):
        keys[j] += begin


@_jit
def count_families(families, key, cards, fold, codes, weights, out):  # type: ignore[no-untyped-def]
    """``out[i, key, class]``: the weight of the rows in each cell of the table of each family."""
    keys = np.empty(BLOCK, np.int32)
    for i in range(len(families)):
        for first in range(0, len(weights), BLOCK):
            n = min(BLOCK, len(weights) - first)
            _keys(keys, n, families[i], key, cards, fold, codes, first, np.int32(0))
            for j in range(n):
                out[i, keys[j], codes[0, first + j]] += weights[first + j]


def no_margins(labels: npt.NDArray[np.integer], n_classes: int, single: bool) -> FloatArray:
    """Margins of zero, and a large number against the row's own class."""
    if single:
        return np.zeros(len(labels))
    margins = np.zeros((len(labels), n_classes))
    margins[np.arange(len(labels)), labels] = FAR
    return margins


@_jit
def add_families_one(  # type: ignore[no-untyped-def]
    joint, families, weights, key, cards, base, fold, codes, labels, tables
):
    """Add the margins of some families to those of the rows, each times its weight.

    Each row has one competitor.
    """
    keys = np.empty(BLOCK, np.int32)
    for first in range(0, len(joint), BLOCK):
        n = min(BLOCK, len(joint) - first)
        for i in range(len(families)):
            family, weight = families[i], weights[i]
            _keys(keys, n, family, key, cards, fold, codes, first, base[family])
            for j in range(n):
                joint[first + j] += weight * tables[keys[j], labels[first + j]]


@_jit
def add_families_many(  # type: ignore[no-untyped-def]
    joint, families, weights, key, cards, base, fold, codes, labels, tables
):
    """Add the margins of some families against every class to those of the rows."""
    keys = np.empty(BLOCK, np.int32)
    for first in range(0, len(joint), BLOCK):
        n = min(BLOCK, len(joint) - first)
        for i in range(len(families)):
            family, weight = families[i], weights[i]
            _keys(keys, n, family, key, cards, fold, codes, first, base[family])
            for j in range(n):
                k, u = keys[j], first + j
                own = tables[k, labels[u]]
                for c in range(joint.shape[1]):
                    joint[u, c] += weight * (own - tables[k, c])


@_jit
def rest_one(joint, family, key, cards, base, fold, codes, labels, tables, rest, least):  # type: ignore[no-untyped-def]
    """The margins without a family, in single precision, and the least of each block."""
    keys = np.empty(BLOCK, np.int32)
    for first in range(0, len(joint), BLOCK):
        _keys(keys, len(keys), family, key, cards, fold, codes, first, base[family])
        lowest = FAR
        for j in range(BLOCK):
            u = first + j
            rest[u] = joint[u] - tables[keys[j], labels[u]]
            lowest = min(lowest, rest[u])
        least[first // BLOCK] = lowest


@_jit
def rest_many(joint, family, key, cards, base, fold, codes, labels, tables, rest, least):  # type: ignore[no-untyped-def]
    """The margins against every class without a family, and the least of each block."""
    keys = np.empty(BLOCK, np.int32)
    for first in range(0, len(joint), BLOCK):
        _keys(keys, len(keys), family, key, cards, fold, codes, first, base[family])
        lowest = FAR
        for j in range(BLOCK):
            k, u = keys[j], first + j
            own = tables[k, labels[u]]
            for c in range(joint.shape[1]):
                rest[u, c] = joint[u, c] - (own - tables[k, c])
                lowest = min(lowest, rest[u, c])
        least[first // BLOCK] = lowest


@_jit
def _log_sigmoid(margin):  # type: ignore[no-untyped-def]
    """``-log(1 + exp(-margin))``, without an exponent above 0."""
    size = abs(margin)
    return np.float32(0.5) * (margin - size) - np.log1p(np.exp(-size))


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
            total += weights[u] * _log_sigmoid(margin)
    return total


@_jit
def value_many(joint, weights, kind, gamma):  # type: ignore[no-untyped-def]
    """The score of the margins against every class in double precision."""
    total = 0.0
    for u in range(len(joint)):
        margin = joint[u, 0]
        for c in range(1, joint.shape[1]):
            margin = min(margin, joint[u, c])
        if kind == CLL:
            # log P(own) = -log(1 + sum_c exp(-d(c))), without exponents above 0
            peak = min(margin, 0.0)
            others = np.exp(peak)
            for c in range(joint.shape[1]):
                others += np.exp(peak - joint[u, c])
            total += weights[u] * (peak - np.log(others))
        elif kind == HINGE:
            total += weights[u] * min(margin, gamma)
        else:
            total += weights[u] * (margin > TIE)
    return total


@_jit
def score_many(  # type: ignore[no-untyped-def]
    candidates, key, cards, base, fold, codes, tables, rest, labels, weights, blocks,
    remaining, kind, gamma, top, threshold, columns, out,
):  # fmt: skip
    """Add to `out` what each candidate scores on some blocks of rows.

    `columns` is a tuple as long as a table row is wide (classes, padded to a multiple of 8): its
    length is a constant of the compiled loop, so that the compiler can vectorise it.
    """
    keys = np.empty(BLOCK, np.int32)
    margins = np.empty(BLOCK, np.float32)
    active = np.empty(len(candidates), np.int64)
    n_active = len(candidates)
    for a in range(n_active):
        active[a] = a
    for b in range(len(blocks)):
        first = blocks[b] * BLOCK
        kept = 0
        for a in range(n_active):
            candidate = active[a]
            family = candidates[candidate]
            _keys(keys, len(keys), family, key, cards, fold, codes, first, base[family])
            for j in range(BLOCK):
                k, u = keys[j], first + j
                least = FAR
                for c in range(len(columns)):
                    least = min(least, rest[u, c] - tables[k, c])
                margins[j] = least + tables[k, labels[u]]
            if kind == CLL:
                # log P(own) as in value_many
                for j in range(BLOCK):
                    k, u = keys[j], first + j
                    peak = min(margins[j], np.float32(0.0))
                    shift = peak - tables[k, labels[u]]
                    total = np.exp(peak)
                    for c in range(len(columns)):
                        total += np.exp(shift + tables[k, c] - rest[u, c])
                    margins[j] = peak - np.log(total)
            out[candidate] += _row_scores(margins, weights, first, kind, gamma)
            if out[candidate] + top * remaining[b] >= threshold:
                active[kept] = candidate
                kept += 1
            else:
                out[candidate] = -np.inf
        n_active = kept
        if n_active == 0:
            break


@_jit
def score_one(  # type: ignore[no-untyped-def]
    candidates, key, cards, base, fold, codes, tables, rest, labels, weights, blocks,
    remaining, kind, gamma, top, threshold, columns, out,
):  # fmt: skip
    """The same for one margin per row: two classes, or the row's class against the rest."""
    keys = np.empty(BLOCK, np.int32)
    margins = np.empty(BLOCK, np.float32)
    active = np.empty(len(candidates), np.int64)
    n_active = len(candidates)
    for a in range(n_active):
        active[a] = a
    for b in range(len(blocks)):
        first = blocks[b] * BLOCK
        kept = 0
        for a in range(n_active):
            candidate = active[a]
            family = candidates[candidate]
            _keys(keys, len(keys), family, key, cards, fold, codes, first, base[family])
            for j in range(BLOCK):
                u = first + j
                margins[j] = rest[u] + tables[keys[j], labels[u]]
            if kind == CLL:
                for j in range(BLOCK):
                    margins[j] = _log_sigmoid(margins[j])
            out[candidate] += _row_scores(margins, weights, first, kind, gamma)
            if out[candidate] + top * remaining[b] >= threshold:
                active[kept] = candidate
                kept += 1
            else:
                out[candidate] = -np.inf
        n_active = kept
        if n_active == 0:
            break


@_jit
def open_blocks(  # type: ignore[no-untyped-def]
    candidates, fall, least, block_weights, enough, top, blocks, remaining, out
):
    """The blocks with rows that are not beyond the hinge whatever the candidate.

    `remaining` becomes the weight of the blocks after each of them, and `out` begins with what the
    other blocks score. Returns how many blocks there are.
    """
    deepest = np.float32(0.0)
    for a in range(len(candidates)):
        deepest = max(deepest, fall[candidates[a]])
    n, total, closed = 0, 0.0, 0.0
    for b in range(len(least)):
        if len(least) == 1 or least[b] < enough + deepest + SAFE:
            blocks[n] = b
            total += block_weights[b]
            n += 1
        else:
            closed += block_weights[b]
    for a in range(n):
        total -= block_weights[blocks[a]]
        remaining[a] = total
    for a in range(len(candidates)):
        out[a] = top * closed if closed > 0.0 else 0.0
    return n


@_jit
def exchange_one(  # type: ignore[no-untyped-def]
    now, candidates, key, cards, base, fold, codes, labels, exact, fast, fall, margins, rest, least,
    weights, weights32, block_weights, kind, gamma, top, enough, threshold, columns, pair, signs,
    blocks, remaining, out,
):  # fmt: skip
    """Exchange the family `now` for the best candidate, if that scores `threshold` or more.

    `signs` are -1 and 1, for the two families of the `pair`. Returns which candidate it is, -1 if
    there is none, and the score in double precision.
    """
    rest_one(margins, now, key, cards, base, fold, codes, labels, exact, rest, least)
    n = open_blocks(candidates, fall, least, block_weights, enough, top, blocks, remaining, out)
    score_one(
        candidates, key, cards, base, fold, codes, fast, rest, labels, weights32, blocks[:n],
        remaining, kind, np.float32(gamma), top, threshold, columns, out,
    )  # fmt: skip
    pick = 0
    for a in range(len(candidates)):
        if out[a] > out[pick]:
            pick = a
    if out[pick] < threshold:
        return -1, 0.0
    pair[0], pair[1] = now, candidates[pick]
    add_families_one(margins, pair, signs, key, cards, base, fold, codes, labels, exact)
    return pick, value_one(margins, weights, kind, gamma)


@_jit
def exchange_many(  # type: ignore[no-untyped-def]
    now, candidates, key, cards, base, fold, codes, labels, exact, fast, fall, margins, rest, least,
    weights, weights32, block_weights, kind, gamma, top, enough, threshold, columns, pair, signs,
    blocks, remaining, out,
):  # fmt: skip
    """The same for margins against every class."""
    rest_many(margins, now, key, cards, base, fold, codes, labels, exact, rest, least)
    n = open_blocks(candidates, fall, least, block_weights, enough, top, blocks, remaining, out)
    score_many(
        candidates, key, cards, base, fold, codes, fast, rest, labels, weights32, blocks[:n],
        remaining, kind, np.float32(gamma), top, threshold, columns, out,
    )  # fmt: skip
    pick = 0
    for a in range(len(candidates)):
        if out[a] > out[pick]:
            pick = a
    if out[pick] < threshold:
        return -1, 0.0
    pair[0], pair[1] = now, candidates[pick]
    add_families_many(margins, pair, signs, key, cards, base, fold, codes, labels, exact)
    return pick, value_many(margins, weights, kind, gamma)


@_jit
def cut_coefficients_one(  # type: ignore[no-untyped-def]
    families, key, cards, base, fold, codes, tables, labels, weights, begins, out
):
    """``out[i, k] = sum_u weights[u] * alpha(families[i], u)`` over the rows of cut k.

    These are the rows ``begins[k]:begins[k + 1]``.
    """
    keys = np.empty(BLOCK, np.int32)
    for i in range(len(families)):
        f = families[i]
        for cut in range(out.shape[1]):
            total = 0.0
            for first in range(begins[cut], begins[cut + 1], BLOCK):
                n = min(BLOCK, begins[cut + 1] - first)
                _keys(keys, n, f, key, cards, fold, codes, first, base[f])
                for j in range(n):
                    total += weights[first + j] * tables[keys[j], labels[first + j]]
            out[i, cut] = total


@_jit
def cut_coefficients_many(  # type: ignore[no-untyped-def]
    families, key, cards, base, fold, codes, tables, labels, against, weights, begins, out
):
    """``out[i, k] = sum_u weights[u] * alpha(families[i], u, against[u])``, as above."""
    keys = np.empty(BLOCK, np.int32)
    for i in range(len(families)):
        f = families[i]
        for cut in range(out.shape[1]):
            total = 0.0
            for first in range(begins[cut], begins[cut + 1], BLOCK):
                n = min(BLOCK, begins[cut + 1] - first)
                _keys(keys, n, f, key, cards, fold, codes, first, base[f])
                for j in range(n):
                    k, u = keys[j], first + j
                    total += weights[u] * (tables[k, labels[u]] - tables[k, against[u]])
            out[i, cut] = total


@_jit
def cut_coefficients_shared(  # type: ignore[no-untyped-def]
    families, key, cards, base, fold, codes, tables, labels, totals, weights, begins, out
):
    """``out[i, k] = sum_u sum_c weights[u, c] * alpha(families[i], u, c)``, as above.

    `totals` has the sum of the weights of each row.
    """
    keys = np.empty(BLOCK, np.int32)
    for i in range(len(families)):
        f = families[i]
        for cut in range(out.shape[1]):
            total = 0.0
            for first in range(begins[cut], begins[cut + 1], BLOCK):
                n = min(BLOCK, begins[cut + 1] - first)
                _keys(keys, n, f, key, cards, fold, codes, first, base[f])
                for j in range(n):
                    k, u = keys[j], first + j
                    others = 0.0
                    for c in range(weights.shape[1]):
                        others += weights[u, c] * tables[k, c]
                    total += totals[u] * tables[k, labels[u]] - others
            out[i, cut] = total


@_jit
def replacements(  # type: ignore[no-untyped-def]
    pairs, subset, saving, key, cards, base, fold, codes, tables, own, n_classes, weights, out
):
    """For every family f, a subset g whose choice in its place never loses; -1 if none is found.

    The subsets of f are ``subset[pairs[f]:pairs[f + 1]]``. With g in place of f every margin
    falls by at most ``alpha(f,u,c) - alpha(g,u,c)``. A row loses at most the largest fall or
    nothing, and the sum over the rows must not exceed what g saves. If `n_classes` is 1, the
    tables hold margins.
    """
    keys, others = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    for f in range(len(out)):
        out[f] = -1
        for q in range(pairs[f], pairs[f + 1]):
            g, lost, first = subset[q], 0.0, 0
            while first < len(weights) and lost <= saving[q]:
                n = min(BLOCK, len(weights) - first)
                _keys(keys, n, f, key, cards, fold, codes, first, base[f])
                _keys(others, n, g, key, cards, fold, codes, first, base[g])
                for j in range(n):
                    u, k, other = first + j, keys[j], others[j]
                    fall = tables[k, own[u]] - tables[other, own[u]]
                    if n_classes > 1:
                        most = -1e300
                        for c in range(n_classes):
                            if c != codes[0, u]:
                                most = max(most, tables[other, c] - tables[k, c])
                        fall += most
                    lost += weights[u] * max(fall, 0.0)
                first += BLOCK
            if lost <= saving[q]:
                out[f] = g
                break


@jit(lazily=True)
def descendants(members, families, variable):  # type: ignore[no-untyped-def]
    """The variable and its descendants under a structure, as a mask."""
    n = len(families)
    below = np.zeros(n, np.bool_)
    below[variable] = True
    changed = True
    while changed:
        changed = False
        for i in range(n):
            if below[i]:
                continue
            for q in range(members.shape[1]):
                parent = members[families[i], q]
                if parent < 0:
                    break
                if below[parent]:
                    below[i] = changed = True
                    break
    return below


@jit(lazily=True)
def free_families(members, families, variable, start, stop):  # type: ignore[no-untyped-def]
    """The families ``start:stop`` of a variable that have no parent among its descendants."""
    below = descendants(members, families, variable)
    out = np.empty(stop - start, np.int64)
    n = 0
    for f in range(start, stop):
        free = True
        for q in range(members.shape[1]):
            parent = members[f, q]
            if parent < 0:
                break
            if below[parent]:
                free = False
                break
        if free:
            out[n] = f
            n += 1
    return out[:n]
