"""MDL and BDeu by hand, and against the oracle."""

import math

import numpy as np
import oracle
import pytest
from problems import random_codes

from milpbn.clock import OutOfTime
from milpbn.errors import OptionError
from milpbn.families import MergedRows, candidate_families
from milpbn.scores import MDL, BDeu

# class, a: four rows; state 2 of a never occurs.
CODES = np.array([[0, 0], [0, 0], [1, 0], [1, 1]])
CARDS = [2, 3]


def weights(score, codes=CODES, cards=CARDS, **options):
    names = ["class", *(f"x{k}" for k in range(1, len(cards)))]
    space = candidate_families(names, cards, generative=True, **options)
    objective = score.objective(space, MergedRows.from_codes(codes))
    return objective, lambda i, s: float(objective.weights[space.find(i, s)])


def test_mdl_by_hand():
    _, weight = weights(MDL())
    half_log = 0.5 * math.log(4)
    assert weight(0, ()) == pytest.approx(4 * math.log(1 / 2) - half_log)
    entropy = 3 * math.log(3 / 4) + math.log(1 / 4)
    assert weight(1, ()) == pytest.approx(entropy - half_log * 2)
    assert weight(1, (0,)) == pytest.approx(2 * math.log(1 / 2) - half_log * 2 * 2)
    # Three configurations of a, though only two occur, cost a parameter each.
    given = 2 * math.log(2 / 3) + math.log(1 / 3)
    assert weight(0, (1,)) == pytest.approx(given - half_log * 3)


def test_bdeu_by_hand():
    _, weight = weights(BDeu(ess=6.0))
    # a without parents: prior 2 a state; rows 0, 0, 0, 1 one after the other.
    assert weight(1, ()) == pytest.approx(math.log(2 / 6 * 3 / 7 * 4 / 8 * 2 / 9))
    # a given the class: prior 1 a state; 0, 0 in class 0, then 0, 1 in class 1.
    assert weight(1, (0,)) == pytest.approx(math.log(1 / 3 * 2 / 4 * 1 / 3 * 1 / 4))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("score", [MDL(), BDeu(ess=0.5), BDeu(ess=10.0)])
def test_every_family_scores_as_the_oracle_says(score, seed):
    codes, cards = random_codes(np.random.default_rng(seed), 4, n_classes=2 + seed % 2)
    objective, weight = weights(score, codes, cards, max_parents=3)
    plain = codes.tolist()
    ones = [1.0] * len(plain)
    for f, parents in enumerate(objective.space.parent_sets):
        child = int(objective.space.child[f])
        if isinstance(score, MDL):
            expected = oracle.mdl_term(plain, ones, cards, child, parents)
        else:
            expected = oracle.bdeu_term(plain, ones, cards, child, parents, score.ess)
        assert weight(child, parents) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("score", [MDL(), BDeu(ess=3.0)])
def test_equivalent_structures_score_alike(score):
    objective, _ = weights(score)
    space = objective.space
    forward = objective.value([space.find(0, ()), space.find(1, (0,))])
    backward = objective.value([space.find(0, (1,)), space.find(1, ())])
    assert forward == pytest.approx(backward)


def test_the_quick_bound_takes_the_best_family_of_every_variable():
    objective, weight = weights(MDL())
    best = max(weight(0, ()), weight(0, (1,))) + max(weight(1, ()), weight(1, (0,)))
    assert objective.quick_bound() == pytest.approx(best)


@pytest.mark.parametrize("ess", [0.0, -1.0, math.inf, math.nan])
def test_a_bad_sample_size_is_refused(ess):
    with pytest.raises(OptionError, match=f"ess must be a number above 0, not {ess}"):
        BDeu(ess=ess)


def test_a_checkpoint_stops_the_scoring():
    space = candidate_families(["class", "a"], CARDS, generative=True)

    def checkpoint():
        raise OutOfTime

    with pytest.raises(OutOfTime):
        MDL().objective(space, MergedRows.from_codes(CODES), checkpoint)
