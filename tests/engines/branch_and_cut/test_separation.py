"""Separation against all sets of vertices, and cluster rows against all structures."""

from itertools import combinations, product

import numpy as np
import pytest

from milpbn.engines.branch_and_cut.cuts.clusters import Cluster, ClusterOracle
from milpbn.engines.branch_and_cut.cuts.flow import connected_components, core, heavy_sets
from milpbn.families.candidates import candidate_families


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
    label = connected_components(weights)
    assert all(len(set(label[s])) == 1 for s in heavy_sets(weights))


@pytest.mark.parametrize("seed", range(20))
def test_the_core_holds_every_smallest_heavy_set(seed):
    weights = random_weights(seed)
    members = set(core(weights).tolist())
    assert all(s <= members for s in smallest_heavy_sets(weights))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_structure_obeys_every_cluster_row(k):
    n = 4
    names = ["class", "a", "b", "c"]
    space = candidate_families(names, [2] * n, max_parents=3, generative=True)
    clusters = ClusterOracle(space)
    choices = product(*(space.of(i) for i in range(n)))
    points = [np.isin(np.arange(len(space)), pick) for pick in choices]
    acyclic = [p for p in points if clusters.cycle(np.flatnonzero(p)) is None]
    assert len(acyclic) == 543  # directed acyclic graphs on four vertices
    tight = 0
    for size in range(k + 1, n + 1):
        for members in combinations(range(n), size):
            coefficients, rhs = clusters.inequality(Cluster(frozenset(members), k))
            sums = [coefficients @ p - rhs for p in acyclic]
            assert max(sums) <= 0
            tight += max(sums) == 0
            excess = [clusters.violation(p.astype(float), Cluster(frozenset(members), k))
                      for p in acyclic]  # fmt: skip
            assert excess == pytest.approx(sums)
    assert tight > 0


def test_a_row_for_two_parents_is_found_where_no_cycle_row_is_violated():
    # Each of three variables is half without parents and half the child of both others.
    names = ["class", "a", "b", "c"]
    space = candidate_families(names, [2] * 4, max_parents=2, generative=True)
    eta = np.zeros(len(space))
    eta[space.find(0, ())] = 1.0
    for i in (1, 2, 3):
        others = [j for j in (1, 2, 3) if j != i]
        eta[[space.find(i, ()), space.find(i, others)]] = 0.5
    found = ClusterOracle(space).separate(eta)
    assert found == [Cluster(frozenset((1, 2, 3)), k=2)]
    assert ClusterOracle(space).violation(eta, found[0]) == pytest.approx(0.5)
