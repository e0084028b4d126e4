import base64
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mdc.brute_force import random_problem
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from milpbn import load_dataset, load_model
from milpbn.errors import ModelFileError
from milpbn.learning.model import Model
from milpbn.mdc import GBNCClassifier, GBNCModel
from milpbn.mdc.base_estimators import make_base
from milpbn.model_files import verify


class Homemade(LogisticRegression):
    """A type that skops does not know."""


def fitted(base="logistic:C=1", **parameters):
    X, codes, _, discrete = random_problem(2, 3, n=90, n_discrete=1)
    table = np.column_stack([X, discrete])
    model = GBNCClassifier(base, categorical_features=[2], **parameters).fit(table, codes)
    return model, table


@pytest.mark.parametrize(
    ("base", "trusted"),
    [
        ("logistic:C=auto", ()),
        (GaussianNB(), ()),
        (RandomForestClassifier(n_estimators=3, max_depth=2), ["sklearn.tree._tree.Tree"]),
    ],
)
def test_a_model_comes_back_as_it_was(tmp_path, base, trusted):
    model, X = fitted(base)
    path = tmp_path / "model.json"
    model.save(path)
    back = GBNCModel.load(path, trusted)
    assert back.settings.to_dict() == model.model_.settings.to_dict()
    assert back.data == model.model_.data
    other = back.to_estimator()
    assert other.structure_ == model.structure_
    assert other.result_.to_dict() == model.result_.to_dict()
    assert other.training_ == model.training_
    # A model from a file wants the columns by their names.
    frame = pd.DataFrame(dict(zip(("x0", "x1", "x2"), X.T, strict=True)))
    again = other.predict_proba(frame)
    for one, two in zip(model.predict_proba(X), again, strict=True):
        assert one == pytest.approx(two, abs=1e-12)


def test_settings_of_base_models_and_folds_come_back(tmp_path):
    model, _ = fitted(validation=3)
    model.save(tmp_path / "model.json")
    back = GBNCClassifier.load(tmp_path / "model.json")
    assert back.validation == 3
    assert back.base_ == model.base_ == make_base("logistic:C=1")
    model, _ = fitted(GaussianNB())
    model.save(tmp_path / "model.json")
    assert GBNCModel.load(tmp_path / "model.json").base is None


def test_files_of_version_0_2_are_read(tmp_path):
    model, _ = fitted()
    path = tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text())
    del content["base"], content["parameters"]["validation"], content["settings"]["validation"]
    path.write_text(json.dumps(content))
    back = GBNCClassifier.load(path)
    assert back.validation is None
    assert back.base_ is None
    assert back.structure_ == model.structure_


def test_logistic_regressions_are_plain_numbers(tmp_path):
    model, _ = fitted()
    model.save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    assert content["base_models"]["format"] == "logistic-regression"
    first = model.local_models_[0].models[0].estimator
    assert content["base_models"]["models"][0]["coefficients"] == first.coef_.tolist()


def test_types_that_nobody_vouched_for_are_refused(tmp_path):
    model, _ = fitted(Homemade())
    path = tmp_path / "model.json"
    model.save(path)
    with pytest.raises(
        ModelFileError, match=r"not trusted: .*Homemade.* trusted=\['.*Homemade'\]"
    ) as refusal:
        GBNCModel.load(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert "--trust " in refusal.value.on_command_line()
    name = f"{Homemade.__module__}.{Homemade.__qualname__}"
    assert GBNCModel.load(path, trusted=[name]).structure == model.structure_


def part(content):
    """The first base model with its configuration."""
    return content["local_models"][0]["configurations"][0]


def logistic(content):
    return content["base_models"]["models"][0]


def narrow(content):
    """Take a coefficient away from every base model."""
    for model in content["base_models"]["models"]:
        for row in model["coefficients"]:
            row.pop()


def zipped(name, data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


DEEP = zipped("schema.json", '{"a":' * 20_000 + "1" + "}" * 20_000)
BOMB = zipped("schema.json", b" " * 2**26)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("features"), "'features' is missing"),
        (lambda c: c.update(version=99), "version 99 of the format"),
        (lambda c: c.update(format="other"), "not a milpbn model of this kind"),
        (lambda c: c["base_models"]["models"].clear(), "damaged"),
        (lambda c: c["local_models"][0].update(child=2), "child and parents are not nodes"),
        (lambda c: c["base_models"]["models"][0].update(intercepts=[]), "do not match"),
        (lambda c: c["base_models"].update(format="pickle"), "unknown format 'pickle'"),
        (lambda c: c["base_models"].update(format="skops", content="AAAA"), "damaged"),
        (lambda c: c["base_models"].update(format="skops", content=DEEP), "skops cannot read"),
        (lambda c: c["base_models"].update(format="skops", content=BOMB), "would unpack to"),
        (lambda c: part(c).update(base_model=-1), "base_model: expected a whole number >= 0"),
        (lambda c: part(c).update(base_model=99), "names a base model that does not exist"),
        (lambda c: part(c).update(configuration=10**30), "configuration: expected a whole number"),
        (lambda c: part(c).update(configuration=99), "a configuration does not exist"),
        (lambda c: part(c).update(counts=[5]), "1 counts for"),
        (lambda c: part(c).update(counts="5"), "counts: expected a list, found a string"),
        (lambda c: part(c)["counts"].__setitem__(0, 0), "other states than the counts"),
        (lambda c: c["local_models"][0].update(n_states=10**12), "numbers of parents or states"),
        (lambda c: c["local_models"][0].update(cards=[10**9]), "numbers of parents or states"),
        (narrow, "the base model has . features, not "),
        (lambda c: c["targets"][0].update(dtype="<U99999999"), None),
        (lambda c: c["targets"][0].update(dtype="<M8[s]"), "labels of the type '<M8.s.'"),
        (lambda c: c["features"]["scales"].__setitem__(0, 0.0), "a scale is not positive"),
        (lambda c: c["features"]["means"].pop(), "one mean and one scale each"),
        (
            lambda c: c["parameters"].update(loss="none"),
            "loss must be one of subset, hamming, balanced, not 'none'",
        ),
    ],
)
def test_damage_is_told(tmp_path, change, message):
    model, _ = fitted()
    path = tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    if message is None:
        assert GBNCClassifier.load(path).structure_ == model.structure_
        return
    with pytest.raises(ModelFileError, match=message):
        GBNCModel.load(path)


def test_coefficients_that_are_not_numbers_are_refused(tmp_path):
    model, _ = fitted()
    path = tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text())
    logistic(content)["coefficients"][0][0] = float("nan")
    path.write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="not valid JSON"):
        GBNCModel.load(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "x.json"
    with pytest.raises(ModelFileError, match="cannot read"):
        GBNCModel.load(path)
    path.write_text("{")
    with pytest.raises(ModelFileError, match="not valid JSON"):
        GBNCModel.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelFileError, match="not a text file"):
        GBNCModel.load(path)
    path.write_text('{"format": "milpbn-model"}')
    with pytest.raises(ModelFileError, match="its format is 'milpbn-model', not"):
        GBNCModel.load(path)
    path.write_text('{"format": "milpbn-gbnc"}')
    with pytest.raises(ModelFileError, match="its format is 'milpbn-gbnc', not"):
        Model.load(path)


def test_a_file_from_before_models_were_data_is_read_and_verified():
    """Learned by the release before: `milpbn mdc solve --dataset Jura --validation 5`, C = 1."""
    path = Path(__file__).with_name("jura-before.json")
    model, jura = load_model(path), load_dataset("Jura")
    found = verify(model, jura, content=json.loads(path.read_text()))
    assert found.agrees, found.checks
    assert model.result.objective == pytest.approx(-636.402356)
    assert model.to_estimator().score(jura.features, jura.targets) == pytest.approx(
        0.4986, abs=1e-4
    )
