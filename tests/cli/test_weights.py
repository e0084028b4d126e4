"""Weights on the command line: from the options to the model file and its verification."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A table with a column of weights, and the same table with repeated rows."""
    folder = tmp_path_factory.mktemp("weights")
    rng = np.random.default_rng(1)
    label = np.where(rng.random(120) < 0.2, "sick", "well, so far")
    frame = pd.DataFrame(
        {
            "age": rng.normal(np.where(label == "sick", 60, 45), 8).round(),
            "smoker": np.where(rng.random(120) < np.where(label == "sick", 0.7, 0.3), "yes", "no"),
            "times": rng.integers(0, 4, 120),
            "state": label,
        }
    )
    frame.to_csv(folder / "weighted.csv", index=False)
    repeated = frame.loc[np.repeat(frame.index, frame["times"])].drop(columns="times")
    repeated.to_csv(folder / "repeated.csv", index=False)
    return folder / "weighted.csv", folder / "repeated.csv"


def learned(milpbn: Run, command: str, file: Path, *options: object) -> dict[str, object]:
    result = milpbn(command, "--data", file, "--target", "state", "--json", "--quiet", *options)
    assert result.exit_code == 0, result.output
    content: dict[str, object] = json.loads(result.stdout)
    return content


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("solve", ("--validation", "loo", "--penalty", "bic")),
        ("solve", ("--score", "mdl", "--class-weight", "balanced", "--class-root")),
        ("learn", ("--method", "hc", "--score", "cll", "--parameters", "cl")),
    ],
)
def test_a_column_of_weights_repeats_rows(
    milpbn: Run, files: tuple[Path, Path], command: str, options: tuple[str, ...]
) -> None:
    weighted, repeated = files
    ours = learned(milpbn, command, weighted, "--weight", "times", *options)["result"]
    theirs = learned(milpbn, command, repeated, *options)["result"]
    assert isinstance(ours, dict)
    assert isinstance(theirs, dict)
    assert ours["structure"] == theirs["structure"]
    for name in ("objective", "bound"):
        assert ours[name] == pytest.approx(theirs[name])


def test_weights_are_learned_from_the_file_again(
    milpbn: Run, files: tuple[Path, Path], tmp_path: Path
) -> None:
    model, factors = tmp_path / "model.json", 'sick=3,"well, so far=0.5"'
    options = ("--weight", "times", "--class-weight", factors, "--out", model)
    result = milpbn("solve", "--data", files[0], "--target", "state", *options)
    assert result.exit_code == 0, result.output
    assert "rows of weight 0" in result.stderr
    assert "total weight" in result.stdout
    assert "--weight times" in result.stdout  # the advice at the end
    content = json.loads(model.read_text())
    assert content["data"]["columns"]["weight"] == "times"
    assert content["data"]["class_weight"] == {"sick": 3.0, "well, so far": 0.5}
    assert milpbn("verify", model).exit_code == 0
    del content["data"]["class_weight"]
    model.write_text(json.dumps(content))
    result = milpbn("verify", model)
    assert result.exit_code == 4
    assert "DISAGREES  fitting the encoder again" in result.stdout


def test_every_method_of_an_evaluation_learns_with_weights(
    milpbn: Run, files: tuple[Path, Path]
) -> None:
    options = ("--data", files[0], "--target", "state", "--folds", 2, "--quiet")
    methods = "nb,sk:logistic,sk:gradient-boosting,sk:tree"
    plain = milpbn("evaluate", *options, "--method", methods, "--drop", "times")
    weighted = milpbn("evaluate", *options, "--method", methods, "--class-weight", "sick=20",
                      "--drop", "times")  # fmt: skip
    assert (plain.exit_code, weighted.exit_code) == (0, 0), weighted.output
    for name in methods.split(","):
        lines = [
            next(line for line in r.stdout.splitlines() if line.startswith(name))
            for r in (plain, weighted)
        ]
        assert lines[0] != lines[1]


def test_weights_are_for_files_and_classes_must_exist(
    milpbn: Run, files: tuple[Path, Path]
) -> None:
    result = milpbn("solve", "--dataset", "iris", "--weight", "w")
    assert (result.exit_code, "--weight requires --data FILE" in result.stderr) == (2, True)
    result = milpbn("solve", "--dataset", "iris", "--class-weight", "heavy")
    assert result.exit_code == 2
    assert "'heavy' is neither balanced nor a weight for classes" in result.stderr
    result = milpbn("solve", "--dataset", "iris", "--class-weight", "rose=2")
    assert result.exit_code == 1
    assert "--class-weight: there is no class 'rose'; the classes are" in result.stderr
    result = milpbn("solve", "--data", files[0], "--target", "state", "--weight", "smoker")
    assert result.exit_code == 1
    assert "column 'smoker': the weight in row 1 is" in result.stderr
