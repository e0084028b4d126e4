"""Settings chosen by how well they predict held-out rows."""

import json
import os
import re
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold

from milpbn import BNClassifier, BNClassifierCV, Model, SelectionPlan, load_dataset
from milpbn.clock import Clock
from milpbn.datasets.table import Table
from milpbn.errors import BudgetError, MilpbnError, OptionError, ProofWarning
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.maximise import Shared
from milpbn.learning.settings import make_settings
from milpbn.parameters.cl import ConditionalLikelihood
from milpbn.selection import held_out
from milpbn.selection import plan as plan_module
from milpbn.selection.auto import AUTO_GRID
from milpbn.selection.candidates import Selection
from milpbn.selection.choose import learn_selected, select_settings, validate
from milpbn.selection.criteria import CRITERIA, mean_and_error, measure_all
from milpbn.selection.validation import EnoughFolds, ValidationSplit

SCORERS = {"log-loss": "neg_log_loss", "accuracy": "accuracy", "auc": "roc_auc"}


@pytest.fixture(scope="module")
def monks():
    return load_dataset("monks-3")


@pytest.mark.parametrize("by", SCORERS)
def test_candidates_score_as_scikit_learn_scores_them(monks, by):
    grid = {"p": [0.6, 0.9], "max_parents": [1, 2], "penalty": [0.0, 2.0]}
    splitter = StratifiedKFold(2, shuffle=True, random_state=3)
    plan = SelectionPlan(grid, by, cv=splitter)
    selection, *_ = select_settings(monks, {"method": "hc", "class_parents": False}, plan)
    train = monks.train()
    search = GridSearchCV(
        BNClassifier(method="hc", class_parents=False), grid, scoring=SCORERS[by], cv=plan.cv
    ).fit(train.features, train.target)
    # One number over all held-out rows here, the mean over folds there: equal folds, except AUC.
    sign = -1 if by == "log-loss" else 1
    ours = [sign * c.scores[by] for c in selection.candidates]
    tolerance = 0.03 if by == "auc" else 1e-9
    assert ours == pytest.approx(list(search.cv_results_["mean_test_score"]), abs=tolerance)
    assert selection.chosen == int(np.argmax(ours))


def fold_losses(table, names, values, splitter, score):
    """Losses per held-out row, learned from scratch."""
    losses = []
    for train, test in splitter.split(table.features, table.target):
        model = BNClassifier(**names, **values)
        model.fit(table.features.iloc[train], table.target.iloc[train])
        proba = model.predict_proba(table.features.iloc[test])
        own = model.classes_.searchsorted(table.target.iloc[test])
        at = np.arange(len(test))
        losses.append(
            -np.log(proba[at, own]) if score == "log-loss" else proba.argmax(axis=1) != own
        )
    return np.concatenate(losses).astype(float)


@pytest.mark.parametrize("by", ["log-loss", "accuracy"])
@pytest.mark.parametrize("seed", range(3))
def test_the_first_grid_within_one_standard_error(monks, by, seed):
    train, names = monks.train(), {"method": "hc", "class_parents": False}
    grids = [{"max_parents": [1], "p": [0.6]}, {"max_parents": [2], "p": [0.6, 0.9]}]
    grids.append({"max_parents": [3], "p": [0.9]})
    candidates = [(g, c) for g, grid in enumerate(grids) for c in ParameterGrid(grid)]
    splitter = StratifiedKFold(3, shuffle=True, random_state=seed)
    plan = SelectionPlan(grids, by, splitter)
    selection, *_ = select_settings(monks, {"method": "hc", "class_parents": False}, plan)
    losses = [fold_losses(train, names, c, splitter, by) for _, c in candidates]
    means = [x.mean() for x in losses]
    best = int(np.argmin(means))
    for grid in range(len(grids)):
        expected = min((k for k, c in enumerate(candidates) if c[0] == grid), key=means.__getitem__)
        excess = losses[expected] - losses[best]
        if excess.mean() <= excess.std(ddof=1) / np.sqrt(len(excess)):
            break
    assert selection.values == candidates[expected][1]


def test_the_chosen_settings_learn_from_all_training_rows(monks):
    plan = SelectionPlan({"max_parents": [1, 2], "parameters": ["ml", "cl"]})
    model = learn_selected(monks, {"class_parents": False}, plan)
    assert model.result.status == "optimal"
    assert model.data["n_rows"] == len(monks.train())
    assert model.selection.values == {
        "max_parents": model.settings["max_parents"],
        "parameters": model.parameters.method,
    }
    again = learn_selected(monks, {"class_parents": False}, plan)
    assert again.selection.values == model.selection.values


def test_proofs_inside_the_folds_on_request(monks, monkeypatch):
    engines = []

    def run(data, settings, **more):
        engines.append(getattr(settings.method, "name", settings.method))
        return original(data, settings, **more)

    original = held_out.run_method
    monkeypatch.setattr(held_out, "run_method", run)
    for exact in (False, True):
        plan = SelectionPlan({"p": [0.6, 0.9]}, cv=2, exact_folds=exact)
        select_settings(monks, {"max_parents": 1}, plan)
    assert engines == ["local-search"] * 4 + ["branch-and-cut"] * 4


def test_scores_without_an_exact_engine_are_searched(monks):
    plan = SelectionPlan({"score": ["cr"], "max_parents": [2]}, cv=2)
    model = learn_selected(monks, {}, plan)
    assert (model.result.engine, model.result.bound) == ("local-search", None)


def test_a_candidate_that_fails_is_recorded(monks, monkeypatch):
    def fails(self, settings, clock):
        if settings.space.max_parents == 2:
            raise MilpbnError("too large")
        return original(self, settings, clock)

    original = held_out.FoldLearner.predict
    monkeypatch.setattr(held_out.FoldLearner, "predict", fails)
    selection, settings, _ = select_settings(monks, {}, SelectionPlan({"max_parents": [2, 1]}))
    assert [c.error for c in selection.candidates] == ["too large", ""]
    assert settings.space.max_parents == 1
    # If every candidate fails, the first one is left: the final run has more time.
    model = learn_selected(monks, {}, SelectionPlan({"max_parents": [2]}))
    assert "the first candidate; none was finished" in str(model.selection)
    assert model.result.status == "optimal"


@pytest.mark.parametrize(("runs", "tried"), [(7, 3), (2, 2)])
def test_ctrl_c_keeps_the_finished_runs(monks, runs, tried):
    """All candidates by the finished folds, or those that have finished the first one."""

    def stop(done, total, what):
        if done == runs:
            os.kill(os.getpid(), signal.SIGINT)

    plan = SelectionPlan({"max_parents": [1, 2, 3]}, cv=5)
    model = learn_selected(monks, {}, plan, watch=stop)
    assert model.selection.interrupted
    assert model.selection.folds == max(1, runs // 3)
    assert sum(bool(c.scores) for c in model.selection.candidates) == tried
    assert model.result.status == "interrupted"
    assert model.result.structure.arcs


def test_the_time_limit_is_for_everything(monks):
    """The clock of the runs never has more than the selection's share."""
    limits = []

    def watch(done, total, what):
        limits.append((done, total))

    selection, *_ = select_settings(
        monks, {}, SelectionPlan({"max_parents": [1]}, cv=2), clock=Clock(1000), watch=watch
    )
    assert limits == [(1, 2), (2, 2)]
    assert selection.candidates[0].seconds < 600


def test_a_class_that_a_fold_lacks_is_no_obstacle():
    X = [["a"], ["b"]] * 10
    y = [0, 1] * 9 + [0, 2]
    model = BNClassifierCV(param_grid={"parameters": ["ml", "cl"]}, max_parents=1, cv=3).fit(X, y)
    assert model.selection_.folds == 3
    assert set(model.predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"by": "kappa"}, "cannot select by 'kappa'; choose one of log-loss, accuracy"),
        ({"cv": 1}, "at least 2 folds, not 1"),
        (
            {"grid": "all"},
            "the grid must be a dictionary, a list of dictionaries or 'auto', not 'all'",
        ),
        ({"grid": {"seed": [1]}}, "'seed' cannot be selected; choose among score"),
        ({"grid": {"p": 0.9}}, "select p: expected a list of values, not 0.9"),
        ({"grid": {"p": "0.9"}}, "select p: expected a list of values, not '0.9'"),
        (
            {"grid": {"max_parents": [1.5]}},
            "select max_parents: each value must be a whole number of at least 1, not 1.5",
        ),
        (
            {"grid": {"bins": ["mdlp", "4"]}},
            "unknown bins '4'; write mdlp, fine, auto",
        ),
        ({"bins": ["quantile:99"]}, "unknown bins 'quantile:99'"),
        ({"bins": []}, "select bins: expected a list of values"),
    ],
)
def test_a_bad_plan_is_named(given, message):
    with pytest.raises(OptionError, match=message):
        SelectionPlan(**given)


def test_selection_survives_the_model_file(monks, tmp_path):
    grid = {"penalty": [0.5, "bic"], "validation": [None, "loo"]}
    model = BNClassifierCV(param_grid=grid, scoring="roc_auc").fit(monks.features, monks.target)
    model.save(tmp_path / "model.json")
    loaded = Model.load(tmp_path / "model.json").selection
    assert loaded == model.selection_
    assert isinstance(loaded, Selection)
    again = BNClassifierCV.load(tmp_path / "model.json")
    assert again.best_params_ == model.best_params_
    assert again.selection_.by == "auc"
    json.dumps(loaded.to_dict(), allow_nan=False)


def test_bic_may_be_less_than_a_penalty_beside_it():
    table = load_dataset("iris")  # half of the logarithm of 100 rows is less than 4
    plan = SelectionPlan([{"penalty": [4.0, "bic"]}], cv=3)
    selection, *_ = select_settings(table, {"max_parents": 1}, plan)
    assert all(c.scores and not c.error for c in selection.candidates)


def test_splits_may_be_given_as_a_list(monks):
    train = monks.train()
    splitter = StratifiedKFold(2, shuffle=True, random_state=1)
    pairs = list(splitter.split(train.features, train.target))
    grid = {"p": [0.6, 0.9]}
    found = [
        select_settings(monks, {"max_parents": 1}, SelectionPlan(grid, cv=cv))[0]
        for cv in (splitter, pairs)
    ]
    assert [c.scores for c in found[0].candidates] == [c.scores for c in found[1].candidates]


def test_the_estimator_reports_every_candidate(monks):
    grid = [{"method": ["nb", "tan-cmi"]}, {"p": np.array([0.6, 0.9]), "max_parents": (1,)}]
    model = BNClassifierCV(param_grid=grid, cv=ValidationSplit(), scoring="auc")
    model.fit(monks.features, monks.target)
    table = model.cv_results_
    assert len(table) == 4
    assert set(table["method"].dropna()) == {"nb", "tan-cmi"}
    best = table.loc[table["auc"].idxmax()]
    assert all(best[name] == value for name, value in model.best_params_.items())
    shares = model.predict_proba(monks.features)
    assert shares.sum(axis=1) == pytest.approx(1)


def test_cuts_are_learned_inside_the_folds():
    iris = load_dataset("iris")
    splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    bins = ["mdlp", "quantile:3", "quantile:8"]
    ours = BNClassifierCV(param_grid={"method": ["nb"]}, bins=bins, cv=splitter)
    ours.fit(iris.features, iris.target)
    search = GridSearchCV(
        BNClassifier(method="nb"), {"bins": bins}, scoring="neg_log_loss", cv=splitter
    ).fit(iris.features, iris.target)
    found = -ours.cv_results_["log_loss"]
    assert list(found) == pytest.approx(list(search.cv_results_["mean_test_score"]), abs=1e-9)
    assert ours.best_params_["bins"] == ours.encoder_.bins == search.best_params_["bins"]
    assert np.array_equal(ours.predict_proba(iris.features), search.predict_proba(iris.features))


def test_cuttings_go_with_every_grid_or_belong_to_one(tmp_path):
    iris = load_dataset("iris")
    grids = [{"method": ["nb"]}, {"method": ["tan-cmi"]}]
    model = BNClassifierCV(param_grid=grids, bins=["mdlp", "quantile:4"])
    model.fit(iris.features, iris.target)
    assert len(model.cv_results_) == 4
    model.save(tmp_path / "model.json")
    assert BNClassifierCV.load(tmp_path / "model.json").bins == model.best_params_["bins"]
    inside = BNClassifierCV(param_grid={"bins": ["quantile:5"], "method": ["nb"]})
    assert inside.fit(iris.features, iris.target).encoder_.bins == "quantile:5"


def test_the_parameters_of_the_estimator_are_those_of_the_base_and_its_own():
    own = {"param_grid", "scoring", "cv", "exact_folds"}
    assert set(BNClassifierCV().get_params()) == {*BNClassifier().get_params(), *own}
    assert BNClassifierCV(p=0.7).p == 0.7
    with pytest.raises(TypeError, match="speed"):
        BNClassifierCV(speed=1)


def test_balanced_accuracy_is_the_mean_recall():
    rng = np.random.default_rng(0)
    labels, log_proba = rng.integers(0, 3, 50), np.log(rng.dirichlet(np.ones(3), 50))
    measured = measure_all(labels, log_proba)["balanced-accuracy"]
    assert measured == pytest.approx(balanced_accuracy_score(labels, log_proba.argmax(axis=1)))


def test_measures_ignore_what_the_labels_leave_undefined():
    log_proba = np.log(np.array([[0.9, 0.1], [0.8, 0.2]]))
    measured = measure_all(np.array([0, 0]), log_proba)
    assert set(measured) == set(CRITERIA) - {"auc"}


def test_weighted_measures_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    labels, times = rng.integers(0, 3, 30), rng.integers(1, 4, 30)
    log_proba = np.log(rng.dirichlet(np.ones(3), 30))
    repeated = measure_all(np.repeat(labels, times), np.repeat(log_proba, times, axis=0))
    assert measure_all(labels, log_proba, times.astype(float)) == pytest.approx(repeated)
    # The scale of weights is no evidence: ten times the weight leaves the error as it is.
    values = rng.normal(size=30)
    assert mean_and_error(values, np.full(30, 10.0)) == pytest.approx(mean_and_error(values))


def test_rows_of_the_folds_are_weighted():
    """Two kinds of rows, of which only one needs two parents; the weights say which counts."""
    rng = np.random.default_rng(1)
    x, z = rng.integers(0, 2, (2, 400))
    first = np.arange(400) < 200
    # In the first half the class is x xor z, in the other half it is x.
    y = np.where(first, x ^ z, x)
    features, labels = pd.DataFrame({"x": x, "z": z}).astype(str), pd.DataFrame({"y": y})
    table = Table("halves", features, labels.astype(str), ())
    plan, losses = SelectionPlan({"max_parents": [1, 2]}, cv=3), []
    for heavy in (first, ~first):
        weighted = replace(table, weights=np.where(heavy, 1.0, 1e-3))
        selection, *_ = select_settings(weighted, {"class_parents": False}, plan)
        losses.append([c.scores["log-loss"] for c in selection.candidates])
    # Two parents learn the exclusive or; a single one is enough for the other half.
    assert losses[0][0] > 0.6 > losses[0][1]
    assert max(losses[1]) < 0.1


def test_a_class_without_a_complete_row_is_no_obstacle():
    X = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v", "v", "u"] * 5})
    y = ["no", "yes"] * 9 + ["RT", "RT"]
    X.loc[18:, "b"] = None
    model = BNClassifierCV(param_grid={"parameters": ["ml", "cl"]}, max_parents=1, cv=3).fit(X, y)
    assert model.selection_.folds == 3
    assert "RT" in model.classes_


def test_an_engine_without_memory_leaves_the_final_run_to_local_search(monks):
    names = {"method": "monolithic", "class_parents": False, "memory_limit": 200_000}
    plan = SelectionPlan({"max_parents": [2], "p": [0.6, 0.9]})
    with pytest.warns(ProofWarning, match="memory limit.*Local search takes the place of monolith"):
        model = learn_selected(monks, names, plan)
    assert (str(model.result.status), model.result.engine) == ("feasible", "local-search")
    with pytest.raises(BudgetError, match="memory limit"):
        learn_classifier(monks, make_settings(**names))


def test_later_folds_take_over_what_the_first_one_chose(monks, monkeypatch):
    chosen = []

    def plan(self, folds, clock, guess):
        chosen.append((self.penalty, dict(guess)))
        return original(self, folds, clock, guess)

    original = ConditionalLikelihood.plan
    monkeypatch.setattr(ConditionalLikelihood, "plan", plan)
    grid = {"method": ["nb"], "parameters": ["cl"]}
    learn_selected(monks, {}, SelectionPlan(grid, cv=3))
    # The first fold chooses, the others use its weight, and the final run begins with it.
    (first, _), *others, (final, guess) = chosen
    assert first is None
    assert final is None
    assert [penalty for penalty, _ in others] == [guess["penalty"]] * 2


def test_clear_losers_of_the_default_are_left_out(monkeypatch):
    grids = [{"method": ["nb"]}, {"method": ["local-search"], "max_parents": [3]}]
    monkeypatch.setitem(plan_module.AUTO_GRIDS, "auto", grids)
    monks = load_dataset("monks-1")
    names = {"class_parents": False}
    left_out, better = select_settings(monks, names, SelectionPlan(cv=5)).selection.candidates
    assert re.search("clearly worse after [1-4] of 5 folds: log-loss", left_out.error)
    assert not left_out.scores
    assert better.scores
    # Candidates that a user names are all tried.
    asked = select_settings(monks, names, SelectionPlan(grids, cv=5)).selection
    assert all(c.scores for c in asked.candidates)


def test_a_fold_without_time_for_everyone_does_not_count(monks):
    clock = Clock(1000)

    def watch(done, total, what):
        if done == 3:
            clock.limit = 0.0

    plan = SelectionPlan({"method": ["nb", "tan-cmi"]}, cv=3)
    selection, _ = validate(monks, {}, plan, plan.candidates({}), clock, watch)
    assert selection.folds == 1
    assert all(c.scores for c in selection.candidates)


def test_without_time_there_is_naive_bayes(monks):
    model = learn_selected(monks, {}, clock=Clock(1e-9))
    assert model.selection.candidates[0].error == "there was not enough time"
    assert len(model.result.structure.arcs) == 6


def test_four_parents_are_tried_with_few_features_only():
    def most(plan, n_features):
        return max(c.values.get("max_parents", 0) for c in plan.candidates({}, n_features))

    assert [most(SelectionPlan(), n) for n in (12, 13)] == [4, 3]
    assert most(SelectionPlan({"max_parents": [2, 4]}), 100) == 4  # a user's own grid


def test_folds_hold_out_a_thousand_rows():
    for n_rows, folds in ((7, 5), (1000, 5), (1300, 4), (2000, 3), (5000, 1), (9000, 1)):
        y = np.arange(n_rows) % 3
        parts = list(EnoughFolds(1).split(y, y))
        assert len(parts) == folds == EnoughFolds(1).get_n_splits(y, y)
        held_out = np.concatenate([b for _, b in parts])
        assert len(np.unique(held_out)) == len(held_out) >= min(n_rows, 1000)
        for train, own in parts:
            assert sorted([*train, *own]) == list(range(n_rows))


def test_the_final_run_begins_with_the_structures_of_the_folds(monks):
    plan = SelectionPlan({"max_parents": [2], "p": [0.9]}, cv=3)
    _, settings, shared = select_settings(monks, {"class_parents": False}, plan)
    assert len(shared.begin) == 3
    # A run that is stopped at once returns the best of them, also if it does not use a start.
    whole = learn_classifier(monks, settings)
    for method in ("local-search", "tan-residual"):
        own = replace(settings, method=method)
        stopped = learn_classifier(
            monks, own, clock=Clock(1e-9), shared=Shared(begin=(whole.result.structure,))
        )
        assert stopped.result.objective == pytest.approx(whole.result.objective)


def test_counted_parameters_are_chosen_where_naive_bayes_is_the_truth():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 120)
    x = (rng.random((120, 60)) < 0.4 + 0.2 * labels[:, None]).astype(int)
    features = pd.DataFrame(x.astype(str), columns=[f"x{j}" for j in range(60)])
    table = Table("naive", features, pd.Series(labels.astype(str), name="y"), ())
    selection = select_settings(table, {}, SelectionPlan(AUTO_GRID[:1], cv=3)).selection
    assert selection.values["parameters"] == "ml"
