"""``milpbn doctor``: what it says, and that it notices an installation that does not work."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError

import pytest
from click.testing import Result

import milpbn as package
from milpbn import doctor
from milpbn.errors import SolverError

Run = Callable[..., Result]


def test_a_sound_installation(milpbn: Run) -> None:
    result = milpbn("doctor")
    assert result.exit_code == 0, result.stdout
    assert "Everything is in order." in result.stdout
    told = json.loads(milpbn("doctor", "--json").stdout)
    assert told["milpbn"] == package.__version__
    assert told["healthy"]
    assert told["test"]["passed"]
    found = {p["name"]: p for p in told["packages"]}
    assert found["highspy"]["version"]
    assert not found["highspy"]["extra"]
    assert found["pyscipopt"]["extra"] == "scip"
    assert "ruff" not in found


def test_a_package_that_is_missing(milpbn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor.version

    def version(name: str) -> str:
        if name in ("skops", "pyscipopt"):
            raise PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(doctor, "version", version)
    result = milpbn("doctor")
    assert result.exit_code == 1
    assert "Missing: skops. Install milpbn again." in result.stdout
    assert "not installed; pip install 'milpbn[scip]'" in result.stdout


def test_a_solver_that_fails(milpbn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SolverError("HiGHS does not answer")

    monkeypatch.setattr(doctor, "learn_classifier", fail)
    result = milpbn("doctor")
    assert result.exit_code == 1
    assert "HiGHS does not answer" in result.stdout
    assert "The self-test failed." in result.stdout
