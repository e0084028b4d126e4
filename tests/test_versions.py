"""The files that list versions agree with pyproject.toml, the only place to change them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

import milpbn

ROOT = Path(__file__).parent.parent


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned(name: str) -> dict[str, Version]:
    lines = (ROOT / "scripts" / name).read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {r.name.lower(): Version(str(r.specifier).removeprefix("==")) for r in found}


def lower_bounds() -> dict[str, Version]:
    extras = project()["optional-dependencies"]
    listed = [
        *project()["dependencies"],
        *extras["scip"],
        *extras["cluster"],
        *extras["onnx"],
        *extras["ebm"],
        *extras["test"],
        *extras["docs"],
    ]
    return {
        r.name.lower(): Version(bound.version)
        for r in map(Requirement, listed)
        for bound in r.specifier
        if bound.operator == ">="
    }


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    # dask[distributed] is one requirement and two packages with the same version.
    bounds = lower_bounds()
    assert pinned("constraints-oldest.txt") == {**bounds, "distributed": bounds["dask"]}


def test_coming_versions_are_tested_too() -> None:
    text = (ROOT / ".github" / "workflows" / "canary.yml").read_text(encoding="utf-8")
    (listed,) = (line for line in text.splitlines() if "package: [" in line)
    packages = listed.partition("[")[2].rstrip("]").split(", ")
    assert set(packages) == {"highspy", "pulp", "numba", "scikit-learn"} <= set(lower_bounds())
    for setting in ("--pre", "schedule:", "continue-on-error: true"):
        assert setting in text


def test_the_tested_versions_are_allowed() -> None:
    tested = pinned("constraints-tested.txt")
    for requirement in map(Requirement, project()["dependencies"]):
        assert requirement.specifier.contains(tested[requirement.name.lower()]), requirement


def test_the_conda_recipe_has_the_same_dependencies() -> None:
    text = (ROOT / "scripts" / "recipe.yaml").read_text(encoding="utf-8")
    listed = re.search(r"\n  run:\n((?:    - .*\n)+)", text)
    assert listed is not None
    lines = [line.removeprefix("    - ") for line in listed[1].splitlines()]
    python, *own = [re.sub(r"\s+", "", line) for line in lines]
    assert python.startswith("python>=")
    # conda-forge's matplotlib-base is PyPI's matplotlib, without a toolkit for windows
    own = [line.replace("matplotlib-base", "matplotlib") for line in own]
    assert set(map(Requirement, own)) == set(map(Requirement, project()["dependencies"]))
    assert f'version: "{milpbn.__version__}"' in text


def test_the_citation_has_the_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {milpbn.__version__}\n" in text
