"""Data as people have it, through the commands: notes, names, folds and predictions."""

from __future__ import annotations

import io
import json
import shlex

import numpy as np
import pandas as pd
import pytest
from troubles import TARGET, WRITERS, troubled_frame

N_TRAIN = 300


@pytest.fixture(scope="module")
def frame():
    return troubled_frame(1, 450)


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """Rows to learn from and rows to predict, in every format."""
    path = tmp_path_factory.mktemp("troubles")
    for suffix, write in WRITERS.items():
        write(frame[:N_TRAIN], path / f"train.{suffix}")
        write(frame[N_TRAIN:].reset_index(drop=True), path / f"test.{suffix}")
    return path


@pytest.fixture(scope="module")
def model(milpbn, folder):
    options = ("--data", folder / "train.csv", "--target", TARGET, "--missing", "state")
    done = milpbn("learn", *options, "--method", "nb", "--out", folder / "model.json")
    assert done.exit_code == 0, done.output
    return folder / "model.json"


def majority(frame):
    return 100 * frame[TARGET].value_counts(normalize=True).max()


def test_predictions_do_not_depend_on_the_format_and_beat_the_majority(
    milpbn, folder, model, frame
):
    done = {s: milpbn("predict", model, folder / f"test.{s}", "--keep", "email") for s in WRITERS}
    assert {d.exit_code for d in done.values()} == {0}
    assert done["csv"].stdout == done["parquet"].stdout == done["arff"].stdout
    assert len(pd.read_csv(io.StringIO(done["csv"].stdout))) == len(frame) - N_TRAIN
    accuracy = float(done["csv"].stderr.split("accuracy ")[1].split(" %")[0])
    assert accuracy > majority(frame[N_TRAIN:]) + 15


def test_a_model_of_raw_columns_is_verified(milpbn, model):
    done = milpbn("verify", model)
    assert done.exit_code == 0, done.output
    assert "DISAGREES" not in done.stdout


def test_evaluate_says_which_rows_have_holes_and_beats_the_majority(milpbn, folder, frame):
    options = ("--data", folder / "train.csv", "--target", TARGET, "--method", "nb", "--json")
    done = milpbn("evaluate", *options)
    assert done.exit_code == 0, done.output
    train = frame[:N_TRAIN].dropna(subset=TARGET)
    holes = int(train["plan"].isna().sum())
    told = f"{holes} of {len(train)} rows have a missing feature; in training rows, it is a state"
    assert told in done.stderr
    (summary,) = json.loads(done.stdout)["methods"]
    assert summary["accuracy"] > majority(train) / 100 + 0.15


def test_names_with_commas_and_arrows_can_be_named(milpbn, folder, tmp_path):
    done = milpbn(
        *("solve", "--data", folder / "train.csv", "--target", TARGET, "--max-parents", 1),
        *("--drop", 'email, "a,b",city,visit', "--categorical", "rooms", "--numeric", "no"),
        *("--forbid", f'{TARGET} -> "a->b"', "--out", tmp_path / "model.json"),
    )
    assert done.exit_code == 0, done.output
    structure = json.loads((tmp_path / "model.json").read_text())["structure"]
    assert "a,b" not in structure
    assert structure["a->b"] == []
    assert "'email'" not in done.stderr
    assert '"left, or stayed"' in done.stdout
    bad = milpbn("solve", "--data", "x.csv", "--target", "y", "--drop", '"a')
    assert bad.exit_code == 2
    assert "put a name that contains a comma in double quotes" in bad.stderr


def test_the_options_of_files_do_not_go_with_data_sets(milpbn):
    for option in (("--dates", "drop"), ("--max-states", 9), ("--target-bins", 3)):
        done = milpbn("solve", "--dataset", "iris", *option)
        assert done.exit_code == 2
        assert (
            f"{option[0]} requires --data FILE and cannot be combined with --dataset" in done.stderr
        )


def test_a_regression_target_is_refused_or_cut(milpbn, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    rows = pd.DataFrame(
        {"x": x, "price": [f"{v:.0f}" for v in 500 + 200 * x + rng.normal(size=300)]}
    )
    rows.to_csv(tmp_path / "rows.csv", index=False)
    options = ("solve", "--data", tmp_path / "rows.csv", "--target", "price")
    refused = milpbn(*options)
    assert refused.exit_code == 1
    assert "looks like regression" in refused.stderr
    assert "--target-bins 5 cuts it into classes, --categorical price accepts" in refused.stderr
    model = tmp_path / "model.json"
    done = milpbn(*options, "--target-bins", 3, "--out", model)
    assert done.exit_code == 0, done.output
    assert "target 'price' is cut into 3 classes" in done.stderr
    predicted = milpbn("predict", model, tmp_path / "rows.csv")
    assert "never seen" not in predicted.stderr
    accuracy = float(predicted.stderr.split("accuracy ")[1].split(" %")[0])
    assert accuracy > 90
    assert milpbn("verify", model).exit_code == 0


def test_several_class_variables_read_dates_too(milpbn, folder, frame, tmp_path):
    options = ("--data", folder / "train.csv", "--targets", f'"{TARGET}",plan')
    columns = "no,email,city,score,day,visit,customerID"
    done = milpbn(
        *("mdc", "solve", *options, "--drop", columns, "--max-parents", 1),
        *("--mixed", "one-hot", "--out", tmp_path / "model.json"),
    )
    assert done.exit_code == 0, done.output
    assert "column 'signup' holds dates" in done.stderr
    outputs = [milpbn("predict", tmp_path / "model.json", folder / f"test.{s}") for s in WRITERS]
    assert [o.exit_code for o in outputs] == [0, 0, 0], outputs[0].output
    assert outputs[0].stdout == outputs[1].stdout == outputs[2].stdout


def test_more_parameters_than_rows_are_reported(milpbn, folder):
    options = ("--data", folder / "train.csv", "--target", TARGET, "--method", "tan-cmi")
    done = milpbn("learn", *options)
    assert "more parameters than training rows" in done.stdout
    plain = milpbn("learn", *options, "--max-states", 3, "--dates", "drop", "--method", "nb")
    assert "more parameters than training rows" not in plain.stdout


def test_test_rows_from_another_format_are_read_alike(milpbn, folder, tmp_path):
    found = []
    for suffix in WRITERS:
        done = milpbn(
            *("learn", "--data", folder / "train.csv", "--target", TARGET, "--method", "nb"),
            *("--test", folder / f"test.{suffix}", "--json"),
        )
        assert done.exit_code == 0, done.output
        assert "never seen in training" not in done.stderr
        found.append(json.loads(done.stdout)["test"])
    assert found[0] == found[1] == found[2]
    assert found[0]["accuracy"] > found[0]["majority"]["accuracy"] + 0.15


def test_the_advice_can_be_typed_as_it_is(milpbn, folder):
    done = milpbn(
        *("learn", "--data", folder / "train.csv", "--target", TARGET, "--method", "nb"),
        *("--drop", '"a,b",email', "--dates", "drop", "--missing", "state"),
    )
    advice = shlex.split(done.stdout.split("or run: milpbn ")[1])
    assert advice[advice.index("--drop") + 1] == '"a,b",email'
    assert advice[advice.index("--dates") + 1] == "drop"
    again = milpbn(*advice, "--method", "nb")
    assert again.exit_code == 0, again.output


def test_names_that_could_harm_the_terminal_are_escaped_and_drawn(milpbn, tmp_path):
    columns = {"two\nlines": "ab" * 20, "\x1b[31mred": "ba" * 20, "\U00012000": "aabb" * 10}
    rows = pd.DataFrame({name: [*values] for name, values in columns.items()})
    rows["y"] = [*"ab" * 18, *"abba"]
    rows.to_parquet(tmp_path / "rows.parquet")
    model = tmp_path / "model.json"
    options = ("--data", tmp_path / "rows.parquet", "--target", "y", "--method", "nb")
    learned = milpbn("learn", *options, "--out", model)
    assert learned.exit_code == 0, learned.output
    assert '"two\\nlines" <- y\n"\\x1b[31mred" <- y\n' in learned.stdout
    drawn = milpbn("inspect", model, "--draw", tmp_path / "net.png")
    assert "\x1b" not in learned.output + drawn.output
    notes = [line for line in drawn.stderr.splitlines() if "no installed font" in line]
    assert len(notes) == 1
    assert notes[0].startswith(f"note: {tmp_path / 'net.png'}: no installed font has '\U00012000'")
