"""Benchmarks, at sizes at which nothing takes long."""

import gzip
import sys
from pathlib import Path

import pandas as pd
import pytest

from milpbn import clock
from milpbn.errors import DataError

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.mark.slow
def test_every_stage_is_measured_once(monkeypatch, tmp_path, capsys):
    if not SCRIPTS.exists() or sys.platform != "linux":
        pytest.skip("the benchmark is not part of an installed package and needs Linux")
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.setenv("MILPBN_BENCH_SIZES", "300x64,2000x10")
    from benchmarks import growth

    growth.run(folder=tmp_path)
    measured = (tmp_path / "growth.csv").read_text().splitlines()
    assert len(measured) == 1 + 2 * len(growth.STAGES)
    for line in measured[1:]:
        stage, *_, seconds, start, peak = line.split(",")
        assert stage in growth.STAGES
        assert float(seconds) > 0
        assert 0 < float(start) <= float(peak)
    growth.run(folder=tmp_path)  # nothing is measured again
    assert (tmp_path / "growth.csv").read_text().splitlines() == measured
    assert (tmp_path / "growth.png").stat().st_size > 0
    assert "local-search" in capsys.readouterr().out


@pytest.fixture
def raw_columns(monkeypatch, tmp_path):
    """The benchmark with raw columns, on iris and on a table from a folder."""
    if not SCRIPTS.exists():
        pytest.skip("the benchmark is not part of an installed package")
    monkeypatch.syspath_prepend(SCRIPTS)
    from benchmarks import raw_columns

    (tmp_path / "panel").mkdir()
    rows = [f"{k % 7},{'ab'[k % 2]},{'' if k % 5 else k},{'pq'[k % 2]}" for k in range(60)]
    text = "\n".join(["n,x,gaps,class", *rows])
    (tmp_path / "panel" / "own.csv.gz").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setenv("MILPBN_BENCH_PANEL", str(tmp_path / "panel"))
    monkeypatch.setenv("MILPBN_BENCH_SETS", "iris,own")
    monkeypatch.setenv("MILPBN_BENCH_METHODS", "nb-fine,boosting")
    monkeypatch.setattr(raw_columns, "FOLDER", tmp_path / "out" / "raw")
    return raw_columns


@pytest.mark.slow
def test_folds_with_raw_columns_are_kept_and_summarised(raw_columns, monkeypatch, tmp_path, capsys):
    raw_columns.run()
    files = sorted(file.name for file in raw_columns.FOLDER.iterdir())
    assert files == [f"{s}--{m}.csv" for s in ("iris", "own") for m in ("boosting", "nb-fine")]
    own = pd.read_csv(raw_columns.FOLDER / "own--boosting.csv")
    assert own["test_rows"].sum() == 60
    assert own["accuracy"].tolist() == [1, 1, 1]
    monkeypatch.setattr(raw_columns, "_one_fold", None)  # nothing is measured again
    raw_columns.run()
    capsys.readouterr()
    raw_columns.summarise()
    shown = capsys.readouterr().out
    assert "Means over 1 data set without missing values" in shown
    assert "Means over 1 data set with missing values" in shown
    assert (tmp_path / "out" / "usefulness-raw.md").read_text() in shown
    monkeypatch.setattr(raw_columns, "DOCS", tmp_path / "docs")
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "usefulness.md"
    page.write_text("Before.\n<!-- results: usefulness-raw -->\n<!-- end of results -->\nAfter.\n")
    raw_columns.publish()
    assert "| `own` | 60 | 48 |" in page.read_text()
    assert len(pd.read_csv(tmp_path / "docs/results/usefulness-raw.csv", comment="#")) == 4


def test_a_fit_that_fails_counts_as_the_majority(raw_columns, monkeypatch, capsys):
    def fail(way, table):
        raise DataError("no such thing")

    monkeypatch.setenv("MILPBN_BENCH_SETS", "own")
    monkeypatch.setenv("MILPBN_BENCH_METHODS", "boosting")
    monkeypatch.setattr(raw_columns, "_warm_up", lambda method: None)
    monkeypatch.setattr(raw_columns.Way, "learn", fail)
    raw_columns.run()
    found = pd.read_csv(raw_columns.FOLDER / "own--boosting.csv")
    assert found["accuracy"].tolist() == [0.5] * 3
    assert found["error"].tolist() == ["DataError: no such thing"] * 3
    raw_columns.summarise()
    assert "count as the majority class: `boosting` 3." in capsys.readouterr().out


@pytest.mark.slow
def test_log_losses_are_measured_once(monkeypatch, tmp_path, capsys):
    if not SCRIPTS.exists():
        pytest.skip("the benchmark is not part of an installed package")
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.setenv("MILPBN_BENCH_SETS", "iris")
    monkeypatch.setattr(clock, "time", clock.time)  # the benchmark counts processor time
    from benchmarks import cll

    monkeypatch.setattr(cll, "OUT", tmp_path)
    cll.run()
    measured = (tmp_path / "cll.csv").read_text()
    assert measured.count("optimal") == len(cll.SCORES)
    cll.run("table")
    assert (tmp_path / "cll.csv").read_text() == measured
    shown = capsys.readouterr().out
    assert shown.count("| `iris` | 0.1252 |") == 2
    assert "cll loo: 1 of 1 proven in 20 s" in shown
