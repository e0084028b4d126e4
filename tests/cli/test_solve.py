"""``milpbn solve``: what it prints, writes, refuses and returns."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import milpbn.result as milpbn_result
from milpbn import Model, SolveOptions
from milpbn.learning import classifier

Run = Callable[..., Result]

BARE = ("solve", "--dataset", "iris", "--max-parents", 1)
QUICK = (*BARE, "--start", "none")


def _fields(report: str) -> dict[str, str]:
    """The lines ``key   value`` above the structure."""
    head = report.split("\n\n")[0]
    return {line[:12].strip(): line[12:] for line in head.splitlines()}


def test_the_report_says_all_that_matters(milpbn: Run) -> None:
    result = milpbn("solve", "--dataset", "synthetic-3")
    assert result.exit_code == 0, result.stderr
    fields = _fields(result.stdout)
    assert fields["data"] == "synthetic-3"
    assert fields["rows"] == "1000 training, 1000 test"
    assert fields["status"] == "optimal"
    assert fields["score"] == "sm (p=0.9, gamma=2.19722, smoothing=laplace:1)"
    assert float(fields["objective"]) == pytest.approx(float(fields["bound"]))
    assert fields["gap"].startswith("0.0000 %")
    assert fields["found by"]
    for phase in ("loading", "encoding", "scoring", "checking"):
        assert phase in fields["seconds"]
    assert "training " in fields["accuracy"]
    assert "test " in fields["accuracy"]
    structure = result.stdout.split("\n\n")[1].splitlines()
    assert [line.split(" <- ")[0] for line in structure] == ["class", "X1", "X2", "X3"]


def test_progress_goes_to_stderr_in_plain_lines(milpbn: Run) -> None:
    result = milpbn(*QUICK)
    lines = result.stderr.splitlines()
    assert lines[0].split() == ["time", "nodes", "best", "solution", "best", "bound", "gap", "by"]
    assert lines[-1].endswith("  end")
    assert "\x1b" not in result.stderr
    assert "best bound" not in result.stdout


def test_quiet_says_nothing_on_stderr(milpbn: Run, messy_csv: Path) -> None:
    result = milpbn("solve", "--data", messy_csv, "--target", "Klasse №", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "status      optimal" in result.stdout


def test_json_is_all_there_is_on_stdout(milpbn: Run) -> None:
    result = milpbn(*QUICK, "--json", "--gamma", 1.5)
    content = json.loads(result.stdout)
    top = ["data", "settings", "result", "parameters", "accuracy", "notes"]
    assert list(content) == top
    assert content["result"]["status"] == "optimal"
    assert content["settings"]["gamma"] == 1.5
    assert content["settings"]["max_parents"] == 1
    assert content["data"]["name"] == "iris"
    assert 0.9 < content["accuracy"]["training"] <= 1


def test_model_and_trace_agree_with_the_report(milpbn: Run, tmp_path: Path) -> None:
    out, trace = tmp_path / "model.json", tmp_path / "trace.csv"
    result = milpbn(*QUICK, "--json", "--out", out, "--trace", trace)
    assert sorted(tmp_path.iterdir()) == [out, trace]
    assert result.stderr.endswith(f"wrote {out}\nwrote {trace}\n")
    content, model = json.loads(result.stdout), Model.load(out)
    assert json.loads(json.dumps(model.result.to_dict())) == content["result"]
    assert model.settings == content["settings"]
    with trace.open() as file:
        points = list(csv.DictReader(file))
    assert list(points[0]) == ["time", "objective", "bound", "gap", "nodes", "source"]
    assert points[-1]["source"] == "end"
    assert float(points[-1]["objective"]) == model.result.objective
    bounds = [float(p["bound"]) for p in points if p["bound"]]
    assert bounds == sorted(bounds, reverse=True)


def test_a_gap_that_was_asked_for_is_a_success(milpbn: Run) -> None:
    result = milpbn(*QUICK, "--gap", "3%", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)["result"]
    assert found["status"] == "feasible"
    assert 1e-6 < found["gap_rel"] <= 0.03


@pytest.mark.parametrize(("gap", "code"), [("5%", 0), ("1%", 3), ("0", 3)])
def test_a_run_that_was_stopped_within_the_gap_is_a_success(
    milpbn: Run, monkeypatch: pytest.MonkeyPatch, gap: str, code: int
) -> None:
    learn = classifier.run_method

    def stopped(*args: Any, **options: Any) -> milpbn_result.Result:
        result = learn(*args, **options)
        return replace(result, status="time_limit", bound=1.02 * result.objective)

    monkeypatch.setattr(classifier, "run_method", stopped)
    result = milpbn(*QUICK, "--gap", gap)
    assert result.exit_code == code
    assert "status      time_limit" in result.stdout


def test_options_of_the_solver_reach_it(milpbn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    learn, told = classifier.run_method, []

    def listening(data: Any, settings: Any, **more: Any) -> milpbn_result.Result:
        told.append(settings.options)
        return learn(data, settings, **more)

    monkeypatch.setattr(classifier, "run_method", listening)
    engine = ("--method", "monolithic", "--emit", "highspy")
    more = ("--gap", "2%", "--threads", 2, "--seed", 7, "--memory-limit", "1GB")
    assert milpbn(*QUICK, *engine, *more).exit_code == 0
    options = SolveOptions(gap=0.02, threads=2, seed=7, emit="highspy", memory_limit=10**9)
    assert told == [options]


def test_a_time_limit_leaves_some_for_the_parameters(
    milpbn: Run, ticking: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milpbn.cli.session.PROCESS_START", time.perf_counter())
    options = ("--parameters", "cl:penalty=1", "--time-limit", 1, "--json")
    result = milpbn("solve", "--dataset", "heart", *options)
    assert result.exit_code == 3
    content = json.loads(result.stdout)
    assert content["result"]["status"] == "time_limit"
    assert content["parameters"]["ended"] == "converged"
    assert content["parameters"]["objective"] > content["parameters"]["start"]


def test_the_same_run_gives_the_same_answer(milpbn: Run) -> None:
    first, second = (json.loads(milpbn(*QUICK, "--json").stdout)["result"] for _ in range(2))
    for key in ("structure", "objective", "bound", "nodes"):
        assert first[key] == second[key]


def test_rows_all_leaves_nothing_to_test_on(milpbn: Run) -> None:
    fields = _fields(milpbn("solve", "--dataset", "synthetic-3", "--rows", "all").stdout)
    assert fields["rows"] == "2000 training"
    assert "test" not in fields["accuracy"]


@pytest.mark.parametrize("score", ["sm", "sbm", "mdl", "bdeu"])
def test_the_model_can_be_written_for_every_score(milpbn: Run, tmp_path: Path, score: str) -> None:
    for name in ("model.lp", "model.mps"):
        file = tmp_path / name
        result = milpbn(*QUICK, "--score", score, "--write-model", file)
        assert result.exit_code == 0, result.stderr
        text = file.read_text()
        assert "eta.petalwidth.from.class: petalwidth <- class" in text
        assert text.rstrip().endswith("end" if name == "model.lp" else "ENDATA")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "branch-and-cut"),
        ("--method", "monolithic", "--emit", "pulp"),
        ("--method", "monolithic", "--emit", "highspy"),
    ],
)
def test_every_way_gives_the_same_optimum(milpbn: Run, options: tuple[str, ...]) -> None:
    fields = _fields(milpbn(*QUICK, *options).stdout)
    assert fields["status"] == "optimal"
    assert float(fields["objective"]) == pytest.approx(298.892436)


def test_what_is_open_is_told_by_row_and_of_the_hinge_loss(milpbn: Run) -> None:
    run = milpbn("solve", "--dataset", "heart", "--gap", "5%", "--quiet")
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("open")]
    assert "per row" in line
    assert "% of the hinge loss" in line
    assert "\nopen" not in milpbn("solve", "--dataset", "iris", "--quiet").stdout


# Warm starts


def test_a_model_is_a_warm_start(milpbn: Run, iris_model: Path) -> None:
    result = milpbn(*BARE, "--start", iris_model, "--json")
    warm = json.loads(result.stdout)["result"]["warm_start"]
    assert warm["source"] == str(iris_model)
    stored = Model.load(iris_model).result
    assert warm["objective"] == pytest.approx(stored.objective)


def test_a_heuristic_finds_a_warm_start_unless_told_not_to(milpbn: Run) -> None:
    assert _fields(milpbn(*BARE).stdout)["warm start"].startswith("local-search, ")
    assert _fields(milpbn(*BARE, "--start", "nb").stdout)["warm start"].startswith("nb, ")
    assert "warm start" not in _fields(milpbn(*QUICK).stdout)


def test_a_model_of_other_data_is_no_warm_start(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("solve", "--dataset", "synthetic-3", "--start", iris_model)
    assert result.exit_code == 1
    assert "the structure's variables differ from the data's" in result.stderr


def test_a_missing_warm_start_is_named(milpbn: Run, tmp_path: Path) -> None:
    result = milpbn(*BARE, "--start", tmp_path / "no.json")
    assert result.exit_code == 1
    assert f"{str(tmp_path / 'no.json')!r} is neither a file nor a heuristic" in result.stderr
    assert "tan-cmi" in result.stderr
