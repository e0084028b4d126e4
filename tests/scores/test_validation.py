"""Scores of rows that their own parameters have not seen: leave-one-out and folds."""

import numpy as np
import pytest
from problems import encoded, random_codes

from milpbn import BNClassifier, learn_structure
from milpbn.errors import OptionError
from milpbn.families.smoothing import Epsilon, Laplace
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace, Settings, make_settings
from milpbn.network.inference import log_joint
from milpbn.network.multinet import fit_classifier
from milpbn.scores import make_score
from milpbn.structure import ClassStructures, Structure

NAMES = ("class", "x1", "x2", "x3")
ROW_SCORES = ("sm", "sbm", "cr", "cll")


def refitted(structure, data, smoothing):
    """Log-joints of each row, by a network fitted to all other rows."""
    joints = []
    for u in range(len(data.codes)):
        others = np.delete(data.codes, u, axis=0)
        network = fit_classifier(structure, data.variables, others, smoothing)
        joints.append(log_joint(network, data.codes[u : u + 1, 1:])[0])
    return np.array(joints)


def score_of(name, joints, labels, gamma):
    at = np.arange(len(labels))
    own = joints[at, labels]
    if name == "cll":
        return (own - np.logaddexp.reduce(joints, axis=1)).sum()
    rest = joints.copy()
    rest[at, labels] = -np.inf
    margins = own - rest.max(axis=1)
    return (margins > 1e-9).sum() if name == "cr" else np.minimum(margins, gamma).sum()


@pytest.mark.parametrize("smoothing", [Laplace(), Laplace(0.1), Epsilon()])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", ["sm", "cr", "cll"])
def test_leaving_one_out_is_learning_without_the_row(name, n_classes, smoothing):
    rng = np.random.default_rng(n_classes)
    codes, cards = random_codes(rng, 4, n_classes)
    data = encoded(codes, cards)
    settings = {"gamma": 1.3} if name == "sm" else {}
    score = make_score(name, validation="loo", smoothing=smoothing, **settings)
    objective = build_objective(data, score, SearchSpace())
    for parents in (((), (0,), (0, 1), ()), ((2,), (0,), (), (0, 1)), ((1, 2), (), (), (0,))):
        structure = Structure(NAMES, parents)
        expected = score_of(name, refitted(structure, data, smoothing), codes[:, 0], 1.3)
        assert score.definition(structure, data.variables, data.codes) == pytest.approx(expected)
        families = objective.space.families(structure)
        assert objective.value(families) == pytest.approx(expected)
        assert objective.state(families).value == pytest.approx(expected)


@pytest.mark.parametrize("name", ["sm", "cr", "cll"])
def test_multinets_leave_one_out_too(name):
    codes, cards = random_codes(np.random.default_rng(4), 4, 3)
    data = encoded(codes, cards)
    graphs = [((), (), (1,), (1,)), ((), (2,), (), ()), ((), (), (), (2,))]
    states = data.variables[0].states
    structure = ClassStructures(states, tuple(Structure(NAMES, parents) for parents in graphs))
    score = make_score(name, validation="loo")
    expected = score_of(name, refitted(structure, data, Laplace()), codes[:, 0], np.log(9))
    assert score.definition(structure, data.variables, data.codes) == pytest.approx(expected)


@pytest.mark.parametrize("name", ROW_SCORES)
def test_as_many_folds_as_rows_leave_one_out(name):
    codes, cards = random_codes(np.random.default_rng(11), 4, 3)
    data = encoded(codes, cards)
    structure = Structure(NAMES, ((1,), (), (0,), (0, 1)))
    values = [
        make_score(name, validation=v).definition(structure, data.variables, data.codes)
        for v in ("loo", len(codes))
    ]
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("engine", ["branch-and-cut", "monolithic"])
@pytest.mark.parametrize("validation", ["loo", 4])
def test_a_column_of_identifiers_is_left_alone(engine, validation):
    """Without validation an identifier explains everything; with it, nothing."""
    rng = np.random.default_rng(0)
    label = np.arange(40) % 2
    useful = np.where(rng.random(40) < 0.8, label, 1 - label)
    data = encoded(np.column_stack([label, np.arange(40), useful]), [2, 40, 2])

    def learn(**settings):
        # A state that was never seen has slightly different probabilities in classes with
        # different counts; the penalty is larger than what this is worth.
        return learn_structure(data, max_parents=1, method=engine, penalty=0.1, **settings)

    plain = learn()
    assert any("x1" in arc for arc in plain.structure.arcs)
    held_out = learn(validation=validation)
    assert held_out.status == "optimal"
    assert not any("x1" in arc for arc in held_out.structure.arcs)
    assert any("x2" in arc for arc in held_out.structure.arcs)
    assert held_out.score_parameters["validation"] == validation


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1, "at least 2 folds, not 1"),
        ("twice", "must be a number of folds, loo or none, not 'twice'"),
    ],
)
def test_a_bad_validation_is_named(value, message):
    with pytest.raises(OptionError, match=message):
        make_score("sm", validation=value)


def test_the_setting_survives_files_and_estimators(tmp_path):
    settings = make_settings(validation="loo")
    assert Settings.from_dict(settings.to_dict()).score == settings.score
    older = {**settings.to_dict(), "folds": 5}
    del older["validation"]
    assert Settings.from_dict(older).score.validation == 5
    X, y = [["a"], ["b"]] * 6, [0, 1] * 6
    model = BNClassifier(validation="loo", max_parents=1).fit(X, y)
    model.save(tmp_path / "model.json")
    assert BNClassifier.load(tmp_path / "model.json").validation == "loo"


def test_scores_without_rows_ignore_it_in_settings():
    assert make_settings(score="mdl", validation="loo").score == make_score("mdl")
