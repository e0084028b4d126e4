"""``milpbn solve`` with the user's own files and with wrong options: what is read and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

Run = Callable[..., Result]


# The user's own files


def test_a_messy_file_is_read_with_notes(milpbn: Run, messy_csv: Path) -> None:
    result = milpbn("solve", "--data", messy_csv, "--target", "Klasse №")
    assert result.exit_code == 0, result.stderr
    notes = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    for part in (
        "'Größe (cm)' is read with decimal commas",
        "'Kennung' is dropped: it has 60 different values in 60 rows, like an identifier; "
        "--categorical Kennung keeps it.",
        "'Nr' is dropped: it counts up or down like a row number; --numeric Nr keeps it.",
        "'konst' is dropped",
        "are a state of their own; 60 of 60 training rows are used.",
    ):
        assert any(part in note for note in notes), part
    assert "rows        60 training\n" in result.stdout
    assert "Klasse №" in result.stdout


def test_notes_in_json_name_options_as_they_are_typed(milpbn: Run, messy_csv: Path) -> None:
    result = milpbn("solve", "--data", messy_csv, "--target", "Klasse №", "--json", "--quiet")
    notes = json.loads(result.stdout)["notes"]
    assert any(note.endswith("--numeric Nr keeps it.") for note in notes)


def test_incomplete_rows_are_left_out_on_request(milpbn: Run, messy_csv: Path) -> None:
    options = ("--target", "Klasse №", "--missing", "drop")
    result = milpbn("solve", "--data", messy_csv, *options)
    assert "note: Left out: 6 of 60 training rows with a missing feature; " in result.stderr
    assert "--missing auto keeps them." in result.stderr
    assert "rows        54 training (6 incomplete rows left out)\n" in result.stdout


def test_parquet_and_arff(milpbn: Run, iris_rows: Path, tmp_path: Path) -> None:
    rows = pd.read_csv(iris_rows)
    rows.to_parquet(tmp_path / "iris.parquet")
    names = "".join(f"@attribute {c} numeric\n" for c in rows.columns[:-1])
    classes = ",".join(rows["class"].unique())
    (tmp_path / "iris.arff").write_text(
        f"@relation iris\n{names}@attribute class {{{classes}}}\n@data\n"
        + rows.to_csv(index=False, header=False)
    )
    small = ("--max-parents", 1, "--start", "none", "--json", "--quiet")
    expected = json.loads(milpbn("solve", "--dataset", "iris", *small).stdout)["result"][
        "objective"
    ]
    for name in ("iris.parquet", "iris.arff"):
        result = milpbn("solve", "--data", tmp_path / name, "--target", "class", *small)
        assert json.loads(result.stdout)["result"]["objective"] == expected, name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "Klasse"), "there is no column 'Klasse' (close matches: 'Klasse №')"),
        (("--target", "konst"), "target 'konst' is 'x' in every row"),
        (("--target", "Größe (cm)"), "looks like regression, not classification"),
        (("--target", "Klasse №", "--drop", "Farb"), "--drop: there is no column 'Farb'"),
        (("--target", "Klasse №", "--numeric", "Farbe"), "column 'Farbe' holds no numbers"),
        (("--target", "Klasse №", "--drop", "Farbe,Größe (cm)"), "no feature is left"),
    ],
)
def test_columns_that_cannot_be_used_are_named(
    milpbn: Run, messy_csv: Path, options: tuple[str, ...], message: str
) -> None:
    result = milpbn("solve", "--data", messy_csv, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "the file is empty"),
        ("header.csv", b"a,b\n", "no rows below them"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields"),
        ("bytes.csv", b"a,b\n\x00\x01", "this is not a text file"),
        ("bad.parquet", b"PAR1 and no more", "not a readable Parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    milpbn: Run, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    result = milpbn("solve", "--data", tmp_path / name, "--target", "b")
    assert result.exit_code == 1
    assert name in result.stderr
    assert message in result.stderr


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_a_file_that_is_not_there_is_named(milpbn: Run, tmp_path: Path, name: str) -> None:
    result = milpbn("solve", "--data", tmp_path / name, "--target", "b")
    assert result.exit_code == 1
    assert str(tmp_path / name) in result.stderr


# Wrong options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give the data to learn from: --dataset NAME"),
        (("--dataset", "iris", "--data", "x.csv"), "either --dataset NAME or --data FILE"),
        (("--data", "x.csv"), "--data requires --target COLUMN"),
        (("--dataset", "iris", "--target", "class"), "--target requires --data FILE"),
        (("--dataset", "iris", "--drop", "a"), "--drop requires --data FILE"),
        (
            ("--dataset", "iris", "--score", "smm"),
            "'--score': unknown score 'smm'; did you mean sm",
        ),
        (("--dataset", "iris", "--p", "0.4"), "'--p': 0.4 is not in the range 0.5<x<1"),
        (("--dataset", "iris", "--p", "0.9", "--gamma", "2"), "give --p or --gamma, not both"),
        (("--dataset", "iris", "--gamma", "0"), "'--gamma': 0.0 is not in the range"),
        (
            ("--dataset", "iris", "--score", "mdl", "--p", "0.9"),
            "--p cannot be combined with --score mdl",
        ),
        (("--dataset", "iris", "--ess", "2"), "--ess cannot be combined with --score sm"),
        (
            ("--dataset", "iris", "--score", "mdl", "--penalty", "1"),
            "--penalty cannot be combined with --score mdl",
        ),
        (
            ("--dataset", "iris", "--penalty", "-1"),
            "the penalty must be a number from 0 on, or bic",
        ),
        (("--dataset", "iris", "--max-parents", "0"), "'--max-parents': 0 is not in the range"),
        (("--dataset", "iris", "--threads", "0"), "'--threads': 0 is not in the range"),
        (("--dataset", "iris", "--seed", "-1"), "'--seed': -1 is not in the range"),
        (("--dataset", "iris", "--gap", "5"), "'--gap': '5' is a fraction and means 500 %"),
        (("--dataset", "iris", "--time-limit", "-3"), "'--time-limit': '-3' is not a duration"),
        (("--dataset", "iris", "--time-limit", "5x"), "'--time-limit': '5x' is not a duration"),
        (("--dataset", "iris", "--memory-limit", "4"), "'--memory-limit': '4' is not a size"),
        (("--dataset", "iris", "--smoothing", "none"), "'--smoothing': unknown smoothing 'none'"),
        (("--dataset", "iris", "--require", "a-b"), "'--require': 'a-b' is not an arc"),
        (("--dataset", "iris", "--method", "magic"), "'--method': 'magic'"),
        (
            ("--dataset", "iris", "--method", "branch-and-cut", "--emit", "pulp"),
            "--emit requires --method monolithic",
        ),
        (("--dataset", "iris", "--write-model", "a.txt"), "'a.txt' must end in .lp or .mps"),
        (("--dataset", "iris", "--out", "no/a.json"), "'--out': cannot write no/a.json"),
        (("--dataset", "iris", "--trace", "."), "'--trace': cannot write .: it is a folder"),
        (("--dataset", "iris", "--out", "a", "--trace", "./a"), "--trace ./a is also --out"),
        (("--dataset", "iris", "--tune", "1"), "No such option"),
        (("iris",), "unexpected extra argument"),
    ],
)
def test_wrong_options_are_named_at_once(
    milpbn: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("milpbn.cli.session.load_table", None)  # nothing may be loaded
    result = milpbn("solve", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dataset", "irsi"), "there is no data set 'irsi'; did you mean iris?"),
        (("--dataset", "mdc/Jura"), "use `milpbn mdc solve` for several"),
        (("--dataset", "iris", "--memory-limit", "1KB"), "the memory limit is"),
        (
            ("--dataset", "vehicle", "--memory-limit", "20MB", "--method", "monolithic"),
            "Use the score sbm",
        ),
    ],
)
def test_errors_leave_nothing_behind(
    milpbn: Run, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    outputs = ("--out", tmp_path / "a.json", "--trace", tmp_path / "a.csv")
    result = milpbn("solve", *options, *outputs, "--time-limit", "600")
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


def test_pictures_of_the_run_and_the_network(milpbn: Run, tmp_path: Path) -> None:
    plot, draw = tmp_path / "gap.svg", tmp_path / "network.dot"
    pictures = ("--plot", plot, "--draw", draw)
    done = milpbn("solve", "--dataset", "iris", "--max-parents", 1, *pictures)
    assert done.exit_code == 0, done.output
    assert f"wrote {plot}\nwrote {draw}\n" in done.stderr
    assert "<svg" in plot.read_text()
    assert "digraph" in draw.read_text()
    grid = ("--plot", tmp_path / "gap-{p}.svg", "--draw", tmp_path / "network-{p}.dot")
    done = milpbn("solve", "--dataset", "iris", "--max-parents", 1, "--p", "0.6,0.9", *grid)
    assert done.exit_code == 0, done.output
    names = ("gap-0.6.svg", "gap-0.9.svg", "network-0.6.dot", "network-0.9.dot")
    assert all((tmp_path / name).exists() for name in names)


def test_local_scores_have_a_gap_but_no_selection(milpbn: Run, tmp_path: Path) -> None:
    scores, plot = tmp_path / "car.jkl", tmp_path / "gap.svg"
    assert milpbn("scores", "--dataset", "iris", "--max-parents", 1, "--out", scores).exit_code == 0
    done = milpbn("solve-scores", scores, "--plot", plot)
    assert done.exit_code == 0, done.output
    assert "<svg" in plot.read_text()
    for options in (("--select", "p=0.6,0.9"), ("--draw", "a.svg"), ("--select-by", "auc")):
        refused = milpbn("solve-scores", scores, *options)
        assert (refused.exit_code, f"No such option '{options[0]}'" in refused.stderr) == (2, True)
