"""``milpbn inspect``, and what it says of damaged model files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from milpbn import BNClassifier, Model, load_dataset

Run = Callable[..., Result]


def test_it_shows_result_trace_and_structure(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("inspect", iris_model)
    assert (result.exit_code, result.stderr) == (0, "")
    for line in ("data        iris, 150 rows", "status      optimal", "petalwidth <- class"):
        assert line in result.stdout.splitlines()
    assert "best solution" in result.stdout
    trace = json.loads(iris_model.read_text())["result"]["trace"]
    assert len(re.findall(r"^ +[\d.]+s ", result.stdout, re.MULTILINE)) == len(trace)


def test_json_holds_what_the_model_file_says(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("inspect", iris_model, "--json")
    shown, stored = json.loads(result.stdout), json.loads(iris_model.read_text())
    assert shown == {key: stored[key] for key in ("data", "settings", "parameters", "result")}


def test_tables_show_cuts_parents_and_per_cent(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("inspect", iris_model, "--tables")
    assert (result.exit_code, result.stderr) == (0, "")
    blocks = result.stdout.split("\n\n")
    network = Model.load(iris_model).network
    heads = [line for line in result.stdout.splitlines() if re.match(r"\w+: ", line)]
    assert [head.split(":")[0] for head in heads] == [v.name for v in network.variables]
    block = blocks.index("petalwidth: <= 0.8, 0.8 to 1.75, > 1.75\n  parents: class")
    lines = [re.split(r"  +", line.strip()) for line in blocks[block + 1].splitlines()]
    assert lines[0] == ["class", "rows", "<= 0.8", "0.8 to 1.75", "> 1.75"]
    for (state, rows, *shown), row in zip(
        lines[1:], network.table("petalwidth").itertuples(name=None), strict=True
    ):
        assert (state, *map(float, shown)) == (row[0], *(round(100 * p, 2) for p in row[1:]))
        assert rows == "50"


def test_tables_in_json_hold_the_exact_probabilities(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("inspect", iris_model, "--tables", "class,petalwidth", "--json")
    tables = json.loads(result.stdout)["tables"]
    network = Model.load(iris_model).network
    assert list(tables) == ["class", "petalwidth"]
    assert tables["class"]["rows"][0]["given"] == {}
    assert (tables["petalwidth"]["cuts"], tables["petalwidth"]["parents"]) == (
        [0.8, 1.75],
        ["class"],
    )
    expected = network.table("petalwidth")
    for row in tables["petalwidth"]["rows"]:
        assert row["probabilities"] == expected.loc[row["given"]["class"]].to_list()
        # Laplace smoothing: (n + 1) / (N + 3)
        counted = [(n + 1) / (sum(row["counts"]) + 3) for n in row["counts"]]
        assert row["probabilities"] == pytest.approx(counted)


def test_tables_of_an_older_file_have_no_counts(
    milpbn: Run, iris_model: Path, tmp_path: Path
) -> None:
    content = json.loads(iris_model.read_text())
    del content["counts"], content["importance"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    shown = milpbn("inspect", tmp_path / "old.json", "--tables", "petalwidth")
    assert (shown.exit_code, "rows" in shown.stdout) == (0, False)


def test_the_model_may_follow_tables_without_names(milpbn: Run, iris_model: Path) -> None:
    tables = milpbn("inspect", iris_model, "--tables")
    assert milpbn("inspect", "--tables", iris_model).stdout == tables.stdout
    chosen = milpbn("inspect", "--tables", "petalwidth", iris_model).stdout
    assert "petalwidth: <= 0.8" in chosen
    assert "petallength" not in chosen


@pytest.mark.parametrize("arguments", [(), ("--tables",)])
def test_a_model_must_be_given(milpbn: Run, arguments: tuple[str, ...]) -> None:
    result = milpbn("inspect", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "give a model file" in result.stderr


def test_tables_of_unknown_variables_are_refused(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("inspect", iris_model, "--tables", "petalwidth,nose")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--tables: there is no variable 'nose'; the variables are 'class'," in result.stderr


@pytest.fixture(scope="module")
def wide_model(milpbn: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parent with 40 states, and prices with a unit."""
    folder = tmp_path_factory.mktemp("wide")
    rows, structure, out = (folder / name for name in ("rows.csv", "structure.json", "model.json"))
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    frame = pd.DataFrame(
        {
            "town, or city": [f"town {k:02}" for k in np.arange(400) % 40],
            "price": [f"${x:.2f}" for x in rng.normal(10 + 5 * label, 1)],
            "kind": label,
        }
    )
    frame.to_csv(rows, index=False)
    arcs = {"kind": [], "town, or city": ["kind"], "price": ["kind", "town, or city"]}
    structure.write_text(json.dumps(arcs))
    options = ("--data", rows, "--target", "kind", "--max-states", 50, "--structure", structure)
    result = milpbn("learn", *options, "--out", out)
    assert result.exit_code == 0, result.stderr
    return out


def test_wide_tables_are_split_and_long_ones_cut_off(
    milpbn: Run, wide_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milpbn.cli.inspect.terminal_width", lambda: 60)
    result = milpbn("inspect", wide_model, "--tables")
    assert result.exit_code == 0, result.stderr
    assert max(map(len, result.stdout.splitlines()[1:])) <= 60
    assert all(f"town {k:02}" in result.stdout for k in range(40))
    assert result.stdout.count("\n  kind  rows  town") > 1
    assert re.search(r"^price \(\$\): <= \d+\.?\d*, > \d", result.stdout, re.MULTILINE)
    assert "  ... 56 more lines; all with --tables price\n" in result.stdout + "\n"
    whole = milpbn("inspect", wide_model, "--tables", "price").stdout
    assert "more lines" not in whole
    assert len(re.findall(r"^  [01]  +town", whole, re.MULTILINE)) == 80
    assert (
        '"town, or city": ' in milpbn("inspect", wide_model, "--tables", '"town, or city"').stdout
    )


def test_a_card_shows_units_too(milpbn: Run, wide_model: Path) -> None:
    card = milpbn("card", wide_model)
    assert card.exit_code == 0, card.stderr
    assert re.search(r"^price \(\$\)  given  +points$", card.stdout, re.MULTILINE)
    assert re.search(r'^> \d+\.?\d*  +"town, or city" = town 39  +\d+$', card.stdout, re.MULTILINE)


def test_a_narrow_terminal_gets_fewer_columns(
    milpbn: Run, iris_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milpbn.cli.inspect.terminal_width", lambda: 60)
    shown = milpbn("inspect", iris_model).stdout
    assert "best bound        gap  by" in shown
    assert "best solution" not in shown


def test_pictures(milpbn: Run, iris_model: Path, tmp_path: Path) -> None:
    plot, draw = tmp_path / "gap.png", tmp_path / "network.svg"
    result = milpbn("inspect", iris_model, "--plot", plot, "--draw", draw)
    assert result.exit_code == 0, result.stderr
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in draw.read_bytes()


def test_wrong_picture_names_are_refused_before_anything_is_drawn(
    milpbn: Run, iris_model: Path, tmp_path: Path
) -> None:
    for options in (
        ("--plot", tmp_path / "a.gif"),
        ("--draw", tmp_path / "missing" / "a.png"),
        ("--plot", tmp_path / "a.png", "--draw", tmp_path / "a.png"),
    ):
        result = milpbn("inspect", iris_model, *options)
        assert result.exit_code == 2
        assert str(options[0]) in result.stderr
    assert not list(tmp_path.iterdir())


def _damage(model: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    *way, last = path
    for step in way:
        model = model[step]
    if value is None:
        del model[last]
    else:
        model[last] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "other", "is not a milpbn model"),
        (("version",), 9, "has version 9 of the format 'milpbn-model'; this milpbn"),
        (("encoder",), None, "'encoder' is missing"),
        (("encoder", "columns"), 3, "encoder.columns: expected a list, found a whole number"),
        (("result",), None, "'result' is missing"),
        (("result", "status"), "great", "result.status: 'great' is not one of the known values"),
        (("result", "objective"), "high", "result.objective: expected a number, found a string"),
        (
            ("result", "trace", 0, "time"),
            "soon",
            "result.trace[0].time: expected a number, found a string",
        ),
        (("result", "trace", 0, "nodes"), None, "nodes"),
        (("structure", "class"), ["petalwidth"], "has a directed cycle"),
        (("structure", "petalwidth"), ["colour"], "there is no variable 'colour'"),
        (("log_probabilities", "class"), [1.0, 2.0, 3.0], "a log-probability is positive"),
        (("log_probabilities", "class"), [-1.0], "has shape"),
    ],
)
def test_a_damaged_model_is_named_with_what_is_wrong(
    milpbn: Run, iris_model: Path, tmp_path: Path, path: tuple[Any, ...], value: Any, message: str
) -> None:
    model = json.loads(iris_model.read_text())
    _damage(model, path, value)
    file = tmp_path / "damaged.json"
    file.write_text(json.dumps(model))
    result = milpbn("inspect", file)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {file}")
    assert message in result.stderr
    assert result.stdout == ""


def test_files_that_are_no_models(milpbn: Run, iris_model: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text(iris_model.read_text()[:500])
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for name in ("cut.json", "list.json", "bytes", "deep.json", "missing.json", "."):
        file = tmp_path / name
        result = milpbn("inspect", file)
        assert result.exit_code == 1, name
        assert str(file) in result.stderr


def test_importance_on_the_data_of_the_model(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("inspect", iris_model, "--importance")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Importance on 150 training rows of iris.\n")
    header, *lines = (re.split(r"  +", line) for line in result.stdout.splitlines()[4:])
    assert header == ["feature", "contribution", "accuracy lost, %", "log-loss gained"]
    sizes = [float(line[1]) for line in lines]
    assert sizes == sorted(sizes, reverse=True)
    stored = Model.load(iris_model).importance
    assert {line[0]: float(line[1]) for line in lines} == pytest.approx(stored, abs=0.001)
    told = json.loads(milpbn("inspect", iris_model, "--importance", "--json").stdout)
    features = told["importance"]["features"]
    assert features["petalwidth"]["contribution"] == pytest.approx(stored["petalwidth"])
    assert features["petalwidth"]["log_loss"] > 0


def test_importance_on_other_rows(milpbn: Run, iris_model: Path, tmp_path: Path) -> None:
    iris = load_dataset("iris")
    rows = iris.features.assign(**{"class": iris.target}).iloc[::3]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    result = milpbn("inspect", iris_model, "--importance", "--test", tmp_path / "rows.csv")
    assert f"Importance on 50 rows of {tmp_path / 'rows.csv'}." in result.stdout
    assert "accuracy lost" in result.stdout
    rows.drop(columns="class").to_csv(tmp_path / "rows.csv", index=False)
    unlabelled = milpbn("inspect", iris_model, "--importance", "--test", tmp_path / "rows.csv")
    assert unlabelled.exit_code == 0, unlabelled.stderr
    assert "accuracy lost" not in unlabelled.stdout
    wrong = milpbn("inspect", iris_model, "--test", tmp_path / "rows.csv")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "--test requires --importance" in wrong.stderr


def test_importance_of_a_model_without_data(milpbn: Run, tmp_path: Path) -> None:
    iris = load_dataset("iris")
    model = BNClassifier(method="nb").fit(iris.features, iris.target)
    model.save(tmp_path / "iris.json")
    result = milpbn("inspect", tmp_path / "iris.json", "--importance")
    assert result.exit_code == 0
    assert "does not say where its data are" in result.stderr
    assert "Importance on 150 training rows.\n" in result.stdout
    assert "accuracy lost" not in result.stdout


def test_a_feature_that_only_helps_another_one_is_named(milpbn: Run, tmp_path: Path) -> None:
    arcs = {"class": [], "petalwidth": ["class", "petallength"], "petallength": []}
    (tmp_path / "arcs.json").write_text(json.dumps({**arcs, "sepallength": [], "sepalwidth": []}))
    given = ("--dataset", "iris", "--structure", tmp_path / "arcs.json")
    made = milpbn("learn", *given, "--out", tmp_path / "model.json")
    assert made.exit_code == 0, made.output
    told = milpbn("inspect", tmp_path / "model.json", "--importance").stdout
    assert "no contribution of their own, but parents of other features: petallength\n" in told
