"""The command line in this process and in one of its own, and files to work on."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from milpbn.cli import cli

Run = Callable[..., Result]

MAIN = "from milpbn.cli import main; main()"


@pytest.fixture(autouse=True)
def clock_starts_now(monkeypatch: pytest.MonkeyPatch) -> None:
    # A command counts from the start of its process, which here is long ago.
    monkeypatch.setattr("milpbn.cli.session.PROCESS_START", time.perf_counter())


@pytest.fixture(scope="session")
def milpbn() -> Run:
    """Run a command in this process."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(a) for a in arguments])

    return run


def start_process(*arguments: object, code: str = MAIN, **how: object) -> subprocess.Popen[str]:
    """Start a command in a process of its own; `code` is what Python runs."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **how,  # type: ignore[call-overload]
    )


@pytest.fixture
def wait_for_line() -> Callable[[subprocess.Popen[str], str], None]:
    """Read stderr up to a line that contains a text; other notes may come before it."""

    def wait(started: subprocess.Popen[str], text: str) -> None:
        assert started.stderr is not None
        assert any(text in line for line in started.stderr), f"there was no line {text!r}"

    return wait


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command in a process of its own, to its end."""

    def run(*arguments: object, code: str = MAIN, **how: object) -> subprocess.CompletedProcess:
        started = start_process(*arguments, code=code, **how)
        stdout, stderr = started.communicate(timeout=600)
        return subprocess.CompletedProcess(started.args, started.returncode, stdout, stderr)

    return run


@pytest.fixture
def launch() -> Callable[..., subprocess.Popen[str]]:
    """Start a command in a process of its own and do not wait."""
    return start_process


@pytest.fixture(scope="session")
def iris_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model learned from iris."""
    path = tmp_path_factory.mktemp("model") / "iris.json"
    options = ["--dataset", "iris", "--max-parents", "1", "--class-root", "--out", str(path)]
    result = CliRunner().invoke(cli, ["solve", *options])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="session")
def iris_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of iris, with labels."""
    path = tmp_path_factory.mktemp("rows") / "iris.csv"
    result = CliRunner().invoke(cli, ["datasets", "export", "iris", "--out", str(path)])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="session")
def messy_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What people have: semicolons, decimal commas, identifiers, gaps, letters of all sorts."""
    path = tmp_path_factory.mktemp("messy") / "messy.csv"
    rng = random.Random(1)
    colors = ["rot", "grün, hell", "blau"]
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["Kennung", "Nr", "Größe (cm)", "Farbe", "konst", "Klasse №"])
        for i in range(60):
            label = rng.randrange(3)
            size = f"{rng.gauss(label, 0.5):.2f}".replace(".", ",")
            color = "NA" if i % 10 == 3 else colors[label if rng.random() < 0.7 else 0]
            writer.writerow([f"id-{i:04}", i + 1, size, color, "x", label])
    return path
