"""Families in several resolutions: which there are, how they are found, what they cost."""

import numpy as np
import pytest
from problems import encoded, random_maps

from milpbn.encoding.columns import Coarsening
from milpbn.engines.monolithic.names import ModelNames
from milpbn.errors import BudgetError, ConstraintError, OptionError
from milpbn.families import Constraints, MergedRows, candidate_families
from milpbn.families.views import Views
from milpbn.interchange.jkl import parse_jkl, write_jkl
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score
from milpbn.scores.pruning import drop_equal_views
from milpbn.structure import Structure

HALVES = Coarsening(("low", "high"), (0, 0, 1, 1))
ENDS = Coarsening(("ends", "middle"), (0, 1, 1, 0))
ONE = Coarsening(("any",), (0, 0, 0, 0))
NAMES = ["class", "a", "b"]


def space(coarse_a=(HALVES, ONE), coarse_b=(), **more):
    return candidate_families(NAMES, [2, 4, 4], coarsenings=((), coarse_a, coarse_b), **more)


def test_each_parent_set_comes_in_all_combinations_but_the_empty_one():
    found = space(class_parents=False)
    of_a = [found.family(f)[1:] for f in found.of(1)]
    assert of_a[0] == ((), (2,))
    assert of_a[1:4] == [((0,), (0, 2)), ((0,), (0, 1)), ((0,), (0, 0))]
    assert [s for s, _ in of_a[4:]] == [(0, 2)] * 3
    of_b = [found.family(f)[1:] for f in found.of(2)]
    assert of_b[:2] == [((), (0,)), ((0,), (0, 0))]
    assert of_b[2:] == [((0, 1), (0, r, 0)) for r in (2, 1, 0)]


def test_parameters_are_those_of_the_tied_tables():
    found = space(coarse_b=(HALVES,))
    for f in range(len(found)):
        child, parents, seen = found.family(f)
        resolutions = [[2], [4, 2, 1], [4, 2]]
        *above, own = (resolutions[v][r] for v, r in zip((*parents, child), seen, strict=True))
        assert found.free_parameters[f] == (own - 1) * np.prod(above, dtype=int)


@pytest.mark.parametrize("seed", range(6))
def test_families_are_counted_before_they_are_listed(seed):
    rng = np.random.default_rng(seed)
    cards = [2, *rng.integers(2, 5, 4).tolist()]
    data = encoded(np.zeros((1, 5)), cards, None, random_maps(rng, cards, 3))
    names = [v.name for v in data.variables]
    how = {
        "max_parents": int(rng.integers(1, 5)),
        "generative": bool(rng.random() < 0.5),
        "constraints": Constraints(forbidden=["x1->x2"], max_parents={"x3": int(seed % 3)}),
        "coarsenings": tuple(v.coarsenings for v in data.variables),
    }
    n = len(candidate_families(names, cards, **how))
    with pytest.raises(BudgetError, match=f" {n:,} candidate families"):
        candidate_families(names, cards, memory_limit=80 * n - 1, **how)


def test_a_family_is_found_near_another_or_in_the_default_resolution():
    found = space(coarse_b=(HALVES, ENDS))
    assert found.family(found.find(2, (0, 1))) == (2, (0, 1), (0, 1, 1))
    near = next(f for f in found.of(2) if found.family(f)[1:] == ((0, 1), (0, 2, 2)))
    assert found.family(found.find(2, (0,), near)) == (2, (0,), (0, 2))
    assert found.family(found.find(2, (1, 0), near)) == found.family(near)
    assert found.find(2, (0, 7), near) is None
    assert len(found.find_all(2, (0, 1))) == 9


def test_structures_and_families_are_converted_in_both_directions():
    found = space(coarse_b=(HALVES,))
    rng = np.random.default_rng(0)
    for _ in range(20):
        families = np.array([0, rng.choice(found.of(1)[:4]), rng.choice(found.of(2))])
        structure = found.structure(families)
        assert found.families(structure).tolist() == families.tolist()
        shuffled = structure.reordered(["b", "class", "a"])
        assert found.families(shuffled).tolist() == families.tolist()


def test_without_resolutions_a_structure_has_the_finest_states():
    found = space(coarse_b=(HALVES,))
    plain = Structure.from_arcs(NAMES, [("class", "b"), ("a", "b")])
    child, parents, seen = found.family(int(found.families(plain)[2]))
    assert (child, parents, seen) == (2, (0, 1), (0, 0, 0))


def test_a_resolution_that_does_not_exist_is_refused():
    strange = Structure(("class", "a", "b"), ((), (), (0,)), ((0,), (0,), (0, 3)))
    with pytest.raises(ConstraintError, match=r"b \(resolution 3\) <- class is not among"):
        space(coarse_b=(HALVES,)).families(strange)
    with pytest.raises(ConstraintError, match=r"b \(resolution 3\) <- class is not among"):
        candidate_families(NAMES, [2, 4, 4]).families(strange)


def test_the_smallest_structure_sees_the_fewest_states():
    found = space(coarse_b=(HALVES,), constraints=Constraints(required=["a->b", "class->b"]))
    smallest = found.feasible_families()
    assert found.free_parameters[smallest].sum() == 1 + 0 + 2
    limited = Constraints(required=["a->b", "class->b"], max_parameters=2)
    with pytest.raises(ConstraintError, match="has 3 parameters"):
        space(coarse_b=(HALVES,), constraints=limited)


def test_views_of_one_resolution_are_the_variables():
    rows = np.arange(6).reshape(3, 2)
    views = Views((2, 3, 4))
    assert views.single
    assert views.columns(rows) is rows
    assert views.cards.tolist() == views.default_cards == [2, 3, 4]


def test_equal_views_of_the_rows_are_dropped_and_found_again():
    # State 3 of a never occurs: HALVES and another division are the same for parents of b.
    same = Coarsening(("high", "low"), (1, 1, 0, 1))
    codes = np.array([[0, 0, 0], [1, 1, 2], [1, 2, 3], [0, 2, 1]])
    full = space(coarse_a=(HALVES, same))
    fewer = drop_equal_views(full, MergedRows.from_codes(codes))
    assert len(fewer) == len(full) - sum(2 in full.family(f)[2] for f in range(len(full)))
    dropped = Structure(tuple(NAMES), ((), (0,), (0, 1)), ((0,), (0, 2), (0, 2, 0)))
    kept = Structure(tuple(NAMES), ((), (0,), (0, 1)), ((0,), (0, 1), (0, 1, 0)))
    assert fewer.families(dropped).tolist() == fewer.families(kept).tolist()


@pytest.mark.parametrize("score", ["sm", "mdl"])
def test_pruned_resolutions_are_replaced_by_others_that_score_no_less(score):
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, 2, 40), rng.integers(0, 4, (40, 2))])
    # The last resolution of a shows the same as its first: it is dropped before the others are.
    data = encoded(codes, [2, 4, 4], None, [[], [HALVES.of, ONE.of, (1, 1, 0, 0)], [ENDS.of]])
    instance = make_score(score, **({"penalty": 0.5} if score == "sm" else {}))
    full, pruned = (
        build_objective(data, instance, SearchSpace(), prune=prune) for prune in (False, True)
    )
    assert len(pruned.space) < len(full.space)
    for f in range(len(full.space)):
        families = full.space.feasible_families()
        families[full.space.child[f]] = f
        again = pruned.space.families(full.space.structure(families))
        assert pruned.value(again) >= full.value(families) - 1e-9


@pytest.mark.parametrize("weight", [1 / 40, 1.0])
def test_pruned_families_are_replaced_by_others_with_no_more_parameters(weight):
    """Rows that weigh one in all make the penalty of BIC zero: then no family costs anything."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 40)
    # Nothing depends on anything, so that families without the class all have the same margins.
    codes = np.column_stack([labels, np.repeat(rng.integers(0, 4, (20, 2)), 2, axis=0)])
    maps = [[], [HALVES.of, ONE.of], [ENDS.of]]
    data = encoded(codes, [2, 4, 4], np.full(40, weight), maps)
    full, pruned = (
        build_objective(data, make_score("sm", penalty="bic"), SearchSpace(), prune=prune).space
        for prune in (False, True)
    )
    assert pruned.dominated
    for (child, parents, seen), g in pruned.dominated.items():
        f = next(k for k in range(len(full)) if full.family(k) == (child, parents, seen))
        assert pruned.free_parameters[g] <= full.free_parameters[f]


def test_names_in_program_files_are_distinct():
    found = space(coarse_b=(HALVES, ENDS))
    names = ModelNames(found)
    assert len({names.eta(f) for f in range(len(found))}) == len(found)
    assert "eta.b..1.from.class.a..2" in {names.eta(f) for f in range(len(found))}
    assert any("b (resolution 1) <- class, a (resolution 2)" in line for line in names.legend())


def test_local_scores_have_the_best_resolutions_of_each_parent_set():
    rng = np.random.default_rng(2)
    codes = np.column_stack([rng.integers(0, 2, 40), rng.integers(0, 4, (40, 2))])
    data = encoded(codes, [2, 4, 4], None, [[], [HALVES.of, ONE.of], [ENDS.of]])
    objective = build_objective(data, make_score("mdl"), SearchSpace(), prune=False)
    read = parse_jkl(write_jkl(objective))
    for i in range(3):
        for f in read.space.of(i):
            same = objective.space.find_all(i, read.space.parent_sets[f])
            assert read.weights[f] == pytest.approx(objective.weights[same].max(), rel=1e-12)


def test_a_score_without_resolutions_is_refused():
    data = encoded(np.array([[0, 1], [1, 2]]), [2, 4], None, [[], [HALVES.of]])
    with pytest.raises(OptionError, match="bdeu cannot choose between several resolutions"):
        build_objective(data, make_score("bdeu"), SearchSpace())


def test_a_structure_with_more_parents_than_the_space_allows_is_adapted():
    large = space(class_parents=False, max_parents=2)
    both = large.structure([large.of(0)[0], large.of(1)[0], large.find(2, (0, 1))])
    small = space(class_parents=False, max_parents=1)
    assert small.structure(small.adapted(both)).arcs == (("class", "b"),)
