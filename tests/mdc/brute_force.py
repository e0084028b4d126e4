"""The plain truth about small problems: every parent set scored, every class network tried.

Nothing of milpbn is imported; the definitions are written again.
"""

import math
import sys
from itertools import combinations, product

import numpy as np
from sklearn.base import clone


def random_problem(seed, d, cards=None, n=60, n_discrete=0):
    """Features, class codes that depend on them and on each other, discrete features."""
    rng = np.random.default_rng(seed)
    cards = cards or rng.integers(2, 4, size=d).tolist()
    X = rng.normal(size=(n, 2))
    codes = np.empty((n, d), dtype=int)
    for j in range(d):
        before = codes[:, rng.integers(j)] if j else 0
        signal = X[:, j % 2] + rng.uniform(0, 2) * before + 0.7 * rng.normal(size=n)
        codes[:, j] = np.clip(np.floor(signal + cards[j] / 2), 0, cards[j] - 1)
        codes[: cards[j], j] = range(cards[j])
    discrete = rng.integers(0, 2, size=(n, n_discrete))
    for k in range(n_discrete):
        flip = rng.random(n) < 0.2
        discrete[:, k] = np.where(flip, 1 - codes[:, k % d] % 2, codes[:, k % d] % 2)
    return X, codes, cards, discrete


def local_score(X, codes, cards, child, parents, base):
    """Log-likelihood of one base model per configuration, minus the penalty."""
    n_all, r = len(codes), cards[child]
    total = 0.0
    for configuration in product(*(range(cards[p]) for p in parents)):
        rows = [
            u
            for u in range(n_all)
            if all(codes[u, p] == s for p, s in zip(parents, configuration, strict=True))
        ]
        if not rows:
            continue
        labels = codes[rows, child]
        shown = sorted(set(labels.tolist()))
        absent, n = r - len(shown), len(rows)
        if len(shown) == 1:
            total += n * math.log((n + 1) / (n + r))
            continue
        proba = clone(base).fit(X[rows], labels).predict_proba(X[rows])
        for u, label in enumerate(labels.tolist()):
            total += math.log(proba[u, shown.index(label)] * (1 - absent / (n + r)))
    q = math.prod(cards[p] for p in parents)
    return total - math.log(n_all) / 2 * (r - 1) * q


def held_out_score(X, codes, cards, child, parents, base, folds):
    """Log-likelihood of every row under a base model of the rows of other folds."""
    total, r, models = 0.0, cards[child], {}
    for u in range(len(codes)):
        rows = [
            v
            for v in range(len(codes))
            if folds[v] != folds[u] and all(codes[v, p] == codes[u, p] for p in parents)
        ]
        label, labels = codes[u, child], codes[rows, child]
        shown = sorted(set(labels.tolist()))
        n, absent = len(rows), r - len(shown)
        if len(shown) < 2:
            total += math.log(((labels == label).sum() + 1) / (n + r))
        elif label not in shown:
            total += math.log(1 / (n + r))
        else:
            if tuple(rows) not in models:
                models[tuple(rows)] = clone(base).fit(X[rows], labels)
            proba = models[tuple(rows)].predict_proba(X[[u]])[0, shown.index(label)]
            total += math.log(max(proba * (1 - absent / (n + r)), sys.float_info.min))
    return total


def all_scores(X, codes, cards, d, base, max_parents=None, folds=None):
    """Scores of every parent set, of held-out rows if there are folds.

    Columns from d on are discrete features.
    """
    out = []
    for child in range(d):
        others = [p for p in range(codes.shape[1]) if p != child]
        sizes = range(len(others) + 1 if max_parents is None else max_parents + 1)
        out.append(
            {
                s: local_score(X, codes, cards, child, s, base)
                if folds is None
                else held_out_score(X, codes, cards, child, s, base, folds)
                for k in sizes
                for s in combinations(others, k)
            }
        )
    return out


def acyclic(parents):
    left = dict(enumerate(parents))
    while left:
        free = [i for i, s in left.items() if not any(p in left for p in s)]
        if not free:
            return False
        for i in free:
            del left[i]
    return True


def best_network(scores):
    """The best total over every acyclic choice of parent sets."""
    return max(
        sum(s[p] for s, p in zip(scores, choice, strict=True))
        for choice in product(*scores)
        if acyclic(choice)
    )


def joint_distribution(tables, scopes, cards):
    """P(y) of every joint state of one row: the product of the tables."""
    out = {}
    for y in product(*map(range, cards)):
        out[y] = math.prod(
            table[tuple(y[v] for v in scope)] for table, scope in zip(tables, scopes, strict=True)
        )
    return out
