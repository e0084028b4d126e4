"""scripts/audit: an audit that asked nobody must not look like one that found nothing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FOUND = "jinja2 2.4.1 PYSEC-2014-8 2.7.2"
SILENT = "ERROR: jinja2: Dependency not found on PyPI and could not be audited: jinja2 (2.4.1)"


@pytest.fixture
def audit(tmp_path):
    """Run the script with a pip-audit that gives these answers: for known.txt, for the packages."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=lambda *_: ["__pycache__"])
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    environment = tmp_path / "environment"

    def program(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{text}\n")
        path.chmod(0o755)

    program(environment / "bin" / "python", "echo numpy==2.0.0")  # also stands for pip freeze
    how = {**os.environ, "MILPBN_VENV": str(environment)}

    def run(known: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        answers = f'[[ "$*" == *known.txt ]] && echo "{known}" && exit 1; echo audited; exit {code}'
        program(tmp_path / "build" / "audit" / "bin" / "pip-audit", answers)
        script = tmp_path / "scripts" / "audit"
        return subprocess.run(["bash", script], capture_output=True, text=True, env=how)

    return run


def test_without_a_database_nothing_is_audited_and_the_script_says_so(audit):
    done = audit(SILENT)
    assert done.returncode == 2
    assert "audited" not in done.stdout
    assert SILENT in done.stderr
    assert "nothing was audited: the database of vulnerabilities" in done.stderr


def test_with_a_database_both_lists_are_audited(audit):
    done = audit(FOUND)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines().count("audited") == 2


def test_a_finding_is_a_failure(audit):
    done = audit(FOUND, code=1)
    assert done.returncode == 1
    assert done.stdout.splitlines().count("audited") == 2  # the second list too
