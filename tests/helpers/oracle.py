"""The brute-force truth: every structure, scored by the definitions, in plain numpy.

Nothing of milpbn is imported: candidate families, acyclicity, counts, smoothing and
scores are written again from their definitions.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations, product

import numpy as np


@lru_cache(maxsize=64)
def families(n, max_parents, class_parents, generative):
    """For each variable (class = 0) the tuple of its candidate parent sets."""
    out = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        sets = [s for k in range(max_parents + 1) for s in combinations(others, k)]
        if i == 0 and not class_parents:
            sets = [()]
        elif i > 0 and not generative:
            sets = [s for s in sets if not s or 0 in s]
        out.append(tuple(sets))
    return tuple(out)


def is_acyclic(parents):
    left = dict(enumerate(parents))
    while left:
        free = [i for i, s in left.items() if not any(p in left for p in s)]
        if not free:
            return False
        for i in free:
            del left[i]
    return True


@lru_cache(maxsize=64)
def structures(n, max_parents, class_parents, generative):
    """All acyclic structures as an (N, n) array of parent-set numbers."""
    candidates = families(n, max_parents, class_parents, generative)
    found = [
        pick
        for pick in product(*(range(len(c)) for c in candidates))
        if is_acyclic([candidates[i][k] for i, k in enumerate(pick)])
    ]
    return np.array(found)


def satisfies(
    parents, required=(), forbidden=(), tiers=(), max_parents=None, budgets=None, cards=None
):
    """Whether a structure (indices) obeys constraints given by indices."""
    tier = {v: k for k, group in enumerate(tiers) for v in group}
    arcs = {(p, i) for i, s in enumerate(parents) for p in s}
    return (
        set(required) <= arcs
        and not arcs & set(forbidden)
        and all(not (p in tier and i in tier and tier[p] > tier[i]) for p, i in arcs)
        and all(len(parents[i]) <= k for i, k in (max_parents or {}).items())
        and all(used <= limit for used, limit in _budgets(parents, budgets or {}, cards))
    )


def _budgets(parents, budgets, cards):
    """What a structure uses of each budget, and the limit."""
    if "max_arcs" in budgets:
        yield sum(len(s) for s in parents), budgets["max_arcs"]
    if "max_features" in budgets:
        ends = {v for i, s in enumerate(parents) for p in s for v in (i, p)}
        yield len(ends - {0}), budgets["max_features"]
    if "max_parameters" in budgets:
        yield n_parameters(parents, cards), budgets["max_parameters"]
    if "max_cost" in budgets:
        ends = {v for i, s in enumerate(parents) for p in s for v in (i, p)}
        yield sum(budgets["costs"][v] for v in ends - {0}), budgets["max_cost"]


def n_parameters(parents, cards):
    """The number of free parameters of a structure."""
    return sum((cards[i] - 1) * math.prod(cards[p] for p in s) for i, s in enumerate(parents))


def weight_of(codes, weights, row, variables):
    """The total weight of the rows that agree with `row` in some variables."""
    pairs = zip(codes, weights, strict=True)
    return math.fsum(w for r, w in pairs if all(r[v] == row[v] for v in variables))


def probability(codes, weights, cards, child, parents, row, a=1.0):
    """theta[x | h] with Laplace smoothing, by adding up the weights of rows."""
    n_h = weight_of(codes, weights, row, parents)
    n_xh = weight_of(codes, weights, row, (*parents, child))
    return (n_xh + a) / (n_h + a * cards[child])


def log_factor(codes, weights, cards, child, parents, u, c, validation=None):
    """log theta of a family for row u with its class replaced by c.

    With "loo", one unit of weight of row u is taken away, or its whole count if that is less.
    """
    row = [c, *codes[u][1:]]
    if validation == "loo":
        taken = min(1.0, weight_of(codes, weights, codes[u], (*parents, child)))
        codes, weights = [*codes, codes[u]], [*weights, -taken]
    return math.log(probability(codes, weights, cards, child, parents, row))


def sm_margins(codes, weights, cards, child, parents, validation=None):
    """(M, |C|) margins of one family against every class; own class gets 0."""
    out = np.zeros((len(codes), cards[0]))
    for u, row in enumerate(codes):
        factors = [
            log_factor(codes, weights, cards, child, parents, u, c, validation)
            for c in range(cards[0])
        ]
        out[u] = factors[row[0]] - np.array(factors)
    return out


def sbm_margins(codes, weights, cards, child, parents, validation=None):
    """(M, 1) margins with the class of each row against the rest."""
    out = np.zeros((len(codes), 1))
    for u, row in enumerate(codes):
        two = [[0 if r[0] == row[0] else 1, *r[1:]] for r in codes]
        collapsed = [2, *cards[1:]]
        own, rest = (
            log_factor(two, weights, collapsed, child, parents, u, c, validation) for c in (0, 1)
        )
        out[u, 0] = own - rest
    return out


def mdl_term(codes, weights, cards, child, parents, ess=None):
    q = math.prod(cards[p] for p in parents)
    total = -0.5 * math.log(max(1.0, math.fsum(weights))) * (cards[child] - 1) * q
    for row, weight in zip(codes, weights, strict=True):
        n_h = weight_of(codes, weights, row, parents)
        total += weight * math.log(weight_of(codes, weights, row, (*parents, child)) / n_h)
    return total


def bdeu_term(codes, weights, cards, child, parents, ess):
    """Chain rule: the predictive probability of each row given those before it.

    A row of weight w is a product of w factors, (n + a) ... (n + a + w - 1), or what the gamma
    function makes of it.
    """
    q = math.prod(cards[p] for p in parents)
    a_h, a_x = ess / q, ess / (q * cards[child])
    total = 0.0
    for u, row in enumerate(codes):
        n_h = weight_of(codes[:u], weights[:u], row, parents)
        n_x = weight_of(codes[:u], weights[:u], row, (*parents, child))
        total += rising(n_x + a_x, weights[u]) - rising(n_h + a_h, weights[u])
    return total


def rising(start, steps):
    """log of start (start + 1) ... (start + steps - 1)."""
    if steps == int(steps):
        return sum(math.log(start + k) for k in range(int(steps)))
    return math.lgamma(start + steps) - math.lgamma(start)


MARGINS = {"sm": sm_margins, "sbm": sbm_margins, "cll": sm_margins}
"""Margins of one family, for the scores that are concave functions of them."""

HINGES = ("sm", "sbm")
"""The scores with a hinge."""

TERMS = {"mdl": mdl_term, "bdeu": bdeu_term}
"""Terms of one family, for the decomposable scores."""

SCORES = (*MARGINS, *TERMS)

SOLVABLE = [("branch-and-cut", s) for s in SCORES]
SOLVABLE += [("monolithic", s) for s in SCORES if s != "cll"]
"""Engines and the scores that they can maximise."""


def resolved_families(n, max_parents, class_parents, generative, maps):
    """For each variable its candidate families: parents, and resolutions of these and of itself.

    `maps` has the maps from finest states to coarser ones of each variable, without resolution 0.
    """
    out = []
    for i, sets in enumerate(families(n, max_parents, class_parents, generative)):
        choices = [(s, [range(1 + len(maps[v])) for v in (*s, i)]) for s in sets]
        out.append([(s, seen) for s, ranges in choices for seen in product(*ranges)])
    return out


def as_seen(codes, cards, maps, scope, seen):
    """Rows and numbers of states as a family sees its variables."""
    codes, cards = [list(r) for r in codes], list(cards)
    for v, r in zip(scope, seen, strict=True):
        if r:
            cards[v] = max(maps[v][r - 1]) + 1
            for row in codes:
                row[v] = maps[v][r - 1][row[v]]
    return codes, cards


def share_term(codes, weights, seen, child, finest, coarse):
    """What MDL adds for the finest states of a child inside the coarser ones: `seen` has these."""
    pairs = [[k[child], x[child]] for k, x in zip(seen, codes, strict=True)]
    total = -0.5 * math.log(max(1.0, math.fsum(weights))) * (finest - coarse)
    for row, weight in zip(pairs, weights, strict=True):
        inside = weight_of(pairs, weights, row, (0,))
        total += weight * math.log(weight_of(pairs, weights, row, (0, 1)) / inside)
    return total


def scores_of_all_resolutions(
    score,
    codes,
    cards,
    maps,
    *,
    max_parents,
    class_parents,
    gamma=None,
    ess=1.0,
    penalty=0.0,
    validation=None,
    weights=None,
):
    """Every acyclic structure in all resolutions: parents, resolutions, scores, parameters."""
    generative = score in TERMS
    candidates = resolved_families(len(cards), max_parents, class_parents, generative, maps)
    codes = [list(map(int, r)) for r in codes]
    weights = [1.0] * len(codes) if weights is None else list(map(float, weights))
    values, sizes = [], []
    for i, own in enumerate(candidates):
        rows = [as_seen(codes, cards, maps, (*s, i), seen) for s, seen in own]
        sizes.append(
            [
                (r[i] - 1) * math.prod(r[p] for p in s)
                for (s, _), (_, r) in zip(own, rows, strict=True)
            ]
        )
        terms = []
        for (s, _), (seen, r) in zip(own, rows, strict=True):
            if generative:
                term = TERMS[score](seen, weights, r, i, s, ess)
                terms.append(term + share_term(codes, weights, seen, i, cards[i], r[i]))
            else:
                margins = MARGINS["sm" if score == "cr" else score]
                terms.append(margins(seen, weights, r, i, s, validation))
        values.append(terms)
    parents = [[s for s, _ in own] for own in candidates]
    picks = np.array([p for p in product(*map(range, map(len, parents))) if _acyclic(parents, p)])
    total = sum(np.array(terms)[picks[:, i]] for i, terms in enumerate(values))
    size = sum(np.array(own)[picks[:, i]] for i, own in enumerate(sizes))
    if not generative:
        total = _row_score(score, total, codes, weights, gamma) - penalty * size
    chosen = ([own[k] for own, k in zip(candidates, pick, strict=True)] for pick in picks)
    return [
        ([s for s, _ in own], [seen for _, seen in own], float(value), int(n))
        for own, value, n in zip(chosen, total, size, strict=True)
    ]


@lru_cache(maxsize=100_000)
def _is_acyclic(parents):
    return is_acyclic(parents)


def _acyclic(candidates, pick):
    return _is_acyclic(tuple(own[k] for own, k in zip(candidates, pick, strict=True)))


def _row_score(score, margins, codes, weights, gamma):
    """The scores of margins against every class (sm, cll, cr) or against the rest (sbm)."""
    if score != "sbm":
        margins[:, np.arange(len(codes)), [r[0] for r in codes]] = np.inf
    least = margins.min(axis=2)
    if score == "cll":
        base = np.minimum(least, 0.0)
        others = np.exp(base[:, :, None] - margins).sum(axis=2)
        return (base - np.log(np.exp(base) + others)) @ np.array(weights)
    return (least > 1e-9 if score == "cr" else np.minimum(least, gamma)) @ np.array(weights)


def scores_of_all(
    score,
    codes,
    cards,
    *,
    max_parents,
    class_parents,
    gamma=None,
    ess=1.0,
    penalty=0.0,
    validation=None,
    augmented=False,
    weights=None,
):
    """(structures, scores): every acyclic structure as parent sets, and its score."""
    n, generative = len(cards), score in TERMS
    candidates = families(n, max_parents, class_parents, generative and not augmented)
    picks = structures(n, max_parents, class_parents, generative and not augmented)
    codes = [list(map(int, r)) for r in codes]
    weights = [1.0] * len(codes) if weights is None else list(map(float, weights))
    if generative:
        values = sum(
            np.array([TERMS[score](codes, weights, cards, i, s, ess) for s in candidates[i]])[
                picks[:, i]
            ]
            for i in range(n)
        )
    else:
        margins = sum(
            np.array(
                [MARGINS[score](codes, weights, cards, i, s, validation) for s in candidates[i]]
            )[picks[:, i]]
            for i in range(n)
        )
        values = _row_score(score, margins, codes, weights, gamma)
        for i in range(n):
            sizes = [(cards[i] - 1) * math.prod(cards[p] for p in s) for s in candidates[i]]
            values = values - penalty * np.array(sizes)[picks[:, i]]
    parents = [[candidates[i][k] for i, k in enumerate(pick)] for pick in picks]
    return parents, values
