"""Separation by minimum cuts against all sets of vertices."""

from itertools import combinations

import numpy as np
import pytest

from milpbn.engines.cuts.flow import components, core, heavy_sets


def random_weights(seed):
    """Symmetric weights of a few loosely joined parts, some of them too heavy."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    weights = np.triu(1.5 * rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1)
    apart = int(rng.integers(0, n))
    weights[:apart, apart:] = 0.0
    return weights + weights.T


def excess(weights, members):
    inside = weights[np.ix_(members, members)].sum() / 2
    return inside - (len(members) - 1)


def all_sets(n):
    return [list(s) for k in range(2, n + 1) for s in combinations(range(n), k)]


def smallest_heavy_sets(weights):
    heavy = [set(s) for s in all_sets(len(weights)) if excess(weights, s) > 1e-6]
    return [s for s in heavy if not any(t < s for t in heavy)]


@pytest.mark.parametrize("seed", range(60))
def test_every_vertex_of_a_smallest_heavy_set_is_in_a_set_that_is_found(seed):
    weights = random_weights(seed)
    found = [np.flatnonzero(s).tolist() for s in heavy_sets(weights)]
    assert all(excess(weights, s) > 1e-6 for s in found)
    covered = {v for s in found for v in s}
    assert all(s <= covered for s in smallest_heavy_sets(weights))


@pytest.mark.parametrize("seed", range(60))
def test_sets_that_nothing_joins_stay_apart(seed):
    weights = random_weights(seed)
    label = components(weights)
    assert all(len(set(label[s])) == 1 for s in heavy_sets(weights))


@pytest.mark.parametrize("seed", range(20))
def test_the_core_holds_every_smallest_heavy_set(seed):
    weights = random_weights(seed)
    members = set(core(weights).tolist())
    assert all(s <= members for s in smallest_heavy_sets(weights))
