"""``milpbn inspect``, and what it says of damaged model files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

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
        (("encoder", "columns"), 3, "the encoder cannot be read"),
        (("result",), None, "'result' is missing"),
        (("result", "status"), "great", "'great' is not a valid Status"),
        (("result", "objective"), "high", "could not convert string to float: 'high'"),
        (("result", "trace", 0, "time"), "soon", "could not convert string to float: 'soon'"),
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
