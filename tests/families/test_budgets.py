"""Budgets: counted from the definition, and filters of families and exchanges."""

import numpy as np
import oracle
import pytest
from problems import random_budgets

from milpbn.engines.branch_and_cut.cuts.features import FeatureOracle, FeatureRow
from milpbn.errors import ConstraintError
from milpbn.families import Budgets, Constraints, candidate_families
from milpbn.families.feasibility import Feasibility
from milpbn.structure import Structure


def random_space(seed):
    """A small space with budgets and all its structures, as families; or None."""
    rng = np.random.default_rng(seed)
    cards = [2, *rng.integers(2, 4, 3).tolist()]
    budgets = random_budgets(rng, cards)
    names = ["class", "a", "b", "c"]
    try:
        space = candidate_families(names, cards, constraints=Constraints(**budgets))
    except ConstraintError:
        return None
    candidates = oracle.families(4, 2, True, False)
    all_parents = [
        [candidates[i][k] for i, k in enumerate(pick)]
        for pick in oracle.structures(4, 2, True, False)
    ]
    return space, {"budgets": budgets, "cards": cards}, all_parents


SPACES = [space for space in map(random_space, range(40)) if space is not None]


def test_the_structures_of_a_space_are_those_within_the_budgets():
    for space, limits, structures in SPACES:
        for parents in structures:
            found = [space.find(i, s) for i, s in enumerate(parents)]
            within = None not in found and space.fits(np.array(found))
            assert within == oracle.satisfies(parents, **limits)


def test_every_family_of_a_space_is_in_some_structure_within_the_budgets():
    for space, limits, structures in SPACES:
        within = [s for s in structures if oracle.satisfies(s, **limits)]
        in_use = {(i, s) for parents in within for i, s in enumerate(parents)}
        families = set(zip(space.child.tolist(), space.parent_sets, strict=True))
        assert families == in_use


def test_candidates_keep_a_structure_acyclic_and_within_the_budgets():
    for space, limits, structures in SPACES[:12]:
        graph = Feasibility(space)
        for parents in structures[:: len(structures) // 40]:
            if not oracle.satisfies(parents, **limits):
                continue
            families = space.families(Structure(space.names, tuple(parents)))
            for i in range(4):
                found = {space.parent_sets[f] for f in graph.candidates(families, i)}
                expected = set()
                for s in (space.parent_sets[f] for f in space.of(i)):
                    other = [*parents[:i], s, *parents[i + 1 :]]
                    if oracle.is_acyclic(other) and oracle.satisfies(other, **limits):
                        expected.add(s)
                assert found == expected


def test_a_structure_that_is_too_large_is_refused_with_numbers():
    space = candidate_families(
        ["class", "a", "b"], [2, 2, 2], constraints=Constraints(max_arcs=1, max_features=1)
    )
    star = Structure.from_arcs(space.names, [("class", "a"), ("class", "b")])
    message = "has 2 arcs, but max_arcs is 1; the structure uses 2 features, but max_features is 1"
    with pytest.raises(ConstraintError, match=message):
        space.families(star)


def test_budgets_that_even_the_smallest_structure_breaks_are_named():
    with pytest.raises(ConstraintError, match="with no arcs, the structure has 4 parameters"):
        candidate_families(["class", "a"], [2, 4], constraints=Constraints(max_parameters=3))
    rules = Constraints(required=["class->a", "class->b"], max_arcs=1)
    with pytest.raises(ConstraintError, match="with class->a, class->b, the structure has 2 arcs"):
        candidate_families(["class", "a", "b"], [2, 2, 2], constraints=rules)


@pytest.mark.parametrize("limit", [-1, 2.5, "3", True])
def test_a_limit_is_a_whole_number(limit):
    with pytest.raises(ConstraintError, match="max_arcs must be a whole number >= 0"):
        Budgets(max_arcs=limit)


def test_rows_for_features_hold_for_all_structures_and_cut_off_the_others():
    rng = np.random.default_rng(0)
    cut_off = 0
    for space, limits, structures in SPACES:
        if "max_features" not in limits["budgets"]:
            continue
        features = FeatureOracle(space)
        rows = [FeatureRow(tuple(rng.integers(0, 4, 3).tolist())) for _ in range(10)]
        for parents in structures:
            found = [space.find(i, s) for i, s in enumerate(parents)]
            if None in found:
                continue
            eta = np.zeros(len(space))
            eta[found] = 1.0
            separated = features.separate(eta)
            if oracle.satisfies(parents, budgets=features_only(limits), cards=limits["cards"]):
                assert separated == []
                assert all(features.coefficients(r) @ eta <= features.limit for r in rows)
            else:
                assert features.coefficients(separated[0]) @ eta > features.limit + 0.5
                cut_off += 1
    assert cut_off > 50


def features_only(limits):
    return {"max_features": limits["budgets"]["max_features"]}


def test_the_most_violated_row_is_found_at_fractional_points():
    rng = np.random.default_rng(1)
    space = candidate_families(
        ["class", "a", "b", "c"], [2] * 4, constraints=Constraints(max_features=2)
    )
    features = FeatureOracle(space)
    every = [FeatureRow(w) for w in np.ndindex(4, 4, 4)]
    violated = 0
    for _ in range(30):
        eta = np.concatenate([rng.dirichlet(np.full(len(space.of(i)), 0.4)) for i in range(4)])
        most = max(float(features.coefficients(row) @ eta) for row in every)
        found = features.separate(eta)
        assert bool(found) == (most > features.limit + features.tolerance)
        violated += bool(found)
        for row in found:
            assert features.coefficients(row) @ eta == pytest.approx(most)
    assert 5 < violated < 30
