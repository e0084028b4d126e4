"""Explanations: contributions that add up, for every kind of fitted model."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier, Constraints, Model, load_dataset
from milpbn.errors import OptionError
from milpbn.explanation import MISSING

pytestmark = pytest.mark.filterwarnings("ignore::milpbn.DataWarning")

EXACT = {"rtol": 0, "atol": 1e-9}


@pytest.fixture(scope="module")
def mixed():
    """Numbers, categories, a date and a column with units; the class has three labels."""
    rng = np.random.default_rng(5)
    n = 240
    y = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "size": y + rng.normal(0, 0.7, n),
            "kind": np.array(["a", "b", "c", "d"])[(y + rng.integers(0, 2, n)) % 4],
            "price": [f"${10 * a + b:.2f}" for a, b in zip(y, rng.random(n) * 15, strict=True)],
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(90 * y + rng.integers(0, 60, n), "D"),
            "noise": rng.choice(["u", "v"], n),
        }
    ), y


MODELS = {
    "exact": {"time_limit": 5, "gap": 1.0},
    "class root": {"class_parents": False, "time_limit": 5, "gap": 1.0},
    "three parents": {"method": "hc", "structure_score": "mdl", "max_parents": 3},
    "multinet": {"method": "multinet-cmi"},
    "epsilon": {"method": "tan-cmi", "smoothing": "epsilon:0.01"},
    "cl": {"method": "tan-cmi", "parameters": "cl:penalty=0.1"},
    "mm": {"method": "nb", "parameters": "mm"},
    "missing states": {"method": "tan-cmi", "missing": "state", "max_states": 3},
}


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def fitted(request, mixed):
    X, y = mixed
    X = X.copy()
    X.loc[::9, "kind"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BNClassifier(**request.param).fit(X, y)


def with_gaps(X):
    X = X.astype(object)
    return X.mask(np.random.default_rng(1).random(X.shape) < 0.4)


@pytest.mark.parametrize("against", [None, 0])
@pytest.mark.parametrize("gaps", [False, True])
def test_contributions_add_up_to_the_log_odds(fitted, mixed, gaps, against):
    X = with_gaps(mixed[0]) if gaps else mixed[0]
    explanation = fitted.explain(X, against=against)
    total = explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, explanation.log_odds, **EXACT)
    assert (explanation.explained == fitted.predict(X)).all()
    assert (explanation.contributions[MISSING] != 0).any() <= gaps


def test_log_odds_are_those_of_the_probabilities(fitted, mixed):
    X = with_gaps(mixed[0])
    proba = fitted.predict_proba(X)
    explanation = fitted.explain(X, of=2)
    np.testing.assert_allclose(explanation.probability, proba[:, 2], rtol=1e-9)
    np.testing.assert_allclose(
        explanation.log_odds, np.log(proba[:, 2] / proba[:, :2].sum(axis=1)), **EXACT
    )
    pair = fitted.explain(X, of=2, against=1).log_odds
    np.testing.assert_allclose(pair, np.log(proba[:, 2] / proba[:, 1]), **EXACT)


def test_two_classes_need_no_weights():
    X = pd.DataFrame({"a": ["x", "x", "y", "y", "y", "x"], "b": list("uvuvuv")})
    y = np.array(["no", "no", "yes", "yes", "no", "yes"])
    model = BNClassifier(method="nb").fit(X, y)
    rest, pair = model.explain(X, of="yes"), model.explain(X, of="yes", against="no")
    np.testing.assert_allclose(rest.contributions, pair.contributions, **EXACT)
    # P(a=y | yes) = 3/5, P(a=y | no) = 2/5 with Laplace smoothing.
    assert rest.contributions["a"][2] == pytest.approx(np.log(3 / 2))
    assert rest.contributions["class"][2] == 0


def test_one_row_against_every_competitor(fitted, mixed):
    X = with_gaps(mixed[0])
    explanation = fitted.explain(X)
    table = explanation.row(3)
    likely = np.argsort(-fitted.predict_proba(X)[3]).tolist()
    rivals = [c for c in likely if c != explanation.explained[3]]
    assert list(table.columns) == ["state", "all others", *rivals]
    assert list(table.index[-2:]) == ["class", MISSING]
    for rival in rivals:
        expected = fitted.explain(X, against=rival)
        assert table[rival].sum() == pytest.approx(expected.log_odds.iloc[3], abs=1e-9)
    shown = explanation.states.iloc[3]
    assert all(table["state"][name] is shown[name] for name in shown.index)


def test_states_are_in_the_units_of_the_user(mixed):
    X, y = mixed
    explanation = BNClassifier(method="nb").fit(X, y).explain(X.iloc[[4]])
    assert " to " in explanation.states["price"][4] or explanation.states["price"][4][0] in "<>"
    assert explanation.states["kind"][4] == X["kind"][4]


def test_the_index_of_the_frame_is_kept(mixed):
    X, y = mixed
    rows = X.set_axis([f"r{k}" for k in range(len(X))])
    explanation = BNClassifier(method="nb").fit(X, y).explain(rows[5:8])
    assert list(explanation.contributions.index) == ["r5", "r6", "r7"]
    assert len(explanation) == 3
    assert repr(explanation) == "<Explanation: 3 rows, 6 features, log-odds against all others>"


@pytest.mark.parametrize("kind", [object, str, float, bool])
def test_labels_of_any_type_are_plain_data(mixed, kind):
    X, y = mixed
    labels = (y > 0).astype(str if kind is object else int).astype(kind)
    explanation = BNClassifier(method="nb").fit(X, labels).explain(X[:2])
    told = json.loads(json.dumps(explanation.to_dict(1)))
    assert told["class"] == labels.tolist()[1]
    total = sum(next(iter(item["contributions"].values())) for item in told["contributions"])
    assert total == pytest.approx(explanation.log_odds[1], abs=1e-9)
    pair = BNClassifier(method="nb").fit(X, labels).explain(X[:2], against=labels.tolist()[1])
    assert repr(pair).endswith(f"against {labels.tolist()[1]!r}>")


def test_unknown_classes_are_refused(mixed):
    model = BNClassifier(method="nb").fit(*mixed)
    with pytest.raises(OptionError, match=r"of: there is no class 7; the classes are 0, 1, 2"):
        model.explain(mixed[0], of=7)
    with pytest.raises(OptionError, match="both 1"):
        model.explain(mixed[0], of=1, against=1)


def test_importance_is_the_mean_size(mixed, tmp_path):
    X, y = mixed
    model = BNClassifier(max_parents=1, class_parents=False).fit(X, y)
    explanation = model.explain(X)
    sizes = explanation.contributions.abs().mean()
    assert explanation.importance.is_monotonic_decreasing
    for name, size in explanation.importance.items():
        assert size == pytest.approx(sizes[name])
    # A date has the sum of its parts, and columns that are not used have 0.
    by_column = dict(zip(X.columns, model.feature_importances_, strict=True))
    parts = [n for n in explanation.importance.index if n.startswith("day")]
    assert parts
    assert by_column["day"] == pytest.approx(explanation.importance[parts].sum())
    assert by_column["size"] == pytest.approx(explanation.importance["size"])
    model.save(tmp_path / "model.json")
    again = BNClassifier.load(tmp_path / "model.json")
    assert again.feature_importances_.tolist() == model.feature_importances_.tolist()


def test_parents_of_the_class_share_what_its_table_contributes():
    """a is the only parent of the class, and b follows the class."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    y = np.where(rng.random(400) < 0.85, a, 1 - a)
    b = np.where(rng.random(400) < 0.7, y, 1 - y)
    X = pd.DataFrame({"a": a, "b": b}).astype(str)
    arcs = Constraints(required=[("a", "class"), ("class", "b")], forbidden=[("a", "b")])
    model = BNClassifier(constraints=arcs, method="local-search").fit(X, y)
    assert model.structure_.to_dict() == {"class": ["a"], "a": [], "b": ["class"]}
    explanation = model.explain(X)
    table = model.network_.log_cpts[0]
    log_odds = table[:, 1] - table[:, 0]  # by the state of a
    expected = np.abs(log_odds[a] - log_odds[a].mean()).mean()
    assert explanation.importance["a"] == pytest.approx(expected)
    assert dict(zip(X, model.feature_importances_, strict=True)) == pytest.approx(
        dict(explanation.importance)
    )
    assert (explanation.contributions["a"] == 0).all()


def test_importances_of_weighted_rows_are_those_of_repeated_rows(mixed):
    X, y = mixed
    twice = pd.concat([X, X[:50]], ignore_index=True)
    weights = np.where(np.arange(len(X)) < 50, 2.0, 1.0)
    once = BNClassifier(method="nb").fit(X, y, sample_weight=weights)
    repeated = BNClassifier(method="nb").fit(twice, np.append(y, y[:50]))
    np.testing.assert_allclose(once.feature_importances_, repeated.feature_importances_)


def test_contributions_and_permutations_side_by_side(mixed):
    X, y = mixed
    X = X.drop(columns="day")
    model = BNClassifier(method="nb").fit(X, y)
    table = model.importances(X, y, n_repeats=3)
    assert table["contribution"].is_monotonic_decreasing
    # Nothing can be lost by permuting what says little about the class.
    assert abs(table["log_loss"]["noise"]) < 0.02 < table["log_loss"]["size"]
    assert list(model.importances(X).columns) == ["contribution"]
    unknown = model.importances(X, np.full(len(y), 9))
    assert list(unknown.columns) == ["contribution"]


def test_a_file_without_importances_says_so(tmp_path):
    model = BNClassifier(method="nb").fit([["a"], ["b"], ["a"]], [0, 1, 0])
    replace(model.model_, importance={}).save(tmp_path / "old.json")
    old = BNClassifier.load(tmp_path / "old.json")
    assert not hasattr(old, "feature_importances_")


def test_a_model_explains_rows_of_a_file(tmp_path):
    heart = load_dataset("heart")
    BNClassifier(method="tan-cmi").fit(heart.features, heart.target).save(tmp_path / "m.json")
    explanation = Model.load(tmp_path / "m.json").explain(heart.features)
    np.testing.assert_allclose(explanation.contributions.sum(axis=1), explanation.log_odds, **EXACT)
    assert set(explanation.classes) == set(heart.target)


def test_very_many_rows_are_sampled(mixed, monkeypatch):
    X, y = mixed
    whole = BNClassifier(method="nb").fit(X, y).feature_importances_
    monkeypatch.setattr("milpbn.learning.classifier._MOST_TERMS", 0)
    monkeypatch.setattr("milpbn.learning.classifier._LEAST_ROWS", 120)
    weights = np.ones(len(y))
    part = BNClassifier(method="nb").fit(X, y, sample_weight=weights).feature_importances_
    assert part.tolist() != whole.tolist()
    np.testing.assert_allclose(part, whole, rtol=0.2)
