"""Random networks, and inference by summing over every completion."""

from itertools import product

import numpy as np
import pytest

from milpbn.encoding import Variable
from milpbn.families import Laplace
from milpbn.network.network import fit_network
from milpbn.structure import Structure


@pytest.fixture
def random_network():
    """A network over n variables with random arcs and parameters from random rows."""

    def make(seed, n=5, max_parents=2, class_root=False, smoothing=None):
        rng = np.random.default_rng(seed)
        cards = rng.integers(2, 4, n)
        variables = tuple(
            Variable("class" if i == 0 else f"x{i}", tuple(f"s{k}" for k in range(card)))
            for i, card in enumerate(cards)
        )
        order = rng.permutation(n).tolist()
        if class_root:
            order.remove(0)
            order.insert(0, 0)
        parents = [()] * n
        for k, i in enumerate(order):
            size = min(k, int(rng.integers(0, max_parents + 1)))
            parents[i] = tuple(rng.choice(order[:k], size, replace=False).tolist()) if size else ()
        structure = Structure(tuple(v.name for v in variables), tuple(parents))
        codes = np.stack([rng.integers(0, card, 30) for card in cards], axis=1)
        return fit_network(structure, variables, codes, smoothing or Laplace()), rng

    return make


@pytest.fixture
def sum_over_completions():
    """log P(c, observed) by the definition: sum over all values of what is missing."""

    def log_joint(network, features):
        cards = [v.card for v in network.variables]
        out = np.zeros((len(features), cards[0]))
        for r, row in enumerate(features):
            choices = [range(cards[j + 1]) if v < 0 else [v] for j, v in enumerate(row)]
            for c in range(cards[0]):
                for complete in product(*choices):
                    states = (c, *complete)
                    out[r, c] += np.exp(
                        sum(
                            network.log_cpts[i][tuple(states[v] for v in (*parents, i))]
                            for i, parents in enumerate(network.structure.parents)
                        )
                    )
        return np.log(out)

    return log_joint
