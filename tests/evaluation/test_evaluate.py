"""Evaluations: right numbers, nothing learned from test rows, resumable, parallel."""

from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV

from milpbn import BNClassifier, Encoder, evaluate, learn_structure, load_dataset
from milpbn.datasets import Table, table_from_frame
from milpbn.errors import ConstraintError, DataError, DataWarning, OptionError
from milpbn.evaluation import ValidationSplit
from milpbn.families import Constraints, Laplace
from milpbn.learning.structure import run_method
from milpbn.network.inference import accuracy
from milpbn.network.network import fit_network
from milpbn.search.local_search import LocalSearch
from milpbn.structure import Structure

# Every fit has a limit of a minute by default.
pytestmark = pytest.mark.usefixtures("compiled")

QUICK = ["nb", "tan-cmi"]


def results(evaluation):
    """Everything but the time it took."""
    return [replace(r, seconds=0.0) for r in evaluation.records]


@pytest.fixture(scope="module")
def iris():
    return evaluate("iris", QUICK, predictions=True)


@pytest.mark.parametrize("name", ["car", "monks-1"])
def test_naive_bayes_on_test_rows_by_another_path(name):
    table = load_dataset(name)
    (line,) = evaluate(name, ["nb"]).summaries()
    data = Encoder.fit(table).encode(table)
    features = [v.name for v in data.variables]
    naive = Structure.from_arcs(features, [(features[0], f) for f in features[1:]])
    network = fit_network(naive, data.variables, data.train(), Laplace())
    assert line.accuracy == pytest.approx(accuracy(network, data.test()))
    assert line.n_parameters == network.n_parameters
    n = len(data.test())
    assert line.interval == pytest.approx(
        1.959964 * np.sqrt(line.accuracy * (1 - line.accuracy) / n)
    )


def test_exact_engines_and_heuristics_share_a_table():
    evaluation = evaluate(
        "synthetic-3", ["nb", "hc:cr", "monolithic:mdl", "branch-and-cut"], class_parents=False
    )
    lines = evaluation.summaries()
    assert [s.method for s in lines] == ["nb", "hc:cr", "monolithic:mdl", "branch-and-cut"]
    assert [s.optimal for s in lines] == [0, 0, 1, 1]
    frame = evaluation.to_frame()
    assert frame["accuracy"].between(0, 1).all()
    assert "1000 training rows, 1000 test rows" in str(evaluation)
    assert evaluation.complete


def test_the_seed_reaches_the_learners():
    """The set has test rows of its own, so that nothing but the learner is random."""
    table = load_dataset("car")
    train, test = table.train(), table.test()
    shares = []
    for seed in (0, 1):
        (record,) = evaluate(table, ["ro-cr"], class_parents=False, seed=seed).records
        learner = BNClassifier(method="ro-cr", class_parents=False, random_state=seed)
        learner.fit(train.features, train.target)
        shares.append(record.measures.correct / record.measures.rows)
        assert shares[-1] == pytest.approx(learner.score(test.features, test.target))
    assert shares[0] != shares[1]


def test_open_gaps_are_kept():
    table = load_dataset("heart")
    options = {"folds": 2, "gap": 0.05, "class_parents": False, "time_limit": None}
    engine, heuristic = (
        evaluate(table, [method], **options).records for method in ("branch-and-cut", "nb")
    )
    assert [r.status for r in engine] == ["feasible"] * 2
    assert all(0 < r.gap <= 0.05 for r in engine)
    assert [r.gap for r in heuristic] == [None, None]


def test_predictions_cover_every_row_once_and_give_the_measures(iris):
    frame = iris.predictions()
    truth = load_dataset("iris").target
    for method, line in zip(QUICK, iris.summaries(), strict=True):
        part = frame[frame["method"] == method].sort_values("row")
        assert part["row"].tolist() == list(range(1, 151))
        assert (part["truth"].to_numpy() == truth.to_numpy()).all()
        columns = [f"P({c})" for c in sorted(truth.unique())]
        assert part[columns].sum(axis=1).to_numpy() == pytest.approx(np.ones(150))
        by_fold = (part["truth"] == part["prediction"]).groupby(part["fold"]).mean()
        assert line.accuracy == pytest.approx(by_fold.mean())
        own = [row[f"P({row['truth']})"] for _, row in part.iterrows()]
        assert line.log_loss == pytest.approx(-np.log(own).mean())


def test_every_method_goes_with_every_way_to_learn_parameters():
    evaluation = evaluate("mofn-3-7-10", ["nb", "multinet-cmi:cr"], parameters=["ml", "cl"])
    lines = {(s.method, s.parameters): s for s in evaluation.summaries()}
    assert list(lines) == [(m, p) for m in ("nb", "multinet-cmi:cr") for p in ("ml", "cl")]
    for method in ("nb", "multinet-cmi:cr"):
        assert lines[method, "cl"].n_parameters == lines[method, "ml"].n_parameters
    assert lines["nb", "cl"].log_loss < lines["nb", "ml"].log_loss


def test_predictions_are_kept_only_where_asked_for():
    evaluation = evaluate("synthetic-3", ["nb"])
    assert evaluation.predictions().empty


def test_nothing_is_learned_from_test_rows():
    """Wild test rows change the measures, not what was learned."""
    table = load_dataset("iris")
    mask = np.arange(150) % 3 > 0
    table = replace(table, is_train=mask)
    features = table.features.copy()
    features.loc[~mask] = 1e6 * np.random.default_rng(0).normal(size=((~mask).sum(), 4))
    wild = replace(table, features=features)
    tame, other = (
        evaluate(t, ["tan-cmi", "hc"], select={"smoothing": ["laplace", "epsilon"]}).records
        for t in (table, wild)
    )
    for a, b in zip(tame, other, strict=True):
        assert (a.n_parameters, a.selected, a.status) == (b.n_parameters, b.selected, b.status)
        assert a.measures != b.measures


def test_hyper_parameters_are_selected_on_the_training_rows():
    table = load_dataset("monks-3")
    grid = {"p": [0.51, 0.999], "max_parents": [1, 2]}
    (record,) = evaluate(table, ["hc"], select=grid, class_parents=False).records
    train = table.train()
    learner = BNClassifier(method="hc", class_parents=False)
    search = GridSearchCV(learner, grid, cv=ValidationSplit(0), scoring="neg_log_loss")
    search.fit(train.features, train.target)
    assert record.selected == search.best_params_
    share = search.best_estimator_.score(table.test().features, table.test().target)
    assert record.measures.correct / record.measures.rows == pytest.approx(share)


def test_what_changes_nothing_is_not_selected():
    grid = {"p": [0.6, 0.9], "max_parents": [1, 2]}
    methods = ["nb", "hc:cr", "hc:sm"]
    chosen = {
        r.method: set(r.selected)
        for r in evaluate("synthetic-3", methods, select=grid, class_parents=False).records
    }
    assert chosen == {"nb": set(), "hc:cr": {"max_parents"}, "hc:sm": {"p", "max_parents"}}


def test_two_processes_give_what_one_gives(iris):
    assert results(evaluate("iris", QUICK, predictions=True, n_jobs=2)) == results(iris)


def test_a_dask_cluster_gives_the_same(iris):
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        found = evaluate("iris", QUICK, predictions=True)
        tasks = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert results(found) == results(iris)
    assert any("_run_fold" in name for name in tasks), tasks


def test_finished_folds_are_not_computed_again(tmp_path):
    seen = []
    options = {
        "result_file": tmp_path / "results.jsonl",
        "listener": lambda record, done, total: seen.append((record.key, done, total)),
    }
    first = evaluate("iris", ["nb"], **options)
    assert [(done, total) for _, done, total in seen] == [(k, 5) for k in range(1, 6)]
    seen.clear()
    assert evaluate("iris", ["nb"], **options).records == first.records
    assert seen == []
    both = evaluate("iris", QUICK, **options)
    assert {key[0] for key, _, _ in seen} == {"tan-cmi"}
    assert both.records[:5] == first.records
    with pytest.raises(OptionError, match="max_parents: None in the file, 1 now"):
        evaluate("iris", QUICK, max_parents=1, **options)


def test_folds_without_predictions_are_computed_again_where_these_are_needed(tmp_path):
    file = tmp_path / "results.jsonl"
    evaluate("synthetic-3", ["nb"], result_file=file)
    found = evaluate("synthetic-3", ["nb"], result_file=file, predictions=True)
    assert len(found.predictions()) == 1000
    again = evaluate("synthetic-3", ["nb"], result_file=file, predictions=True)
    assert again.records == found.records


def test_ctrl_c_keeps_finished_folds(tmp_path, iris):
    def stop(record, done, total):
        if done == 3:
            raise KeyboardInterrupt

    file = tmp_path / "results.jsonl"
    part = evaluate("iris", QUICK, predictions=True, result_file=file, listener=stop)
    assert (len(part.records), part.n_expected, part.complete) == (3, 10, False)
    assert "3 of 10 folds" in str(part)
    whole = evaluate("iris", QUICK, predictions=True, result_file=file)
    assert whole.complete
    assert results(whole) == results(iris)


def test_an_interrupted_fit_is_no_result(monkeypatch):
    """The learner keeps its best structure on Ctrl-C; an evaluation must not count it."""

    def interrupted(data, settings, **_):
        return replace(run_method(data, settings), status="interrupted")

    monkeypatch.setattr("milpbn.learning.classifier.run_method", interrupted)
    with pytest.raises(KeyboardInterrupt):
        evaluate("iris", ["nb"])


def test_classifiers_of_ones_own():
    evaluation = evaluate(
        "iris", {"most frequent": DummyClassifier(), "nb": BNClassifier(method="nb")}
    )
    dummy, own = evaluation.summaries()
    assert dummy.accuracy == pytest.approx(1 / 3)
    assert (dummy.n_parameters, dummy.parameters, dummy.optimal) == (None, "", 0)
    assert own.accuracy > 0.9
    assert "most frequent" in str(evaluation)


def with_holes(n=40):
    """The first feature is the class, except in two rows, where it is missing."""
    features = pd.DataFrame({"x": (["a", "b"] * n)[:n], "y": (["c", "d", "e"] * n)[:n]})
    features.loc[[0, 7], "x"] = None
    target = pd.Series((["p", "q"] * n)[:n], name="class")
    return Table("toy", features, target, (), missing="drop")


@pytest.mark.parametrize("missing", ["drop", "state", "auto"])
def test_every_method_is_tested_on_incomplete_rows(missing):
    table = replace(with_holes(), missing=missing)
    methods = ["nb", "sk:logistic", "sk:tree:inputs=states"]
    evaluation = evaluate(table, methods, predictions=True)
    for _, rows in evaluation.predictions().groupby("method"):
        assert sorted(rows["row"]) == list(range(1, 41))
    assert evaluation.n_incomplete == (2 if missing == "drop" else 0)
    assert ("do not learn from 2 incomplete rows" in str(evaluation)) == (missing == "drop")


def test_rows_to_learn_from_are_complete():
    table = with_holes()
    with pytest.raises(DataError, match="no training row is left to learn from"):
        evaluate(replace(table, features=table.features.assign(z=None)), ["nb"])


def test_a_class_without_complete_rows_has_probability_0():
    table = with_holes()
    target = table.target.copy()
    target[[0, 7]] = "rare"
    table = replace(table, targets=pd.DataFrame(target))
    folds = [1 + (k > 3) for k in range(40)]
    (record, _) = evaluate(table, ["nb"], folds=folds, predictions=True).records
    assert record.measures.unknown == 0
    assert record.predictions.classes == ["p", "q", "rare"]
    least = np.log(np.finfo(float).eps)
    assert record.measures.log_likelihood < least
    proba = np.array(record.predictions.proba)
    right = proba[[1, 2, 3], [1, 0, 1]]
    assert record.measures.log_likelihood == pytest.approx(least + np.log(right).sum())


def test_folds_are_given_by_number():
    folds = [1 + (k > 9) for k in range(40)]
    evaluation = evaluate(with_holes(), ["nb"], folds=folds)
    assert [r.measures.rows for r in evaluation.records] == [10, 30]
    with pytest.raises(OptionError, match="39 fold numbers for the 40 rows of toy"):
        evaluate(with_holes(), ["nb"], folds=folds[1:])


def test_the_majority_baseline_by_hand():
    table = Table(
        "toy", pd.DataFrame({"x": ["a", "b"] * 5}), pd.Series(list("ppqqqqqprq"), name="class"), ()
    )
    evaluation = evaluate(table, ["nb"], folds=[1] * 4 + [2] * 6)
    # Fold 1 learns from qqqprq: it predicts q. Fold 2 learns from ppqq: it predicts p.
    first, second = (record.measures for record in evaluation.baseline)
    assert (first.correct, first.unknown, second.correct, second.unknown) == (2, 0, 1, 1)
    line = evaluation.majority()
    assert line.accuracy == pytest.approx((2 / 4 + 1 / 6) / 2)
    # The row of r has no likelihood in fold 2.
    likelihood = 2 * np.log(1 / 6) + 2 * np.log(4 / 6) + 5 * np.log(1 / 2)
    assert line.log_loss == pytest.approx(-likelihood / 9)
    assert line.method == "majority"


def test_methods_that_do_not_beat_the_majority_are_marked():
    evaluation = evaluate("synthetic-3", ["nb", "hc:cr"])
    assert [s.method for s in evaluation.not_better()] == ["nb"]
    assert "47.60 ± 3.10 % !" in str(evaluation)
    assert "not more accurate than always predicting the majority class" in str(evaluation)


def test_a_log_loss_above_that_of_the_majority_is_marked():
    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.integers(0, 2, (60, 12)).astype(str)).add_prefix("x").astype(object)
    table = Table("noise", features, pd.Series(["p", "q", "q"] * 20, name="class"), ())
    evaluation = evaluate(table, ["nb", "sk:logistic"])
    (worse,) = (s for s in evaluation.worse_loss() if s.method == "nb")
    assert worse.log_loss > evaluation.majority().log_loss
    assert f"{worse.log_loss:.4f} !" in str(evaluation)
    assert "log-loss larger than that of the class frequencies" in str(evaluation)
    sure = evaluate("monks-1", ["tan-cmi"])
    assert sure.worse_loss() == []
    assert "larger than" not in str(sure)


def test_significant_differences_are_marked_and_explained():
    found = evaluate("vote", ["tan-cmi", "nb"], folds=10)
    (test,) = found.tests()
    assert (test.mark == "+") == (test.p < 0.05) == ("% +" in str(found))
    assert ("corrected resampled t-test" in str(found)) == (test.mark != "")


def test_local_search_ends_by_itself():
    """Its patience ends long before a time limit of ten minutes."""
    (record,) = evaluate("synthetic-3", ["local-search"], time_limit=600).records
    assert record.status == "feasible"
    table = load_dataset("synthetic-3").train()
    data = Encoder.fit(table).encode(table)
    found = learn_structure(data, method=LocalSearch(patience=400))
    network = fit_network(found.structure, data.variables, data.train(), Laplace())
    assert record.n_parameters == network.n_parameters


def test_open_gaps_are_shown():
    options = {"folds": 2, "gap": 0.05, "class_parents": False, "time_limit": None}
    evaluation = evaluate("heart", ["branch-and-cut"], **options)
    (line,) = evaluation.summaries()
    assert line.gap == max(r.gap for r in evaluation.records)
    assert f"0/2, gap {100 * line.gap:.2g} %" in str(evaluation)


def test_a_class_that_only_test_rows_have_is_counted_as_error():
    features = pd.DataFrame({"x": ["a", "b"] * 10})
    target = pd.Series(["p", "q"] * 9 + ["p", "rare"], name="class")
    evaluation = evaluate(Table("toy", features, target, ()), ["nb"])
    assert sum(r.measures.unknown for r in evaluation.records) == 1
    assert "class is not in the training rows" in str(evaluation)
    assert np.isfinite(evaluation.summaries()[0].log_loss)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["nbb"]}, "unknown method 'nbb'"),
        ({"methods": []}, "at least one method"),
        ({"methods": ["nb", "nb"]}, "method 'nb' is listed twice"),
        ({"methods": ["nb:xx"]}, "unknown score 'xx'"),
        ({"methods": ["multinet-cmi:mdl"]}, "the score mdl is not defined for multinets"),
        ({"methods": ["branch-and-cut:cr"]}, "the score cr cannot be maximised exactly"),
        ({"parameters": ["magic"]}, "unknown parameters 'magic'"),
        ({"speed": 3}, "'speed' is not a setting that all methods have"),
        ({"engine": "nb"}, "'engine' is not a setting that all methods have"),
        ({"select": {"parameters": ["magic"]}}, "unknown parameters 'magic'"),
        ({"select": {"q": [1]}}, "'q' cannot be selected"),
        ({"select": {"p": 0.9}}, "select p: expected a list"),
        ({"select": {"p": []}}, "select p: expected a list"),
        ({"folds": 1}, "at least 2 folds"),
    ],
)
def test_mistakes_are_named_before_anything_runs(options, message):
    with pytest.raises(OptionError, match=message):
        evaluate("iris", **{"methods": ["nb"], **options})


def test_an_error_in_a_fit_names_method_and_fold():
    constraints = Constraints().merged([], [("nope", "class")])
    with pytest.raises(ConstraintError, match=r"nb, fold 1: constraint on 'nope'"):
        evaluate("synthetic-3", ["nb"], constraints=constraints)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_warning_that_several_folds_have_is_issued_once(n_jobs):
    rng = np.random.default_rng(0)
    label = rng.choice(["a", "b"], 60)
    frame = pd.DataFrame({"noise": rng.normal(size=60), "copy": label})
    table = table_from_frame(frame, pd.Series(label, name="y"))
    with pytest.warns(DataWarning) as caught:
        evaluate(table, {"nb": BNClassifier(method="nb")}, folds=3, n_jobs=n_jobs)
    texts = [str(w.message) for w in caught if w.category is DataWarning]
    assert texts == ["Features left out (no cut found): 'noise'; bins='auto' keeps it."]
