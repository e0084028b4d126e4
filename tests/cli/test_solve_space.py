"""``milpbn solve``: the options that say which structures are considered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

QUICK = ("solve", "--dataset", "iris", "--max-parents", 1, "--start", "none")


def _structure(result: Result) -> dict[str, list[str]]:
    assert result.exit_code == 0, result.stderr
    structure: dict[str, list[str]] = json.loads(result.stdout)["result"]["structure"]
    return structure


def test_arcs_are_required_and_forbidden(milpbn: Run, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('forbidden = ["class->petalwidth"]\n')
    options = ("--constraints", rules, "--require", "class->sepalwidth", "--class-root", "--json")
    structure = _structure(milpbn(*QUICK, *options))
    assert structure["sepalwidth"] == ["class"]
    assert structure["petalwidth"] == []


def test_augmented_families_are_a_choice_for_generative_scores(milpbn: Run) -> None:
    free = _structure(milpbn("solve", "--dataset", "iris", "--score", "mdl", "--json"))
    assert any(ps and "class" not in ps for v, ps in free.items() if v != "class")
    options = ("--score", "mdl", "--augmented", "--json")
    bound_to_class = _structure(milpbn("solve", "--dataset", "iris", *options))
    assert all(not ps or "class" in ps for v, ps in bound_to_class.items() if v != "class")


def test_the_class_is_a_root_where_that_is_asked_for(milpbn: Run) -> None:
    assert _structure(milpbn(*QUICK, "--class-root", "--json"))["class"] == []


def test_budgets_limit_the_structure(milpbn: Run, tmp_path: Path) -> None:
    command = (*QUICK, "--class-root", "--json", "--p", 0.99)
    free = _structure(milpbn(*command))
    assert sum(map(len, free.values())) > 1
    rules = tmp_path / "rules.toml"
    rules.write_text("max_features = 1\n")
    for options in (("--max-arcs", 1), ("--max-parameters", 14), ("--constraints", rules)):
        structure = _structure(milpbn(*command, *options))
        assert sum(map(len, structure.values())) == 1


def test_the_exported_program_has_the_budgets(milpbn: Run, tmp_path: Path) -> None:
    file = tmp_path / "iris.lp"
    options = ("--max-arcs", 3, "--max-features", 2, "--max-parameters", 30, "--quiet")
    assert milpbn(*QUICK, *options, "--write-model", file).exit_code == 0
    text = file.read_text()
    assert all(f"budget.{name}" in text for name in ("arcs", "features", "parameters"))
    assert "use.petalwidth.by.petalwidth" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--max-arcs", "1", "--require", "class->petalwidth", "--require", "class->sepalwidth"),
            "no structure is small enough: with class->sepalwidth, class->petalwidth, the "
            "structure has 2 arcs, but max_arcs is 1",
        ),
        (("--max-parameters", "3"), "with no arcs, the structure has 10 parameters"),
        (("--require", "class->petal"), "constraint on 'petal': there is no such variable"),
        (
            ("--require", "class->petalwidth", "--forbid", "class->petalwidth"),
            "class->petalwidth is both required and forbidden",
        ),
        (
            ("--require", "petalwidth->sepalwidth", "--require", "sepalwidth->petalwidth"),
            "the required arcs form a cycle",
        ),
        (("--require", "petalwidth->sepalwidth"), "no candidate parent set of 'sepalwidth'"),
        (("--require", "petalwidth->class", "--class-root"), "the class is a root"),
    ],
)
def test_contradictions_are_explained(milpbn: Run, options: tuple[str, ...], message: str) -> None:
    result = milpbn(*QUICK, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", 'requird = ["a->b"]', "unknown key 'requird'; known: required, forbidden"),
        ("a.toml", "required = [", "is not valid TOML"),
        ("a.json", "{", "is not valid JSON"),
        ("a.json", '{"required": ["ab"]}', "'ab' is not an arc"),
    ],
)
def test_a_bad_constraints_file_is_named(
    milpbn: Run, tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    result = milpbn(*QUICK, "--constraints", tmp_path / name)
    assert result.exit_code == 1
    assert f"{tmp_path / name}" in result.stderr
    assert message in result.stderr


def test_costs_of_features_limit_the_structure(milpbn: Run, tmp_path: Path) -> None:
    costs = ("--feature-cost", "petalwidth=5,petallength=4,sepallength=1")
    out = tmp_path / "model.json"
    result = milpbn(*QUICK, *costs, "--max-cost", 5, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert re.search(r"^cost +5 \(", result.stdout, re.MULTILINE)
    assert milpbn("verify", out).exit_code == 0
    content = json.loads(out.read_text())
    content["settings"]["constraints"]["max_cost"] = 1
    out.write_text(json.dumps(content))
    verified = milpbn("verify", out)
    assert verified.exit_code == 4
    assert "the features of the structure cost 5, but max_cost is 1" in verified.stdout
    program = tmp_path / "iris.lp"
    written = milpbn(*QUICK, *costs, "--max-cost", 5, "--quiet", "--write-model", program)
    assert written.exit_code == 0
    assert "budget.cost" in program.read_text()
    refused = milpbn(*QUICK, *costs, "--max-cost", 5, "--certificate", tmp_path / "proof.gz")
    assert refused.exit_code == 1
    assert "does not know costs of features" in refused.stderr
    alone = milpbn(*QUICK, "--max-cost", 5)
    assert alone.exit_code == 1
    assert "--max-cost requires --feature-cost" in alone.stderr
