import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from mdc.brute_force import random_problem
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from milpbn.errors import ConstraintError, DataError, OptionError
from milpbn.families import Constraints
from milpbn.mdc import (
    BinaryRelevance,
    ClassifierChains,
    ClassPowerset,
    GBNCClassifier,
    exact_match_score,
    hamming_score,
    macro_recall_score,
)
from milpbn.structure import Structure


def test_categories_partition_the_rows_where_that_pays(mixed):
    X, y = mixed
    model = GBNCClassifier().fit(X, y)
    assert model.optimal_
    assert ("color", "kind") in model.structure_.arcs
    assert model.structure_.variables == ("kind", "wheels", "color")
    assert model.score(X, y) > 0.8
    plain = GBNCClassifier(max_discrete_parents=0).fit(X, y)
    assert plain.objective_ < model.objective_
    assert plain.structure_.variables == ("kind", "wheels")


def test_labels_keep_their_types(mixed):
    X, y = mixed
    model = GBNCClassifier().fit(X, y)
    predicted = model.predict(X)
    assert predicted.dtype == object
    assert set(predicted[:, 0]) == {"car", "truck"}
    assert set(predicted[:, 1]) == {4, 6}
    assert [c.tolist() for c in model.classes_] == [["car", "truck"], [4, 6]]
    assert exact_match_score(y, predicted) == model.score(X, y)
    model.loss = "hamming"
    assert hamming_score(y, model.predict(X)) == model.score(X, y)


def test_one_hot_gives_categories_to_the_base_models(mixed):
    X, y = mixed
    model = GBNCClassifier(mixed="one-hot").fit(X, y)
    assert model.structure_.variables == ("kind", "wheels")
    assert model.local_models_[0].models[0].estimator.coef_.shape[1] == 3


def test_probabilities_are_those_of_the_joint_states(mixed):
    X, y = mixed
    model = GBNCClassifier().fit(X, y)
    joint = np.exp(model.predict_joint_log_proba(X))
    assert joint.shape == (len(X), 2, 2)
    assert joint.sum(axis=(1, 2)) == pytest.approx(1.0)
    first, second = model.predict_proba(X)
    assert first == pytest.approx(joint.sum(axis=2))
    assert second == pytest.approx(joint.sum(axis=1))
    own = model.predict_joint_log_proba(X, y)
    codes = np.column_stack([y["kind"] == "truck", y["wheels"] == 6]).astype(int)
    assert np.exp(own) == pytest.approx(joint[np.arange(len(X)), codes[:, 0], codes[:, 1]])
    best = joint.reshape(len(X), -1).argmax(axis=1)
    states = np.array([["car", 4], ["car", 6], ["truck", 4], ["truck", 6]], dtype=object)
    assert (model.predict(X) == states[best]).all()
    with pytest.raises(DataError, match="'wheels' has the value 8, which was never seen"):
        model.predict_joint_log_proba(X[:1], [["car", 8]])


def test_missing_and_unseen_values_are_predicted(mixed):
    X, y = mixed
    model = GBNCClassifier().fit(X, y)
    odd = pd.DataFrame({"size": [np.nan, 1.0, 1.0], "color": ["red", "green", None]})
    proba = model.predict_proba(odd)[0]
    assert np.isfinite(proba).all()
    mean = pd.DataFrame({"size": [X["size"].mean()], "color": ["red"]})
    assert proba[0] == pytest.approx(model.predict_proba(mean)[0][0])
    share = (X["color"] == "red").mean()
    each = model.predict_proba(pd.DataFrame({"size": [1.0, 1.0], "color": ["red", "blue"]}))[0]
    assert proba[1] == pytest.approx(share * each[0] + (1 - share) * each[1])
    assert proba[2] == pytest.approx(proba[1])


def test_parallel_training_changes_nothing(mixed):
    X, y = mixed
    one, two = GBNCClassifier(n_jobs=1).fit(X, y), GBNCClassifier(n_jobs=2).fit(X, y)
    assert one.objective_ == two.objective_
    assert one.structure_ == two.structure_
    assert (one.predict_proba(X)[0] == two.predict_proba(X)[0]).all()
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert GBNCClassifier().fit(X, y).objective_ == one.objective_


def test_training_runs_on_dask(mixed):
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    X, y = mixed
    with (
        distributed.Client(processes=False, n_workers=1, dashboard_address=None),
        joblib.parallel_config(backend="dask"),
    ):
        model = GBNCClassifier().fit(X, y)
    assert model.objective_ == GBNCClassifier().fit(X, y).objective_


def test_a_start_and_constraints_are_obeyed(mixed):
    X, y = mixed
    start = Structure.from_dict({"wheels": [], "kind": ["wheels"]})
    model = GBNCClassifier(start=start).fit(X, y)
    assert model.result_.warm_start.source == "warm-start"
    assert model.optimal_
    forbidden = Constraints(forbidden=["kind->wheels", "wheels->kind"])
    apart = GBNCClassifier(constraints=forbidden).fit(X, y)
    assert not set(apart.structure_.arcs) & {("kind", "wheels"), ("wheels", "kind")}
    assert apart.objective_ < model.objective_
    with pytest.raises(ConstraintError, match="there is no such variable"):
        GBNCClassifier(constraints=Constraints(forbidden=["colour->kind"])).fit(X, y)
    with pytest.raises(ConstraintError, match="are for a single class variable"):
        GBNCClassifier(constraints=Constraints(max_arcs=3)).fit(X, y)


def test_a_start_with_other_nodes_is_refused(mixed):
    start = Structure.from_dict({"wheels": [], "doors": ["wheels"]})
    with pytest.raises(ConstraintError, match="has a node 'doors'; the nodes are kind, wheels"):
        GBNCClassifier(start=start).fit(*mixed)


def test_both_engines_find_the_same_optimum(mixed):
    X, y = mixed
    results = [
        GBNCClassifier("logistic:C=1", engine=engine, start=start).fit(X, y).result_
        for engine in ("branch-and-cut", "monolithic")
        for start in (None, "local-search")
    ]
    assert {r.status for r in results} == {"optimal"}
    assert max(r.objective for r in results) == pytest.approx(min(r.objective for r in results))


def test_a_time_limit_leaves_families_out_and_says_so(now):
    class Slow(GaussianNB):
        def fit(self, X, y):
            now[0] += 1
            return super().fit(X, y)

    X, codes, _, _ = random_problem(0, 4, n=80)
    with pytest.warns(ConvergenceWarning, match="before every parent set was scored"):
        model = GBNCClassifier(Slow(), validation=None, time_limit=30.0).fit(X, codes)
    assert model.result_.status == "time_limit"
    assert model.training_.sets_left > 0
    plain = GBNCClassifier(GaussianNB(), validation=None)
    full = clone(plain).fit(X, codes)
    assert model.objective_ <= full.objective_ <= model.bound_
    # Some of the time was kept for choosing among the families that were scored.
    assert model.objective_ > plain.set_params(max_parents=0).fit(X, codes).objective_
    bounds = [p.bound for p in model.result_.trace if p.bound is not None]
    assert min(bounds) >= model.bound_
    assert model.predict(X).shape == codes.shape


def test_a_time_limit_leaves_time_for_more_than_the_choice_of_base_models(now, monkeypatch):
    class Slow(LogisticRegression):
        def fit(self, X, y):
            now[0] += 1
            return super().fit(X, y)

    monkeypatch.setattr(
        "milpbn.mdc.base_estimators.Logistic.estimator", lambda self, n, r, seed: Slow(C=self.C)
    )
    X, codes, _, _ = random_problem(0, 2, n=80)
    with pytest.warns(UserWarning, match=r"ended the choice of the base models early; logistic:C="):
        model = GBNCClassifier(validation=None, time_limit=30.0).fit(X, codes)
    assert model.optimal_
    assert model.result_.seconds["choosing"] >= 8


@pytest.mark.parametrize(
    "method", [GBNCClassifier, BinaryRelevance, ClassifierChains, ClassPowerset]
)
def test_base_models_that_do_not_converge_are_counted_in_one_warning(method):
    X, codes, _, _ = random_problem(0, 2, n=80)
    with pytest.warns(ConvergenceWarning, match="did not converge") as caught:
        model = method(LogisticRegression(max_iter=1)).fit(X, codes)
    (warning,) = caught
    assert warning.filename == __file__
    n, unconverged = model.fits_.n, model.fits_.unconverged
    assert 0 < unconverged <= n
    assert str(warning.message).startswith(f"{unconverged} of {n} base models did not converge")


class Grumbling(GaussianNB):
    def fit(self, X, y):
        warnings.warn("I do not like these rows", RuntimeWarning, stacklevel=2)
        return super().fit(X, y)


@pytest.mark.parametrize("method", [GBNCClassifier, BinaryRelevance, ClassifierChains])
def test_other_warnings_of_base_models_are_repeated_once(method):
    X, codes, _, _ = random_problem(0, 2, n=80)
    with pytest.warns(UserWarning, match="do not like") as caught:
        method(Grumbling()).fit(X, codes)
    assert [str(w.message) for w in caught] == ["I do not like these rows"]


def test_held_out_rows_choose_fewer_parents(mixed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 12))
    first = X[:, 0] + rng.normal(size=150) > 0
    y = np.column_stack([first, X[:, 1] + rng.normal(size=150) > 0])
    trained = GBNCClassifier("logistic:C=100", validation=None).fit(X, y)
    held_out = GBNCClassifier("logistic:C=100").fit(X, y)
    assert trained.result_.score == "pcll"
    assert held_out.result_.score == "hcll"
    assert held_out.result_.score_parameters["validation"] == 5
    assert held_out.optimal_
    # The classes are independent. Twelve features fit the rows of a configuration too well.
    assert len(trained.structure_.arcs) == 1
    assert held_out.structure_.arcs == ()
    assert held_out.training_.base_models == 6 * trained.training_.base_models
    X, y = mixed
    assert ("color", "kind") in GBNCClassifier("logistic:C=1", validation=5).fit(
        X, y
    ).structure_.arcs


def test_held_out_scores_do_not_depend_on_luck(mixed):
    X, y = mixed
    forest = RandomForestClassifier(n_estimators=3, min_samples_leaf=5)
    models = [
        GBNCClassifier(forest, validation=2, max_parents=1, random_state=seed).fit(X, y)
        for seed in (None, 0, 1)
    ]
    assert models[0].objective_ == models[1].objective_ != models[2].objective_


def test_the_default_is_never_behind_its_empty_class_network(mixed):
    """Held-out likelihood chooses, and the empty class network is one of the candidates."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), rng.integers(0, 3, size=(60, 3))
    for features, labels in ((X, y), mixed):
        model = GBNCClassifier("logistic:C=1").fit(features, labels)
        empty = GBNCClassifier("logistic:C=1", max_parents=0, max_discrete_parents=0)
        assert model.objective_ >= empty.fit(features, labels).objective_


def test_rare_labels_are_predicted_for_the_balanced_loss():
    """The expected macro recall of each class variable, by trying every label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    rare = (X[:, 0] + rng.normal(size=400) > 2).astype(int)
    y = np.column_stack([rare, (X[:, 0] > rng.normal(size=400)).astype(int)])
    model = GBNCClassifier("logistic:C=1", loss="balanced").fit(X, y)
    predicted = model.predict(X)
    for j, proba in enumerate(model.predict_proba(X)):
        shares = np.bincount(y[:, j]) / len(y)
        assert (predicted[:, j] == (proba / shares).argmax(axis=1)).all()
    assert model.score(X, y) == macro_recall_score(y, predicted)
    for loss in ("subset", "hamming"):
        other = clone(model).set_params(loss=loss).fit(X, y).predict(X)
        assert macro_recall_score(y, other) < macro_recall_score(y, predicted)


def test_weights_count_rows(mixed):
    X, y = mixed
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    plain = GBNCClassifier("logistic:C=1", validation=None)
    weighted = clone(plain).fit(X, y, sample_weight=weights)
    repeated = clone(plain).fit(X.iloc[twice], y.iloc[twice])
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-4)
    assert weighted.structure_ == repeated.structure_
    for one, two in zip(weighted.predict_proba(X), repeated.predict_proba(X), strict=True):
        assert one == pytest.approx(two, abs=1e-4)
    assert weighted.score(X, y, weights) == pytest.approx(
        weighted.score(X.iloc[twice], y.iloc[twice])
    )
    with pytest.raises(OptionError, match="LinearDiscriminantAnalysis cannot learn from weighted"):
        GBNCClassifier(LinearDiscriminantAnalysis()).fit(X, y, sample_weight=weights)


def test_too_few_rows_for_the_folds_are_named():
    with pytest.raises(DataError, match="4 rows are too few for validation in 5 folds"):
        GBNCClassifier(validation=5).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])


def test_a_verbose_fit_counts_models_on_stderr(capsys, mixed):
    X, y = mixed
    GBNCClassifier(verbose=True).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "trained" in err
    assert "0 left" in err


def test_the_seed_reaches_base_estimators_without_one(mixed):
    X, y = mixed
    forest = RandomForestClassifier(n_estimators=3)
    one, two = (GBNCClassifier(forest, max_parents=1, random_state=5).fit(X, y) for _ in range(2))
    assert one.objective_ == two.objective_
    assert forest.random_state is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"base_estimator": LinearSVC()}, "LinearSVC has no predict_proba"),
        (
            {"base_estimator": 3},
            "must be a scikit-learn classifier or one of logistic, gaussian-nb",
        ),
        ({"base_estimator": "logistics"}, "unknown base 'logistics'; did you mean logistic"),
        ({"base_estimator": "logistic:C=0"}, "C must be a positive number, not 0.0"),
        ({"base_estimator": "forest:n_estimators=many"}, "n_estimators needs a whole number"),
        ({"validation": 1}, "validation must be a number of folds, at least 2, or None, not 1"),
        ({"validation": "loo"}, "validation must be a number of folds"),
        ({"loss": "0/1"}, "loss must be one of subset, hamming"),
        ({"mixed": "both"}, "mixed must be one of partition, one-hot"),
        ({"engine": "magic"}, "engine must be one of"),
        ({"max_parents": -1}, "max_parents must not be negative"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(mixed, parameters, message):
    with pytest.raises(OptionError, match=message):
        GBNCClassifier(**parameters).fit(*mixed)


def test_bad_targets_are_named(mixed):
    X, y = mixed
    with pytest.raises(DataError, match="'same' has only one class"):
        GBNCClassifier().fit(X, y.assign(same="a"))
    with pytest.raises(DataError, match="'size' is also a feature"):
        GBNCClassifier().fit(X, y.assign(size=y["kind"]))
    with pytest.raises(DataError, match=r"'kind' is missing \(NaN\) in row 3"):
        GBNCClassifier().fit(X, y.assign(kind=[*y["kind"][:2], None, *y["kind"][3:]]))
    with pytest.raises(DataError, match="'size' is numeric but holds 'big'"):
        GBNCClassifier().fit(X, y).predict(pd.DataFrame({"size": ["big"], "color": ["red"]}))
    with pytest.raises(DataError, match="'kind' mixes strings and numbers"):
        GBNCClassifier().fit(X, y.assign(kind=[1, *y["kind"][1:]]))


def test_no_warning_on_a_plain_fit(mixed):
    X, y = mixed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GBNCClassifier().fit(X, y).predict(X)
