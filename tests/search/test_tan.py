"""The trees by information: against all trees, with and without constraints."""

from itertools import product

import numpy as np
import oracle
import pytest
from problems import random_codes


def forests(n, max_edges):
    """All acyclic choices of at most one feature parent for each feature 1..n-1."""
    for parents in product(range(n), repeat=n - 1):  # 0: none
        structure = [(), *((0, p) if p else (0,) for p in parents)]
        arcs = {(p, c) for c, p in enumerate(parents, 1) if p}
        if len(arcs) <= max_edges and all(p != c for p, c in arcs) and oracle.is_acyclic(structure):
            yield structure, arcs


@pytest.fixture
def weights_of(information):
    """What each edge is worth: ``weights_of(codes, learner)``."""

    def weights(codes, learner):
        def worth(i, j):
            given_class = information(codes, [i], [j], (0,))
            return given_class - (information(codes, [i], [j]) if learner == "tan-ear" else 0)

        return {(i, j): worth(i, j) for i in range(1, 5) for j in range(1, 5) if i != j}

    return weights


def arcs_of(structure):
    return {(p, c) for c, s in enumerate(structure.parents) for p in s if p}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("learner", ["tan-cmi", "tan-ear"])
def test_tree_is_the_heaviest(objective_of, run, weights_of, seed, learner):
    codes, cards = random_codes(np.random.default_rng(seed), 5, 3)
    table = weights_of(codes, learner)
    result = run(learner, objective_of(codes, cards))
    best = max(sum(map(table.get, arcs)) for _, arcs in forests(5, 4))
    assert sum(map(table.get, arcs_of(result.structure))) == pytest.approx(best)
    assert result.evaluations == 1
    if learner == "tan-cmi":
        assert len(arcs_of(result.structure)) == 3
    else:
        assert all(table[arc] > 0 for arc in arcs_of(result.structure))


@pytest.mark.parametrize("seed", range(6))
def test_root_says_most_about_the_class(objective_of, run, information, seed):
    codes, cards = random_codes(np.random.default_rng(seed), 6, 2)
    structure = run("tan-cmi", objective_of(codes, cards)).structure
    (root,) = (v for v in range(1, 6) if structure.parents[v] == (0,))
    relevance = [information(codes, [0], [x]) for x in range(1, 6)]
    assert relevance[root - 1] == pytest.approx(max(relevance))


@pytest.mark.parametrize("seed", range(20))
def test_constrained_tree_is_the_heaviest_that_is_allowed(objective_of, run, weights_of, seed):
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, 5, 2)
    pairs = [(i, j) for i in range(1, 5) for j in range(1, 5) if i != j]
    picked = [pairs[k] for k in rng.permutation(len(pairs))[:6]]
    limits = {"required": picked[:1], "forbidden": picked[1:], "tiers": []}
    if picked[0] not in {(3, 1), (3, 2)}:
        limits["tiers"] = [[1, 2], [3]]
    names = ["class", *(f"x{i}" for i in range(1, 5))]
    objective = objective_of(
        codes,
        cards,
        required=[(names[p], names[c]) for p, c in limits["required"]],
        forbidden=[(names[p], names[c]) for p, c in limits["forbidden"]],
        tiers=[[names[v] for v in tier] for tier in limits["tiers"]],
    )
    table = weights_of(codes, "tan-cmi")
    best = max(
        sum(map(table.get, arcs))
        for structure, arcs in forests(5, 4)
        if oracle.satisfies(structure, **limits)
    )
    found = run("tan-cmi", objective).structure
    assert oracle.satisfies(found.parents, **limits)
    assert sum(map(table.get, arcs_of(found))) == pytest.approx(best)
