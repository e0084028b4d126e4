"""Constraints: how they are written, and that contradictions are named."""

import json

import pytest

from milpbn.errors import ConstraintError
from milpbn.families import Constraints
from milpbn.families.constraints import parse_arc


def test_arcs_are_read_from_text_and_pairs():
    constraints = Constraints(required=["a -> b"], forbidden=[("b", "c"), ["c", "a"], "b->c"])
    assert constraints.required == (("a", "b"),)
    assert constraints.forbidden == (("b", "c"), ("c", "a"))


@pytest.mark.parametrize("text", ["a", "a-b", "->b", "a->", " -> ", ""])
def test_text_that_is_no_arc_is_refused(text):
    with pytest.raises(ConstraintError, match="is not an arc; write it as PARENT->CHILD"):
        parse_arc(text)


def test_nothing_given_is_false():
    assert not Constraints()
    assert Constraints(tiers=[["a"]])
    assert Constraints(max_parents={"a": 1})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"required": ["a->b"], "forbidden": ["a->b"]},
            "arc a->b is both required and forbidden",
        ),
        (
            {"required": ["b->a"], "tiers": [["a"], ["b"]]},
            "arc b->a is both required and against the tiers",
        ),
        ({"required": ["a->b", "b->a"]}, "required arcs form a cycle: (a -> b -> a|b -> a -> b)"),
        (
            {"required": ["a->b", "b->c", "c->a"]},
            "cycle: (a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c)",
        ),
        (
            {"required": ["a->c", "b->c"], "max_parents": {"c": 1}},
            "'c' has 2 required parents but max_parents 1",
        ),
        ({"tiers": [["a"], ["b", "a"]]}, "variable 'a' is in two tiers"),
        ({"tiers": [["a", "a"]]}, "variable 'a' is in two tiers"),
        ({"required": ["a->a"]}, "required: a->a is a loop"),
        ({"forbidden": [("a", "a")]}, "forbidden: a->a is a loop"),
    ],
)
def test_contradictions_are_named(given, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"required": "a->b"}, "required must be a list of arcs, not 'a->b'"),
        ({"forbidden": "a->b"}, "forbidden must be a list of arcs, not 'a->b'"),
        ({"required": 5}, "required must be a list of arcs, not 5"),
        ({"required": None}, "required must be a list of arcs, not None"),
        ({"required": [5]}, r"required: 5 is not a \(parent, child\) pair"),
        ({"required": [["a"]]}, r"required: \['a'\] is not a \(parent, child\) pair"),
        ({"required": [["a", "b", "c"]]}, "is not a .* pair of names"),
        ({"forbidden": [["a", 1]]}, r"forbidden: \['a', 1\] is not a .* pair of names"),
        ({"tiers": "ab"}, "tiers must be lists of variable names"),
        ({"tiers": ["ab", "c"]}, "tiers must be lists of variable names"),
        ({"tiers": 5}, "tiers must be lists of variable names"),
        ({"tiers": None}, "tiers must be lists of variable names"),
        ({"tiers": [["a"], 5]}, "tiers must be lists of variable names"),
        ({"tiers": [["a"], [1]]}, "tiers must be lists of variable names"),
        ({"max_parents": [1]}, "max_parents must map variable names to limits"),
        ({"max_parents": {"a": -1}}, "max_parents of 'a' must be a whole number >= 0, not -1"),
        ({"max_parents": {"a": "2"}}, "whole number >= 0, not '2'"),
        ({"max_parents": {"a": 1.5}}, "whole number >= 0, not 1.5"),
        ({"max_parents": {"a": True}}, "whole number >= 0, not True"),
    ],
)
def test_the_wrong_kind_of_value_is_named(given, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints(**given)


def test_tiers_forbid_arcs_backwards_only():
    constraints = Constraints(tiers=[["a", "b"], ["c"]])
    assert constraints.allows("a", "c")
    assert not constraints.allows("c", "a")
    assert constraints.allows("a", "b")
    assert constraints.allows("b", "a")
    assert constraints.allows("c", "free")
    assert constraints.allows("free", "a")


def test_forbidding_an_arc_leaves_its_reverse():
    constraints = Constraints(forbidden=["a->b"])
    assert not constraints.allows("a", "b")
    assert constraints.allows("b", "a")


def test_required_parents_are_those_of_the_child():
    constraints = Constraints(required=["a->c", "b->c", "c->d"])
    assert constraints.required_parents("c") == {"a", "b"}
    assert constraints.required_parents("a") == set()


@pytest.mark.parametrize(
    "given",
    [
        {"required": ["agee->class"]},
        {"forbidden": ["class->agee"]},
        {"tiers": [["class"], ["agee"]]},
        {"max_parents": {"agee": 1}},
    ],
)
def test_an_unknown_name_is_named_with_a_suggestion(given):
    with pytest.raises(ConstraintError, match=r"'agee': there is no such .*did you mean age\?"):
        Constraints(**given).check_names(["class", "age", "income"])


def test_a_name_like_no_other_is_named_without_a_suggestion():
    with pytest.raises(ConstraintError, match=r"'zzz': there is no such .*check the spelling"):
        Constraints(required=["zzz->class"]).check_names(["class", "age"])


def test_a_column_that_was_left_out_is_called_constant():
    with pytest.raises(ConstraintError, match=r"'unit'.*left out .* constant"):
        Constraints(forbidden=["unit->class"]).check_names(["class", "age"], absent=["unit"])


def test_known_names_pass():
    Constraints(required=["age->class"], tiers=[["age"]]).check_names(["class", "age"])


def test_merging_adds_arcs_and_checks_them():
    base = Constraints(required=["a->b"], tiers=[["a"], ["b"]], max_parents={"c": 1})
    merged = base.merged([("b", "c")], [("c", "a")])
    assert merged.required == (("a", "b"), ("b", "c"))
    assert merged.forbidden == (("c", "a"),)
    assert (merged.tiers, merged.max_parents) == (base.tiers, base.max_parents)
    with pytest.raises(ConstraintError, match="against the tiers"):
        base.merged([("b", "a")], [])


def test_plain_data_round_trip_through_json():
    constraints = Constraints(["a->b"], [("b", "c")], [["a"], ["b", "c"]], {"b": 2})
    assert Constraints(**json.loads(json.dumps(constraints.to_dict()))) == constraints


# Files

GIVEN = Constraints(["a->b"], [("b", "c")], [["a"], ["b", "c"]], {"b": 2})

TOML = """
required = ["a->b"]
forbidden = [["b", "c"]]
tiers = [["a"], ["b", "c"]]
[max_parents]
b = 2
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("limits.toml", TOML),
        ("limits.txt", TOML),
        ("limits.json", json.dumps(GIVEN.to_dict())),
    ],
)
def test_a_file_says_the_same_as_python(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert Constraints.from_file(path) == GIVEN


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.json", '{"required": [', r"bad\.json is not valid JSON"),
        ("bad.toml", "required = [", r"bad\.toml is not valid TOML"),
        ("bad.json", "[1, 2]", r"bad\.json: expected a table with the keys required, forbidden"),
        ("bad.json", '{"require": []}', r"bad\.json: unknown key 'require'; known: required, "),
        ("bad.toml", "require = []", r"bad\.toml: unknown key 'require'"),
        ("bad.toml", 'required = "a->b"', r"bad\.toml: required must be a list of arcs"),
        ("bad.json", '{"tiers": null}', r"bad\.json: tiers must be lists"),
        ("bad.toml", 'tiers = ["a", "b"]', r"bad\.toml: tiers must be lists of variable names"),
        (
            "bad.toml",
            'required = ["a->b"]\nforbidden = ["a->b"]',
            r"bad\.toml: arc a->b is both required and forbidden",
        ),
    ],
)
def test_a_bad_file_is_named_with_the_reason(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_file(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [("deep.toml", "required = " + "[" * 50_000), ("deep.json", '{"required":' * 50_000)],
)
def test_a_file_that_is_nested_too_deeply_is_named(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConstraintError, match=rf"{name} is not valid (TOML|JSON): .*recursion"):
        Constraints.from_file(path)


@pytest.mark.parametrize("text", [" " * 20_000, '"' * 20_000, '"a"' + " " * 20_000 + "x"])
def test_long_texts_that_are_no_arcs_are_refused_in_linear_time(text):
    with pytest.raises(ConstraintError, match="is not an arc"):
        parse_arc(text)


def test_a_file_that_is_not_text_is_named(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\xff\xfe\x00\x00")
    with pytest.raises(ConstraintError, match=r"bad\.toml is not valid TOML"):
        Constraints.from_file(path)


def test_a_missing_file_or_a_folder_is_named(tmp_path):
    with pytest.raises(ConstraintError, match=r"cannot read .*gone\.toml: No such file"):
        Constraints.from_file(tmp_path / "gone.toml")
    with pytest.raises(ConstraintError, match=f"cannot read constraints from {tmp_path}"):
        Constraints.from_file(tmp_path)
