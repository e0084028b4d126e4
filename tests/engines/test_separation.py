"""Separation by minimum cuts against all sets of vertices."""

from itertools import combinations

import numpy as np
import pytest

from milpbn.engines.cuts.flow import components, core, heavy_sets


def random_weights(seed):
    """Symmetric weights of a few loosely joined parts, some of them too heavy."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1)
    apart = int(rng.integers(0, n))
    weights[:apart, apart:] = 0.0
    return weights + weights.T


def excess(weights, members):
    inside = weights[np.ix_(members, members)].sum() / 2
    return inside - (len(members) - 1)


def all_sets(n):
    return [list(s) for k in range(2, n + 1) for s in combinations(range(n), k)]


@pytest.mark.parametrize("seed", range(60))
def test_a_heavy_set_is_found_where_there_is_one_and_the_worst_among_them(seed):
    weights = random_weights(seed)
    found = [np.flatnonzero(s).tolist() for s in heavy_sets(weights)]
    worst = max(excess(weights, s) for s in all_sets(len(weights)))
    assert all(excess(weights, s) > 1e-6 for s in found)
    assert bool(found) == (worst > 1e-6)
    members = core(weights)
    label = dict(zip(members.tolist(), components(weights[np.ix_(members, members)]), strict=True))
    parts = [s for s in all_sets(len(weights)) if len({label.get(v, -1) for v in s}) == 1]
    assert all(s in parts for s in found)
    if found:
        worst = max(excess(weights, s) for s in parts if s[0] in label)
        assert max(excess(weights, s) for s in found) == pytest.approx(worst)


@pytest.mark.parametrize("seed", range(20))
def test_the_core_holds_every_smallest_heavy_set(seed):
    weights = random_weights(seed)
    heavy = [set(s) for s in all_sets(len(weights)) if excess(weights, s) > 1e-6]
    smallest = [s for s in heavy if not any(t < s for t in heavy)]
    assert all(s <= set(core(weights).tolist()) for s in smallest)
