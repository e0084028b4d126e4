"""``milpbn explain``: text, JSON, CSV and the picture."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from milpbn import Model, load_dataset

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def heart(milpbn: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model, and rows of which the first lacks two features."""
    folder = tmp_path_factory.mktemp("heart")
    model, rows = folder / "heart.json", folder / "rows.csv"
    learned = milpbn("learn", "--dataset", "heart", "--method", "tan-cmi", "--out", model)
    assert learned.exit_code == 0, learned.stderr
    frame = load_dataset("heart").features.head(30).astype(object)
    frame.loc[0, ["cp", "thal"]] = None
    frame.to_csv(rows, index=False)
    return model, rows


def test_a_row_in_words(milpbn: Run, heart: tuple[Path, Path]) -> None:
    result = milpbn("explain", *heart, "--row", "1,2")
    assert result.exit_code == 0, result.stderr
    first, second = result.stdout.split("row 2: ")
    lines = [re.split(r"  +", line) for line in first.splitlines()]
    assert re.fullmatch(r"row 1: class = 2, probability 0\.98\d\d", first.splitlines()[0])
    assert lines[2] == ["feature", "state", "given", "against 1"]
    assert ["slope", "2", "cp = missing"] in [line[:3] for line in lines]
    assert ["oldpeak", "> 1.7", "slope = 2"] in [line[:3] for line in lines]
    end = next(k for k, line in enumerate(lines) if line[0] == "log-odds")
    total = sum(float(line[-1]) for line in lines[3:end])
    assert total == pytest.approx(float(lines[end][-1]), abs=0.01)
    assert "(missing features)" in first
    assert "missing: cp, thal" in first
    assert "missing" not in second
    assert "note: " in result.stderr


def test_json_has_the_exact_numbers(milpbn: Run, heart: tuple[Path, Path]) -> None:
    result = milpbn("explain", *heart, "--row", 1, "--json")
    (row,) = json.loads(result.stdout)["rows"]
    model = Model.load(heart[0])
    explanation = model.explain(pd.read_csv(heart[1]).head(1))
    assert (row["row"], row["class"], row["missing"]) == (1, "2", ["cp", "thal"])
    assert row["probability"] == pytest.approx(explanation.probability[0])
    assert row["log_odds"] == {"1": pytest.approx(explanation.log_odds[0], abs=1e-9)}
    for item in row["contributions"]:
        expected = explanation.contributions[item["variable"]][0]
        assert item["contributions"]["1"] == pytest.approx(expected, abs=1e-12)
    slope = next(item for item in row["contributions"] if item["variable"] == "slope")
    assert (slope["state"], slope["given"]) == ("2", {"cp": None})


def test_all_rows_as_csv(milpbn: Run, heart: tuple[Path, Path], tmp_path: Path) -> None:
    shown = milpbn("explain", *heart, "--of", "2")
    table = pd.read_csv(StringIO(shown.stdout), index_col="row")
    assert list(table.index) == list(range(1, 31))
    assert set(table["explained class"]) == {2}
    np.testing.assert_allclose(table.iloc[:, 2:].sum(axis=1), table["log-odds"], atol=1e-9)
    written = milpbn("explain", *heart, "--of", "2", "--out", tmp_path / "out.csv")
    assert written.stdout == ""
    assert (tmp_path / "out.csv").read_text() == shown.stdout


def test_several_classes_have_a_column_each(milpbn: Run, tmp_path: Path, monkeypatch) -> None:
    model, rows = tmp_path / "car.json", tmp_path / "car.csv"
    milpbn("learn", "--dataset", "car", "--method", "nb", "--out", model)
    load_dataset("car").features.head(3).to_csv(rows, index=False)
    wide = milpbn("explain", model, rows, "--row", 1).stdout.splitlines()[2]
    heads = ["against all others", "against acc", "against good", "against vgood"]
    assert re.split(r"  +", wide) == ["feature", "state", *heads]
    monkeypatch.setattr("milpbn.cli.explain.terminal_width", lambda: 60)
    narrow = milpbn("explain", model, rows, "--row", 1).stdout
    assert max(map(len, narrow.splitlines())) <= 60
    assert "against all others" in narrow
    pair = milpbn("explain", model, rows, "--row", 1, "--against", "good").stdout
    assert re.split(r"  +", pair.splitlines()[2])[-1] == "against good"
    assert "all others" not in pair


def test_the_waterfall(milpbn: Run, heart: tuple[Path, Path], tmp_path: Path) -> None:
    picture = tmp_path / "row.svg"
    result = milpbn("explain", *heart, "--row", 1, "--plot", picture)
    assert result.exit_code == 0, result.stderr
    assert f"wrote {picture}" in result.stderr
    assert picture.read_text().count("<path") > 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--row", "31"), "rows.csv has 30 rows, and the first one is 1"),
        (("--row", "0"), "the first one is 1"),
        (("--row", "x"), "'x' is not a list of whole numbers"),
        (("--of", "7"), "--of: there is no class '7'; the classes are '1', '2'"),
        (("--of", "1", "--against", "1"), "both '1'"),
        (("--plot", "row.png"), "--plot requires one row"),
        (("--row", "1", "--plot", "row.gif"), "must end in .png"),
    ],
)
def test_wrong_options(
    milpbn: Run, heart: tuple[Path, Path], options: tuple[str, ...], message: str
) -> None:
    result = milpbn("explain", *heart, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_files_that_cannot_be_explained(milpbn: Run, heart: tuple[Path, Path], tmp_path: Path):
    model, rows = heart
    missing = milpbn("explain", model, tmp_path / "none.csv")
    assert (missing.exit_code, missing.stdout) == (1, "")
    assert "there is no file" in missing.stderr
    over = milpbn("explain", model, rows, "--out", rows)
    assert over.exit_code == 2
    pd.read_csv(rows).drop(columns="ca").to_csv(tmp_path / "less.csv", index=False)
    less = milpbn("explain", model, tmp_path / "less.csv", "--row", 2)
    assert less.exit_code == 0
    assert "missing: ca" in less.stdout
    strict = milpbn("explain", model, tmp_path / "less.csv", "--row", 2, "--strict")
    assert strict.exit_code == 1
    assert "'ca'" in strict.stderr


def test_effects_as_text_json_and_picture(
    milpbn: Run, heart: tuple[Path, Path], tmp_path: Path
) -> None:
    result = milpbn("explain", *heart, "--effects", "oldpeak,cp")
    assert result.exit_code == 0, result.stderr
    first, oldpeak, cp = result.stdout.strip().split("\n\n")
    assert first.startswith("Added to the log-odds of class, averaged over 30 rows of ")
    assert oldpeak.splitlines()[0].split() == ["oldpeak", "rows", "2"]
    assert len(cp.splitlines()) == 5
    picture = tmp_path / "effects.svg"
    result = milpbn("explain", *heart, "--json", "--plot", picture, "--effects")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["effects"]
    assert len(found) == 11
    assert found["oldpeak"]["cuts"] == [pytest.approx(1.7)]
    assert "<svg" in picture.read_text()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--effects", "agee"], "the model has no feature 'agee'; its features are"),
        (["--effects", "cp", "--row", "1"], "--effects cannot be combined with --row"),
        (["--effects", "cp", "--of", "2"], "--effects cannot be combined with --of"),
    ],
)
def test_effects_that_cannot_be_shown(
    milpbn: Run, heart: tuple[Path, Path], more: list[str], message: str
) -> None:
    result = milpbn("explain", *heart, *more)
    assert result.exit_code == 2
    assert message in result.stderr


def test_reasons_and_flips_of_rows(milpbn: Run, iris_model: Path, iris_rows: Path) -> None:
    result = milpbn("explain", iris_model, iris_rows, "--row", "1,60", "--why", "--flip")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["row 1", "row 1", "row 60", "row 60"]
    assert "because petal" in lines[0]
    assert " becomes " in lines[1]
    told = milpbn("explain", iris_model, iris_rows, "--row", 1, "--why", "--flip", "--json")
    row = json.loads(told.stdout)["rows"][0]
    assert row["reason"]["prediction"] == row["flip"]["prediction"] == "Iris-setosa"
    every = milpbn("explain", iris_model, iris_rows, "--why")
    assert len(every.stdout.splitlines()) == 150
    for options, message in (
        (("--why", "--of", "x"), "--why and --flip cannot be combined with --of"),
        (("--fixed", "petalwidth"), "--fixed requires --flip"),
        (("--flip", "--fixed", "petal"), "'petal' is not a feature of the model"),
        (("--why", "--row", "999"), "--row 999"),
    ):
        refused = milpbn("explain", iris_model, iris_rows, *options)
        assert refused.exit_code == 2
        assert message in refused.stderr
