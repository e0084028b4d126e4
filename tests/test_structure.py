"""Structures: built by name, acyclic, printed, and turned into plain data."""

import json

import pytest

from milpbn.errors import DataError
from milpbn.structure import Structure

CHAIN = Structure(("class", "a", "b"), ((), (0,), (0, 1)))


def test_arcs_dictionaries_and_lines_say_the_same():
    arcs = [("class", "a"), ("a", "b"), ("class", "b")]
    assert Structure.from_arcs(["class", "a", "b"], arcs) == CHAIN
    assert Structure.from_dict({"class": [], "a": ["class"], "b": ["a", "class"]}) == CHAIN
    assert set(CHAIN.arcs) == set(arcs)
    assert str(CHAIN) == "class\na <- class\nb <- class, a"


def test_plain_data_round_trip_through_json():
    assert Structure.from_dict(json.loads(json.dumps(CHAIN.to_dict()))) == CHAIN


def test_the_order_of_parents_does_not_matter():
    assert Structure(("class", "a", "b"), ((), (0,), (1, 0))) == CHAIN
    assert hash(Structure(("class", "a", "b"), ((), (0,), (1, 0)))) == hash(CHAIN)


def test_an_arc_given_twice_is_one_arc():
    twice = Structure.from_arcs(["class", "a"], [("class", "a"), ("class", "a")])
    assert twice.parents == ((), (0,))


def test_parents_come_before_children_in_the_order():
    structure = Structure(("class", "a", "b", "c"), ((2,), (0, 3), (), (0,)))
    position = {v: k for k, v in enumerate(structure.order)}
    assert sorted(structure.order) == [0, 1, 2, 3]
    for child, parents in enumerate(structure.parents):
        assert all(position[p] < position[child] for p in parents)


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ([("a", "b"), ("b", "a")], "cycle: (a -> b -> a|b -> a -> b)$"),
        (
            [("class", "a"), ("a", "b"), ("b", "class")],
            "(class -> a -> b -> class|a -> b -> class -> a|b -> class -> a -> b)$",
        ),
        ([("a", "a")], "cycle: a -> a$"),
    ],
)
def test_a_cycle_is_named_along_its_arcs(arcs, message):
    with pytest.raises(DataError, match=message):
        Structure.from_arcs(["class", "a", "b"], arcs)


def test_an_unknown_variable_is_named_with_the_known_ones():
    with pytest.raises(DataError, match=r"arc a->z: there is no variable 'z'; .* are class, a$"):
        Structure.from_arcs(["class", "a"], [("a", "z")])


def test_as_many_parent_sets_as_variables_are_needed():
    with pytest.raises(DataError, match="2 variables but 1 parent sets"):
        Structure(("class", "a"), ((),))


@pytest.mark.parametrize(
    ("resolutions", "message"),
    [
        (((0,), (0, -1), (0, 0, 0)), "a resolution is negative"),
        (((0,), (0, 1)), "needs a resolution for each parent and each variable"),
        (((0,), (0, 1), (0, 1)), "needs a resolution for each parent and each variable"),
    ],
)
def test_resolutions_that_make_no_sense(resolutions, message):
    with pytest.raises(DataError, match=message):
        Structure(CHAIN.variables, CHAIN.parents, resolutions)
