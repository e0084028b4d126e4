"""Continuous integration tests the lower bounds that pyproject.toml states, and no others."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent


def pinned() -> dict[str, Version]:
    lines = (ROOT / "scripts" / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {r.name.lower(): Version(str(r.specifier).removeprefix("==")) for r in found}


def lower_bounds() -> dict[str, Version]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    listed = [
        *project["dependencies"],
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
    assert pinned() == {**bounds, "distributed": bounds["dask"]}


def test_coming_versions_are_tested_too() -> None:
    text = (ROOT / ".github" / "workflows" / "canary.yml").read_text(encoding="utf-8")
    (listed,) = (line for line in text.splitlines() if "package: [" in line)
    packages = listed.partition("[")[2].rstrip("]").split(", ")
    assert set(packages) == {"highspy", "pulp", "numba", "scikit-learn"} <= set(lower_bounds())
    for setting in ("--pre", "schedule:", "continue-on-error: true"):
        assert setting in text
