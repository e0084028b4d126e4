"""Conditional likelihood: logistic regression, what holds it back, and odd data."""

import numpy as np
import pytest
from problems import encoded
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from milpbn import Encoder, learn_parameters, learn_structure, load_dataset
from milpbn.clock import Clock
from milpbn.errors import OptionError
from milpbn.families import Laplace
from milpbn.network.inference import log_posterior, predict
from milpbn.parameters import make_parameters
from milpbn.parameters.cl import PENALTIES, ConditionalLikelihood
from milpbn.structure import Structure


def naive_bayes(data):
    names = [v.name for v in data.variables]
    return Structure.from_arcs(names, [(names[0], x) for x in names[1:]])


def cll(network, codes):
    return log_posterior(network, codes[:, 1:])[np.arange(len(codes)), codes[:, 0]].sum()


def noisy_rows(rng, m, n_classes):
    """Rows that no classifier separates, so that logistic regression has an optimum."""
    labels = rng.integers(0, n_classes, m)
    noise = rng.random((m, 4)) < 0.6
    features = np.where(noise, rng.integers(0, 3, (m, 4)), (labels % 3)[:, None])
    return encoded(np.column_stack([labels, features]), [n_classes, 3, 3, 3, 3])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_on_naive_bayes_it_is_logistic_regression(n_classes):
    data = noisy_rows(np.random.default_rng(n_classes), 400, n_classes)
    codes = data.train()
    network, report = learn_parameters(data, naive_bayes(data), parameters="cl:selection=none")
    one_hot = OneHotEncoder(sparse_output=False).fit_transform(codes[:, 1:])
    logistic = LogisticRegression(C=np.inf, tol=1e-8, max_iter=5000).fit(one_hot, codes[:, 0])
    proba = logistic.predict_log_proba(one_hot)
    expected = proba[np.arange(len(codes)), codes[:, 0]].sum()
    assert report.ended == "converged"
    assert cll(network, codes) == pytest.approx(expected, rel=1e-5)
    assert np.exp(log_posterior(network, codes[:, 1:])) == pytest.approx(np.exp(proba), abs=2e-3)
    assert predict(network, codes[:, 1:]).tolist() == logistic.predict(one_hot).tolist()


@pytest.mark.parametrize("setting", ["prior=ml", "selection=cross-tuning", "selection=none"])
@pytest.mark.parametrize("seed", range(4))
def test_training_rows_become_likelier(random_problem, seed, setting):
    data, structure, _ = random_problem(seed)
    plain, _ = learn_parameters(data, structure)
    network, report = learn_parameters(data, structure, parameters=f"cl:{setting}")
    assert report.start == pytest.approx(cll(plain, data.train()))
    assert report.objective == pytest.approx(cll(network, data.train()))
    assert report.objective >= report.start
    if setting == "selection=none":  # held-out rows may say that nothing is to be gained
        assert report.objective > report.start


def test_the_report_tells_what_was_chosen(random_problem):
    data, structure, _ = random_problem(1, m=200)
    _, report = learn_parameters(data, structure, parameters="cl")
    assert report.method == "cl"
    assert report.chosen["penalty"] in (*PENALTIES, "infinite")
    _, report = learn_parameters(data, structure, parameters="cl:selection=cross-tuning")
    assert report.chosen["steps"] == report.iterations
    _, report = learn_parameters(data, structure, parameters="cl:penalty=2.5")
    assert report.method == "cl:penalty=2.5"
    assert report.chosen == {}


def test_the_chosen_penalty_is_the_one_that_predicts_held_out_rows_best():
    """Noise features: the more freedom, the worse; cross-validation must see it."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 120)
    codes = np.column_stack([labels, rng.integers(0, 3, (120, 6))])
    data = encoded(codes, [2, 3, 3, 3, 3, 3, 3])
    structure = learn_structure(data, method="tan-cmi", class_parents=False).structure
    _, report = learn_parameters(data, structure, parameters="cl:prior=ml")
    assert report.chosen["penalty"] == "infinite"
    _, report = learn_parameters(data, structure, parameters="cl")
    assert report.chosen["penalty"] in ("infinite", *PENALTIES[:3])
    table = load_dataset("mofn-3-7-10")
    clear = Encoder.fit(table).encode(table)
    _, report = learn_parameters(clear, naive_bayes(clear), parameters="cl")
    assert report.chosen["penalty"] == PENALTIES[-1]


def test_an_infinite_weight_around_independence_leaves_the_class_alone():
    """The classes are drawn independently of the features, so nothing is to be learned."""
    rng = np.random.default_rng(3)
    codes = np.column_stack([np.arange(60) % 3 == 0, np.repeat(rng.integers(0, 3, (20, 2)), 3, 0)])
    data = encoded(codes.astype(int), [2, 3, 3])
    network, report = learn_parameters(data, naive_bayes(data), parameters="cl:folds=20")
    assert report.chosen == {"penalty": "infinite"}
    found = np.exp(log_posterior(network, data.train()[:, 1:]))
    assert found[:, 1] == pytest.approx(np.full(60, 21 / 62))


def test_evidence_that_features_repeat_is_counted_once_around_independence():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    one = np.where(rng.random(300) < 0.7, labels, 1 - labels)
    data = encoded(np.column_stack([labels, *[one] * 8]), [2] * 9)
    codes = data.train()
    truth = np.log(np.bincount(labels[one == 0]) / np.sum(one == 0))
    errors = {}
    for prior in ("independence", "ml"):
        learner = f"cl:penalty=3,prior={prior}"
        network, _ = learn_parameters(data, naive_bayes(data), parameters=learner)
        found = log_posterior(network, codes[:, 1:])
        errors[prior] = np.abs(found[one == 0][0] - truth).max()
    assert 5 * errors["independence"] < errors["ml"]


def test_a_choice_without_time_is_a_good_fixed_weight(random_problem, ticking):
    data, structure, _ = random_problem(2, m=200)
    network, report = learn_parameters(data, structure, parameters="cl", time_limit=0.2)
    assert report.chosen == {"penalty": 3.0}
    assert report.iterations > 0
    fixed, _ = learn_parameters(data, structure, parameters="cl:penalty=3")
    assert cll(network, data.train()) == pytest.approx(cll(fixed, data.train()), rel=1e-3)


def test_repeated_rows_weigh_as_often_as_they_occur(random_problem):
    data, structure, _ = random_problem(2)
    codes = data.train()
    repeats = np.arange(len(codes)) % 3 + 1
    merged = encoded(np.repeat(codes, repeats, axis=0), [v.card for v in data.variables])
    network, report = learn_parameters(merged, structure, parameters="cl:penalty=1")
    assert report.objective == pytest.approx((cll_by_row(network, codes) * repeats).sum())


def cll_by_row(network, codes):
    return log_posterior(network, codes[:, 1:])[np.arange(len(codes)), codes[:, 0]]


def test_states_and_configurations_never_seen_stay_finite_and_normalised():
    codes = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1]])
    data = encoded(codes, [2, 4, 3])
    structure = Structure.from_arcs(
        ["class", "x1", "x2"], [("class", "x1"), ("class", "x2"), ("x1", "x2")]
    )
    for smoothing in ("laplace", "epsilon"):
        for parameters in ("cl", "cl:selection=none", "cl:selection=cross-tuning"):
            network, _ = learn_parameters(
                data, structure, parameters=parameters, smoothing=smoothing
            )
            for table in network.log_cpts:
                assert np.isfinite(table).all()
                assert np.exp(table).sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]))


def test_a_class_that_a_fold_never_sees_is_no_trouble():
    rng = np.random.default_rng(1)
    codes = np.column_stack([np.zeros(30, dtype=int), rng.integers(0, 2, (30, 3))])
    codes[7, 0] = 1  # in one fold only: the other folds' training rows all have it, one has not
    codes[8, 0] = 2
    data = encoded(codes, [3, 2, 2, 2])
    network, report = learn_parameters(data, naive_bayes(data), parameters="cl")
    assert report.ended == "converged" or report.chosen == {"penalty": "infinite"}
    assert np.isfinite(cll(network, codes))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_hardly_any_rows(m):
    codes = np.array([[0, 0], [1, 1], [0, 1]])[:m]
    data = encoded(codes, [2, 2])
    for parameters in ("cl", "cl:selection=cross-tuning", "mm"):
        network, _ = learn_parameters(data, naive_bayes(data), parameters=parameters)
        assert all(np.isfinite(t).all() for t in network.log_cpts)


def test_no_time_means_maximum_likelihood(random_problem):
    data, structure, _ = random_problem(3)
    plain, _ = learn_parameters(data, structure)
    for parameters in ("cl", "mm", "cl:selection=none"):
        network, report = learn_parameters(data, structure, parameters=parameters, time_limit=1e-9)
        assert report.ended == "time_limit"
        for table, other in zip(network.log_cpts, plain.log_cpts, strict=True):
            assert table == pytest.approx(other)


def test_the_choice_leaves_time_for_the_climb(random_problem, ticking):
    """The choice would take longer than the limit; what it has by then is climbed to."""
    data, structure, _ = random_problem(2, m=200)
    _, whole = learn_parameters(data, structure, parameters="cl:prior=ml")
    network, report = learn_parameters(data, structure, parameters="cl:prior=ml", time_limit=0.2)
    assert report.ended == "converged"
    assert report.chosen["penalty"] > whole.chosen["penalty"]
    assert report.objective > report.start
    assert cll(network, data.train()) == pytest.approx(report.objective)


def test_ctrl_c_keeps_what_there_is(random_problem, monkeypatch):
    data, structure, _ = random_problem(3)
    learner = make_parameters("cl")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("milpbn.parameters.discriminative.make_folds", interrupted)
    network, report = learner.fit(structure, data.variables, data.train(), Laplace())
    assert report.ended == "interrupted"
    assert report.objective == pytest.approx(report.start)
    assert cll(network, data.train()) == pytest.approx(report.start)


def test_a_structure_over_other_variables_is_refused(random_problem):
    data, _, _ = random_problem(0)
    with pytest.raises(OptionError, match="variables are not those of the data"):
        learn_parameters(data, Structure(("class", "other"), ((), (0,))), parameters="cl")


def test_a_guess_is_used_if_there_is_no_time_to_choose():
    table = load_dataset("iris")
    data = Encoder.fit(table).encode(table)
    structure = learn_structure(data, method="nb").structure
    fit = (structure, data.variables, data.train(), Laplace())
    _, report = ConditionalLikelihood().fit(*fit, clock=Clock(0), guess={"penalty": 30.0})
    assert report.chosen == {"penalty": 30.0}
    assert ConditionalLikelihood().settled({"penalty": 30.0}).penalty == 30.0
    assert ConditionalLikelihood(penalty=1.0).settled({"penalty": 30.0}).penalty == 1.0
    assert ConditionalLikelihood().settled({"penalty": "infinite"}).penalty == PENALTIES[0]
