"""``milpbn evaluate``: the table, files, going on, and what it refuses."""

import json
import signal

import pandas as pd
import pytest

# Every fit has a limit of a minute by default.
pytestmark = pytest.mark.usefixtures("compiled")

BASE = ("evaluate", "--dataset", "synthetic-3", "--method")


def test_the_table_compares_methods(milpbn):
    result = milpbn(*BASE, "nb,hc:cr,branch-and-cut")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["data", "synthetic-3"]
    assert lines[1].endswith("1000 training rows, 1000 test rows")
    assert [line.split()[:2] for line in lines[-3:]] == [
        ["nb", "ml"],
        ["hc:cr", "ml"],
        ["branch-and-cut", "ml"],
    ]
    assert lines[-1].split()[-1] == "1/1"
    assert "47.60 ± 3.10 %" in lines[-3]


def test_progress_is_plain_lines_on_stderr(milpbn):
    result = milpbn(*BASE, "nb,tan-cmi")
    first, second = result.stderr.splitlines()
    assert first.startswith("1/2  nb ml, fold 1: 47.60 %, ")
    assert second.startswith("2/2  tan-cmi ml, fold 1: ")
    assert "\x1b" not in result.stderr
    assert milpbn(*BASE, "nb", "--quiet").stderr == ""


def test_json_and_predictions(milpbn, tmp_path):
    file = tmp_path / "predictions.csv"
    result = milpbn(*BASE, "nb", "--json", "--predictions", file)
    content = json.loads(result.stdout)
    (line,) = content["methods"]
    assert (content["complete"], line["method"], line["folds"]) == (True, "nb", 1)
    frame = pd.read_csv(file)
    assert len(frame) == 1000
    assert (frame["truth"] == frame["prediction"]).mean() == pytest.approx(line["accuracy"])


def test_a_file_of_results_goes_on(milpbn, tmp_path):
    file = tmp_path / "results.jsonl"
    assert milpbn(*BASE, "nb", "--out", file).exit_code == 0
    again = milpbn(*BASE, "nb,tan-cmi", "--out", file)
    assert again.exit_code == 0
    assert again.stderr.splitlines()[0].startswith("2/2  tan-cmi")
    other = milpbn(*BASE, "nb", "--out", file, "--seed", 5)
    assert other.exit_code == 1
    assert "contains results for other settings (random_state: 0 in the file, 5 now" in other.stderr


def test_own_data_are_cross_validated(milpbn, messy_csv):
    data = ("--data", messy_csv, "--target", "Klasse №")
    result = milpbn("evaluate", *data, "--method", "nb", "--folds", 3, "--missing", "state")
    assert result.exit_code == 0, result.output
    assert "3-fold cross-validation of 60 rows" in result.stdout
    dropped = milpbn("evaluate", *data, "--method", "nb", "--json", "--quiet")
    assert json.loads(dropped.stdout)["protocol"] == "5-fold cross-validation of 54 rows"


def test_selection_from_the_command_line(milpbn, tmp_path):
    file = tmp_path / "results.jsonl"
    select = ("--select", "p=0.6,0.99", "--select", "max-parents=1,2")
    result = milpbn(*BASE, "hc", *select, "--out", file, "--class-root")
    assert result.exit_code == 0, result.output
    record = json.loads(file.read_text().splitlines()[1])
    assert set(record["selected"]) == {"p", "max_parents"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "nbb"), "unknown method 'nbb'"),
        (("--parameters", "magic"), "unknown parameters 'magic'"),
        (("--select", "p"), "write p=0.6,0.9"),
        (("--select", "p=a"), "select p: 'a' is not a number"),
        (("--select", "q=1"), "'q' cannot be selected"),
        (("--select", "p=0.6", "--select", "p=0.7"), "twice for the same setting"),
        (("--select", "p=0.6", "--p", 0.7), "--p does not go with --select"),
        (("--p", 0.7, "--gamma", 1), "give --p or --gamma"),
        (("--ess", 2), "--ess does not go with --score sm"),
        (("--folds", 1), "--folds"),
        (("--method", "branch-and-cut:cr"), "cannot be maximised exactly"),
    ],
)
def test_mistakes_are_named(milpbn, options, message):
    result = milpbn("evaluate", "--dataset", "synthetic-3", *options)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_the_data_are_not_overwritten(milpbn, messy_csv):
    data = ("--data", messy_csv, "--target", "Klasse №")
    result = milpbn("evaluate", *data, "--method", "nb", "--out", messy_csv)
    assert result.exit_code == 2
    assert "choose another name" in result.stderr


def test_ctrl_c_keeps_finished_folds_and_the_file_goes_on(launch, milpbn, tmp_path):
    """German takes the exact engine longer than the test waits: its limit is no end here."""
    file = tmp_path / "results.jsonl"
    options = ("--dataset", "german", "--time-limit", "600", "--out", file)
    started = launch("evaluate", *options, "--method", "nb,branch-and-cut")
    assert "1/10  nb ml, fold 1" in started.stderr.readline()
    started.send_signal(signal.SIGINT)
    stdout, stderr = started.communicate(timeout=600)
    assert started.returncode == 3, stderr
    assert "Traceback" not in stderr
    assert "1 of 10 folds" in stdout
    again = milpbn("evaluate", *options, "--method", "nb")
    # The time limit and all else are the same: the first fold is not computed again.
    assert again.exit_code == 0, again.output
    assert [line.split(",")[0] for line in again.stderr.splitlines()[:-1]] == [
        f"{k}/5  nb ml" for k in range(2, 6)
    ]
