"""``milpbn update`` and ``milpbn drift``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from milpbn import load_model
from milpbn.learning.classifier import encode
from milpbn.learning.model import Model

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def parts(iris_rows: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A model of every second row, its rows, and the others."""
    from click.testing import CliRunner

    from milpbn.cli import cli

    folder = tmp_path_factory.mktemp("update")
    head, *rows = iris_rows.read_text().splitlines(keepends=True)
    old, new = folder / "old.csv", folder / "new.csv"
    old.write_text("".join([head, *rows[::2]]))
    new.write_text("".join([head, *rows[1::2]]))
    model = folder / "model.json"
    options = ["--data", old, "--target", "class", "--max-parents", "1", "--out", model, "--quiet"]
    result = CliRunner().invoke(cli, ["solve", *map(str, options)])
    assert result.exit_code == 0, result.output
    return model, old, new


def content(path: Path) -> Model:
    model = load_model(path)
    assert isinstance(model, Model)
    return model


def test_rows_are_added_and_verified(
    milpbn: Run, parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, _, new = parts
    out = tmp_path / "out.json"
    result = milpbn("update", model, new, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "75 rows added to 75; the tables count 150 rows" in result.stdout
    assert "% of the new rows right (log-loss" in result.stdout
    assert "the structure is optimal for the first 75 rows; --search looks" in result.stdout
    assert content(out).network.table("class", counts=True).to_numpy().sum() == 150
    verified = milpbn("verify", out)
    assert verified.exit_code == 0, verified.stdout
    assert "the structure is that of the first 75 of 150 rows" in verified.stdout
    assert "150 rows; the structure is that of the first 75" in milpbn("inspect", out).stdout
    assert milpbn("predict", out, new).exit_code == 0
    arcs = milpbn("arcs", out)
    assert arcs.exit_code == 1
    assert "the structure was learned before the last update" in arcs.stderr


def test_a_search_begins_with_the_old_structure(
    milpbn: Run, parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, _, new = parts
    counted, out = tmp_path / "counted.json", tmp_path / "out.json"
    assert milpbn("update", model, new, "--out", counted).exit_code == 0
    result = milpbn("update", model, new, "--search", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "on all rows, the old structure scores" in result.stdout
    found = content(out)
    assert (found.result.n_rows, found.data["n_rows"], found.result.status) == (150, 150, "optimal")
    assert milpbn("verify", out).exit_code == 0
    assert milpbn("arcs", out, "--quiet", "--out", tmp_path / "arcs.json").exit_code == 0
    shown = milpbn("update", model, new, "--search", "--out", out, "--json")
    told = json.loads(shown.stdout)
    assert told["rows"] == 150
    assert told["structure"]["score"] == pytest.approx(found.result.objective)
    assert told["structure"]["still_optimal"] in (True, False)
    assert found.result.objective >= told["structure"]["old_score"] - 1e-9


def test_updates_of_updates_are_verified_in_their_order(
    milpbn: Run, parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, _, new = parts
    head, *rows = new.read_text().splitlines(keepends=True)
    first, second, out = tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "out.json"
    first.write_text("".join([head, *rows[:30]]))
    second.write_text("".join([head, *rows[30:]]))
    assert milpbn("update", model, first, "--search", "--out", out).exit_code == 0
    assert milpbn("update", out, second).exit_code == 0  # in place
    found = content(out)
    assert (found.result.n_rows, found.data["n_rows"]) == (105, 150)
    assert milpbn("verify", out).exit_code == 0
    again = milpbn("update", out, second)
    assert again.exit_code == 1
    assert "was learned from these rows already" in again.stderr
    second.write_text(head + rows[0])
    changed = milpbn("verify", out)
    assert changed.exit_code == 1
    assert "has changed since the model was updated with it" in changed.stderr
    second.unlink()
    gone = milpbn("verify", out)
    assert gone.exit_code == 1
    assert "put the file back in its place" in gone.stderr


def test_a_certificate_still_proves_the_structure(
    milpbn: Run, parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, old, new = parts
    model, proof = tmp_path / "model.json", tmp_path / "proof.gz"
    options = ("--target", "class", "--max-parents", "1", "--out", model, "--certificate", proof)
    assert milpbn("solve", "--data", old, *options, "--quiet").exit_code == 0
    assert milpbn("update", model, new).exit_code == 0
    verified = milpbn("verify", model, "--certificate", proof)
    assert verified.exit_code == 0, verified.stdout
    assert "The certificate holds" in verified.stdout


def test_rows_with_unknown_values_are_left_out(
    milpbn: Run, parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, _, new = parts
    lines = new.read_text().splitlines(keepends=True)
    place = lines[0].strip().split(",").index("petalwidth")
    cells = lines[3].strip().split(",")
    cells[place] = ""
    rows = tmp_path / "rows.csv"
    rows.write_text("".join([*lines[:3], ",".join(cells) + "\n", *lines[4:]]))
    result = milpbn("update", model, rows, "--out", tmp_path / "out.json")
    assert "1 row left out: a value is missing or unknown" in result.stderr
    assert "74 rows added to 75" in result.stdout


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda text: text.replace("Iris-setosa", "Iris-alba"), "does not know: 'Iris-alba' (25x)"),
        (lambda text: text.replace("class", "kind", 1), "there is no column 'class'"),
        (lambda text: text.replace("petalwidth", "width", 1), "petalwidth"),
        (lambda text: "\n".join(text.splitlines()[:1]) + "\n", "no row"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    milpbn: Run,
    parts: tuple[Path, Path, Path],
    tmp_path: Path,
    edit: Callable[[str], str],
    told: str,
) -> None:
    model, _, new = parts
    rows, out = tmp_path / "rows.csv", tmp_path / "out.json"
    rows.write_text(edit(new.read_text()))
    result = milpbn("update", model, rows, "--out", out)
    assert result.exit_code == 1
    assert told in result.stderr
    assert not out.exists()


def test_options_that_need_a_search_are_refused_without_one(
    milpbn: Run, parts: tuple[Path, Path, Path]
) -> None:
    model, old, new = parts
    result = milpbn("update", model, new, "--data", old)
    assert result.exit_code == 2
    assert "--data requires --search" in result.stderr


def test_parameters_of_a_search_need_all_rows(
    milpbn: Run, parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, old, new = parts
    model = tmp_path / "cl.json"
    learn = ("learn", "--method", "nb", "--parameters", "cl", "--target", "class", "--quiet")
    assert milpbn(*learn, "--data", old, "--out", model).exit_code == 0
    refused = milpbn("update", model, new)
    assert refused.exit_code == 1
    assert "cl parameters cannot be updated from counts; to learn them again" in refused.stderr
    assert milpbn("update", model, new, "--search").exit_code == 0
    assert content(model).parameters.method.startswith("cl")
    assert milpbn("verify", model).exit_code == 0


def test_drift_names_the_columns_that_changed(
    milpbn: Run, parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, _, new = parts
    same = milpbn("drift", model, new)
    assert (same.exit_code, same.stderr) == (0, "")
    head, *rows = new.read_text().splitlines(keepends=True)
    flowers, shares = tmp_path / "setosa.csv", tmp_path / "shares.csv"
    flowers.write_text("".join([head, *(row for row in rows if "setosa" in row)]))
    changed = milpbn("drift", model, flowers, "--out", shares)
    assert "looks different from the training rows in" in changed.stderr
    assert "changed much" in changed.stdout
    assert shares.read_text().startswith("column,state,before,now\n")
    told = json.loads(milpbn("drift", model, flowers, "--json").stdout)
    assert told["training_rows"] == 75
    worst = told["columns"][0]
    assert worst["change"] == "changed much"
    update = milpbn("update", model, flowers, "--out", tmp_path / "out.json")
    assert "looks different from the training rows in" in update.stderr


def test_the_codes_of_later_rows_are_those_of_a_fresh_reading(
    parts: tuple[Path, Path, Path], iris_rows: Path
) -> None:
    from dataclasses import replace

    from milpbn.cli.models import labelled_rows, model_table

    path, _, new = parts
    model = content(path)
    table = model_table(model, str(path), None)
    codes = encode(replace(table, updates=(labelled_rows(model, str(new)),))).data.codes
    whole = model.encoder.transform(labelled_rows(model, str(iris_rows))).codes
    order = [*range(0, 150, 2), *range(1, 150, 2)]
    assert np.array_equal(codes[:, 1:], whole[order])


def test_the_data_of_the_model_are_not_replaced(
    milpbn: Run, parts: tuple[Path, Path, Path]
) -> None:
    model, old, new = parts
    before = old.read_bytes()
    for command in (
        ["update", model, new],
        ["predict", model, new],
        ["export", model, "--format", "bif"],
    ):
        refused = milpbn(*map(str, command), "--out", str(old))
        assert refused.exit_code == 2
        assert "is also the data of the model; choose another name" in refused.stderr
    assert old.read_bytes() == before


@pytest.mark.parametrize("target", [[], ""])
def test_data_without_a_target_are_refused(
    milpbn: Run, parts: tuple[Path, Path, Path], tmp_path: Path, target: object
) -> None:
    known = json.loads(parts[0].read_text())
    known["data"]["columns"]["target"] = target
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps(known))
    for command in ("verify", "card"):
        refused = milpbn(command, str(damaged))
        assert refused.exit_code == 1
        assert "target" in refused.stderr
