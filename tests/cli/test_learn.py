"""``milpbn learn``: one heuristic, or all of them in a race."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from milpbn import Model
from milpbn.cli.session import Session
from milpbn.clock import OutOfTime
from milpbn.search import LEARNERS, Learner, Search

Run = Callable[..., Result]

QUICK = ("learn", "--dataset", "iris", "--class-root")


def test_a_heuristic_reports_no_bound(milpbn: Run, tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    result = milpbn(*QUICK, "--method", "tan-cmi", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "status      feasible" in result.stdout
    assert "engine      tan-cmi" in result.stdout
    assert "bound" not in result.stdout
    model = Model.load(out)
    assert model.result.bound is None
    assert model.settings["method"] == "tan-cmi"
    shown = milpbn("inspect", out)
    assert (shown.exit_code, "\nbound" in shown.stdout) == (0, False)


def test_scores_without_an_exact_engine_can_be_searched(milpbn: Run) -> None:
    refused = milpbn("solve", "--dataset", "iris", "--score", "cr")
    assert refused.exit_code == 2
    assert "`milpbn learn` can search with it" in refused.stderr
    result = milpbn(*QUICK, "--method", "hc", "--score", "cr", "--validation", 3, "--json")
    content = json.loads(result.stdout)
    assert content["result"]["score"] == "cr"
    assert content["settings"]["validation"] == 3


def test_the_seed_reaches_the_heuristic(milpbn: Run) -> None:
    def structure(seed: int) -> object:
        result = milpbn(*QUICK, "--method", "ro-cr", "--seed", seed, "--json")
        content = json.loads(result.stdout)
        assert content["settings"]["seed"] == seed
        return content["result"]["structure"]

    assert structure(0) == structure(0)
    assert any(structure(seed) != structure(0) for seed in range(1, 5))


def test_a_race_compares_all_methods(milpbn: Run) -> None:
    options = ("--max-parents", 1, "--score", "cr")
    result = milpbn(*QUICK, "--method", "all", *options)
    assert result.exit_code == 0, result.stderr
    table, report, _ = result.stdout.split("\n\n")
    lines = [line.split() for line in table.splitlines()]
    assert lines[0] == ["method", "score", "evaluations", "seconds", "training", "test"]
    assert [line[0] for line in lines[1:]] == list(LEARNERS)
    best = max(float(line[1]) for line in lines[1:])
    assert f"objective   {best:.6f}" in report


def test_a_race_in_json_is_the_best_result(milpbn: Run) -> None:
    options = ("--max-parents", 1, "--json")
    result = milpbn(*QUICK, "--method", "all", *options)
    assert json.loads(result.stdout)["result"]["objective"] == pytest.approx(298.892436)


@pytest.mark.parametrize("end", [OutOfTime, KeyboardInterrupt])
@pytest.mark.parametrize("method", ["hc", "all"])
def test_a_search_that_was_stopped_exits_with_3(
    milpbn: Run, monkeypatch: pytest.MonkeyPatch, end: type[BaseException], method: str
) -> None:
    def stopped(learner: Learner, search: Search) -> None:
        raise end

    monkeypatch.setattr(LEARNERS["hc"], "run", stopped)
    result = milpbn(*QUICK, "--max-parents", 1, "--method", method)
    assert result.exit_code == 3, result.stderr
    if method == "all":
        # Only an interrupt ends the race: the other methods have their own share of the time.
        raced = [line.split()[0] for line in result.stdout.split("\n\n")[0].splitlines()[1:]]
        known = list(LEARNERS)
        assert raced == (known if end is OutOfTime else known[: known.index("hc") + 1])


def test_a_race_interrupted_between_two_methods_keeps_the_first(
    milpbn: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn, calls = Session.learn, count()

    def interrupted(session: Session, *how: Any) -> Model:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return learn(session, *how)

    monkeypatch.setattr(Session, "learn", interrupted)
    result = milpbn(*QUICK, "--max-parents", 1, "--method", "all")
    raced = [line.split()[0] for line in result.stdout.split("\n\n")[0].splitlines()[1:]]
    assert raced == list(LEARNERS)[:2]
    assert result.exit_code == 3
    assert "interrupted after 2 of" in result.stderr


@pytest.mark.parametrize("command", [("learn", "--method", "nb"), ("solve",)])
def test_parameters_that_ran_out_of_time_exit_with_3(
    milpbn: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    options = ("--dataset", "iris", "--max-parents", 1, "--class-root")
    assert milpbn(*command, *options).exit_code == 0
    learn = Session.learn

    def cut_short(session: Session, **how: Any) -> Model:
        model = learn(session, **how)
        return replace(model, parameters=replace(model.parameters, ended="time_limit"))

    monkeypatch.setattr(Session, "learn", cut_short)
    assert milpbn(*command, *options).exit_code == 3


def test_a_start_is_read_from_a_file(milpbn: Run, iris_model: Path) -> None:
    result = milpbn(*QUICK, "--method", "hc", "--start", iris_model, "--json")
    objective = json.loads(result.stdout)["result"]["objective"]
    assert objective >= Model.load(iris_model).result.objective


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give the data to learn from"),
        (("--dataset", "iris", "--method", "hcc"), "unknown method 'hcc'; did you mean hc?"),
        (("--dataset", "iris", "--method", "monolithic"), "monolithic is an exact engine"),
        (("--dataset", "iris", "--validation", "1"), "validation needs at least 2 folds, not 1"),
        (
            ("--dataset", "iris", "--validation", "3", "--score", "mdl"),
            "--validation cannot be combined with --score mdl",
        ),
        (
            ("--dataset", "iris", "--p", "0.8", "--score", "cr"),
            "--p cannot be combined with --score cr",
        ),
        (("--dataset", "iris", "--out", os.curdir), "it is a folder"),
        (("--dataset", "iris", "--gap", "1%"), "No such option"),
    ],
)
def test_wrong_options_are_named_at_once(
    milpbn: Run, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr("milpbn.cli.session.load_table", None)  # nothing may be loaded
    result = milpbn("learn", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize("parameters", ["cl", "mm:lambda=0.5"])
def test_discriminative_parameters_are_learned_recorded_and_used(
    milpbn: Run, tmp_path: Path, iris_rows: Path, parameters: str
) -> None:
    plain, out = tmp_path / "ml.json", tmp_path / "model.json"
    assert milpbn(*QUICK, "--method", "nb", "--out", plain).exit_code == 0
    result = milpbn(*QUICK, "--method", "nb", "--parameters", parameters, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert f" by {parameters} (" in result.stdout
    model, reference = Model.load(out), Model.load(plain)
    # The structure and its score are those of maximum likelihood.
    assert model.result.objective == reference.result.objective
    assert model.settings["parameters"] == parameters
    assert model.parameters.objective > model.parameters.start
    assert "parameters" in model.result.seconds
    assert f" by {parameters} (" in milpbn("inspect", out).stdout
    probabilities = [milpbn("predict", m, iris_rows).stdout for m in (plain, out)]
    assert probabilities[0] != probabilities[1]


def test_unknown_parameters_are_refused_before_anything_is_read(milpbn: Run) -> None:
    for given, message in (("cll", "did you mean cl"), ("cl:penalty=x", "needs a number")):
        result = milpbn(*QUICK, "--parameters", given)
        assert result.exit_code == 2
        assert message in result.stderr


def test_a_race_with_discriminative_parameters(milpbn: Run) -> None:
    options = ("--max-parents", 1, "--parameters", "cl:penalty=1")
    result = milpbn(*QUICK, "--method", "all", *options)
    assert result.exit_code == 0, result.stderr
    assert " by cl:penalty=1.0 (" in result.stdout


def test_a_multinet_from_data_to_predictions(milpbn: Run, tmp_path: Path, iris_rows: Path) -> None:
    out, picture = tmp_path / "model.json", tmp_path / "net.png"
    options = ("--method", "multinet-cmi", "--parameters", "cl", "--out", out)
    result = milpbn(*QUICK, *options)
    assert result.exit_code == 0, result.stderr
    assert "class = Iris-setosa" in result.stdout
    shown = milpbn("inspect", out, "--draw", picture)
    assert (shown.exit_code, "engine      multinet-cmi" in shown.stdout) == (0, True)
    assert len(list(tmp_path.glob("net-*.png"))) == 3
    assert "accuracy" in milpbn("predict", out, iris_rows).stderr
    assert milpbn("verify", out).exit_code == 0
    refused = milpbn(*QUICK, "--method", "multinet-cmi", "--score", "mdl")
    assert (refused.exit_code, "multinets" in refused.stderr) == (2, True)
