"""The candidate families are those of the definitions, after the constraints."""

import tracemalloc
from math import comb

import numpy as np
import oracle
import pytest

from milpbn.errors import BudgetError, ConstraintError, OptionError
from milpbn.families import Constraints, candidate_families
from milpbn.structure import Structure

NAMES = ["class", "a", "b", "c"]


def space_of(names=NAMES, **options):
    return candidate_families(names, [2] * len(names), **options)


def sets_of(space, variable):
    return [space.parent_sets[f] for f in space.of(variable)]


@pytest.mark.parametrize("generative", [False, True])
@pytest.mark.parametrize("class_parents", [False, True])
@pytest.mark.parametrize("max_parents", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_candidates_are_those_of_the_definition(n, max_parents, class_parents, generative):
    names = ["class", "a", "b", "c", "d"][:n]
    space = space_of(
        names, max_parents=max_parents, class_parents=class_parents, generative=generative
    )
    expected = oracle.families(n, min(max_parents, n - 1), class_parents, generative)
    for i in range(n):
        found = sets_of(space, i)
        assert len(set(found)) == len(found)
        assert set(found) == set(expected[i])
    assert len(space) == sum(len(sets) for sets in expected)


def test_a_features_parent_set_is_empty_or_holds_the_class():
    space = space_of(max_parents=3)
    assert sets_of(space, 1) == [(), (0,), (0, 2), (0, 3), (0, 2, 3)]


def test_the_class_may_be_a_root():
    assert sets_of(space_of(class_parents=False), 0) == [()]
    assert sets_of(space_of(max_parents=1), 0) == [(), (1,), (2,), (3,)]


def test_generative_candidates_are_all_small_sets():
    assert sets_of(space_of(generative=True), 1) == [(), (0,), (2,), (3,), (0, 2), (0, 3), (2, 3)]


@pytest.mark.parametrize("wrong", [0, -1])
def test_max_parents_below_one_is_refused(wrong):
    with pytest.raises(OptionError, match=f"max_parents must be at least 1, not {wrong}"):
        space_of(max_parents=wrong)


def test_children_and_lookups_agree_with_the_list():
    space = space_of(max_parents=2)
    for f, (child, parents) in enumerate(zip(space.child, space.parent_sets, strict=True)):
        assert f in space.of(int(child))
        assert space.find(int(child), parents[::-1]) == f
    assert space.find(1, (2,)) is None
    assert (space.n_variables, space.n_classes) == (4, 2)


def test_a_structure_maps_to_families_and_back():
    space = space_of()
    structure = Structure(tuple(NAMES), ((), (0,), (0, 1), ()))
    assert space.structure(space.families(structure)) == structure


def test_a_structure_in_another_order_is_found_by_name():
    space = space_of()
    shuffled = Structure(("c", "b", "class", "a"), ((2, 3), (), (), (2,)))
    parents = space.structure(space.families(shuffled)).to_dict()
    assert parents == {"class": [], "a": ["class"], "b": [], "c": ["class", "a"]}


def test_a_structure_outside_the_space_is_named():
    space = space_of(class_parents=False)
    with pytest.raises(ConstraintError, match="a <- b is not among the candidate parent sets"):
        space.families(Structure(tuple(NAMES), ((), (2,), (), ())))
    with pytest.raises(ConstraintError, match=r"class <- a is not .*class_parents"):
        space.families(Structure(tuple(NAMES), ((1,), (), (), ())))


def test_a_structure_over_other_variables_is_refused():
    with pytest.raises(ConstraintError, match="variables differ from the data's: c, d"):
        space_of().families(Structure(("class", "a", "b", "d"), ((), (), (), ())))


def test_a_feature_without_the_class_has_no_parent_at_all():
    space = space_of(constraints=Constraints(forbidden=["class->a"]))
    assert sets_of(space, 1) == [()]


def test_a_limit_of_one_variable_holds_for_it_alone():
    space = space_of(constraints=Constraints(max_parents={"a": 1, "b": 0}))
    assert sets_of(space, 1) == [(), (0,)]
    assert sets_of(space, 2) == [()]
    assert len(sets_of(space, 3)) == 4


def test_a_required_parent_is_in_every_set():
    space = space_of(constraints=Constraints(required=["b->a"]))
    assert sets_of(space, 1) == [(0, 2)]
    space = space_of(constraints=Constraints(required=["class->a"]))
    assert sets_of(space, 1) == [(0,), (0, 2), (0, 3)]


@pytest.mark.parametrize(
    ("options", "required", "message"),
    [
        ({"class_parents": False}, ["a->class"], "a->class is required, but the class is a root"),
        (
            {"max_parents": 1},
            ["b->a"],
            r"no candidate parent set of 'a' .*b->a, at most 1 parents.* contain the class "
            r"\(class\), which counts as a parent: raise max_parents",
        ),
        (
            {"max_parents": 1, "generative": True},
            ["b->a", "c->a"],
            "no candidate parent set of 'a' .*b->a, c->a, at most 1 parents; raise max_parents$",
        ),
        (
            {"max_parents": 1},
            ["a->class", "b->class"],
            "no candidate parent set of 'class' .*at most 1 parents; raise max_parents$",
        ),
    ],
)
def test_required_arcs_that_leave_no_parent_set_are_named(options, required, message):
    with pytest.raises(ConstraintError, match=message):
        space_of(constraints=Constraints(required=required), **options)


def test_a_required_arc_to_a_feature_that_may_not_have_the_class_is_named():
    constraints = Constraints(required=["b->a"], forbidden=["class->a"])
    with pytest.raises(ConstraintError, match=r"'a' .*b->a.* or allow the arc from the class"):
        space_of(constraints=constraints)


def test_variables_that_need_each_other_are_named():
    # b->a brings class->a with it, so the class and a need each other; b and c do not.
    constraints = Constraints(required=["b->a", "a->class"])
    with pytest.raises(
        ConstraintError, match=r"no acyclic structure: every .* of each of class, a needs another"
    ):
        space_of(constraints=constraints)


def test_feasible_families_are_acyclic_and_obey_required_arcs():
    constraints = Constraints(required=["c->b", "b->a", "class->c"])
    space = space_of(max_parents=3, constraints=constraints)
    structure = space.structure(space.feasible_families())
    assert {("c", "b"), ("b", "a"), ("class", "c")} <= set(structure.arcs)


@pytest.mark.parametrize("seed", range(60))
def test_constraints_keep_exactly_the_structures_that_satisfy_them(seed):
    from problems import random_constraints

    rng = np.random.default_rng(seed)
    options = {
        "max_parents": int(rng.integers(1, 4)),
        "class_parents": bool(rng.random() < 0.6),
        "generative": bool(rng.random() < 0.5),
    }
    limits = random_constraints(rng, 4)
    given = {
        "required": [(NAMES[p], NAMES[i]) for p, i in limits.get("required", ())],
        "forbidden": [(NAMES[p], NAMES[i]) for p, i in limits.get("forbidden", ())],
        "tiers": [[NAMES[v] for v in tier] for tier in limits.get("tiers", ())],
        "max_parents": {NAMES[v]: k for v, k in limits.get("max_parents", {}).items()},
    }
    candidates = oracle.families(4, *options.values())
    picks = oracle.structures(4, *options.values())
    expected = {
        s
        for s in (tuple(candidates[i][k] for i, k in enumerate(pick)) for pick in picks)
        if oracle.satisfies(s, **limits)
    }
    if not expected:
        with pytest.raises(ConstraintError):
            space_of(constraints=Constraints(**given), **options)
        return
    space = space_of(constraints=Constraints(**given), **options)
    assert tuple(space.structure(space.feasible_families()).parents) in expected
    sets = [sets_of(space, i) for i in range(4)]
    # The lists admit all of them, and nothing acyclic beside them.
    found = {
        s
        for s in (tuple(candidates[i][k] for i, k in enumerate(pick)) for pick in picks)
        if all(s[i] in sets[i] for i in range(4))
    }
    assert found == expected
    assert all(set(sets[i]) <= set(candidates[i]) for i in range(4))


def test_too_many_families_are_refused_before_memory_is_taken():
    names = ["class", *(f"x{k}" for k in range(199))]
    tracemalloc.start()
    families = 199 * (1 + sum(comb(198, k) for k in range(4))) + sum(comb(199, k) for k in range(5))
    with pytest.raises(BudgetError, match=r"max_parents=4 makes more than [\d,]+ candidate .*GiB"):
        candidate_families(names, [2] * 200, max_parents=4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # One byte for each of the families would be more.
    assert peak < 20e6 < families


def test_the_budget_error_says_what_to_lower_and_obeys_the_limit():
    names = ["class", *"abcdefgh"]
    message = r"memory limit is 1000 bytes. Lower max_parents, .*or raise"
    with pytest.raises(BudgetError, match=message):
        candidate_families(names, [2] * 9, memory_limit=1000)
    assert len(candidate_families(names, [2] * 9, memory_limit=10**6)) > 0


def test_large_state_spaces_count_against_the_budget():
    # Few families, but tables of 1000**3 cells.
    with pytest.raises(BudgetError, match="table cells"):
        candidate_families(["class", "a", "b"], [1000, 1000, 1000], max_parents=2)


def test_more_variables_than_codes_can_number_are_refused(monkeypatch):
    monkeypatch.setattr("milpbn.families.candidates.MOST_VARIABLES", 4)
    names = ["c", "x0", "x1", "x2"]
    assert space_of(names, max_parents=1).n_variables == 4
    with pytest.raises(OptionError, match="5 variables are too many: milpbn handles up to 4"):
        space_of([*names, "x3"], max_parents=1)


def test_more_families_than_there_is_time_for_are_refused():
    assert len(space_of(max_parents=2, most_families=100)) <= 100
    with pytest.raises(BudgetError, match="max_parents=2 makes more than 5 candidate families"):
        space_of(max_parents=2, most_families=5)


def test_a_structure_of_similar_rows_is_adapted():
    space = space_of(max_parents=2, class_parents=False)
    arcs = [("class", "a"), ("class", "b"), ("a", "b")]
    same = Structure.from_arcs(NAMES, arcs)
    assert (space.adapted(same) == space.families(same)).all()
    # "c" is new here, and "d" is not known.
    other = Structure.from_arcs(["class", "a", "b", "d"], [*arcs, ("class", "d")])
    found = space.structure(space.adapted(other))
    assert set(found.arcs) == {*arcs, ("class", "c")}
    # A family with too many parents keeps the class.
    small = space_of(max_parents=1, class_parents=False)
    assert set(small.structure(small.adapted(same)).arcs) == {("class", "a"), ("class", "b")}
    required = space_of(constraints=Constraints(required=(("c", "a"),)))
    assert required.adapted(same) is None
