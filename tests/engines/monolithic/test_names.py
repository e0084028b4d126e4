"""Names in model files: readable, allowed, unique."""

import re

import pytest

from milpbn.engines.monolithic.names import ModelNames, safe_names
from milpbn.families import candidate_families


def test_plain_names_stay():
    assert safe_names(["class", "age", "x_1"]) == ["class", "age", "x_1"]


@pytest.mark.parametrize(
    "names",
    [
        ["a b", "a-b", "a_b"],
        ["a b", "a_b_2", "a-b"],
        ["größe", "gr__e", "gr??e"],
        ["", "_", " "],
        ["none", "none_2", "x"],
        ["日本", "中国", "a.b"],
    ],
)
def test_names_are_made_unique_from_letters_digits_and_underscores(names):
    safe = safe_names(names)
    assert len(set(safe)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_]+", s) for s in safe)


@pytest.mark.parametrize("max_parents", [1, 2, 5])
def test_long_names_are_cut_so_that_the_formats_take_them(max_parents):
    variables = [c * 300 for c in "abcdefg"] + ["g" * 299]
    space, names = names_of(*variables, max_parents=max_parents, generative=True)
    eta = [names.eta(f) for f in range(len(space))]
    arcs = [names.acyclic(i, j) for i in range(8) for j in range(8) if i != j]
    for made in (eta, arcs):
        assert len(set(made)) == len(made)
        assert max(map(len, made)) <= 255


def names_of(*variables, **options):
    space = candidate_families(variables, [2] * len(variables), **options)
    return space, ModelNames(space)


def test_a_column_name_says_child_and_parents():
    space, names = names_of("class", "a", "b")
    assert names.eta(space.find(2, (0, 1))) == "eta.b.from.class.a"
    assert names.eta(space.find(2, ())) == "eta.b.from.none"
    assert names.tau(7) == "tau.row7"
    assert names.order(1) == "order.a"
    assert names.one(1) == "one.a"
    assert names.acyclic(1, 2) == "acyclic.a.before.b"


@pytest.mark.parametrize("variables", [("none", "a", "b"), ("class", "none", "b")])
def test_a_variable_called_none_is_not_the_empty_parent_set(variables):
    space, names = names_of(*variables, generative=True)
    eta = [names.eta(f) for f in range(len(space))]
    assert len(set(eta)) == len(eta)


def test_names_with_the_separators_in_them_stay_apart():
    space, names = names_of("from", "a.from.b", "b", "before", generative=True)
    eta = [names.eta(f) for f in range(len(space))]
    arcs = [names.acyclic(i, j) for i in range(4) for j in range(4) if i != j]
    assert len(set(eta)) == len(eta)
    assert len(set(arcs)) == len(arcs)


def test_the_legend_gives_the_true_names():
    _, names = names_of("class", "größe in cm")
    legend = names.legend()
    assert "gr__e_in_cm = 'größe in cm'" in legend
    assert "eta.gr__e_in_cm.from.class: größe in cm <- class" in legend
    assert "eta.class.from.none: class <- no parents" in legend


def test_a_line_break_in_a_name_stays_on_the_legends_line():
    _, names = names_of("class", "a\nb\r\n")
    assert not any("\n" in line or "\r" in line for line in names.legend())
    assert any(r"a\nb\r\n" in line for line in names.legend())
