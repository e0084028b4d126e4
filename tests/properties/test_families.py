"""Properties of candidate families, constraints, rows and smoothing."""

import json
import math
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import named, random_constraints
from property_cases import data_sets, of, some, spaces

from milpbn import Constraints
from milpbn.errors import ConstraintError
from milpbn.families import (
    Epsilon,
    FamilySpace,
    FamilyTables,
    Laplace,
    MergedRows,
    candidate_families,
    parse_smoothing,
)
from milpbn.network.network import fit_network


@of("milpbn.Constraints")
@some
@given(data_sets(), st.integers(0, 10**6))
def test_constraints_come_back_and_mean_what_they_say(data, seed):
    n = len(data.variables)
    limits = random_constraints(np.random.default_rng(seed), n)
    try:
        one = named(limits, data)
    except ConstraintError:
        return  # they contradict each other
    assert Constraints(**json.loads(json.dumps(one.to_dict()))) == one
    with TemporaryDirectory() as folder:
        path = Path(folder, "constraints.json")
        path.write_text(json.dumps(one.to_dict()))
        assert Constraints.from_file(path) == one
    names = [v.name for v in data.variables]
    without = {k: v for k, v in limits.items() if k in ("forbidden", "tiers")}
    for p, child in product(range(n), repeat=2):
        if p != child:
            parents = [(p,) if v == child else () for v in range(n)]
            assert one.allows(names[p], names[child]) == oracle.satisfies(parents, **without)


@of("milpbn.families.candidate_families", "milpbn.families.FamilySpace")
@some
@given(data_sets(), spaces, st.booleans())
def test_the_families_are_those_of_the_definition(data, limits, generative):
    names, cards = zip(*((v.name, v.card) for v in data.variables), strict=True)
    space = candidate_families(
        names,
        cards,
        max_parents=limits.max_parents,
        class_parents=limits.class_parents,
        generative=generative,
    )
    assert isinstance(space, FamilySpace)
    wanted = oracle.families(len(names), limits.max_parents, limits.class_parents, generative)
    for i, sets in enumerate(wanted):
        assert {space.parent_sets[f] for f in space.of(i)} == set(sets)
        assert all(space.find(i, s) in space.of(i) for s in sets)
    chosen = space.feasible_families()
    assert space.families(space.structure(chosen)).tolist() == chosen.tolist()


@of("milpbn.families.MergedRows")
@some
@given(data_sets(weighted=True))
def test_merging_keeps_the_weight_of_every_row(data):
    rows = MergedRows.from_codes(data.codes, data.weights)
    for codes, weight in zip(rows.codes.tolist(), rows.weights.tolist(), strict=True):
        same = (data.codes == codes).all(axis=1)
        assert weight == pytest.approx(data.weights[same].sum())
    assert rows.total == pytest.approx(data.weights.sum())
    assert len({tuple(c) for c in rows.codes.tolist()}) == len(rows)


@of("milpbn.families.FamilyTables")
@some
@given(data_sets(), spaces)
def test_a_table_has_the_margins_of_a_network(data, limits):
    names, cards = zip(*((v.name, v.card) for v in data.variables), strict=True)
    space = candidate_families(
        names, cards, max_parents=limits.max_parents, class_parents=limits.class_parents
    )
    rows = MergedRows.from_codes(data.codes)
    tables = FamilyTables.log_probabilities(space, rows, Laplace())
    for f in range(len(space)):
        child, parents = int(space.child[f]), space.parent_sets[f]
        found = tables.alpha(f)
        for u, row in enumerate(rows.codes.tolist()):
            own, *others = (
                math.log(
                    oracle.probability(
                        data.codes.tolist(),
                        [1.0] * len(data.codes),
                        cards,
                        child,
                        parents,
                        [c, *row[1:]],
                    )
                )
                for c in (row[0], *(c for c in range(cards[0]) if c != row[0]))
            )
            assert found[u] == pytest.approx([own - other for other in others])


@of("milpbn.families.Laplace", "milpbn.families.Epsilon", "milpbn.families.parse_smoothing")
@some
@given(
    st.floats(1e-3, 10),
    st.floats(1e-9, 1e-3),
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4),
)
def test_smoothing_by_its_formula(a, epsilon, counts):
    counts = np.array(counts, dtype=float)
    for one in (Laplace(a), Epsilon(epsilon)):
        assert parse_smoothing(str(one)) == one
        assert parse_smoothing(one) is one
    total = counts.sum(axis=1, keepdims=True)
    laplace = np.exp(Laplace(a).log_theta(counts, axis=1))
    assert laplace == pytest.approx((counts + a) / (total + 3 * a))
    plain = np.exp(Epsilon(epsilon).log_theta(counts, axis=1))
    assert plain == pytest.approx(np.where(counts > 0, counts / np.maximum(total, 1), epsilon))


@of("milpbn.network.network.fit_network")
@some
@given(data_sets(weighted=True))
def test_a_network_is_counted_row_by_row(data):
    names = [v.name for v in data.variables]
    space = candidate_families(names, [v.card for v in data.variables], max_parents=2)
    structure = space.structure(space.feasible_families())
    network = fit_network(structure, data.variables, data.codes, Laplace(), data.weights)
    cards = [v.card for v in data.variables]
    codes, weights = data.codes.tolist(), data.weights.tolist()
    for row in codes:
        for i, parents in enumerate(structure.parents):
            found = network.log_cpts[i][tuple(row[v] for v in (*parents, i))]
            wanted = oracle.probability(codes, weights, cards, i, parents, row)
            assert math.exp(found) == pytest.approx(wanted)
