"""The conditional log-likelihood on the command line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

DATA = ("--dataset", "iris", "--class-root")
LOO = ("--score", "cll", "--validation", "loo")
CLAIM = "no structure in the search space has a leave-one-out log-loss below"


def test_the_log_loss_that_is_proven_is_said_in_words(milpbn: Run, tmp_path: Path) -> None:
    model, page, proof = tmp_path / "model.json", tmp_path / "report.html", tmp_path / "proof.gz"
    result = milpbn("solve", *DATA, *LOO, "--out", model, "--certificate", proof)
    assert result.exit_code == 0, result.stderr
    # 18.775449 / 150, rounded down.
    assert f"proven      {CLAIM} 0.1251 per row" in result.stdout
    told = json.loads(model.read_text())["result"]
    assert told["log_loss"] == pytest.approx(told["log_loss_bound"], abs=1e-6)
    assert told["log_loss"] == pytest.approx(-told["objective"] / 150)
    assert f"{CLAIM} 0.1251 per row" in milpbn("inspect", model).stdout
    assert milpbn("report", model, "--out", page).exit_code == 0
    assert f"In other words: {CLAIM} 0.1251 per row." in page.read_text()
    assert milpbn("verify", model).exit_code == 0
    checked = milpbn("check", model, proof)
    assert checked.exit_code == 0
    assert "The structure is optimal" in checked.stdout


def test_an_open_run_says_what_was_found_and_what_is_proven(milpbn: Run, tmp_path: Path) -> None:
    model, page = tmp_path / "model.json", tmp_path / "report.html"
    result = milpbn("solve", *DATA, *LOO, "--gap", 0.9, "--start", "none", "--out", model)
    assert result.exit_code == 0, result.stderr
    assert "status      feasible" in result.stdout
    assert "per row; found 0." in result.stdout
    assert milpbn("report", model, "--out", page).exit_code == 0
    assert f"In other words: {CLAIM} 0." in page.read_text()


def test_a_path_of_log_losses(milpbn: Run, tmp_path: Path) -> None:
    out = tmp_path / "path.csv"
    options = ("--penalty", "100,2,0.1,0", "--folds", 0, "--quiet", "--out", out)
    assert milpbn("path", *DATA, *LOO, *options).exit_code == 0
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["optimal"] * 4
    for row in rows:
        one = milpbn("solve", *DATA, *LOO, "--penalty", row["penalty"], "--json")
        alone = json.loads(one.stdout)["result"]["objective"]
        assert float(row["objective"]) == pytest.approx(alone, rel=2e-6)


def test_the_best_structures_are_verified(milpbn: Run, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    assert milpbn("solve", *DATA, *LOO, "--best", 4, "--out", model).exit_code == 0
    assert milpbn("arcs", model, "--out", model).exit_code == 0
    verified = milpbn("verify", model)
    assert verified.exit_code == 0, verified.stdout
    assert "4 structures; every structure of the space was tried" in verified.stdout


def test_a_saved_tree_is_continued(milpbn: Run, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    first = milpbn("solve", *DATA, *LOO, "--gap", 0.9, "--checkpoint", tree)
    assert first.exit_code == 0, first.stderr
    result = milpbn("solve", *DATA, *LOO, "--resume", tree)
    assert result.exit_code == 0, result.stderr
    assert f"{CLAIM} 0.1251 per row" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--write-model", "x.lp"), "--write-model cannot be combined with --score cll"),
        (("--method", "monolithic"), "choose the method branch-and-cut"),
        (("--p", "0.9"), "--p cannot be combined with --score cll"),
        (("--p", "0.6,0.9"), "--p cannot be combined with --score cll"),
    ],
)
def test_what_does_not_go_with_it_is_refused(
    milpbn: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = milpbn("solve", *DATA, *LOO, *options)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


def test_an_objective_of_zero_has_no_infinite_gap(milpbn: Run, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    small = ("--max-parents", 1, "--p", "0.501", "--trace", trace)
    result = milpbn("solve", *DATA, *small)
    assert result.exit_code == 0
    assert "objective   0.000000" in result.stdout
    assert "inf" not in result.stderr + trace.read_text()


@pytest.mark.slow
def test_the_proof_of_a_log_loss_of_almost_zero_holds(milpbn: Run, tmp_path: Path) -> None:
    """The rounding that the checker adds is above 1e-6 here, but far below 1e-8 per row."""
    model, proof = tmp_path / "mushroom.json", tmp_path / "mushroom.gz"
    space = (*LOO, "--class-root", "--certificate", proof)
    result = milpbn("solve", "--dataset", "mushroom", *space, "--out", model)
    assert result.exit_code == 0, result.stderr
    result = milpbn("verify", model, "--certificate", proof)
    assert result.exit_code == 0, result.stdout
    assert "The certificate holds." in result.stdout
