"""``--holdout`` and ``--test`` of ``solve`` and ``learn``, and what reports say about new rows."""

import json

import numpy as np
import pandas as pd
import pytest

from milpbn.learning.model import Model

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Training rows and test rows; x helps, and z is noise."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(7)
    x = rng.integers(0, 2, 200)
    frame = pd.DataFrame(
        {
            "x": np.where(x, "a", "b"),
            "z": rng.integers(0, 3, 200).astype(str),
            "class": np.where((x == 1) ^ (rng.random(200) < 0.1), "yes", "no"),
        }
    )
    train, test = folder / "train rows.csv", folder / "test.csv"
    frame[:150].to_csv(train, index=False)
    frame[150:].to_csv(test, index=False)
    return train, test, frame


def test_test_rows_from_a_second_file(milpbn, files, tmp_path):
    train, test, frame = files
    saved = tmp_path / "model.json"
    options = ("--data", train, "--target", "class", "--test", test, "--out", saved)
    content = json.loads(milpbn("solve", *options, "--json").stdout)
    new = frame[150:]
    model = Model.load(saved)
    log_proba = model.log_posterior(new)
    states = np.array(model.encoder.target.variable.states)
    share = (states[log_proba.argmax(axis=1)] == new["class"]).mean()
    found = content["test"]
    assert found["rows"] == 50
    assert found["accuracy"] == content["accuracy"]["test"] == pytest.approx(share)
    assert found["interval"] == pytest.approx(1.959964 * np.sqrt(share * (1 - share) / 50))
    own = log_proba[np.arange(50), np.searchsorted(states, new["class"])]
    assert found["log_loss"] == pytest.approx(-own.mean())
    most = frame["class"][:150].mode()[0]
    assert found["majority"]["accuracy"] == pytest.approx((new["class"] == most).mean())
    assert model.data["n_rows"] == 150
    assert milpbn("verify", saved).exit_code == 0


@pytest.mark.parametrize("command", ["solve", "learn"])
def test_a_share_of_the_rows_is_held_out(milpbn, files, tmp_path, command):
    saved = tmp_path / "model.json"
    options = ("--data", files[0], "--target", "class", "--holdout", 0.2, "--seed", 3)
    more = ("--time-limit", "20s", *(("--method", "nb") if command == "learn" else ()))
    result = milpbn(command, *options, *more, "--out", saved)
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line}
    assert lines["rows"].endswith("120 training, 30 test")
    assert "%, test" in lines["accuracy"]
    assert " ± " in lines["accuracy"]
    assert "test" in lines["log-loss"]
    assert "test" in lines["majority"]
    assert "new rows" not in result.stdout
    told = json.loads(saved.read_text())["data"]
    assert (told["n_rows"], told["holdout"]) == (120, {"share": 0.2, "seed": 3})
    checked = milpbn("verify", saved)
    assert checked.exit_code == 0, checked.output


def test_without_test_rows_the_report_ends_with_advice(milpbn, files, monkeypatch):
    monkeypatch.chdir(files[0].parent)
    data = ("--data", "train rows.csv", "--target", "class")
    options = (*data, "--missing", "state", "--drop", "z")
    result = milpbn("solve", *options)
    assert result.stdout.splitlines()[-1] == (
        "To estimate the accuracy on unseen data, add --holdout 0.25, or run: milpbn evaluate "
        "--data 'train rows.csv' --target class --drop z --missing state"
    )
    assert "new rows" not in milpbn("solve", *data, "--json").stdout
    assert "new rows" not in milpbn("learn", "--dataset", "iris", "--method", "nb").stdout


def test_a_classifier_below_the_majority_is_announced(milpbn, files, tmp_path):
    train, _, frame = files
    turned = frame[150:].assign(x=frame["x"][150:].map({"a": "b", "b": "a"}))
    turned.to_csv(tmp_path / "turned.csv", index=False)
    options = ("--data", train, "--target", "class", "--test", tmp_path / "turned.csv")
    result = milpbn("learn", "--method", "nb", *options)
    assert result.exit_code == 0
    assert " % of the test rows are predicted correctly; always predicting the" in result.stderr
    assert "warning: the log-loss on the test rows is " in result.stderr
    assert milpbn("learn", "--method", "nb", *options, "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--holdout", 0.2, "--test", "x.csv"), 2, "--test cannot be combined with --holdout"),
        (("--holdout", 0.2, "--rows", "all"), 2, "--holdout cannot be combined with --rows all"),
        (("--holdout", 1.5), 2, "--holdout"),
        (("--holdout", 0.001), 1, "leaves no row to learn from or to test"),
        (("--test", "gone.csv"), 1, "there is no file gone.csv"),
    ],
)
def test_mistakes_are_named(milpbn, files, options, code, message):
    result = milpbn("solve", "--data", files[0], "--target", "class", *options)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_bundled_sets_keep_their_own_test_rows(milpbn):
    result = milpbn("solve", "--dataset", "monks-1", "--holdout", 0.2)
    assert (result.exit_code, "already has test rows" in result.stderr) == (1, True)
    wrong = milpbn("solve", "--dataset", "iris", "--test", "x.csv")
    assert "--test requires --data FILE" in wrong.stderr
    assert (
        "120 training, 30 test"
        in milpbn("learn", "--dataset", "iris", "--method", "nb", "--holdout", 0.2).stdout
    )
