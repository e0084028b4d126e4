"""The Markov blanket of the class."""

from __future__ import annotations

from milpbn.pictures.roles import Role, roles
from milpbn.structure import Structure


def test_every_part_of_the_blanket_is_told_apart() -> None:
    arcs = [("p", "c"), ("c", "a"), ("s", "a"), ("a", "o"), ("g", "p")]
    found = roles(Structure.from_arcs(["c", "a", "p", "s", "o", "g", "lone"], arcs))
    assert found == [
        Role.CLASS,
        Role.CHILD,
        Role.PARENT,
        Role.SPOUSE,
        Role.OUTSIDE,
        Role.OUTSIDE,
        Role.OUTSIDE,
    ]


def test_a_child_that_is_also_a_coparent_counts_as_child() -> None:
    arcs = [("c", "a"), ("c", "b"), ("a", "b")]
    assert roles(Structure.from_arcs(["c", "a", "b"], arcs))[1] is Role.CHILD


def test_a_parent_of_the_class_that_is_also_a_coparent_counts_as_parent() -> None:
    arcs = [("p", "c"), ("c", "b"), ("p", "b")]
    assert roles(Structure.from_arcs(["c", "p", "b"], arcs))[1] is Role.PARENT


def test_a_class_network_has_class_variables_and_partitioning_features() -> None:
    arcs = [("kind", "wheels"), ("fuel", "kind")]
    structure = Structure.from_arcs(["kind", "wheels", "fuel"], arcs)
    assert roles(structure, n_class_variables=2) == [Role.CLASS, Role.CLASS, Role.PARTITION]
