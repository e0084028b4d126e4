"""One chain: command line, estimator and a fold of an evaluation learn the same classifier."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from milpbn import BNClassifier, Model, evaluate, learn_classifier, make_settings, read_table
from milpbn.cli import cli
from milpbn.errors import DataError
from milpbn.selection.validation import part

SETTINGS = {"p": 0.8, "max_parents": 2, "class_parents": False, "parameters": "cl"}
OPTIONS = ("--p", "0.8", "--class-root", "--parameters", "cl")


@pytest.fixture(scope="module")
def arff(tmp_path_factory):
    """A file that declares a state which no row has, a number, and a category."""
    rng = np.random.default_rng(5)
    lines = [
        "@relation toy",
        "@attribute size numeric",
        "@attribute color {red,green,blue,never}",
        "@attribute shape {round,flat}",
        "@attribute kind {yes,no}",
        "@data",
    ]
    for _ in range(150):
        yes = rng.random() < 0.5
        size = rng.normal(2 if yes else 0, 1)
        color = rng.choice(["red", "green", "blue"], p=[0.6, 0.2, 0.2] if yes else [0.2, 0.2, 0.6])
        shape = "round" if (color == "red") == yes or rng.random() < 0.3 else "flat"
        lines.append(f"{size:.3f},{color},{shape},{'yes' if yes else 'no'}")
    path = tmp_path_factory.mktemp("chain") / "toy.arff"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def table(arff):
    return read_table(arff, "kind")


@pytest.fixture(scope="module")
def by_command(arff, tmp_path_factory):
    out = tmp_path_factory.mktemp("chain") / "model.json"
    command = ["solve", "--data", str(arff), "--target", "kind", *OPTIONS, "--out", str(out)]
    done = CliRunner().invoke(cli, [*command, "--quiet"])
    assert done.exit_code == 0, done.output
    return Model.load(out)


def same(one, other, rows):
    """Codes, structure, objective and probabilities of two models."""
    assert one.encoder.variables == other.encoder.variables
    codes = [m.encoder.transform(rows).codes for m in (one, other)]
    assert (codes[0] == codes[1]).all()
    assert one.network.structure == other.network.structure
    assert one.result.objective == pytest.approx(other.result.objective, abs=1e-9)
    posteriors = [np.exp(m.log_posterior(rows)) for m in (one, other)]
    assert posteriors[0] == pytest.approx(posteriors[1], abs=1e-12)


def test_the_command_line_and_python_learn_the_same(by_command, table):
    model = learn_classifier(table, make_settings(**SETTINGS))
    same(by_command, model, table.features)
    # The state that no row has is a state all the same.
    colors = {v.name: v.states for v in model.encoder.variables}["color"]
    assert colors == ("red", "green", "blue", "never")


def test_the_estimator_learns_the_same(table):
    # A frame declares no states: the table that it becomes has those of the rows.
    plain = replace(table, states={"kind": ("no", "yes")})
    estimator = BNClassifier(**SETTINGS).fit(table.features, table.target)
    model = learn_classifier(plain, make_settings(**SETTINGS))
    renamed = replace(model, encoder=replace(model.encoder, target=estimator.encoder_.target))
    assert estimator.encoder_.columns == renamed.encoder.columns
    assert [len(s) for s in estimator.structure_.parents] == [
        len(s) for s in model.network.structure.parents
    ]
    assert estimator.objective_ == pytest.approx(model.result.objective, abs=1e-9)
    proba = np.exp(model.log_posterior(table.features))
    assert estimator.predict_proba(table.features) == pytest.approx(proba, abs=1e-12)


def test_a_fold_of_an_evaluation_learns_the_same(table):
    settings = {k: v for k, v in SETTINGS.items() if k != "parameters"}
    found = evaluate(table, ["branch-and-cut"], parameters=["cl"], predictions=True, **settings)
    record = found.records[0]
    test = np.array(record.predictions.rows)
    train = np.setdiff1d(np.arange(len(table)), test)
    model = learn_classifier(part(table, train), make_settings(**SETTINGS))
    assert record.n_parameters == model.network.n_parameters
    assert tuple(record.predictions.classes) == model.encoder.target.variable.states
    proba = np.exp(model.log_posterior(table.features.iloc[test]))
    assert np.array(record.predictions.proba) == pytest.approx(proba, abs=1e-12)


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], [False, True]])
def test_an_estimator_comes_back_from_its_file(table, labels, tmp_path):
    y = np.array(labels)[(table.target == "yes").to_numpy().astype(int)]
    X = table.features
    estimator = BNClassifier(**SETTINGS).fit(X, y)
    estimator.save(tmp_path / "model.json")
    again = BNClassifier.load(tmp_path / "model.json")
    assert again.predict(X).tolist() == estimator.predict(X).tolist()
    assert again.predict_proba(X) == pytest.approx(estimator.predict_proba(X), abs=1e-15)
    assert again.classes_.dtype == estimator.classes_.dtype
    assert again.get_params() == {**estimator.get_params(), "smoothing": "laplace:1"}
    assert again.score(X, y) == estimator.score(X, y)
    refitted = again.fit(X, y)
    assert refitted.objective_ == pytest.approx(estimator.objective_, abs=1e-9)


def test_arrays_have_no_names_after_loading_either(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    estimator = BNClassifier(max_parents=1).fit(X, y)
    estimator.save(tmp_path / "model.json")
    again = BNClassifier.load(tmp_path / "model.json")
    assert not hasattr(again, "feature_names_in_")
    assert again.predict(X).tolist() == estimator.predict(X).tolist()
    with pytest.raises(ValueError, match="features"):
        again.predict(X[:, :2])


def test_a_file_of_the_command_line_becomes_an_estimator(by_command, table):
    estimator = by_command.to_estimator()
    assert estimator.classes_.tolist() == ["no", "yes"]
    expected = np.exp(by_command.log_posterior(table.features))
    assert estimator.predict_proba(table.features) == pytest.approx(expected, abs=1e-15)
    assert estimator.get_params()["parameters"] == "cl"
    assert estimator.p == 0.8
    with pytest.raises(DataError, match="X: no column is named 'size', 'color', 'shape'"):
        estimator.predict(pd.DataFrame({"other": [1.0]}))
