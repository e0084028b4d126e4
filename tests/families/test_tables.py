"""Tables of families against probabilities counted by hand and by the oracle."""

import math
from dataclasses import replace

import numpy as np
import oracle
import pytest
from problems import random_codes

from milpbn.clock import OutOfTime
from milpbn.errors import BudgetError
from milpbn.families import Epsilon, FamilyTables, Laplace, MergedRows, candidate_families
from milpbn.scores import make_score

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
    return np.exp(tables.table(f))


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
def test_margins_of_families_equal_the_oracle(seed, generative):
    codes, cards = random_codes(np.random.default_rng(seed), 4, n_classes=2 + seed % 2)
    names = ["class", "a", "b", "c"]
    space = candidate_families(names, cards, max_parents=2 + seed % 2, generative=generative)
    rows = MergedRows.from_codes(codes)
    tables = FamilyTables.log_probabilities(space, rows, Laplace())
    plain = codes.tolist()
    ones = [1.0] * len(plain)
    for f in range(len(space)):
        child, parents = int(space.child[f]), space.parent_sets[f]
        expected = []
        for row in rows.codes.tolist():
            terms = [
                math.log(oracle.probability(plain, ones, cards, child, parents, [c, *row[1:]]))
                for c in range(cards[0])
            ]
            expected.append([terms[row[0]] - t for c, t in enumerate(terms) if c != row[0]])
        assert tables.alpha(f) == pytest.approx(np.array(expected), abs=1e-12)
        assert tables.alpha(f, slice(1, 3)) == pytest.approx(np.array(expected[1:3]), abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_margins_of_a_structure_are_the_sums_of_its_families(n_classes):
    codes, cards = random_codes(np.random.default_rng(1), 4, n_classes)
    space = candidate_families(["class", "a", "b", "c"], cards)
    tables = FamilyTables.log_probabilities(space, MergedRows.from_codes(codes), Laplace())
    families = space.feasible_families()
    expected = sum(tables.alpha(int(f)) for f in families)
    found = tables.margins(families).reshape(len(expected), -1)
    assert found.min(axis=1) == pytest.approx(expected.min(axis=1))
    assert tables.margins(families, np.full(4, 0.5)).min() == pytest.approx(0.5 * expected.min())


def test_only_tables_that_were_asked_for_are_counted(tables):
    assert (tables.base < 0).all()
    wanted = [tables.space.find(1, (0,)), tables.space.find(2, (0, 1))]
    tables.ensure(wanted)
    assert np.flatnonzero(tables.base >= 0).tolist() == wanted


@pytest.mark.parametrize("validation", [None, 3, "loo"])
@pytest.mark.parametrize("score", ["sm", "sbm"])
def test_tables_that_do_not_fit_are_counted_again(score, validation):
    codes, cards = random_codes(np.random.default_rng(3), 5, n_classes=3)
    made, rows = make_score(score, validation=validation), MergedRows.from_codes(codes)
    names = ["class", "a", "b", "c", "d"]
    roomy = made.objective(candidate_families(names, cards), rows)
    space = candidate_families(names, cards)
    # Room for a third of the tables.
    need = roomy.tables._rows_of(np.arange(len(space)))
    limit = 8 * need * space.memory_limit // roomy.tables._most // 3
    narrow = made.objective(replace(space, memory_limit=limit), rows)
    assert narrow.tables._most // 8 < narrow.tables._rows_of(np.arange(len(space)))
    rng = np.random.default_rng(4)
    for _ in range(30):
        families = rng.integers(space.offsets[:-1], space.offsets[1:])
        assert narrow.value(families) == pytest.approx(roomy.value(families))
        variable = int(rng.integers(5))
        few = rng.choice(np.array(space.of(variable)), 2)
        assert narrow.state(families).scores(variable, few) == pytest.approx(
            roomy.state(families).scores(variable, few)
        )


def test_tables_larger_than_the_memory_limit_are_refused(space):
    rows = MergedRows.from_codes(CODES)
    tables = FamilyTables.log_probabilities(replace(space, memory_limit=200), rows, Laplace())
    with pytest.raises(BudgetError, match="memory limit"):
        tables.ensure(np.arange(len(space)))


@pytest.mark.parametrize("validation", [None, 3, "loo"])
def test_exchanges_whose_tables_do_not_fit_together_are_scored_in_parts(validation):
    codes, cards = random_codes(np.random.default_rng(5), 5, n_classes=3)
    made, rows = make_score("sm", validation=validation), MergedRows.from_codes(codes)
    space = candidate_families(["class", "a", "b", "c", "d"], cards)
    roomy = made.objective(space, rows)
    need = max(roomy.tables._rows_of(np.array(space.of(i))) for i in range(5))
    limit = need * space.memory_limit // roomy.tables._most // 2
    narrow = made.objective(replace(space, memory_limit=limit), rows)
    assert not narrow.tables.fits(np.arange(len(space)))
    families, parts = space.offsets[:-1], 0
    for variable in range(5):
        own = np.array(space.of(variable))
        parts += not narrow.tables.fits(own)
        ours, theirs = narrow.state(families), roomy.state(families)
        assert ours.scores(variable, own) == pytest.approx(theirs.scores(variable, own))
        assert ours.evaluations == len(own)
    assert parts


def test_a_checkpoint_stops_the_counting(tables):
    calls = []

    def checkpoint():
        calls.append(1)
        if len(calls) == 3:
            raise OutOfTime

    with pytest.raises(OutOfTime):
        tables.ensure(np.arange(len(tables.space)), checkpoint)
    assert len(calls) == 3
