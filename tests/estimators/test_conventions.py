"""The scikit-learn face: the common checks, and what only this estimator does."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from troubles import TARGET, troubled_frame

from milpbn import (
    BNClassifier,
    BNClassifierCV,
    Constraints,
    DataWarning,
    Encoder,
    Structure,
    load_dataset,
)
from milpbn.datasets import table_from_frame
from milpbn.errors import DataError, OptionError

# The classifier has a limit of a minute by default.
pytestmark = pytest.mark.usefixtures("compiled")


@parametrize_with_checks(
    [
        BNClassifier(max_parents=1),
        BNClassifier(max_parents=1, parameters="cl", validation="loo", class_weight="balanced"),
        BNClassifierCV(param_grid={"p": [0.6, 0.9]}, cv=2, max_parents=1),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_sample_weight_equivalence_on_dense_data": "folds are drawn for rows, not weights"}
        if isinstance(estimator, BNClassifierCV)
        else {}
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def small(**options):
    return BNClassifier(max_parents=1, class_parents=False, **options)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[rng.integers(0, 2, 120)]
    frame = pd.DataFrame(
        {
            "size": rng.normal(np.where(y == "yes", 2.0, 0.0)),
            "colour": np.where(rng.random(120) < 0.8, np.where(y == "yes", "red", "blue"), "red"),
            "flag": rng.random(120) < 0.5,
            "kind": pd.Categorical(rng.choice(["a", "b"], 120)),
        }
    )
    return frame, y


def test_the_score_of_the_structure_is_a_parameter_and_score_is_a_method(iris):
    X, y = iris
    model = small(structure_score="mdl")
    assert "structure_score='mdl'" in repr(model)
    assert clone(model).get_params()["structure_score"] == "mdl"
    model.set_params(structure_score="sbm").fit(X, y)
    assert model.result_.score == "sbm"
    assert model.score(X, y) == np.mean(model.predict(X) == y)


def test_fitted_attributes_tell_the_result(iris):
    X, y = iris
    model = small().fit(X, y)
    assert model.optimal_
    assert model.bound_ == pytest.approx(model.objective_, rel=1e-6)
    assert model.gap_ == pytest.approx(0, abs=1e-6)
    assert model.structure_.variables == ("class", *X.columns)
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("parameters", ["ml", "cl", "mm"])
def test_weighted_rows_are_repeated_rows(mixed, parameters):
    frame, y = mixed
    times = np.random.default_rng(3).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    model = BNClassifier(parameters=parameters, missing="state")
    ours = clone(model).fit(frame, y, sample_weight=times)
    theirs = clone(model).fit(frame.iloc[rows], y[rows])
    assert ours.structure_ == theirs.structure_
    assert (ours.objective_, ours.bound_) == pytest.approx((theirs.objective_, theirs.bound_))
    assert ours.predict_proba(frame) == pytest.approx(theirs.predict_proba(frame), abs=1e-9)
    share = ours.score(frame, y, sample_weight=times)
    assert share == pytest.approx(theirs.score(frame.iloc[rows], y[rows]))


def test_class_weights_are_weights_of_rows(iris, tmp_path):
    X, y = iris
    given = small(class_weight={2: 3, 0: 0.5}).fit(X, y)
    by_row = small().fit(X, y, sample_weight=np.array([0.5, 1, 3])[y])
    assert given.objective_ == pytest.approx(by_row.objective_)
    assert given.predict_proba(X) == pytest.approx(by_row.predict_proba(X))
    assert given.objective_ != pytest.approx(small().fit(X, y).objective_)
    given.save(tmp_path / "model.json")
    assert BNClassifier.load(tmp_path / "model.json").class_weight == {2: 3, 0: 0.5}
    unequal = X.iloc[:90], y.iloc[:90]  # 50 and 40 rows
    balanced = small(class_weight="balanced", method="nb").fit(*unequal)
    assert np.exp(balanced.network_.log_cpts[0]) == pytest.approx([0.5, 0.5])
    search = GridSearchCV(small(), {"class_weight": [None, "balanced"]}, cv=2).fit(*unequal)
    assert len(search.cv_results_["params"]) == 2


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("equal", "must be 'balanced' or a weight for each class, not 'equal'"),
        ({7: 2}, "class_weight: there is no class 7; the classes are 0, 1, 2"),
        ({1: 0}, "the weight of 1 must be a positive number, not 0"),
        ({1: "heavy"}, "the weight of 1 must be a positive number, not 'heavy'"),
    ],
)
def test_bad_class_weights_are_named(iris, class_weight, message):
    with pytest.raises(OptionError, match=message):
        small(class_weight=class_weight).fit(*iris)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 149 + [-2.0], r"the weight in row 150 is -2\.0"),
        ([0.0] * 150, "every weight is 0|non-zero number"),
        ([1.0] * 3, "sample_weight.shape"),
        ([1.0] * 149 + [np.nan], "NaN"),
    ],
)
def test_bad_weights_are_named(iris, weights, message):
    with pytest.raises(ValueError, match=message):
        small().fit(*iris, sample_weight=weights)


def test_selection_takes_weights(iris):
    X, y = iris
    model = BNClassifierCV(param_grid={"p": [0.6, 0.9]}, cv=2, max_parents=1)
    model.fit(X, y, sample_weight=np.linspace(0, 2, len(y)))
    assert model.optimal_
    assert model.cv_results_["log_loss"].notna().all()


def test_grid_search_cross_validation_and_pipeline(iris):
    X, y = iris
    search = GridSearchCV(small(), {"structure_score": ["sm", "mdl"], "p": [0.6, 0.9]}, cv=2).fit(
        X, y
    )
    assert search.best_score_ > 0.8
    out = cross_val_predict(small(), X, y, cv=3, method="predict_proba")
    assert out.shape == (150, 3)
    assert out.sum(axis=1) == pytest.approx(np.ones(150))
    pipeline = make_pipeline(FunctionTransformer(), small())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85


def test_mixed_columns_keep_their_kinds(mixed):
    frame, y = mixed
    model = BNClassifier().fit(frame, y)
    states = {v.name: v.states for v in model.encoder_.variables}
    assert states["colour"] == ("blue", "red")
    assert states["flag"] == ("False", "True")
    assert states["kind"] == ("a", "b")
    assert states["size"][0].startswith("(-inf")
    # The kinds are those of the fit, whatever the types of the rows to predict.
    as_objects = frame.astype(object)
    assert (model.predict_proba(as_objects) == model.predict_proba(frame)).all()
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        model.predict(frame.iloc[:, ::-1])


def test_few_integer_codes_are_categories_unless_declared_numbers():
    rng = np.random.default_rng(1)
    code = rng.integers(0, 4, 200)
    y = (code % 2 == 0).astype(int)
    by_number = small(numeric_features=[0]).fit(code[:, None], y)
    with pytest.warns(DataWarning, match="column 'x0' has only 4 different numbers"):
        by_category = small().fit(code[:, None], y)
    assert by_category.score(code[:, None], y) == by_number.score(code[:, None], y) == 1.0
    assert by_category.encoder_.variables[1].states == ("0", "1", "2", "3")
    assert by_number.encoder_.variables[1].states[-1] == "(2.5, inf)"
    # A code that was never seen is a large number, or a category that says nothing.
    unseen, largest = np.array([[9]]), np.array([[3]])
    assert (by_number.predict_proba(unseen) == by_number.predict_proba(largest)).all()
    share = (y.sum() + 1) / (len(y) + 2)
    assert by_category.predict_proba(unseen)[0] == pytest.approx([1 - share, share])
    with pytest.raises(OptionError, match="no column 3"):
        small(categorical_features=[3]).fit(code[:, None], y)
    with pytest.raises(OptionError, match="from_dtype"):
        small(categorical_features="all").fit(code[:, None], y)


def test_unseen_and_missing_values_are_summed_out(mixed):
    frame, y = mixed
    model = BNClassifier().fit(frame, y)
    assert ("class", "colour") in model.structure_.arcs
    odd = frame.iloc[[0, 0, 0, 0]].copy()
    odd["colour"] = ["green", None, "blue", "red"]
    unseen, missing, blue, red = model.predict_proba(odd)
    assert unseen == pytest.approx(missing)
    # Between what the two colours say, and neither of them.
    assert min(blue[0], red[0]) < missing[0] < max(blue[0], red[0])
    nothing = pd.DataFrame({c: [None] for c in frame.columns})
    root = BNClassifier(class_parents=False, structure_score="sm").fit(frame, y)
    expected = (np.unique(y, return_counts=True)[1] + 1) / (len(y) + 2)
    assert root.predict_proba(nothing)[0] == pytest.approx(expected)


def test_missing_training_values_follow_the_policy(mixed):
    frame, y = mixed
    holes = frame.copy()
    holes.loc[:9, "colour"] = None
    dropped = BNClassifier(missing="drop").fit(holes, y)
    kept = BNClassifier(missing="state").fit(holes, y)
    states = {v.name: v.states for v in kept.encoder_.variables}
    assert states["colour"] == ("blue", "red", "missing")
    assert "missing" not in {v.name: v.states for v in dropped.encoder_.variables}["colour"]


def test_the_time_limit_warns_and_still_gives_a_classifier(ticking):
    table = load_dataset("german")
    with pytest.warns(ConvergenceWarning, match="before the proof"):
        model = BNClassifier(time_limit=1.5).fit(table.features, table.target)
    assert not model.optimal_
    assert model.gap_ > 0
    assert model.score(table.features, table.target) > 0.6


def test_an_accepted_gap_does_not_warn(recwarn):
    heart = load_dataset("heart")
    model = BNClassifier(gap=0.05, time_limit=None).fit(heart.features, heart.target)
    assert not model.optimal_
    assert 0 < model.gap_ <= 0.05
    assert not [w for w in recwarn if w.category is ConvergenceWarning]


def test_constraints_and_start_reach_the_engine(mixed):
    frame, y = mixed
    rules = Constraints(forbidden=[("class", "size")], required=[("colour", "kind")])
    model = BNClassifier(constraints=rules).fit(frame, y)
    assert ("class", "size") not in model.structure_.arcs
    assert ("colour", "kind") in model.structure_.arcs
    start = Structure.from_arcs(model.structure_.variables, [("class", "colour")])
    again = BNClassifier(start=start).fit(frame, y)
    assert again.result_.warm_start.accepted
    assert again.objective_ >= again.result_.warm_start.objective


def test_budgets_are_parameters_and_survive_a_model_file(iris, tmp_path):
    X, y = iris
    model = BNClassifier(max_features=2, max_arcs=3, max_parameters=40).fit(X, y)
    used = {v for arc in model.structure_.arcs for v in arc} - {"class"}
    assert model.optimal_
    assert len(used) <= 2
    assert len(model.structure_.arcs) <= 3
    assert model.network_.n_parameters <= 40
    model.save(tmp_path / "small.json")
    again = BNClassifier.load(tmp_path / "small.json")
    assert (again.max_features, again.max_arcs, again.max_parameters) == (2, 3, 40)
    assert clone(again).fit(X, y).structure_ == model.structure_
    wider = BNClassifier(constraints=Constraints(max_arcs=1), max_arcs=2).fit(X, y)
    assert len(wider.structure_.arcs) == 2
    with pytest.raises(OptionError, match="max_arcs must be a whole number"):
        BNClassifier(max_arcs=-1).fit(X, y)


def test_parameters_are_a_choice_beside_the_structure(iris):
    X, y = iris
    plain = small().fit(X, y)
    for parameters in ("cl", "mm"):
        model = small(parameters=parameters).fit(X, y)
        assert clone(model).get_params()["parameters"] == parameters
        assert model.structure_ == plain.structure_
        assert model.objective_ == plain.objective_
        assert model.parameters_.method == parameters
        assert model.parameters_.objective > model.parameters_.start
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(X)))
    assert plain.parameters_.method == "ml"
    with pytest.raises(OptionError, match="unknown parameters 'map'"):
        small(parameters="map").fit(X, y)


@pytest.fixture(scope="module")
def troubled():
    frame = troubled_frame()
    labelled = frame[frame[TARGET].notna() & frame["plan"].notna()].reset_index(drop=True)
    return labelled.drop(columns=TARGET), labelled[TARGET]


def test_a_frame_goes_through_the_screening_of_files(troubled):
    X, y = troubled
    with pytest.warns(DataWarning) as caught:
        model = small(method="nb").fit(X, y)
    told = [str(w.message) for w in caught]
    table = table_from_frame(X, y, "X")
    expected = Encoder.fit(table)
    assert model.encoder_.variables[1:] == expected.variables[1:]
    spelled = {"numeric=": "numeric_features=", "categorical=": "categorical_features="}
    for note in table.notes:
        for old, new in spelled.items():
            note = note.replace(old, new)
        assert note in told
    # Rows to predict are raw again, as a frame or as an array.
    proba = model.predict_proba(X)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        by_position = model.predict_proba(X.to_numpy())
    np.testing.assert_array_equal(proba, by_position)
    assert proba.tolist() == np.exp(model.model_.log_posterior(table.features)).tolist()


def test_a_fitted_model_of_raw_columns_can_be_saved(troubled, tmp_path):
    X, y = troubled
    model = small(method="nb", dates="expand").fit(X, y)
    model.save(tmp_path / "model.json")
    again = BNClassifier.load(tmp_path / "model.json")
    assert again.feature_names_in_.tolist() == X.columns.tolist()
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_parameters_overrule_the_screening(troubled):
    X, y = troubled
    chosen = {"categorical_features": ["email", "rate"], "numeric_features": ["score", -7]}
    model = small(method="nb", dates="drop", max_states=None, **chosen).fit(X, y)
    kinds = {c.name: c.kind for c in model.encoder_.columns}
    assert kinds["email"] == kinds["rate"] == "categorical"
    assert not [name for name in kinds if name.startswith(("signup", "visit", "day", "call"))]
    assert len(next(c.states for c in model.encoder_.columns if c.name == "city")) > 50
    with pytest.raises(OptionError, match="'rate' is both in categorical_features and in numeric"):
        small(categorical_features=["rate"], numeric_features=["rate"]).fit(X, y)
    with pytest.raises(OptionError, match="numeric_features: there is no column 'rates'"):
        small(numeric_features=["rates"]).fit(X, y)


def test_a_datetime_column_is_used_and_said(recwarn):
    days = pd.date_range("2021-01-01", periods=60)
    X = pd.DataFrame({"day": days, "noise": [*"ab" * 30]})
    model = small().fit(X, days.month >= 2)
    assert "day.month" in [v.name for v in model.encoder_.variables]
    assert model.score(X, days.month >= 2) == 1.0
    assert any("column 'day' holds dates" in str(w.message) for w in recwarn)


def test_rows_left_out_are_said(mixed):
    frame, y = mixed
    holes = frame.copy()
    holes.loc[:9, "colour"] = None
    with pytest.warns(DataWarning, match="Left out: 10 of 120 training rows with a missing feat"):
        small(method="nb", missing="drop").fit(holes, y)


def test_no_row_is_left_out_by_default(mixed):
    frame, y = mixed
    holes = frame.copy()
    holes.loc[:9, "colour"] = None
    told = "Missing values: those of 'colour' are a state of their own; 120 of 120 training rows"
    with pytest.warns(DataWarning, match=told):
        small(method="nb").fit(holes, y)


def test_a_regression_target_is_refused_with_a_way_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(442, 2))
    y = rng.integers(0, 230, 442)
    with pytest.raises(DataError, match=r"y has \d+ different values in 442 rows.*pandas.qcut"):
        BNClassifier().fit(X, y)
    small(method="nb").fit(X, np.asarray(pd.qcut(y, 3).astype(str)))
    small(method="nb", max_states=None).fit(X, y.astype(str))


def test_arrays_after_a_frame_without_names_go_by_position():
    X = np.random.default_rng(0).normal(size=(40, 2))
    frame = pd.DataFrame(X)  # the columns are the numbers 0 and 1
    model = small(method="nb").fit(frame, X[:, 0] > 0)
    np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba(X))


def test_an_email_column_is_cheap():
    n = 1200
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"email": [f"user{i}@example.org" for i in range(n)], "x": rng.normal(size=n)})
    y = X["x"] + rng.normal(size=n) > 0
    with pytest.warns(DataWarning, match="column 'email' is dropped.*like an identifier"):
        model = BNClassifier().fit(X, y)
    assert model.network_.n_parameters < 50
    # Even when it is asked for, it has no more states than allowed.
    asked = small(categorical_features=["email"]).fit(X, y)
    assert asked.encoder_.dropped["email"] == "every state is rare"
    assert asked.predict(X).shape == (n,)
