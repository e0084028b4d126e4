"""``milpbn path``: table, files, exit codes."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from milpbn.cli.live import GapTable

Run = Callable[..., Result]

QUICK = ("path", "--dataset", "iris", "--max-parents", 1, "--class-root")


def test_a_table_a_csv_file_and_a_picture(milpbn: Run, tmp_path: Path) -> None:
    out, plot = tmp_path / "path.csv", tmp_path / "path.png"
    options = ("--penalty", "100,5,0.5,0", "--folds", 2, "--out", out, "--plot", plot)
    result = milpbn(*QUICK, *options)
    assert result.exit_code == 0, result.stderr
    header, *lines = result.stdout.splitlines()
    assert header.split()[:3] == ["penalty", "status", "objective"]
    assert sum("optimal" in line for line in lines) == 4
    assert "2 folds, local search inside the folds" in result.stdout
    assert "smallest log-loss: penalty" in result.stdout
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert rows[0]["arcs"] == "0"
    assert rows[-1]["penalty"] == "0.0"
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "penalty 0: optimal" in result.stderr


def test_a_narrow_terminal_gets_fewer_columns(milpbn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--penalty", "100,0", "--folds", 2, "--holdout", 0.3, "--quiet")
    whole = milpbn(*QUICK, *options).stdout.splitlines()
    monkeypatch.setattr("milpbn.cli.path.terminal_width", lambda: 85)
    narrow = milpbn(*QUICK, *options).stdout.splitlines()
    assert len(whole[0]) == len(whole[1]) == 123
    left = ["penalty", "status", "gap", "parameters", "test", "log-loss", "accuracy"]
    assert narrow[0].split() == left
    assert [len(line) for line in narrow[:3]] == [len(narrow[0])] * 3
    assert len(narrow[0]) <= 85
    assert [line.split()[:2] for line in narrow[1:3]] == [line.split()[:2] for line in whole[1:3]]


def test_json_without_folds(milpbn: Run) -> None:
    result = milpbn(*QUICK, "--penalty", "1,bic,0", "--folds", 0, "--json", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    content = json.loads(result.stdout)
    assert [round(point["penalty"], 3) for point in content["points"]] == [2.505, 1, 0]
    assert {point["log_loss"] for point in content["points"]} == {None}
    assert content["complete"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--penalty", "0,-1"), "the penalty must be a number from 0 on"),
        (("--penalty", "0,"), "the penalty must be a number from 0 on"),
        (("--score", "mdl"), "--score mdl has no penalty"),
        (("--folds", "1"), "at least 2 folds"),
        (("--points", "1"), "--points"),
        (("--plot", "path.txt"), "path.txt"),
    ],
)
def test_bad_options_are_usage_errors(milpbn: Run, options: tuple[str, ...], message: str) -> None:
    result = milpbn(*QUICK, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_an_accepted_gap_is_success(milpbn: Run) -> None:
    penalties = ("--penalty", "0", "--folds", 0)
    command = ("path", "--dataset", "heart", *penalties, "--class-root", "--quiet", "--gap", "20%")
    result = milpbn(*command)
    assert result.exit_code == 0, result.stderr
    assert " 0 feasible" in result.stdout or " 0 optimal" in result.stdout


def test_ctrl_c_keeps_the_finished_points(
    milpbn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: GapTable, line: str) -> None:
        if line.startswith("penalty 5:"):
            raise KeyboardInterrupt

    monkeypatch.setattr(GapTable, "print", stop)
    out = tmp_path / "path.csv"
    result = milpbn(*QUICK, "--penalty", "100,5,0.5,0", "--out", out)
    assert result.exit_code == 3, result.stderr
    assert [line.split(",")[0] for line in out.read_text().splitlines()] == [
        "penalty",
        "100.0",
        "5.0",
    ]


def test_several_p(milpbn: Run, tmp_path: Path) -> None:
    plot = tmp_path / "path.png"
    result = milpbn(*QUICK, "--penalty", "5,0", "--p", "0.6,0.9", "--folds", 2, "--plot", plot)
    assert result.exit_code == 0, result.stderr
    lines = [line.split()[:2] for line in result.stdout.splitlines()[:5]]
    assert lines == [["p", "penalty"], ["0.6", "5"], ["0.6", "0"], ["0.9", "5"], ["0.9", "0"]]
    assert " with p 0." in result.stdout
    assert plot.read_bytes()[:4] == b"\x89PNG"
