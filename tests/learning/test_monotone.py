"""Monotone effects: the engine finds the best of all networks that keep them."""

import math
from itertools import product

import numpy as np
import oracle
import pandas as pd
import pytest

from milpbn import BNClassifier, Constraints, EncodedData, Model, learn_structure
from milpbn.datasets import table_from_frame
from milpbn.encoding.columns import Coarsening, Variable
from milpbn.errors import ConstraintError, DataError, MilpbnError, OptionError
from milpbn.families.smoothing import Laplace
from milpbn.network.inference import log_posterior
from milpbn.network.monotone import broken_trends, odds_steps
from milpbn.network.multinet import fit_classifier
from milpbn.structure import Structure
from milpbn.verification.verify import verify_model

pytestmark = pytest.mark.filterwarnings("ignore::milpbn.errors.DataWarning")

CARDS = (2, 3, 2, 3)
DIRECTIONS = (0, 1, 0, -1)
# The last state of the last feature is a special value, which has no neighbours.
ORDERED = (0, 3, 2, 2)


def problem(seed, n=60):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, n)
    noise = random.integers(0, 3, (n, 3))
    columns = [np.clip(noise[:, j] + (random.random(n) < 0.5) * labels, 0, 2) for j in range(3)]
    columns[1] = np.minimum(columns[1], 1)
    codes = np.column_stack([labels, *columns]).astype(np.int32)
    names = ("class", "up", "free", "down")
    variables = tuple(
        Variable(name, tuple(map(str, range(card))), ordered=ordered, monotone=direction)
        for name, card, ordered, direction in zip(names, CARDS, ORDERED, DIRECTIONS, strict=True)
    )
    return EncodedData("toy", variables, codes, np.ones(n, dtype=bool))


def is_monotone(codes, parents):
    """Whether the log-odds of every family move the right way, by counting for every state."""
    ones = [1.0] * len(codes)
    for child, own in enumerate(parents):
        scope = (*own, child)
        if 0 not in scope:
            continue
        for v in scope:
            if not DIRECTIONS[v]:
                continue
            for row in product(*map(range, CARDS)):
                if row[v] + 1 >= ORDERED[v]:
                    continue
                odds = []
                for state in (row[v], row[v] + 1):
                    other = [*row[:v], state, *row[v + 1 :]]
                    theta = [
                        oracle.probability(codes, ones, CARDS, child, own, [c, *other[1:]])
                        for c in (0, 1)
                    ]
                    odds.append(math.log(theta[1] / theta[0]))
                if DIRECTIONS[v] * (odds[1] - odds[0]) < -1e-9:
                    return False
    return True


@pytest.mark.parametrize("class_parents", [False, True])
@pytest.mark.parametrize("score", ["sm", "sbm", "cll", "mdl"])
@pytest.mark.parametrize("seed", range(2))
def test_the_result_is_the_best_of_all_monotone_structures(score, seed, class_parents):
    data = problem(seed)
    codes = data.codes.tolist()
    parents, values = oracle.scores_of_all(
        score, codes, CARDS, max_parents=2, class_parents=class_parents, gamma=math.log(9)
    )
    kept = np.array([is_monotone(codes, own) for own in parents])
    assert 1 < kept.sum() < len(kept)
    result = learn_structure(
        data, score=score, max_parents=2, class_parents=class_parents, time_limit=60
    )
    assert result.status == "optimal"
    assert result.objective == pytest.approx(values[kept].max(), abs=1e-6)
    assert is_monotone(codes, result.structure.parents)


def test_the_constraint_costs_something():
    free = [learn_structure(without(problem(seed))).objective for seed in range(4)]
    bound = [learn_structure(problem(seed)).objective for seed in range(4)]
    assert all(b <= f + 1e-9 for b, f in zip(bound, free, strict=True))
    assert any(b < f - 1e-3 for b, f in zip(bound, free, strict=True))


def without(data):
    variables = tuple(Variable(v.name, v.states, ordered=v.ordered) for v in data.variables)
    return EncodedData(data.name, variables, data.codes, data.is_train)


@pytest.mark.parametrize("method", ["branch-and-cut", "hc", "tan-cmi", "nb"])
@pytest.mark.parametrize("seed", range(3))
def test_predictions_are_monotone_in_every_complete_row(method, seed):
    data = problem(seed)
    result = learn_structure(data, method=method, time_limit=30)
    network = fit_classifier(result.structure, data.variables, data.codes, Laplace())
    assert broken_trends(network) == []
    rows = np.array(list(product(*map(range, CARDS[1:]))), dtype=np.int32)
    odds = np.diff(log_posterior(network, rows), axis=1).ravel().reshape(CARDS[1:])
    for axis, (direction, ordered) in enumerate(zip(DIRECTIONS[1:], ORDERED[1:], strict=True)):
        steps = np.diff(np.moveaxis(odds, axis, 0)[:ordered], axis=0)
        if direction:
            assert (direction * steps).min() >= -1e-9
            low, high = odds_steps(network, axis + 1)
            steps = steps.reshape(len(steps), -1)
            assert (low[1:, None] <= steps + 1e-9).all()
            assert (high[1:, None] >= steps - 1e-9).all()


def test_coarser_resolutions_keep_the_order():
    data = problem(1)
    coarse = Coarsening(("low", "high"), (0, 1, 1))
    mixed = Coarsening(("middle", "ends"), (1, 0, 1))
    up = Variable("up", ("0", "1", "2"), (coarse, mixed), ordered=3, monotone=1)
    variables = (data.variables[0], up, *data.variables[2:])
    data = EncodedData("toy", variables, data.codes, data.is_train)
    result = learn_structure(data, validation="none")
    network = fit_classifier(result.structure, data.variables, data.codes, Laplace())
    assert broken_trends(network) == []
    scopes = ((result.structure.scope(i), result.structure.seen(i)) for i in range(4))
    pairs = [p for scope, own in scopes if 0 in scope for p in zip(scope, own, strict=True)]
    assert (1, 2) not in pairs  # its states are not in the order of the numbers


@pytest.fixture(scope="module")
def patients():
    random = np.random.default_rng(3)
    age, mass = random.uniform(20, 80, 400).round(), random.normal(25, 4, 400).round(1)
    ill = 1 / (1 + np.exp(-(age - 50) / 10 - np.sin(mass)))
    mass[::20] = -1
    frame = pd.DataFrame({"age": age, "mass": mass, "smokes": random.integers(0, 2, 400)})
    return frame, np.where(random.random(400) < ill, "yes", "no")


UP = {"age": "increasing"}
SETTINGS = {
    "monotone": {"age": "increasing", "mass": "decreasing"},
    "special": {"mass": [-1]},
    "bins": "quantile:6",
}


@pytest.mark.parametrize("bins", ["mdlp", "quantile:6", "fine", "auto", {"age": [30, 40, 50, 60]}])
def test_a_classifier_is_monotone_over_its_raw_values(patients, bins):
    frame, labels = patients
    model = BNClassifier(**{**SETTINGS, "bins": bins}, time_limit=20).fit(frame, labels)
    ages = pd.DataFrame({"age": np.arange(20, 80), "mass": 24.0, "smokes": 1})
    risk = model.predict_proba(ages)[:, 1]
    assert (np.diff(risk) >= -1e-9).all()
    assert risk[-1] > risk[0] + 0.2
    masses = pd.DataFrame({"age": 50, "mass": np.linspace(12, 38, 50), "smokes": 0})
    assert (np.diff(model.predict_proba(masses)[:, 1]) <= 1e-9).all()


def test_model_files_keep_the_directions_and_verification_checks_them(patients, tmp_path):
    frame, labels = patients
    model = BNClassifier(**SETTINGS).fit(frame, labels)
    model.save(tmp_path / "model.json")
    again = BNClassifier.load(tmp_path / "model.json")
    assert again.get_params()["monotone"] == SETTINGS["monotone"]
    assert again.encoder_ == model.encoder_
    table = table_from_frame(frame, labels, "X", **SETTINGS)
    verification = verify_model(Model.load(tmp_path / "model.json"), table)
    assert verification.agrees
    checks = {check.claim: check for check in verification.checks}
    assert checks["all tables are monotone"].seen == "age+,mass-"
    # A structure that breaks a direction is found, whatever the file says about it.
    wrong = {**SETTINGS, "monotone": {}}
    free = BNClassifier(**{**wrong, "bins": "quantile:10"}).fit(frame, labels).model_
    columns = [c | {"monotone": 1} if c["name"] == "age" else c for c in
               free.to_dict()["encoder"]["columns"]]  # fmt: skip
    content = free.to_dict()
    content["encoder"]["columns"] = columns
    assert broken_trends(Model.from_dict(content, "a file").network)


def test_what_cannot_be_monotone_is_refused(patients):
    frame, labels = patients
    up = {"monotone": UP}
    for settings, told in [
        ({"monotone": {"age": "up"}}, "must be increasing or decreasing"),
        ({"monotone": {"agee": "increasing"}}, "there is no feature 'agee'"),
        ({**up, "parameters": "cl"}, "not kept by the parameters cl; .* no others in a selection"),
        ({**up, "parameters": "mm"}, "not kept by the parameters mm"),
        ({**up, "method": "multinet-cmi"}, "need one structure for all classes"),
    ]:
        with pytest.raises(MilpbnError, match=told):
            BNClassifier(**settings).fit(frame, labels)
    with pytest.raises(DataError, match="need two classes"):
        BNClassifier(**up).fit(frame, np.arange(len(frame)) % 3)
    town = frame.assign(town=np.where(frame["smokes"] > 0, "Graz", "Wien"))
    with pytest.raises(DataError, match="column 'town' holds no numbers"):
        BNClassifier(monotone={"town": "increasing"}).fit(town, labels)


def test_certificates_of_monotone_runs_are_refused(tmp_path):
    with pytest.raises(OptionError, match="does not know monotone effects"):
        learn_structure(problem(0), certificate=tmp_path / "proof")
    assert not (tmp_path / "proof").exists()


def test_a_given_structure_that_breaks_a_direction_is_refused():
    data = problem(0)
    names = [v.name for v in data.variables]
    parents = [(), (0,), (0,), (0, 1)]
    assert not is_monotone(data.codes.tolist(), parents)
    arcs = [(names[p], names[i]) for i, own in enumerate(parents) for p in own]
    with pytest.raises(OptionError, match="is not monotone along"):
        learn_structure(data, method=Structure.from_arcs(names, arcs))
    required = Constraints(required=[("class", "down"), ("up", "down")])
    with pytest.raises(ConstraintError, match="required arcs have no monotone"):
        learn_structure(data, constraints=required)


def test_a_feature_without_the_effect_is_left_out(patients):
    frame, labels = patients
    model = BNClassifier(monotone={"age": "decreasing"}).fit(frame, labels)
    assert model.encoder_.dropped["age"] == "no effect in the direction that was asked for"


def test_own_cuts_in_the_wrong_order_are_left_out_with_a_note(patients):
    frame, labels = patients
    cuts = [24, 26, 28, 30, 32, 50, 60]
    with pytest.warns(match="Column 'age': left out because of a monotone effect: cuts? ") as notes:
        model = BNClassifier(method="nb", monotone=UP, bins={"age": cuts}).fit(frame, labels)
    kept = model.encoder_.columns[0].cuts
    assert 0 < len(kept) < len(cuts)
    assert set(kept) < set(map(float, cuts))
    assert any(str(cut) in str(n.message) for n in notes for cut in set(cuts) - set(kept))


@pytest.mark.parametrize("score", ["sm", "mdl"])
def test_without_time_the_answer_is_monotone_too(score):
    data = problem(0)
    result = learn_structure(data, score=score, time_limit=1e-6)
    assert result.status == "time_limit"
    assert is_monotone(data.codes.tolist(), result.structure.parents)
