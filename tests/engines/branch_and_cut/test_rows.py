"""The store of rows against a plain list of them, and L(y) against its definition."""

from itertools import combinations

import numpy as np
import pytest
from problems import encoded, random_codes

from milpbn.engines.branch_and_cut.cuts.clusters import Cluster
from milpbn.engines.branch_and_cut.cuts.concave import ConcaveCut
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.rows import Pair, Prices, RowStore, joining
from milpbn.families.candidates import candidate_families
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score


@pytest.fixture(params=["sm", "cll"])
def oracle(request):
    codes, cards = random_codes(np.random.default_rng(5), 7, n_classes=3)
    score = make_score(request.param)
    return CutOracle(build_objective(encoded(codes, cards), score, SearchSpace()))


def points(oracle, n):
    """Points at which every variable has one family in total."""
    rng, space = np.random.default_rng(0), oracle.space
    for _ in range(n):
        eta = rng.random(len(space)) ** 8
        yield eta / np.add.reduceat(eta, space.offsets[:-1])[space.child]


def sources(oracle):
    """Rows of all kinds, none of them twice."""
    kinds = [cut for eta in points(oracle, 9) for cut in oracle.concave.cuts(eta)]
    sets = (m for size in (2, 3, 4) for m in combinations(range(7), size))
    kinds += [Cluster(frozenset(members)) for members in sets]
    kinds += [Pair((1, 2)), Pair((2, 4))]
    return list(dict.fromkeys(kinds))


def assert_rows(oracle, store, kinds, numbers):
    assert store.sources(numbers) == kinds
    for number, kind in zip(numbers.tolist(), kinds, strict=True):
        coefficients, rhs = kind.inequality(oracle)
        assert store.number(kind) == number
        assert store.coefficients[number] == pytest.approx(coefficients)
        assert store.rhs[number] == pytest.approx(rhs)
        assert store.group[number] == kind.height


def test_every_row_has_a_number(oracle):
    store, kinds = RowStore(oracle), sources(oracle)
    assert len(kinds) > 64  # more than fit at first
    numbers = store.numbers(kinds)
    store.use(numbers)
    assert_rows(oracle, store, kinds, numbers)
    copies = [ConcaveCut(k.group, k.rows.copy()) for k in kinds if isinstance(k, ConcaveCut)]
    assert store.numbers(copies).tolist() == numbers[: len(copies)].tolist()
    assert len(store) == len(kinds)


def test_a_row_leaves_with_its_last_use_and_its_number_is_used_again(oracle):
    store, kinds = RowStore(oracle), sources(oracle)
    numbers = store.numbers(kinds)
    store.use(numbers)
    store.use(numbers[::2])
    assert store.release(numbers) == len(numbers[1::2])
    assert [store.number(k) for k in kinds[1::2]] == [-1] * len(kinds[1::2])
    assert_rows(oracle, store, kinds[::2], numbers[::2])
    again = store.numbers(kinds)
    store.use(again[1::2])
    assert_rows(oracle, store, kinds, again)
    assert sorted(again.tolist()) == sorted(numbers.tolist())


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_that_of_its_definition(oracle, seed):
    store, rng = RowStore(oracle), np.random.default_rng(seed)
    kinds = sources(oracle)
    rows = store.numbers(kinds)
    n, offsets = len(oracle.space), oracle.space.offsets
    costs, high = rng.normal(size=n), rng.random(oracle.concave.n_groups)
    allowed, working = rng.random(n) < 0.8, rng.random(n) < 0.5
    allowed[offsets[:-1]] = working[offsets[:-1]] = True
    duals = rng.normal(size=len(rows)) * (rng.random(len(rows)) < 0.5)
    weight = (0.0, 0.5, 1.0)[seed % 3]
    found = Prices(
        store, rows, store.rhs[rows], duals, costs, high, offsets, allowed, working, weight
    )
    y = np.maximum(duals, 0.0)
    heights = np.zeros(len(high))
    for g in range(len(high)):
        own = np.flatnonzero(store.group[rows] == g)
        y[own] *= weight / max(y[own].sum(), weight, 1e-300)
        heights[g] = y[own].sum()
    reduced = weight * costs - y @ store.coefficients[rows]
    constant = y @ store.rhs[rows] + (weight - heights) @ high
    for value, inside in ((found.bound, allowed), (found.within, allowed & working)):
        best = np.maximum.reduceat(np.where(inside, reduced, -np.inf), offsets[:-1])
        assert value == pytest.approx(constant + best.sum())
    assert found.y == pytest.approx(y)
    assert found.reduced[allowed] == pytest.approx(reduced[allowed])
    assert (found.reduced[~allowed] == -np.inf).all()


def test_joining_families_contain_an_arc_in_either_direction():
    space = candidate_families(["class", "a", "b", "c"], [2] * 4, max_parents=2, generative=True)
    found = set(joining(space, (1, 2)).tolist())
    for f, parents in enumerate(space.parent_sets):
        arcs = {(p, int(space.child[f])) for p in parents}
        assert (f in found) == bool(arcs & {(1, 2), (2, 1)})
