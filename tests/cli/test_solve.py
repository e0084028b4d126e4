"""``milpbn solve``: what it prints, writes, refuses and returns."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result

import milpbn.result as milpbn_result
from milpbn import Model, SolveOptions
from milpbn.learning import classifier

Run = Callable[..., Result]

BARE = ("solve", "--dataset", "iris", "--max-parents", 1)
QUICK = (*BARE, "--warm-start", "none")


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
    engine = ("--engine", "monolithic", "--emit", "highspy")
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
        ("--engine", "branch-and-cut"),
        ("--engine", "monolithic", "--emit", "pulp"),
        ("--engine", "monolithic", "--emit", "highspy"),
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
    result = milpbn(*BARE, "--warm-start", iris_model, "--json")
    warm = json.loads(result.stdout)["result"]["warm_start"]
    assert warm["source"] == str(iris_model)
    stored = Model.load(iris_model).result
    assert warm["objective"] == pytest.approx(stored.objective)


def test_a_heuristic_finds_a_warm_start_unless_told_not_to(milpbn: Run) -> None:
    assert _fields(milpbn(*BARE).stdout)["warm start"].startswith("local-search, ")
    assert _fields(milpbn(*BARE, "--warm-start", "nb").stdout)["warm start"].startswith("nb, ")
    assert "warm start" not in _fields(milpbn(*QUICK).stdout)


def test_a_model_of_other_data_is_no_warm_start(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("solve", "--dataset", "synthetic-3", "--warm-start", iris_model)
    assert result.exit_code == 1
    assert "the structure's variables differ from the data's" in result.stderr


def test_a_missing_warm_start_is_named(milpbn: Run, tmp_path: Path) -> None:
    result = milpbn(*BARE, "--warm-start", tmp_path / "no.json")
    assert result.exit_code == 1
    assert f"{str(tmp_path / 'no.json')!r} is neither a file nor a heuristic" in result.stderr
    assert "tan-cmi" in result.stderr


# The user's own files


def test_a_messy_file_is_read_with_notes(milpbn: Run, messy_csv: Path) -> None:
    result = milpbn("solve", "--data", messy_csv, "--target", "Klasse №")
    assert result.exit_code == 0, result.stderr
    notes = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    for part in (
        "'Größe (cm)' is read with decimal commas",
        "'Kennung' is dropped: it has 60 different values in 60 rows, like an identifier; "
        "--categorical Kennung keeps it.",
        "'Nr' is dropped: it counts up or down like a row number; --numeric Nr keeps it.",
        "'konst' is dropped",
        "Left out: 6 rows with a missing feature",
    ):
        assert any(part in note for note in notes), part
    assert _fields(result.stdout)["rows"] == "54 training (6 incomplete rows left out)"
    assert "Klasse №" in result.stdout


def test_notes_in_json_name_options_as_they_are_typed(milpbn: Run, messy_csv: Path) -> None:
    result = milpbn("solve", "--data", messy_csv, "--target", "Klasse №", "--json", "--quiet")
    notes = json.loads(result.stdout)["notes"]
    assert any(note.endswith("--numeric Nr keeps it.") for note in notes)


def test_missing_can_be_a_state(milpbn: Run, messy_csv: Path) -> None:
    options = ("--target", "Klasse №", "--missing", "state")
    result = milpbn("solve", "--data", messy_csv, *options)
    assert _fields(result.stdout)["rows"] == "60 training"


def test_parquet_and_arff(milpbn: Run, iris_rows: Path, tmp_path: Path) -> None:
    rows = pd.read_csv(iris_rows)
    rows.to_parquet(tmp_path / "iris.parquet")
    names = "".join(f"@attribute {c} numeric\n" for c in rows.columns[:-1])
    classes = ",".join(rows["class"].unique())
    (tmp_path / "iris.arff").write_text(
        f"@relation iris\n{names}@attribute class {{{classes}}}\n@data\n"
        + rows.to_csv(index=False, header=False)
    )
    expected = _fields(milpbn(*QUICK).stdout)["objective"]
    for name in ("iris.parquet", "iris.arff"):
        options = ("--data", tmp_path / name, "--target", "class", *QUICK[3:])
        result = milpbn("solve", *options)
        assert _fields(result.stdout)["objective"] == expected, name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "Klasse"), "there is no column 'Klasse' (close matches: 'Klasse №')"),
        (("--target", "konst"), "target 'konst' is 'x' in every row"),
        (("--target", "Größe (cm)"), "looks like regression, not classification"),
        (("--target", "Klasse №", "--drop", "Farb"), "--drop: there is no column 'Farb'"),
        (("--target", "Klasse №", "--numeric", "Farbe"), "column 'Farbe' holds no numbers"),
        (("--target", "Klasse №", "--drop", "Farbe,Größe (cm)"), "no feature is left"),
    ],
)
def test_columns_that_cannot_be_used_are_named(
    milpbn: Run, messy_csv: Path, options: tuple[str, ...], message: str
) -> None:
    result = milpbn("solve", "--data", messy_csv, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "the file is empty"),
        ("header.csv", b"a,b\n", "no rows below them"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields"),
        ("bytes.csv", b"a,b\n\x00\x01", "this is not a text file"),
        ("bad.parquet", b"PAR1 and no more", "not a readable Parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    milpbn: Run, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    result = milpbn("solve", "--data", tmp_path / name, "--target", "b")
    assert result.exit_code == 1
    assert name in result.stderr
    assert message in result.stderr


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_a_file_that_is_not_there_is_named(milpbn: Run, tmp_path: Path, name: str) -> None:
    result = milpbn("solve", "--data", tmp_path / name, "--target", "b")
    assert result.exit_code == 1
    assert str(tmp_path / name) in result.stderr


# Wrong options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give the data to learn from: --dataset NAME"),
        (("--dataset", "iris", "--data", "x.csv"), "either --dataset NAME or --data FILE"),
        (("--data", "x.csv"), "--data needs --target COLUMN"),
        (("--dataset", "iris", "--target", "class"), "--target goes with --data FILE"),
        (("--dataset", "iris", "--drop", "a"), "--drop goes with --data FILE"),
        (
            ("--dataset", "iris", "--score", "smm"),
            "'--score': unknown score 'smm'; did you mean sm",
        ),
        (("--dataset", "iris", "--p", "0.4"), "'--p': 0.4 is not in the range 0.5<x<1"),
        (("--dataset", "iris", "--p", "0.9", "--gamma", "2"), "give --p or --gamma, not both"),
        (("--dataset", "iris", "--gamma", "0"), "'--gamma': 0.0 is not in the range"),
        (("--dataset", "iris", "--score", "mdl", "--p", "0.9"), "--p does not go with --score mdl"),
        (("--dataset", "iris", "--ess", "2"), "--ess does not go with --score sm"),
        (
            ("--dataset", "iris", "--score", "mdl", "--penalty", "1"),
            "--penalty does not go with --score mdl",
        ),
        (
            ("--dataset", "iris", "--penalty", "-1"),
            "the penalty must be a number from 0 on, or bic",
        ),
        (("--dataset", "iris", "--max-parents", "0"), "'--max-parents': 0 is not in the range"),
        (("--dataset", "iris", "--threads", "0"), "'--threads': 0 is not in the range"),
        (("--dataset", "iris", "--seed", "-1"), "'--seed': -1 is not in the range"),
        (("--dataset", "iris", "--gap", "5"), "'--gap': '5' is a fraction and means 500 %"),
        (("--dataset", "iris", "--time-limit", "-3"), "'--time-limit': '-3' is not a duration"),
        (("--dataset", "iris", "--time-limit", "5x"), "'--time-limit': '5x' is not a duration"),
        (("--dataset", "iris", "--memory-limit", "4"), "'--memory-limit': '4' is not a size"),
        (("--dataset", "iris", "--smoothing", "none"), "'--smoothing': unknown smoothing 'none'"),
        (("--dataset", "iris", "--require", "a-b"), "'--require': 'a-b' is not an arc"),
        (("--dataset", "iris", "--engine", "magic"), "'--engine': 'magic'"),
        (
            ("--dataset", "iris", "--engine", "branch-and-cut", "--emit", "pulp"),
            "--emit goes with --engine monolithic",
        ),
        (("--dataset", "iris", "--write-model", "a.txt"), "'a.txt' must end in .lp or .mps"),
        (("--dataset", "iris", "--out", "no/a.json"), "'--out': cannot write no/a.json"),
        (("--dataset", "iris", "--trace", "."), "'--trace': cannot write .: it is a folder"),
        (("--dataset", "iris", "--out", "a", "--trace", "./a"), "--trace ./a is also --out"),
        (("--dataset", "iris", "--tune", "1"), "No such option"),
        (("iris",), "unexpected extra argument"),
    ],
)
def test_wrong_options_are_named_at_once(
    milpbn: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("milpbn.cli.session.load_table", None)  # nothing may be loaded
    result = milpbn("solve", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dataset", "irsi"), "there is no data set 'irsi'; did you mean iris?"),
        (("--dataset", "mdc/Jura"), "use `milpbn mdc solve` for several"),
        (("--dataset", "iris", "--memory-limit", "1KB"), "the memory limit is"),
        (
            ("--dataset", "vehicle", "--memory-limit", "20MB", "--engine", "monolithic"),
            "Use the score sbm",
        ),
    ],
)
def test_errors_leave_nothing_behind(
    milpbn: Run, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    outputs = ("--out", tmp_path / "a.json", "--trace", tmp_path / "a.csv")
    result = milpbn("solve", *options, *outputs, "--time-limit", "600")
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())
