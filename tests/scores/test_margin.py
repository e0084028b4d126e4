"""The soft margins by hand, against the oracle, and against each other."""

import math

import numpy as np
import oracle
import pytest
from problems import random_codes

from milpbn.errors import OptionError
from milpbn.families import Epsilon, MergedRows, candidate_families
from milpbn.scores import SoftBinaryMargin, SoftMargin

# class, a: four rows.
CODES = np.array([[0, 0], [0, 0], [1, 0], [1, 1]])


def objective_on(codes, cards, score, **options):
    names = ["class", *(f"x{k}" for k in range(1, len(cards)))]
    space = candidate_families(names, cards, **options)
    return score.objective(space, MergedRows.from_codes(codes))


def all_structures(space):
    n = space.n_variables
    for pick in np.ndindex(*(len(space.of(i)) for i in range(n))):
        families = [space.of(i)[k] for i, k in enumerate(pick)]
        if oracle.is_acyclic([space.parent_sets[f] for f in families]):
            yield families


def test_soft_margin_by_hand():
    objective = objective_on(CODES, [2, 2], SoftMargin(gamma=0.5), max_parents=1)
    space = objective.space
    naive = [space.find(0, ()), space.find(1, (0,))]
    # P(class) = 1/2; P(a=0 | 0) = 3/4, P(a=0 | 1) = 1/2.
    at_0, at_1 = math.log(3 / 2), math.log(2)
    assert objective.value(naive) == pytest.approx(2 * at_0 - at_0 + 0.5)
    by_row = dict(zip(map(tuple, objective.rows.codes), objective.margins(naive), strict=True))
    assert by_row == pytest.approx({(0, 0): at_0, (1, 0): -at_0, (1, 1): at_1})
    # The class from the feature: P(0 | a=0) = 3/5, P(0 | a=1) = 1/3.
    reverse = [space.find(0, (1,)), space.find(1, ())]
    assert objective.value(reverse) == pytest.approx(2 * math.log(1.5) - math.log(1.5) + 0.5)


def test_the_empty_structure_knows_the_prior_only():
    objective = objective_on(CODES[:3], [2, 2], SoftMargin(p=0.9), max_parents=1)
    empty = [objective.space.find(i, ()) for i in range(2)]
    assert objective.value(empty) == pytest.approx(math.log(3 / 2))


def test_epsilon_smoothing_reaches_the_margins():
    score = SoftMargin(gamma=100.0, smoothing=Epsilon(1e-5))
    objective = objective_on(CODES, [2, 2], score, max_parents=1)
    naive = [objective.space.find(0, ()), objective.space.find(1, (0,))]
    # a = 1 never occurs with class 0: P = 1e-5 against 1/2.
    assert objective.value(naive) == pytest.approx(math.log(2) + math.log(0.5 / 1e-5))


def test_the_strongest_competitor_decides():
    codes = np.array([[0, 0], [0, 0], [0, 0], [1, 0], [1, 1], [2, 1]])
    objective = objective_on(codes, [3, 2], SoftMargin(gamma=50.0), max_parents=1)
    empty = [objective.space.find(i, ()) for i in range(2)]
    # Class counts 3, 2, 1 give 4/9, 3/9, 2/9.
    three, two = math.log(4 / 3), math.log(3 / 4)
    assert objective.value(empty) == pytest.approx(3 * three + 2 * two + math.log(2 / 4))


def test_soft_binary_margin_by_hand():
    codes = np.array([[0, 0], [0, 0], [1, 0], [2, 1]])
    objective = objective_on(codes, [3, 2], SoftBinaryMargin(gamma=50.0), max_parents=1)
    empty = [objective.space.find(i, ()) for i in range(2)]
    # Own against the rest, with Laplace on two states: 3/3, 2/4, 2/4.
    assert objective.value(empty) == pytest.approx(2 * math.log(3 / 3) + 2 * math.log(2 / 4))
    naive = [objective.space.find(0, ()), objective.space.find(1, (0,))]
    zero = math.log(3 / 3) + math.log((3 / 4) / (2 / 4))
    one = math.log(2 / 4) + math.log((2 / 3) / (3 / 5))
    two = math.log(2 / 4) + math.log((2 / 3) / (1 / 5))
    assert objective.value(naive) == pytest.approx(2 * zero + one + two)


@pytest.mark.parametrize("seed", range(8))
def test_both_margins_are_one_with_two_classes(seed):
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, 4, n_classes=2)
    sm = objective_on(codes, cards, SoftMargin(p=0.9), max_parents=2 + seed % 2)
    sbm = objective_on(codes, cards, SoftBinaryMargin(p=0.9), max_parents=2 + seed % 2)
    structures = list(all_structures(sm.space))
    for k in rng.choice(len(structures), 60):
        assert sbm.margins(structures[k]) == pytest.approx(sm.margins(structures[k]), abs=1e-12)
        assert sbm.value(structures[k]) == pytest.approx(sm.value(structures[k]), abs=1e-10)


@pytest.mark.parametrize("name", ["sm", "sbm"])
@pytest.mark.parametrize("seed", range(4))
def test_every_structure_scores_as_the_oracle_says(seed, name):
    codes, cards = random_codes(np.random.default_rng(seed), 4, n_classes=2 + seed % 2)
    kind = SoftMargin if name == "sm" else SoftBinaryMargin
    objective = objective_on(codes, cards, kind(gamma=1.1), max_parents=2)
    parents, values = oracle.scores_of_all(
        name, codes, cards, max_parents=2, class_parents=True, gamma=1.1
    )
    for s, value in list(zip(parents, values, strict=True))[::7]:
        families = [objective.space.find(i, p) for i, p in enumerate(s)]
        assert objective.value(families) == pytest.approx(value, abs=1e-9)
    assert objective.quick_bound() >= values.max() - 1e-9


@pytest.mark.parametrize("kind", [SoftMargin, SoftBinaryMargin])
@pytest.mark.parametrize("seed", range(4))
def test_margin_range_brackets_the_margins_of_every_structure(seed, kind):
    codes, cards = random_codes(np.random.default_rng(seed), 4, n_classes=3)
    objective = objective_on(codes, cards, kind(), max_parents=2)
    low, high = objective.margin_range()
    margins = np.array([objective.margins(s) for s in all_structures(objective.space)])
    assert (low <= margins.min(axis=0) + 1e-12).all()
    assert (high >= margins.max(axis=0) - 1e-12).all()
    # By the definition: every variable takes its smallest, or largest, alpha for a competitor.
    alphas = [[objective.alpha(f) for f in objective.space.of(i)] for i in range(4)]
    assert low == pytest.approx(sum(np.min(a, axis=0) for a in alphas).min(axis=1))
    assert high == pytest.approx(sum(np.max(a, axis=0) for a in alphas).min(axis=1))


def test_margins_are_linear_in_the_families():
    codes, cards = random_codes(np.random.default_rng(1), 4, n_classes=3)
    objective = objective_on(codes, cards, SoftMargin(), max_parents=2)
    for families in list(all_structures(objective.space))[::50]:
        total = sum(objective.alpha(f) for f in families)
        assert objective.margins(families) == pytest.approx(total.min(axis=1), abs=1e-12)


def test_families_without_the_class_are_irrelevant_and_have_no_margin():
    codes, cards = random_codes(np.random.default_rng(2), 4, n_classes=2)
    objective = objective_on(codes, cards, SoftMargin(), max_parents=2)
    irrelevant = np.flatnonzero(~objective.relevant)
    assert [objective.space.parent_sets[f] for f in irrelevant] == [()] * 3
    for f in irrelevant:
        assert np.abs(objective.alpha(int(f))).max() == 0.0


@pytest.mark.parametrize("kind", [SoftMargin, SoftBinaryMargin])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"p": 0.5}, "p must be a number above 0.5 and below 1, not 0.5"),
        ({"p": 1.0}, "p must be a number above 0.5 and below 1, not 1.0"),
        ({"p": 0.2}, "p must be a number above"),
        ({"p": 90}, "p must be a number above 0.5 and below 1, not 90"),
        ({"p": float("nan")}, "p must be a number above"),
        ({"p": None}, "needs p or gamma"),
        ({"gamma": 0.0}, "gamma must be a number above 0, not 0.0"),
        ({"gamma": -1.0}, "gamma must be a number above 0, not -1.0"),
        ({"gamma": math.inf}, "gamma must be a number above 0, not inf"),
        ({"gamma": math.nan}, "gamma must be a number above 0, not nan"),
    ],
)
def test_bad_settings_are_refused(kind, settings, message):
    with pytest.raises(OptionError, match=message):
        kind(**settings)


def test_gamma_follows_from_p_and_overrides_it():
    assert SoftMargin(p=0.9).hinge == pytest.approx(math.log(9))
    both = SoftMargin(p=0.9, gamma=1.5)
    assert both.hinge == 1.5
    assert both.settings() == {"gamma": 1.5, "smoothing": "laplace:1"}
    assert SoftMargin(p=0.75).settings() == {
        "p": 0.75,
        "gamma": pytest.approx(math.log(3)),
        "smoothing": "laplace:1",
    }
