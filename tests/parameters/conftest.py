"""Random structures with rows, for tests of parameter learners."""

import numpy as np
import pytest
from problems import encoded

from milpbn.structure import Structure


@pytest.fixture
def random_problem():
    """Encoded random rows and a random structure over their variables."""

    def make(seed, n=5, m=60, n_classes=3, max_parents=2, class_root=False):
        rng = np.random.default_rng(seed)
        cards = [n_classes, *rng.integers(2, 4, n - 1).tolist()]
        codes = np.stack([rng.integers(0, card, m) for card in cards], axis=1)
        for j in range(1, n):
            copy = rng.random(m) < 0.5
            codes[copy, j] = codes[copy, 0] % cards[j]
        codes[:n_classes, 0] = np.arange(n_classes)
        order = rng.permutation(n).tolist()
        if class_root:
            order.remove(0)
            order.insert(0, 0)
        parents = [()] * n
        for k, i in enumerate(order):
            size = min(k, int(rng.integers(0, max_parents + 1)))
            parents[i] = tuple(rng.choice(order[:k], size, replace=False).tolist()) if size else ()
        data = encoded(codes, cards)
        return data, Structure(tuple(v.name for v in data.variables), tuple(parents)), rng

    return make
