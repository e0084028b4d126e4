"""Pruning loses no optimum, and structures keep their place in the pruned space."""

from itertools import product

import numpy as np
import oracle
import pytest
from problems import MANY_PARENTS, encoded, named, random_case, random_codes

from milpbn.clock import OutOfTime
from milpbn.errors import ConstraintError
from milpbn.families import Constraints, MergedRows, candidate_families
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import LinearObjective, applicable_settings, make_score
from milpbn.scores.pruning import prune_dominated
from milpbn.structure import Structure

NAMES = ["class", "a", "b", "c"]


def best_of(objective):
    """The optimum over all acyclic choices of families."""
    space = objective.space
    best = -np.inf
    for pick in np.ndindex(*(len(space.of(i)) for i in range(space.n_variables))):
        families = [space.of(i)[k] for i, k in enumerate(pick)]
        if oracle.is_acyclic([space.parent_sets[f] for f in families]):
            best = max(best, objective.value(families))
    return best


def linear(weights, n=2, **options):
    """An objective over n variables with the weights of named families, else 0."""
    space = candidate_families(NAMES[:n], [2] * n, generative=True, max_parents=3, **options)
    values = np.zeros(len(space))
    for (child, parents), weight in weights.items():
        values[space.find(child, parents)] = weight
    return LinearObjective(space, values)


def kept(objective, child):
    return [objective.space.parent_sets[f] for f in objective.space.of(child)]


def test_a_set_goes_where_a_subset_scores_as_well():
    pruned = prune_dominated(linear({(0, (1,)): 0.0, (1, (0,)): 2.0}))
    assert kept(pruned, 0) == [()]
    assert kept(pruned, 1) == [(), (0,)]
    assert pruned.weights.tolist() == [0.0, 0.0, 2.0]


def test_a_grandchild_set_is_compared_with_the_empty_set_through_pruned_ones():
    # (1,2) beats both of its pruned halves, but not the empty set.
    values = {(0, ()): 5.0, (0, (1,)): 1.0, (0, (2,)): 1.0, (0, (1, 2)): 4.0}
    assert kept(prune_dominated(linear(values, n=3)), 0) == [()]


def test_sets_are_compared_across_sizes_that_constraints_removed():
    # With 1->0 required the subsets of (1,2,3) are (1,), (1,2) and (1,3).
    constraints = Constraints(required=["a->class"])
    values = {(0, (1,)): 3.0, (0, (1, 2)): 1.0, (0, (1, 3)): 4.0, (0, (1, 2, 3)): 3.5}
    pruned = prune_dominated(linear(values, n=4, constraints=constraints))
    assert kept(pruned, 0) == [(1,), (1, 3)]


@pytest.mark.parametrize("score", ["mdl", "bdeu"])
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_stays(seed, score):
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, 4, n_classes=2)
    arcs = [[], ["a->b"], ["b->class"]][seed % 3]
    space = candidate_families(
        NAMES, cards, max_parents=3, generative=True, constraints=Constraints(required=arcs)
    )
    full = make_score(score).objective(space, MergedRows.from_codes(codes))
    pruned = prune_dominated(full)
    assert len(pruned.space) < len(full.space)
    assert best_of(pruned) == pytest.approx(best_of(full), abs=1e-12)


def test_a_structure_with_a_pruned_family_takes_the_better_subset():
    values = {(0, ()): 5.0, (0, (1,)): 1.0, (0, (1, 2)): 4.0, (1, (2,)): 1.0}
    full = linear(values, n=3)
    pruned = prune_dominated(full)
    structure = Structure(("class", "a", "b"), ((1, 2), (2,), ()))
    families = pruned.space.families(structure)
    assert pruned.space.structure(families).parents == ((), (2,), ())
    assert pruned.value(families) >= full.value(full.space.families(structure))


def test_every_structure_of_the_full_space_has_a_place_at_least_as_good():
    codes, cards = random_codes(np.random.default_rng(3), 4, n_classes=2)
    space = candidate_families(NAMES, cards, max_parents=2, generative=True)
    full = make_score("bdeu").objective(space, MergedRows.from_codes(codes))
    pruned = prune_dominated(full)
    candidates = oracle.families(4, 2, True, True)
    for pick in oracle.structures(4, 2, True, True)[::11]:
        parents = tuple(candidates[i][k] for i, k in enumerate(pick))
        structure = Structure(tuple(NAMES), parents)
        families = pruned.space.families(structure)
        assert pruned.value(families) >= full.value(space.families(structure)) - 1e-12
        smaller = pruned.space.structure(families).parents
        assert all(set(s) <= set(t) for s, t in zip(smaller, parents, strict=True))


def test_a_structure_that_never_was_a_candidate_is_still_refused():
    pruned = prune_dominated(linear({}, n=3, constraints=Constraints(forbidden=["a->b"])))
    with pytest.raises(ConstraintError, match="b <- a is not among the candidate"):
        pruned.space.families(Structure(("class", "a", "b"), ((), (), (1,))))


def test_a_checkpoint_stops_the_pruning():
    def checkpoint():
        raise OutOfTime

    with pytest.raises(OutOfTime):
        prune_dominated(linear({}), checkpoint)


def penalised(seed, **settings):
    """The objective over all families of a random problem, and over those that are left."""
    codes, cards, case, limits = random_case(seed, "sm", MANY_PARENTS)
    data = encoded(codes, cards)
    name = settings.pop("score")
    score = make_score(name, **applicable_settings(name, {**settings, "gamma": case["gamma"]}))
    space = SearchSpace(case["max_parents"], len(cards) == 4, named(limits, data))
    full, pruned = (build_objective(data, score, space, prune=p) for p in (False, True))
    return full, pruned


def all_structures(space):
    """Every structure of a search space, as families."""
    for families in product(*(space.of(i) for i in range(space.n_variables))):
        acyclic = oracle.is_acyclic([space.parent_sets[f] for f in families])
        if acyclic and space.fits(np.array(families)):
            yield families


@pytest.mark.parametrize("validation", [None, "loo", 2])
@pytest.mark.parametrize("score", ["sm", "sbm", "cll"])
@pytest.mark.parametrize("seed", [2, 3, 4, 5, 6, 13])
def test_no_structure_scores_less_without_parents_that_cannot_earn_their_penalty(
    seed, score, validation
):
    penalty = (0.3, 0.2, 0.6)[seed % 3]
    full, pruned = penalised(seed, score=score, validation=validation, penalty=penalty)
    assert len(pruned.space) < len(full.space)
    choices = list(all_structures(full.space))
    for families in choices[:: 1 + len(choices) // 200]:
        structure = full.space.structure(families)
        mapped = pruned.space.families(structure)
        smaller = pruned.space.structure(mapped)
        assert set(smaller.arcs) <= set(structure.arcs)
        assert pruned.value(mapped) >= full.value(families) - 1e-9


def test_more_families_go_if_the_penalty_grows_and_naive_bayes_stays():
    sizes = []
    for penalty in (0.0, 0.05, 0.5, 50.0):
        full, pruned = penalised(2, score="sm", penalty=penalty)
        sizes.append(len(pruned.space))
    assert sizes[0] == len(full.space)
    assert sizes == sorted(sizes, reverse=True)
    assert set(pruned.space.parent_sets) == {(), (0,)}
    assert pruned.with_score(make_score("sm", penalty=60.0)).penalty == 60.0
    with pytest.raises(ValueError, match="pruned for penalties >= 50, not 40"):
        pruned.with_score(make_score("sm", penalty=40.0))


def test_a_required_parent_stays_however_large_the_penalty_is():
    codes, cards = random_codes(np.random.default_rng(0), 4, 2)
    data = encoded(codes, cards)
    space = SearchSpace(4, False, Constraints(required=["x1->x3"]))
    pruned = build_objective(data, make_score("sm", penalty=50.0), space)
    assert kept(pruned, 3) == [(0, 1)]
    given = Structure(("class", "x1", "x2", "x3"), ((), (), (0,), (0, 1, 2)))
    mapped = pruned.space.structure(pruned.space.families(given))
    assert mapped.parents == ((), (), (0,), (0, 1))
