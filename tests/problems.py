"""Random small learning problems for tests, all from a seed."""

from __future__ import annotations

import numpy as np

from milpbn.encoding import EncodedData, Variable


def encoded(codes, cards):
    """Encoded data with the given codes, class first, all rows for training."""
    variables = tuple(
        Variable("class" if i == 0 else f"x{i}", tuple(f"s{k}" for k in range(card)))
        for i, card in enumerate(cards)
    )
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    return EncodedData("random", variables, codes, np.ones(len(codes), dtype=bool))


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
