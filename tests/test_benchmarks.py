"""The benchmark of growth, at sizes at which nothing takes long."""

import sys
from pathlib import Path

import pytest

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
