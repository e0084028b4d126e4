"""The whole chain if variables have several resolutions: learn, save, load, verify, explain."""

import json
from dataclasses import replace

import numpy as np
import pytest
from problems import encoded

from milpbn import learn_classifier, load_dataset, make_settings
from milpbn.certainty.alternatives import learn_alternatives
from milpbn.certainty.arcs import model_arc_margins
from milpbn.errors import ModelFileError
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings
from milpbn.network.inference import log_posterior
from milpbn.scores import make_score
from milpbn.verification.structure_claims import alternative_errors, arc_errors
from milpbn.verification.verify import verify_model


@pytest.fixture
def iris():
    """Three columns in several resolutions."""
    columns = ["sepalwidth", "petallength", "petalwidth"]
    table = load_dataset("iris")
    return replace(table, features=table.features[columns], numeric=columns, bins="auto")


def learn(table, **names):
    return learn_classifier(table, make_settings(**{"class_parents": False, **names}))


def test_rows_are_held_out_unless_something_else_is_asked_for(iris):
    assert learn(iris).result.score_parameters["validation"] == "loo"
    assert "validation" not in learn(iris, validation="none").result.score_parameters
    assert learn(iris, validation=5).result.score_parameters["validation"] == 5
    assert learn(iris, score="mdl").result.score_parameters == {}
    given = learn(iris, score=make_score("sm"), method="nb")
    assert "validation" not in given.result.score_parameters


def test_notes_say_how_rows_are_scored():
    several = encoded(np.array([[0, 0]]), [2, 3], None, [[], [[0, 0, 1]]]).variables
    one = encoded(np.array([[0, 0]]), [2, 3]).variables
    assert make_settings().notes(one) == []
    assert make_settings(score="mdl").notes(several) == []
    assert make_settings(validation=5).notes(several) == []
    assert make_settings(validation="none", penalty=0.1).notes(several) == []
    (note,) = make_settings().notes(several)
    assert "each row is scored without itself (validation='loo')" in note
    assert "--validation loo" in note.on_command_line()
    (note,) = make_settings(validation="none").notes(several)
    assert "the finest states win" in note


def test_settings_of_a_file_are_read_as_they_were():
    for validation in ("none", "loo", 4):
        written = make_settings(validation=validation)
        read = Settings.from_dict(written.to_dict())
        assert read.score == written.score
        assert not read.choose_validation
    assert make_settings().choose_validation


@pytest.mark.parametrize("names", [{}, {"method": "multinet-cmi"}, {"parameters": "cl:penalty=1"}])
def test_a_model_file_is_read_as_it_was_written(iris, tmp_path, names):
    model = learn(iris, **names)
    assert model.network.structure.resolutions_to_dict()
    model.save(tmp_path / "model.json")
    again = Model.load(tmp_path / "model.json")
    assert again.network.structure == model.network.structure
    assert again.result == model.result
    rows = model.encoder.transform(iris.features).codes
    rows[::7, 2] = -1
    assert (log_posterior(again.network, rows) == log_posterior(model.network, rows)).all()
    verification = verify_model(again, iris, time_limit=20)
    assert verification.agrees, verification.checks


def test_damaged_resolutions_and_shares_are_named(iris, tmp_path):
    file = tmp_path / "model.json"
    learn(iris).save(file)
    content = json.loads(file.read_text())
    child, own = next(iter(content["resolutions"].items()))
    for entry, value, match in (
        ("resolutions", {child: dict.fromkeys(own, 7)}, "different structure|no resolution 7"),
        ("resolutions", {child: {"colour": 1}}, "'colour' is not in its family"),
        ("resolutions", {child: 1}, "resolutions"),
        ("log_shares", {**content["log_shares"], child: [0.5]}, "positive|share"),
    ):
        changed = {**content, entry: value}
        if entry == "resolutions":
            changed["result"] = {**content["result"], "resolutions": value}
        file.write_text(json.dumps(changed))
        with pytest.raises(ModelFileError, match=match):
            Model.load(file)


def test_verification_notices_other_resolutions_and_shares(iris):
    model = learn(iris)
    assert verify_model(model, iris, time_limit=20).agrees
    shares = tuple(np.roll(own, 1) for own in model.network.shares)
    wrong = replace(model, network=replace(model.network, shares=shares))
    failed = [c.seen for c in verify_model(wrong, iris, time_limit=20).checks if c.holds is False]
    assert any("the shares of states inside coarser ones differ" in seen for seen in failed)


def test_arc_margins_and_alternatives_remember_resolutions(iris, tmp_path):
    model = learn(iris)
    margins = model_arc_margins(model, iris)
    data = model.encoder.encode(iris)
    others = learn_alternatives(data, best=5, class_parents=False)
    assert len({s.structure for s in others.structures}) == 5
    assert any(s.structure.resolutions for s in others.structures)
    model = replace(model, arcs=margins, alternatives=others)
    model.save(tmp_path / "model.json")
    again = Model.load(tmp_path / "model.json")
    assert again.alternatives == others
    assert again.arcs == margins
    score = make_score(model.result.score, **model.result.score_parameters)
    assert list(arc_errors(again, score, data)) == []
    assert list(alternative_errors(again, score, data)) == []
    resumed = model_arc_margins(again, iris)
    assert [a.value for a in resumed.answers] == [a.value for a in margins.answers]


def test_cards_and_explanations_use_the_finest_states(iris):
    model = learn(iris)
    card = model.card(points=10_000)
    codes = model.encoder.encode(iris).train()
    exact, rounded = log_posterior(model.network, codes[:, 1:]), card.log_proba(codes[:, 1:])
    assert rounded == pytest.approx(exact, abs=0.02)
    assert model.card(of=card.columns[0]).tables
    explanation = model.explain(iris.features[:5])
    total = explanation.contributions.sum(axis=1)
    assert total.to_numpy() == pytest.approx(explanation.log_odds.to_numpy(), abs=1e-9)


@pytest.mark.parametrize(
    "method", ["nb", "tan-cmi", "tan-ear", "hc", "sa", "omi-cr-ext", "omi-crcl", "multinet-ear"]
)
def test_every_method_learns_with_several_resolutions(iris, method):
    model = learn(iris, method=method)
    assert model.network.structure.resolutions_to_dict()
    assert verify_model(model, iris, time_limit=20).agrees
