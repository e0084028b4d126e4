"""What the commands refuse, or say in rare cases: each message names the option or the file."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def gbnc(milpbn, tmp_path_factory):
    """A model for two class variables."""
    folder = tmp_path_factory.mktemp("gbnc")
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    rows = pd.DataFrame({"x": x, "y": np.where(x > 0, "a", "b"), "z": rng.choice([*"uv"], 40)})
    rows.to_csv(folder / "rows.csv", index=False)
    options = ("--data", folder / "rows.csv", "--targets", "y,z", "--base", "logistic:C=1")
    done = milpbn("mdc", "solve", *options, "--out", folder / "model.json")
    assert done.exit_code == 0, done.output
    return folder / "model.json"


@pytest.fixture
def edited(iris_model, tmp_path):
    """A model file with other `data`."""

    def change(**data):
        content = json.loads(iris_model.read_text())
        content["data"] = {**content["data"], **data}
        content["data"] = {k: v for k, v in content["data"].items() if v is not None}
        path = tmp_path / "edited.json"
        path.write_text(json.dumps(content))
        return path

    return change


def refused(milpbn, code, *arguments):
    done = milpbn(*arguments)
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    return done.stderr


def test_models_for_one_class_variable_are_needed(milpbn, gbnc, iris_rows, tmp_path):
    for command in (("explain", gbnc, iris_rows), ("card", gbnc), ("arcs", gbnc)):
        assert f"{gbnc} is a model for several class variables" in refused(milpbn, 1, *command)
    report = ("report", gbnc, "--out", tmp_path / "r.html")
    assert "is a model for several class variables" in refused(milpbn, 1, *report)
    for option in ("--importance", "--tables"):
        assert option in refused(milpbn, 2, "inspect", gbnc, option)


def test_a_loss_is_for_several_class_variables(milpbn, iris_model, iris_rows):
    told = refused(milpbn, 1, "predict", iris_model, iris_rows, "--loss", "hamming")
    assert "--loss requires a model for several class variables" in told


def test_predictions_without_labels_have_no_accuracy(milpbn, iris_model, iris_rows, tmp_path):
    rows = pd.read_csv(iris_rows).head(5)
    rows["class"] = None
    rows.to_csv(tmp_path / "rows.csv", index=False)
    done = milpbn("predict", iris_model, tmp_path / "rows.csv")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 6
    assert "accuracy" not in done.stderr


def test_models_that_do_not_say_where_their_data_are(milpbn, edited, iris_rows, tmp_path):
    nowhere = edited(dataset=None)
    assert "does not say where its data came from" in refused(milpbn, 1, "verify", nowhere)
    old = edited(dataset=None, file=str(iris_rows))
    told = refused(milpbn, 1, "verify", old)
    assert "does not say how the columns of" in told
    moved = edited(dataset=None, file="gone.csv", columns={"target": "class"})
    told = refused(milpbn, 1, "verify", moved)
    assert "names 'gone.csv' as its data, which is not a file" in told
    assert "name the file with --data" in told
    told = refused(milpbn, 2, "verify", edited(), "--data", iris_rows)
    assert "was learned from the bundled data set iris; leave out --data" in told


def test_importance_without_any_rows(milpbn, edited):
    path = edited(dataset=None)
    content = json.loads(path.read_text())
    shown = milpbn("inspect", path, "--importance")
    assert shown.exit_code == 0
    assert "for permutation importance, give rows with --test" in shown.stderr
    del content["importance"]
    path.write_text(json.dumps(content))
    assert "give rows with --test" in refused(milpbn, 2, "inspect", path, "--importance")


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (["1"] * 30, "all rows are in one fold; at least two are needed"),
        (["1", "2"] * 14 + ["", "2"], "the fold of row 29 is missing"),
        (["1", "x"] * 15, "fold numbers must be integers"),
    ],
)
def test_a_column_of_folds_that_cannot_be_used(milpbn, tmp_path, folds, message):
    rows = pd.DataFrame({"x": [*"ab"] * 15, "fold": folds, "y": [*"uvu"] * 10})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    told = refused(
        *(milpbn, 1, "evaluate", "--data", tmp_path / "rows.csv", "--target", "y"),
        *("--method", "nb", "--fold-column", "fold"),
    )
    assert message in told
    assert "fold" in told


def test_options_that_do_not_go_together(milpbn, tmp_path):
    (tmp_path / "folds.csv").write_text("fold\n1\n2\n")
    pairs = {
        ("solve", "--dataset", "iris", "--p", "0.6,0.6"): "'0.6,0.6' contains a number twice",
        ("evaluate", "--dataset", "iris", "--jobs", "many"): "many",
        ("solve", "--dataset", "iris", "--emit", "pulp"): "--emit requires --method monolithic",
        (
            *("mdc", "evaluate", "--dataset", "Jura", "--folds", "2"),
            *("--fold-file", tmp_path / "folds.csv"),
        ): "give --folds or --fold-file, not both",
        (
            "mdc",
            "solve",
            "--data",
            "x.csv",
        ): "--data requires --targets a,b,c to know what to predict",
        ("export", "model.json"): "give --format, one of bif",
        ("export", "model.json", "--out", "model.txt"): "give --format, one of bif",
    }
    for command, message in pairs.items():
        assert message in refused(milpbn, 2, *command)


def test_scip_goes_with_branch_and_cut(milpbn):
    pytest.importorskip("pyscipopt")
    scip = ("solve", "--dataset", "iris", "--host", "scip")
    assert "--host requires --method branch-and-cut" in refused(
        milpbn, 2, *scip, "--method", "monolithic"
    )


def test_too_little_memory_is_no_traceback(milpbn, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("milpbn.cli.session.load_table", full)
    told = refused(milpbn, 1, "solve", "--dataset", "iris")
    assert "Error: out of memory; lower --max-parents, or use fewer rows or columns" in told
