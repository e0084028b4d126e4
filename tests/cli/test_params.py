"""Types of option values."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from milpbn.cli.options import option_type
from milpbn.cli.params import (
    ARC,
    Duration,
    Gap,
    Names,
    Number,
    OutputFile,
    Size,
    refuse_overwriting,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("5m", 300), ("2h", 7200), ("0.5", 0.5), (" 1.5 m ", 90)],
)
def test_durations(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["-3", "0", "0s", "5x", "", "m", "1e3", "1:30", "nan", "5 m s"])
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a duration; write 90, 90s, 5m or 2h"):
        Duration().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "gap"), [("0", 0), ("1%", 0.01), ("0.01", 0.01), ("200%", 2.0), ("2.5 %", 0.025)]
)
def test_gaps(text: str, gap: float) -> None:
    assert Gap().convert(text, None, None) == pytest.approx(gap)


@pytest.mark.parametrize("text", ["-1", "-1%", "nan", "inf%", "1%x", "%", "one"])
def test_what_is_no_gap_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a gap; write 1% or"):
        Gap().convert(text, None, None)


def test_a_gap_that_may_be_meant_in_per_cent_is_asked_about() -> None:
    with pytest.raises(click.BadParameter, match="is a fraction and means 500 %; write 5%"):
        Gap().convert("5", None, None)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("500MB", 500 * 10**6), ("4gb", 4 * 10**9), ("1.5 kb", 1500)),
        *(("1.5 KiB", 1536), ("2GiB", 2 * 2**30)),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert Size().convert(text, None, None) == size


@pytest.mark.parametrize(
    "text", ["500", "4TB", "-1GB", "GB", "", "1e3MB", "5", "9" * 16 + "MB", "9" * 400 + "GB"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a size; write 500MB or 4GB"):
        Size().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, r"is not in the range 0\.5<x<1") for text in ("0.5", "1", "1.5", "-1", "inf")),
        ("nan", "is not a finite number"),
        ("x", "'x' is not a valid float range"),
    ],
)
def test_numbers_lie_strictly_between_their_ends(text: str, message: str) -> None:
    with pytest.raises(click.BadParameter, match=message):
        Number(0.5, 1).convert(text, None, None)


def test_a_number_without_upper_end_is_finite() -> None:
    assert Number(0).convert("1e9", None, None) == 1e9
    with pytest.raises(click.BadParameter, match="not a finite number"):
        Number(0).convert("inf", None, None)


def test_names_are_split_at_commas() -> None:
    assert Names().convert("a, b c ,,d", None, None) == ("a", "b c", "d")
    assert Names().convert((), None, None) == ()


def test_arcs() -> None:
    assert ARC.convert("a b -> c", None, None) == ("a b", "c")
    for text in ("a-b", "->b", "a->", ""):
        with pytest.raises(click.BadParameter, match="write it as PARENT->CHILD"):
            ARC.convert(text, None, None)


def test_scores_go_by_any_case_and_alias() -> None:
    assert option_type("score").convert("SBM", None, None) == "sbm"
    assert option_type("score").convert("BIC", None, None) == "mdl"
    with pytest.raises(click.BadParameter, match="unknown score 'bdue'; did you mean bdeu"):
        option_type("score").convert("bdue", None, None)


def test_smoothing() -> None:
    assert option_type("smoothing").convert("laplace", None, None) == "laplace:1"
    for text, message in (
        ("laplace:-1", "a positive count, not -1"),
        ("epsilon:2", "0 < epsilon < 1, not 2"),
        ("laplace:x", "'x' is not a number"),
        ("none", "unknown smoothing 'none'"),
    ):
        with pytest.raises(click.BadParameter, match=message):
            option_type("smoothing").convert(text, None, None)


def test_outputs_that_could_not_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(click.BadParameter, match="it is a folder"):
        OutputFile().convert(tmp_path, None, None)
    with pytest.raises(click.BadParameter, match="there is no folder"):
        OutputFile().convert(tmp_path / "missing" / "a", None, None)
    with pytest.raises(click.BadParameter, match=r"'a\.txt' must end in \.lp or \.mps"):
        OutputFile(".lp", ".mps").convert("a.txt", None, None)
    with pytest.raises(click.BadParameter, match="a file is missing before --json"):
        OutputFile().convert("--json", None, None)
    assert OutputFile(".lp").convert(tmp_path / "a.lp", None, None) == str(tmp_path / "a.lp")
    assert not list(tmp_path.iterdir())


def test_no_output_replaces_an_input_or_another_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").touch()
    with pytest.raises(click.UsageError, match=r"--out \./my\.csv is also the data; choose"):
        refuse_overwriting({"--out": "./my.csv"}, {"the data": "my.csv"})
    with pytest.raises(click.UsageError, match=r"--trace .*a\.json is also --out"):
        refuse_overwriting({"--out": "a.json", "--trace": str(tmp_path / "a.json")})
    refuse_overwriting({"--out": "a.json", "--trace": "a.csv"}, {"the data": None})
    refuse_overwriting({"--out": os.devnull, "--trace": os.devnull})
