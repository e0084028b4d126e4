"""``milpbn solve --p 0.6,0.9``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from milpbn.selection.grid import run_grid

Run = Callable[..., Result]


def test_one_line_and_one_model_for_each_p(milpbn: Run, tmp_path: Path) -> None:
    out, trace = tmp_path / "m-{p}.json", tmp_path / "t-{p}.csv"
    options = ("--dataset", "iris", "--p", "0.9,0.6", "--out", out, "--trace", trace)
    result = milpbn("solve", *options)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["0.6", "optimal"], ["0.9", "optimal"]]
    for p in (0.6, 0.9):
        model = json.loads((tmp_path / f"m-{p}.json").read_text())
        assert model["settings"]["p"] == p
        assert f"{model['result']['objective']:.6f}" in result.stdout
        assert (tmp_path / f"t-{p}.csv").read_text().startswith("time,")
        assert milpbn("verify", tmp_path / f"m-{p}.json").exit_code == 0


def test_json_is_a_list(milpbn: Run) -> None:
    result = milpbn("solve", "--dataset", "iris", "--p", "0.9,0.6", "--json", "--max-parents", 1)
    reports = json.loads(result.stdout)
    assert [r["settings"]["p"] for r in reports] == [0.6, 0.9]


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_between_two_values_keeps_what_is_finished(
    milpbn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    def interrupted(*given: Any, **how: Any) -> Iterator[Any]:
        yield next(iter(run_grid(*given, **how)))
        raise KeyboardInterrupt

    monkeypatch.setattr("milpbn.selection.grid.run_grid", interrupted)
    options = ("--p", "0.9,0.6", "--max-parents", 1, "--out", tmp_path / "m-{p}.json")
    result = milpbn("solve", "--dataset", "iris", *options, *(["--json"] if as_json else []))
    assert result.exit_code == 3
    assert "interrupted after 1 of 2 values of p" in result.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["m-0.6.json"]
    if as_json:
        assert [r["settings"]["p"] for r in json.loads(result.stdout)] == [0.6]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--out", "model.json"), "model-{p}.json"),
        (("--write-model", "x.lp"), "--write-model"),
        (("--start", "none"), "--start"),
        (("--score", "mdl"), "--p cannot be combined with --score mdl"),
    ],
)
def test_what_does_not_go_with_a_grid(
    milpbn: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = milpbn("solve", "--dataset", "iris", "--p", "0.6,0.9", *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("p", ["0.6,", "0.6,0.6", "0.6,2", "a,b"])
def test_bad_grids(milpbn: Run, p: str) -> None:
    result = milpbn("solve", "--dataset", "iris", "--p", p)
    assert result.exit_code == 2
    assert "--p" in result.stderr
