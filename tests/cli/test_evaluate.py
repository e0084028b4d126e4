"""``milpbn evaluate``: the table, files, going on, and what it refuses."""

import json
import re
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
    assert lines[3].split() == [
        *("method", "accuracy", "balanced", "AUC", "log-loss", "ECE", "size"),
        *("seconds", "proven"),
    ]
    assert [line.split()[0] for line in lines[4:8]] == ["majority", "nb", "hc:cr", "branch-and-cut"]
    assert "47.70 ± 3.10 %" in lines[4]
    assert lines[5].startswith("nb ml              47.60 ± 3.10 % !")
    assert lines[7].split()[-1] == "1/1"
    assert lines[-2:] == [
        "!    not more accurate than always predicting the majority class",
        "!    log-loss larger than that of the class frequencies (majority)",
    ]
    assert "warning: synthetic-3: nb ml is not more accurate than always predict" in result.stderr
    assert "warning: synthetic-3: nb ml has a larger log-loss than the class freq" in result.stderr


def test_a_narrow_terminal_gets_fewer_columns(milpbn, monkeypatch):
    options = ("evaluate", "--dataset", "monks-3", "--method", "nb", "--quiet")
    whole = milpbn(*options).stdout
    monkeypatch.setattr("milpbn.cli.evaluation_output.terminal_width", lambda: 50)
    narrow = milpbn(*options).stdout
    assert re.search(r"^method +accuracy .* ECE +size +seconds +proven$", whole, re.MULTILINE)
    assert re.search(r"^method +accuracy +AUC +log-loss +proven$", narrow, re.MULTILINE)
    assert max(map(len, narrow.splitlines())) <= 50


def test_progress_is_plain_lines_on_stderr(milpbn):
    result = milpbn(*BASE, "nb,tan-cmi")
    first, second, *_ = result.stderr.splitlines()
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
    dropped = milpbn("evaluate", *data, "--method", "nb", "--missing", "drop", "--json", "--quiet")
    assert json.loads(dropped.stdout)["protocol"] == "5-fold cross-validation of 60 rows"


def test_rows_not_learned_from_are_counted(milpbn, messy_csv):
    own = ("--data", messy_csv, "--target", "Klasse №")
    data = (*own, "--method", "nb", "--missing", "drop")
    result = milpbn("evaluate", *data)
    assert "5-fold cross-validation of 60 rows" in result.stdout
    assert "milpbn's methods do not learn from 6 incomplete rows; all rows are" in result.stdout
    assert "6 of 60 rows are used only for tests, because a feature is missing" in result.stderr
    content = json.loads(milpbn("evaluate", *data, "--json", "--quiet").stdout)
    assert content["n_incomplete_rows"] == 6


def test_all_measures_are_in_json_and_csv(milpbn, tmp_path):
    file = tmp_path / "table.csv"
    result = milpbn(*BASE, "nb,sk:tree", "--json", "--csv", file)
    content = json.loads(result.stdout)
    measures = (
        *("accuracy", "interval", "balanced_accuracy", "macro_f1", "auc", "log_loss", "brier"),
        "calibration_error",
    )
    frame = pd.read_csv(file)
    assert frame["method"].tolist() == ["majority", "nb", "sk:tree"]
    for line, (_, row) in zip(
        [content["majority"], *content["methods"]], frame.iterrows(), strict=True
    ):
        assert row[list(measures)].tolist() == pytest.approx([line[m] for m in measures])
    (test,) = content["tests"]
    assert (test["method"], test["other_method"], test["p"]) == ("nb", "sk:tree", None)


def test_details_as_text_csv_and_picture(milpbn, tmp_path):
    files = {name: tmp_path / f"{name}.csv" for name in ("confusion", "reliability")}
    picture = tmp_path / "out.png"
    saved = [word for name, file in files.items() for word in (f"--{name}", file)]
    result = milpbn(*BASE, "nb,tan-cmi", "--details", *saved, "--plot", picture)
    assert result.exit_code == 0, result.output
    assert "synthetic-3: nb ml\ntrue \\ predicted" in result.stdout
    assert "mean confidence" in result.stdout
    confusion, reliability = (pd.read_csv(file) for file in files.values())
    assert confusion.groupby("method")["rows"].sum().tolist() == [1000, 1000]
    right = confusion[confusion["truth"] == confusion["prediction"]]
    assert right.groupby("method")["rows"].sum()["nb"] == 476
    assert reliability.groupby("method")["rows"].sum().tolist() == [1000, 1000]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"wrote {picture}" in result.stderr


def test_several_data_sets_in_one_command(milpbn, tmp_path):
    file, table = tmp_path / "results.jsonl", tmp_path / "table.csv"
    options = ("--method", "tan-cmi,nb", "--out", file, "--csv", table)
    result = milpbn("evaluate", "--dataset", "synthetic-3,monks-1", *options)
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[2].startswith("monks-1 1/2  tan-cmi ml, fold 1: ")
    assert "means over 2 data sets" in result.stdout
    assert pd.read_csv(table)["data"].tolist() == ["synthetic-3"] * 3 + ["monks-1"] * 3
    more = milpbn("evaluate", "--dataset", "monks-1,monks-3,synthetic-3", *options, "--json")
    assert [line.split()[0] for line in more.stderr.splitlines()[:2]] == ["monks-3"] * 2
    content = json.loads(more.stdout)
    assert [part["data"] for part in content["sets"]] == ["monks-1", "monks-3", "synthetic-3"]
    assert [m["sets"] for m in content["methods"]] == [3, 3]
    assert content["tests"][0]["wins"] + content["tests"][0]["losses"] == 3


def halves(tmp_path):
    """A file with fold numbers, and its rows in two files."""
    labels, x = ["p", "q"] * 40, list("ab") * 30 + list("ba") * 10
    frame = pd.DataFrame({"x": x, "n": range(80), "fold": [1, 2, 2, 1] * 20, "class": labels})
    frame["n"] = frame["n"] % 7 + 0.5
    whole, train, test = (tmp_path / f"{name}.csv" for name in ("whole", "train", "test"))
    frame.to_csv(whole, index=False)
    frame[:60].to_csv(train, index=False)
    frame[60:].to_csv(test, index=False)
    return whole, train, test


def test_a_second_file_holds_the_test_rows(milpbn, tmp_path):
    _, train, test = halves(tmp_path)
    options = ("--target", "class", "--drop", "fold", "--method", "nb", "--json", "--quiet")
    content = json.loads(milpbn("evaluate", "--data", train, *options, "--test", test).stdout)
    assert content["protocol"] == "60 training rows, 20 test rows"
    assert content["methods"][0]["accuracy"] == 0.0  # the last rows are turned round
    lost = milpbn("evaluate", "--data", train, *options, "--test", tmp_path / "none.csv")
    assert (lost.exit_code, lost.stderr.startswith("Error: there is no file")) == (1, True)


def test_a_column_holds_the_folds(milpbn, tmp_path):
    whole, *_ = halves(tmp_path)
    predictions = tmp_path / "predictions.csv"
    options = ("evaluate", "--data", whole, "--target", "class", "--method", "nb", "--quiet")
    result = milpbn(*options, "--fold-column", "fold", "--predictions", predictions)
    assert result.exit_code == 0, result.output
    assert "2-fold cross-validation of 80 rows" in result.stdout
    frame = pd.read_csv(predictions).sort_values("row")
    assert frame["fold"].tolist() == [1, 2, 2, 1] * 20
    # Two states of x and seven of n, without one for the folds: at most 1 + 2 + 12 parameters.
    assert float(result.stdout.splitlines()[-1].split()[-3]) <= 15
    wrong = milpbn(*options, "--fold-column", "x")
    assert "column 'x': fold numbers must be integers" in wrong.stderr
    absent = milpbn(*options, "--fold-column", "folds")
    assert (absent.exit_code, "--fold-column: there is no column 'folds'" in absent.stderr) == (
        1,
        True,
    )


def test_selection_from_the_command_line(milpbn, tmp_path):
    file = tmp_path / "results.jsonl"
    select = ("--select", "p=0.6,0.99", "--select", "max-parents=1,2")
    result = milpbn(*BASE, "hc", *select, "--out", file, "--class-root")
    assert result.exit_code == 0, result.output
    record = json.loads(file.read_text().splitlines()[-1])
    assert set(record["selected"]) == {"p", "max_parents"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "nbb"), "unknown method 'nbb'"),
        (("--parameters", "magic"), "unknown parameters 'magic'"),
        (("--select", "p"), "write p=0.6,0.9"),
        (
            ("--select", "p=a"),
            "select p: each value must be a number above 0.5 and below 1, not 'a'",
        ),
        (("--select", "q=1"), "'q' cannot be selected; choose among score, p, gamma, penalty"),
        (("--select", "q=1"), "max-parents, class-parents"),
        (("--select", "p=0.6", "--select", "p=0.7"), "twice for the same setting"),
        (("--select", "p=0.6", "--p", 0.7), "--p cannot be combined with --select"),
        (("--p", 0.7, "--gamma", 1), "give --p or --gamma"),
        (("--ess", 2), "--ess cannot be combined with --score sm"),
        (("--folds", 1), "--folds"),
        (("--method", "branch-and-cut:cr"), "cannot be maximised exactly"),
        (("--method", "sk:forest"), "the classifiers of other libraries are sk:logistic"),
        (
            ("--method", "sk:svm:kernel=linear"),
            "'kernel=linear' is not a setting; write name=value",
        ),
        (("--method", "sk:svm:inputs=bins"), "inputs must be one of raw, states, not 'bins'"),
        (("--dataset", "iris,nope"), "nope"),
        (("--dataset", "iris,iris"), "the data set 'iris' is listed twice"),
        (("--test", "new.csv"), "--test requires --data FILE"),
        (("--fold-column", "fold"), "--fold-column requires --data FILE"),
        (("--fold-column", "fold", "--folds", 3), "--fold-column cannot be combined with --folds"),
        (("--csv", "same.csv", "--confusion", "same.csv"), "--confusion same.csv is also --csv"),
        (("--plot", "picture.doc"), "must end in .png or .svg or .pdf"),
    ],
)
def test_mistakes_are_named(milpbn, options, message):
    data = () if "--dataset" in options else ("--dataset", "synthetic-3")
    result = milpbn("evaluate", *data, *options)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_the_data_are_not_overwritten(milpbn, messy_csv):
    data = ("--data", messy_csv, "--target", "Klasse №")
    result = milpbn("evaluate", *data, "--method", "nb", "--out", messy_csv)
    assert result.exit_code == 2
    assert "choose another name" in result.stderr


def test_ctrl_c_keeps_finished_folds_and_the_file_goes_on(launch, milpbn, tmp_path, wait_for_line):
    """German takes the exact engine longer than the test waits: its limit is no end here."""
    file = tmp_path / "results.jsonl"
    options = ("--dataset", "german", "--time-limit", "600", "--out", file)
    started = launch("evaluate", *options, "--method", "nb,branch-and-cut")
    wait_for_line(started, "1/10  nb ml, fold 1")
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


def test_a_second_run_with_the_same_file_is_refused(launch, milpbn, tmp_path, wait_for_line):
    file = tmp_path / "results.jsonl"
    options = ("--dataset", "german", "--time-limit", "600", "--out", file)
    started = launch("evaluate", *options, "--method", "nb,branch-and-cut")
    wait_for_line(started, "1/10  nb ml, fold 1")
    second = milpbn("evaluate", *options, "--method", "nb,branch-and-cut")
    assert second.exit_code == 1
    assert f"{file} is in use by another run; wait for its end, or choose" in second.stderr
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=600)
    assert started.returncode == 3


def test_ctrl_c_between_folds_of_several_classes_keeps_them(launch, tmp_path, wait_for_line):
    """The base models of the second method take longer than the test waits."""
    file = tmp_path / "folds.jsonl"
    options = ("--dataset", "Jura", "--base", "forest:n_estimators=400", "--out", file)
    started = launch("mdc", "evaluate", *options, "--folds", "3", "--methods", "br,gbnc")
    wait_for_line(started, "1/6  br, fold 1")
    started.send_signal(signal.SIGINT)
    stdout, stderr = started.communicate(timeout=600)
    assert started.returncode == 3, stderr
    assert "Traceback" not in stderr
    assert "br" in stdout
    assert "of 6 folds" in stdout
    kept = [json.loads(line) for line in file.read_text().splitlines()[2:]]
    assert 1 <= len(kept) < 6
    assert kept[0]["method"] == "br"
    assert f"wrote {file}" in stderr
