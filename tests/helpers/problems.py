"""Random small learning problems for tests, all from a seed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import oracle
import pytest

from milpbn.datasets import load_dataset
from milpbn.encoding import EncodedData, Encoder, Variable
from milpbn.encoding.columns import Coarsening
from milpbn.errors import ConstraintError
from milpbn.families import Constraints
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import applicable_settings, make_score


def encoded(codes, cards, weights=None, maps=None):
    """Encoded data with the given codes, class first, all rows for training.

    `maps` has, for each variable, the maps from its states to coarser ones.
    """
    variables = tuple(
        Variable(
            "class" if i == 0 else f"x{i}",
            tuple(f"s{k}" for k in range(card)),
            tuple(
                Coarsening(tuple(f"c{k}" for k in range(max(of) + 1)), tuple(of))
                for of in (maps[i] if maps else ())
            ),
        )
        for i, card in enumerate(cards)
    )
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    return EncodedData("random", variables, codes, np.ones(len(codes), dtype=bool), weights)


def random_codes(rng, n, n_classes):
    """Rows with real dependence, duplicates, and sometimes states that never occur."""
    cards = [n_classes, *rng.integers(2, 4, n - 1).tolist()]
    m = int(rng.integers(6, 28))
    codes = np.stack([rng.integers(0, card, m) for card in cards], axis=1)
    for j in range(1, n):
        source = int(rng.integers(0, j))
        copy = rng.random(m) < rng.random()
        codes[copy, j] = codes[copy, source] % cards[j]
    if rng.random() < 0.5:
        codes = np.concatenate([codes, codes[rng.integers(0, m, m // 2)]])
    codes[0, 0], codes[1, 0] = 0, 1
    if rng.random() < 0.3:
        cards[int(rng.integers(1, n))] += 1
    return codes, cards


def random_maps(rng, cards, most=2):
    """Up to `most` coarser resolutions per feature, from a single state to as many as before."""
    out = [[]]
    for card in cards[1:]:
        own = []
        for _ in range(int(rng.integers(0, most + 1))):
            of = rng.integers(0, int(rng.integers(1, card + 1)), card)
            own.append(np.unique(of, return_inverse=True)[1].tolist())
        out.append(own)
    return out


def random_weights(rng, n):
    """Weights of rows, from light ones that leave-one-out takes away as a whole to heavy ones."""
    return rng.choice([0.05, 0.3, 0.7, 1.0, 1.0, 2.0, 3.4], n)


def random_constraints(rng, n):
    """Constraints by index, as keyword arguments of ``oracle.satisfies``."""
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    picked = [pairs[k] for k in rng.permutation(len(pairs))[:3]]
    out = {}
    if rng.random() < 0.5:
        out["required"] = picked[:1]
    if rng.random() < 0.7:
        out["forbidden"] = picked[1:]
    if rng.random() < 0.3:
        order = rng.permutation(n).tolist()
        out["tiers"] = [order[: n // 2], order[n // 2 :]]
    if rng.random() < 0.3:
        out["max_parents"] = {int(rng.integers(n)): int(rng.integers(0, 2))}
    return out


def random_budgets(rng, cards):
    """One or two budgets, from nothing at all to more than any structure needs."""
    n = len(cards)
    empty = sum(cards) - n
    drawn = {
        "max_arcs": int(rng.integers(0, 2 * n)),
        "max_features": int(rng.integers(0, n)),
        "max_parameters": int(empty * rng.uniform(0.9, 5)),
    }
    names = rng.choice(list(drawn), size=int(rng.integers(1, 3)), replace=False)
    return {name: drawn[name] for name in names.tolist()}


# Candidate structures must stay enumerable: larger n goes with fewer parents.
SHAPES = [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2)]
# For margin scores if the class is a root, which leaves fewer structures.
MANY_PARENTS = [(4, 3), (5, 3), (5, 4)]


def random_case(seed, score, shapes=SHAPES):
    """Data, settings and sometimes constraints, small enough for brute force."""
    rng = np.random.default_rng([seed, len(score)])
    n, max_parents = shapes[seed % len(shapes)]
    codes, cards = random_codes(rng, n, n_classes=2 + seed % 2)
    p = float(rng.choice([0.501, 0.6, 0.8, 0.9, 0.99, 0.999]))
    case = {
        "max_parents": max_parents,
        "class_parents": bool(rng.random() < 0.6),
        "ess": float(rng.choice([0.5, 1.0, 10.0])),
        "gamma": math.log(p / (1 - p)),
        # From nothing to so much that the empty structure is the best.
        "penalty": float(rng.choice([0.0, 0.0, 0.02, 0.1, 0.3, 1.0])),
    }
    limits = random_constraints(rng, n) if seed % 3 == 0 else {}
    case["validation"] = "loo" if rng.random() < 0.3 else None
    if seed % 4 < 2:
        limits["budgets"], limits["cards"] = random_budgets(rng, cards), cards
    return codes, cards, case, limits


def named(limits, data):
    """Constraints by names from constraints by indices."""
    names = [v.name for v in data.variables]
    return Constraints(
        required=[(names[a], names[b]) for a, b in limits.get("required", ())],
        forbidden=[(names[a], names[b]) for a, b in limits.get("forbidden", ())],
        tiers=[[names[v] for v in group] for group in limits.get("tiers", ())],
        max_parents={names[v]: k for v, k in limits.get("max_parents", {}).items()},
        **limits.get("budgets", {}),
    )


def all_rows(name):
    """A bundled set, all of its rows to learn from."""
    table = load_dataset(name)
    table = replace(table, is_train=np.ones(len(table.features), dtype=bool))
    return Encoder.fit(table).encode(table)


def noise(n_features=8, n_rows=60):
    """Rows of pure noise: their tree is large for their size."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 2, n_rows), rng.integers(0, 3, (n_rows, n_features))]
    return encoded(np.column_stack(codes), [2, *[3] * n_features])


def small_problem(seed, score, weights=None):
    """An objective over all families, and all structures that it allows with their scores."""
    codes, cards, case, limits = random_case(seed, score)
    if weights is not None:
        case["weights"] = random_weights(weights, len(codes))
    data = encoded(codes, cards, case.get("weights"))
    parents, values = oracle.scores_of_all(score, codes, cards, **case)
    allowed = [k for k, s in enumerate(parents) if oracle.satisfies(s, **limits)]
    try:
        space = SearchSpace(case["max_parents"], case["class_parents"], named(limits, data))
        instance = make_score(score, **applicable_settings(score, case))
        objective = build_objective(data, instance, space, prune=False)
    except ConstraintError:
        assert not allowed
        pytest.skip("the constraints leave no structure")
    return objective, [parents[k] for k in allowed], values[allowed]


# Two features in all resolutions, or three with fewer of them.
RESOLVED_SHAPES = [(3, 2, 2), (3, 1, 3), (4, 1, 1), (3, 2, 2)]


def resolved_case(seed, score):
    """Rows, resolutions, settings and limits, small enough for brute force."""
    rng = np.random.default_rng([seed, len(score), 16])
    n, max_parents, most = RESOLVED_SHAPES[seed % len(RESOLVED_SHAPES)]
    codes, cards = random_codes(rng, n, n_classes=2 + seed % 2)
    codes, maps = codes[:10], random_maps(rng, cards, most)
    case = {
        "max_parents": max_parents,
        "class_parents": bool(n == 3 or rng.random() < 0.3),
        "gamma": float(rng.choice([0.4, 1.4, 2.2, 4.6])),
        "penalty": float(rng.choice([0.0, 0.0, 0.02, 0.1, 0.3])),
        "validation": "loo" if rng.random() < 0.4 else None,
        "weights": random_weights(rng, len(codes)) if rng.random() < 0.3 else None,
    }
    limits = random_constraints(rng, n) if seed % 3 == 0 else {}
    budgets = random_budgets(rng, cards) if seed % 4 == 1 else {}
    return codes, cards, maps, case, limits, budgets


def resolved_truth(score, codes, cards, maps, case, limits, budgets):
    """All allowed structures in all resolutions: {(parents, resolutions): score}."""
    found = oracle.scores_of_all_resolutions(score, codes, cards, maps, **case)
    most = budgets.get("max_parameters", np.inf)
    others = {k: v for k, v in budgets.items() if k != "max_parameters"}
    return {
        (tuple(map(tuple, parents)), tuple(map(tuple, seen))): value
        for parents, seen, value, size in found
        if size <= most and oracle.satisfies(parents, budgets=others, **limits)
    }
