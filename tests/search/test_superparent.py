"""SuperParent: traces by hand for k = 1 and 2."""

from itertools import combinations

import numpy as np
from problems import random_codes


def test_trace_of_keogh_and_pazzani(xor, run):
    """Step 1 of round 1: x1 as a parent of x2 and x3 reaches 12, so does x2, x3 stays at 8;
    x1 is the first. Step 2: of x1 -> x2 (12) and x1 -> x3 (8) the first gains and is kept.

    Round 2: x1 and x2 could be parents of the orphan x3, and x3 of the orphan x1 (x1 -> x1's
    descendant x2 is no question, x2 -> x1 closes a cycle): three scores of 12; x1 is first;
    its one edge is scored in step 2, gains nothing, and the search ends.
    """
    result = run("superparent", xor)
    assert result.structure.parents == ((), (0,), (0, 1), (0,))
    assert result.evaluations == (3 + 2) + (3 + 1)
    assert [p.objective for p in result.trace] == [8, 12, 12]


def test_two_edges_at_a_time_for_k_2(objective_of, run, xor_codes):
    """k = 2: x1 with both edges x1 -> x2 and x1 -> x3 reaches 12, and so does x2; x1 is first.

    Step 2 has one pair to try, both edges at once. In round 2 every feature but x1 can
    have one more parent, x2 -> x3 or x3 -> x2 (x2 and x3 are below x1): two superparents,
    then one set of one edge, without gain.
    """
    objective = objective_of(xor_codes, [2] * 4, max_parents=3)
    result = run("superparent", objective)
    assert result.structure.parents == ((), (0,), (0, 1), (0, 1))
    assert result.evaluations == (3 + 1) + (2 + 1)


def test_first_round_against_plain_enumeration(objective_of, run):
    """The first edges kept are those that trying everything finds."""
    for seed in range(10):
        codes, cards = random_codes(np.random.default_rng(seed), 5, 2)
        objective = objective_of(codes, cards, "sm")
        trace = [p.objective for p in run("superparent", objective).trace]
        space = objective.space

        def value(*edges, space=space, objective=objective):
            parents = [(), *((0,) for _ in range(4))]
            for parent, child in edges:
                parents[child] = (*parents[child], parent)
            return objective.value([space.find(v, s) for v, s in enumerate(parents)])

        features = range(1, 5)
        superparent = max(
            features, key=lambda p: value(*((p, child) for child in features if child != p))
        )
        best = max(value((superparent, child)) for child in features if child != superparent)
        naive = value()
        expected = [naive, best] if best > naive + 1e-6 else [naive]
        assert np.allclose(trace[: len(expected)], expected)
        if len(expected) == 1:
            assert np.allclose(trace, naive)


def test_pairs_against_plain_enumeration(objective_of, run):
    for seed in range(5):
        codes, cards = random_codes(np.random.default_rng(seed), 5, 3)
        objective = objective_of(codes, cards, "cll", max_parents=3)
        trace = [p.objective for p in run("superparent", objective).trace]
        space, features = objective.space, range(1, 5)

        def value(parent, children, space=space, objective=objective):
            families = [
                space.find(v, () if v == 0 else (0, parent) if v in children else (0,))
                for v in range(5)
            ]
            return objective.value(families)

        others = {p: [c for c in features if c != p] for p in features}
        superparent = max(features, key=lambda p: value(p, others[p]))
        best = max(value(superparent, pair) for pair in combinations(others[superparent], 2))
        naive = value(1, ())
        if best > naive + 1e-6:
            assert np.isclose(trace[1], best)
        else:
            assert np.allclose(trace, naive)
