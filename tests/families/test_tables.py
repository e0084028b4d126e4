"""Tables of families against probabilities counted by hand and by the oracle."""

import math

import numpy as np
import oracle
import pytest
from problems import random_codes

from milpbn.clock import OutOfTime
from milpbn.families import Epsilon, FamilyTables, Laplace, MergedRows, candidate_families

# class, a, b: five rows, one of them twice. State 2 of b never occurs.
CODES = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 0], [1, 1, 1]])
CARDS = [2, 2, 3]


@pytest.fixture
def space():
    return candidate_families(["class", "a", "b"], CARDS, max_parents=2)


@pytest.fixture
def tables(space):
    return FamilyTables.log_probabilities(space, MergedRows.from_codes(CODES), Laplace())


def table(tables, child, parents):
    f = tables.space.find(child, parents)
    return np.exp(tables.values[tables.base[f] : tables.base[f + 1]])


def test_the_class_without_parents_has_its_prior(tables):
    assert table(tables, 0, ()) == pytest.approx(np.array([[4, 3]]) / 7)


def test_a_feature_without_parents_is_the_same_for_every_class(tables):
    # Rows: states of a, columns: classes.
    assert table(tables, 1, ()) == pytest.approx(np.array([[3, 3], [4, 4]]) / 7)


def test_a_feature_given_the_class_is_counted_by_class(tables):
    expected = [[3 / 5, 1 / 4], [2 / 5, 3 / 4]]
    assert table(tables, 1, (0,)) == pytest.approx(np.array(expected))


def test_a_state_that_never_occurs_has_its_smoothed_share(tables):
    # States of b by class: (2, 1, 0) and (1, 1, 0).
    assert table(tables, 2, (0,)) == pytest.approx(
        np.array([[3 / 6, 2 / 5], [2 / 6, 2 / 5], [1 / 6, 1 / 5]])
    )


def test_a_parent_configuration_that_never_occurs_is_uniform(tables):
    # Keys are (a, b) with b varying fastest; class 1 never comes with a = 0.
    given = table(tables, 2, (0, 1)).reshape(2, 3, 2)
    assert given[0, :, 1] == pytest.approx([1 / 3] * 3)
    assert given[0, :, 0] == pytest.approx([3 / 5, 1 / 5, 1 / 5])


def test_the_class_given_a_feature_sums_to_one_over_classes(tables):
    assert table(tables, 0, (1,)) == pytest.approx(np.array([[3 / 4, 1 / 4], [2 / 5, 3 / 5]]))
    assert table(tables, 0, (2,))[2] == pytest.approx([0.5, 0.5])


def test_epsilon_tables_hold_plain_frequencies(space):
    rows = MergedRows.from_codes(CODES)
    tables = FamilyTables.log_probabilities(space, rows, Epsilon())
    expected = [[2 / 3, 1e-5], [1 / 3, 1.0]]
    assert table(tables, 1, (0,)) == pytest.approx(np.array(expected))


def test_own_against_rest_collapses_the_other_classes():
    codes = np.array([[0, 0], [0, 0], [1, 0], [2, 1], [2, 1]])
    space = candidate_families(["class", "a"], [3, 2], max_parents=1)
    tables = FamilyTables.own_against_rest(space, MergedRows.from_codes(codes), Laplace())
    assert table(tables, 0, ()) == pytest.approx(np.array([[3 / 4, 2 / 5, 3 / 4]]))
    # Entry (a=0, class 2): P(a=0 | 2) = 1/4 against P(a=0 | rest) = 4/5.
    assert table(tables, 1, (0,))[0, 2] == pytest.approx((1 / 4) / (4 / 5))
    assert table(tables, 1, ()) == pytest.approx(np.ones((2, 3)))


@pytest.mark.parametrize("generative", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_lookups_by_row_equal_the_oracle(seed, generative):
    codes, cards = random_codes(np.random.default_rng(seed), 4, n_classes=2 + seed % 2)
    names = ["class", "a", "b", "c"]
    space = candidate_families(names, cards, max_parents=2 + seed % 2, generative=generative)
    rows = MergedRows.from_codes(codes)
    tables = FamilyTables.log_probabilities(space, rows, Laplace())
    plain = codes.tolist()
    ones = [1.0] * len(plain)
    for f in range(len(space)):
        child, parents = int(space.child[f]), space.parent_sets[f]
        expected = [
            [
                math.log(oracle.probability(plain, ones, cards, child, parents, [c, *row[1:]]))
                for c in range(cards[0])
            ]
            for row in rows.codes.tolist()
        ]
        assert tables.by_row(f) == pytest.approx(np.array(expected), abs=1e-12)
        assert tables.by_row(f, slice(1, 3)) == pytest.approx(np.array(expected[1:3]), abs=1e-12)


def test_the_total_of_a_structure_is_the_sum_of_its_families(tables):
    families = tables.space.feasible_families()
    assert tables.total(families) == pytest.approx(sum(tables.by_row(int(f)) for f in families))


def test_tables_cannot_be_written_to(tables):
    with pytest.raises(ValueError, match="read-only"):
        tables.values[0, 0] = 0.0


def test_a_checkpoint_stops_the_counting(space):
    calls = []

    def checkpoint():
        calls.append(1)
        if len(calls) == 3:
            raise OutOfTime

    with pytest.raises(OutOfTime):
        FamilyTables.log_probabilities(space, MergedRows.from_codes(CODES), Laplace(), checkpoint)
    assert len(calls) == 3
