"""``milpbn missing-curve``: a table, a file, a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

Run = Callable[..., Result]

QUICK = ("missing-curve", "--dataset", "iris", "--classifier", "nb+ml", "--classifier", "nb+cl")


def test_table_file_and_picture(milpbn: Run, tmp_path: Path) -> None:
    out, plot = tmp_path / "curve.csv", tmp_path / "curve.png"
    result = milpbn(*QUICK, "--counts", "0,2", "--repeats", 2, "--out", out, "--plot", plot)
    assert result.exit_code == 0, result.stderr
    assert "a random third of the rows is held out" in result.stderr
    assert result.stdout.splitlines()[0].split() == ["missing", "nb+ml", "nb+cl"]
    frame = pd.read_csv(out)
    assert list(frame.columns) == ["classifier", "missing", "accuracy", "deviation"]
    assert frame["missing"].tolist() == [0, 0, 2, 2]
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_your_own_messy_file(milpbn: Run, messy_csv: Path) -> None:
    options = ("--data", messy_csv, "--target", "Klasse №", "--classifier", "nb+ml")
    result = milpbn("missing-curve", *options, "--classifier", "svm", "--repeats", 1)
    assert result.exit_code == 0, result.stderr
    assert "svm" in result.stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--classifier", "nb"), 2, "write STRUCTURE+PARAMETERS"),
        (("--counts", "0;2"), 2, "write 0,5,10"),
        (("--counts", "7"), 1, "7 features cannot be missing"),
        (("--plot", "curve.gif"), 2, "--plot"),
    ],
)
def test_bad_options_are_named(
    milpbn: Run, options: tuple[str, ...], code: int, message: str
) -> None:
    result = milpbn(*QUICK, *options)
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr


def test_ctrl_c_keeps_what_is_done(
    milpbn: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from milpbn.evaluation.missing_curve import MissingCurve

    whole = MissingCurve.points

    def interrupted(self, counts, repeats):  # type: ignore[no-untyped-def]
        yield from list(whole(self, counts, repeats))[:3]
        raise KeyboardInterrupt

    monkeypatch.setattr(MissingCurve, "points", interrupted)
    out = tmp_path / "curve.csv"
    result = milpbn(*QUICK, "--counts", "0,1", "--out", out)
    assert result.exit_code == 3
    assert pd.read_csv(out)["missing"].tolist() == [0, 0]
