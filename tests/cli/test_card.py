"""``milpbn card``: points as text, JSON and CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

from milpbn import BNClassifier, Model, load_dataset

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def learned(milpbn: Run, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Learn a model for a data set by a method."""
    folder = tmp_path_factory.mktemp("cards")

    def learn(dataset: str, method: str) -> Path:
        out = folder / f"{dataset}-{method}.json"
        if not out.exists():
            result = milpbn("learn", "--dataset", dataset, "--method", method, "--out", out)
            assert result.exit_code == 0, result.stderr
        return out

    return learn


def blocks(result: Result) -> list[list[list[str]]]:
    """The cells of the blocks of a card."""
    assert result.exit_code == 0, result.stderr
    parts = result.stdout.strip().split("\n\n")
    return [[re.split(r"  +", line.strip()) for line in part.splitlines()] for part in parts]


def test_two_classes(milpbn: Run, learned: Callable[[str, str], Path]) -> None:
    file = learned("heart", "tan-cmi")
    result = milpbn("card", file)
    head, *tables, totals, measures = blocks(result)
    card = Model.load(file).card()
    assert head[0] == ["Score card: class = 2 against 1"]
    assert f"With {card.threshold} points or more, 2 is predicted." in head[1][0]
    assert [table[0][0] for table in tables] == [table.variable for table in card.tables]
    by_name = {table[0][0]: table for table in tables}
    assert by_name["thal"][0] == ["thal", "points"]
    assert by_name["age"][0] == ["age", "ca = 0", "ca = 1", "ca = 2", "ca = 3"]
    age = next(table for table in card.tables if table.variable == "age")
    assert [[int(p) for p in line[1:]] for line in by_name["age"][1:]] == age.points[
        ..., 0
    ].T.tolist()
    assert totals[0] == ["total", "P(2)"]
    assert {int(t): float(p[:-2]) for t, p in totals[1:]} == pytest.approx(
        {t: 100 * p for t, p in card.probabilities().items()}, abs=0.006
    )
    assert measures[0] == ["Model and card on 270 training rows of heart:"]
    assert measures[1][0] == "accuracy"


def test_a_narrow_terminal_gets_one_line_per_pair(
    milpbn: Run, learned: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milpbn.cli.card.terminal_width", lambda: 30)
    tables = {table[0][0]: table for table in blocks(milpbn("card", learned("heart", "tan-cmi")))}
    assert tables["age"][0] == ["age", "given", "points"]
    assert tables["age"][1][:2] == ["<= 54.5", "ca = 0"]


def test_a_long_card_names_ways_to_a_shorter_one(
    milpbn: Run, learned: Callable[[str, str], Path]
) -> None:
    file = learned("vehicle", "tan-cmi")
    entries = sum(table.points.size for table in Model.load(file).card().tables)
    result = milpbn("card", file)
    assert f"note: the card has {entries:,} entries; --max-features 6" in result.stderr
    assert "entries" not in milpbn("card", file, "--json").stderr
    assert "entries" not in milpbn("card", learned("car", "nb")).stderr


@pytest.mark.parametrize("method", ["nb", "multinet-cmi"])
def test_several_classes(milpbn: Run, learned: Callable[[str, str], Path], method: str) -> None:
    file = learned("car", method)
    head, start, *tables, measures = blocks(milpbn("card", file, "--points", 20))
    assert "most points" in head[1][0]
    assert start[0] == ["class", "acc", "good", "unacc", "vgood"]
    assert start[1][0] == "(start)"
    assert {table[0][0] for table in tables} >= {"buying", "persons", "safety"}
    assert measures[0] == ["Model and card on 576 test rows of car:"]


def test_one_class_against_the_rest(
    milpbn: Run, learned: Callable[[str, str], Path], tmp_path: Path
) -> None:
    file, out = learned("car", "nb"), tmp_path / "card.csv"
    result = milpbn("card", file, "--of", "good", "--json", "--out", out)
    told = json.loads(result.stdout)
    assert (told["columns"], told["against"]) == (["good"], "the rest")
    assert told["loss"]["measured_on"] == "576 test rows of car"
    assert told["loss"]["card_accuracy"] > 0.9
    assert told["probabilities"][-1]["probability"] > 0.5
    lines = pd.read_csv(out, keep_default_na=False)
    assert lines.to_dict("records") == told["lines"]
    assert lines["points"].max() == 10
    refused = milpbn("card", learned("car", "multinet-cmi"), "--of", "good")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--of: a multinet has one structure per class" in refused.stderr


def test_rows_to_measure_on(
    milpbn: Run, learned: Callable[[str, str], Path], tmp_path: Path
) -> None:
    heart, file = load_dataset("heart"), learned("heart", "tan-cmi")
    rows = heart.features.assign(**{"class": heart.target}).head(40).astype(object)
    rows.loc[0, "thal"] = None
    rows.to_csv(tmp_path / "rows.csv", index=False)
    result = milpbn("card", file, "--test", tmp_path / "rows.csv")
    assert "1 incomplete row left out:" in result.stdout
    rows.drop(columns="class").to_csv(tmp_path / "rows.csv", index=False)
    unlabelled = milpbn("card", file, "--test", tmp_path / "rows.csv")
    assert unlabelled.exit_code == 0
    assert "Model and card" not in unlabelled.stdout
    assert "has no complete row with a known class" in unlabelled.stderr
    model = BNClassifier(method="nb").fit(heart.features, heart.target)
    model.save(tmp_path / "python.json")
    python = milpbn("card", tmp_path / "python.json")
    assert python.exit_code == 0
    assert "does not say where its data are" in python.stderr
    assert "Score card" in python.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--of", "3"), "--of: there is no class '3'; the classes are '1', '2'"),
        (("--points", "0"), "--points"),
        (("--out", "card.txt"), "must end in .csv"),
    ],
)
def test_wrong_options(
    milpbn: Run, learned: Callable[[str, str], Path], options: tuple[str, ...], message: str
) -> None:
    result = milpbn("card", learned("heart", "tan-cmi"), *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
