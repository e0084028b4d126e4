"""``milpbn datasets``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

from milpbn.datasets import load_catalog, load_frame

Run = Callable[..., Result]


def test_every_data_set_has_a_line(milpbn: Run) -> None:
    result = milpbn("datasets", "list")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(load_catalog())
    car = next(line for line in lines if line.startswith("car "))
    assert car.split() == ["car", "1728", "6", "4", "1152", "/", "576", "seeded"]


def test_show_says_where_the_rows_come_from(milpbn: Run) -> None:
    result = milpbn("datasets", "show", "car")
    assert result.exit_code == 0
    keys = [line.split()[0] for line in result.stdout.splitlines() if line[0] != " "]
    assert {"name", "rows", "classes", "protocol", "source", "licence", "sha256"} <= set(keys)
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize("command", [("show",), ("export",)])
def test_an_unknown_name_gets_the_nearest_ones(milpbn: Run, command: tuple[str]) -> None:
    result = milpbn("datasets", *command, "carr")
    assert result.exit_code == 1
    assert result.stderr == "Error: there is no data set 'carr'; did you mean car or corral?\n"
    assert result.stdout == ""


def test_a_name_unlike_any_gets_the_whole_list(milpbn: Run) -> None:
    assert "the data sets are abalone, " in milpbn("datasets", "show", "zzz").stderr


def test_export_gives_the_rows_back(milpbn: Run, tmp_path: Path) -> None:
    on_stdout = milpbn("datasets", "export", "iris")
    out = tmp_path / "iris.csv"
    written = milpbn("datasets", "export", "iris", "--out", out)
    assert (on_stdout.exit_code, written.exit_code, written.stdout) == (0, 0, "")
    assert out.read_text(encoding="utf-8") == on_stdout.stdout
    pd.testing.assert_frame_equal(pd.read_csv(out), load_frame("iris"), check_dtype=False)


def test_export_refuses_a_folder(milpbn: Run, tmp_path: Path) -> None:
    result = milpbn("datasets", "export", "iris", "--out", tmp_path)
    assert result.exit_code == 2
    assert "'--out': cannot write" in result.stderr
    assert "it is a folder" in result.stderr
