"""Properties of classifiers for several class variables."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mdc.encoded import training_rows
from property_cases import data_sets, few, of, once, some, spaces
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, recall_score

from milpbn import GBNCClassifier, load_dataset, load_model
from milpbn.learning.objective import build_objective
from milpbn.mdc import (
    BinaryRelevance,
    ClassifierChains,
    ClassPowerset,
    GBNCModel,
    GBNCSettings,
    exact_match_score,
    hamming_score,
    learn_gbnc,
    macro_f1_score,
    macro_recall_score,
    sub_exact_match_score,
)
from milpbn.mdc.base_estimators import make_base
from milpbn.mdc.dynamic import best_score
from milpbn.mdc.features import FeatureEncoder
from milpbn.mdc.inference import marginals, most_probable
from milpbn.mdc.local_models import (
    ConfigurationModel,
    Fits,
    LocalModel,
    held_out_log_likelihood,
    train_family,
)
from milpbn.mdc.regularisation import choose_base, validation_folds
from milpbn.mdc.training import Training
from milpbn.mdc.verification import verify_gbnc
from milpbn.network.factors import Factor
from milpbn.scores import MDL

LABELS = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=12)


@of(
    *("milpbn.mdc.exact_match_score", "milpbn.mdc.sub_exact_match_score"),
    *("milpbn.mdc.hamming_score", "milpbn.mdc.macro_f1_score", "milpbn.mdc.macro_recall_score"),
)
@some
@given(LABELS, LABELS, st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_measures_by_their_definitions(one, two, weights):
    n = min(len(one), len(two))
    truth, predicted = np.array(one[:n]), np.array(two[:n])
    wrong = (truth != predicted).sum(axis=1)
    assert exact_match_score(truth, predicted) == pytest.approx((wrong == 0).mean())
    assert sub_exact_match_score(truth, predicted) == pytest.approx((wrong <= 1).mean())
    assert hamming_score(truth, predicted) == pytest.approx((truth == predicted).mean())
    each = [f1_score(truth[:, j], predicted[:, j], average="macro") for j in range(3)]
    assert macro_f1_score(truth, predicted) == pytest.approx(np.mean(each))
    recalls = [
        recall_score(truth[:, j], predicted[:, j], average="macro", labels=np.unique(truth[:, j]))
        for j in range(3)
    ]
    assert macro_recall_score(truth, predicted) == pytest.approx(np.mean(recalls))
    twice = [np.repeat(part, weights[:n], axis=0) for part in (truth, predicted)]
    for measure in (
        *(exact_match_score, sub_exact_match_score, hamming_score),
        *(macro_f1_score, macro_recall_score),
    ):
        assert measure(truth, predicted, weights[:n]) == pytest.approx(measure(*twice))


@st.composite
def rows_with_labels(draw):
    """Two features, and two class variables that depend on them and on each other."""
    n, seed = draw(st.integers(20, 30)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    z = (y + X[:, 1] + rng.normal(size=n) > 0.5).astype(int)
    y[:2], z[:2] = (0, 1), (0, 1)
    return X, np.column_stack([y, z])


def quick(**more):
    return GBNCClassifier("logistic:C=1", **more)


@of("milpbn.GBNCClassifier", "milpbn.mdc.training.Training")
@few
@given(rows_with_labels())
def test_probabilities_add_up_and_predictions_are_the_most_probable(rows):
    X, y = rows
    model = quick().fit(X, y)
    joint = {
        states: model.predict_joint_log_proba(X, np.tile(states, (len(X), 1)))
        for states in product((0, 1), repeat=2)
    }
    assert np.exp(sum_logs(joint.values())) == pytest.approx(1.0)
    best = np.array([max(joint, key=lambda s: joint[s][u]) for u in range(len(X))])
    chosen = model.predict(X)
    found = np.array([joint[tuple(s)][u] for u, s in enumerate(chosen.tolist())])
    assert found == pytest.approx([joint[tuple(s)][u] for u, s in enumerate(best.tolist())])
    for j, proba in enumerate(model.predict_proba(X)):
        own = sum_logs(v for s, v in joint.items() if s[j] == 1)
        assert proba[:, 1] == pytest.approx(np.exp(own))
    assert model.score(X, y) == pytest.approx(exact_match_score(y, chosen))
    training = model.training_
    assert isinstance(training, Training)
    assert training.sets_left == training.models_left == 0
    assert training.scored_sets + training.pruned_by_lemma_2 == training.candidate_sets


def sum_logs(values):
    return logsumexp(np.stack(list(values)), axis=0)


@of("milpbn.mdc.BinaryRelevance", "milpbn.mdc.ClassifierChains", "milpbn.mdc.ClassPowerset")
@few
@given(rows_with_labels(), st.integers(0, 9))
def test_other_methods_predict_labels_that_occur(rows, seed):
    X, y = rows
    alone = BinaryRelevance("logistic:C=1", random_state=seed).fit(X, y)
    for j in range(2):
        own = BinaryRelevance("logistic:C=1", random_state=seed).fit(X, y[:, [j]])
        assert (alone.predict(X)[:, [j]] == own.predict(X).reshape(-1, 1)).all()
    powerset = ClassPowerset("logistic:C=1", random_state=seed).fit(X, y)
    shown = {tuple(row) for row in y.tolist()}
    assert {tuple(row) for row in powerset.predict(X).tolist()} <= shown
    chains = ClassifierChains("logistic:C=1", n_chains=2, random_state=seed).fit(X, y)
    again = ClassifierChains("logistic:C=1", n_chains=2, random_state=seed).fit(X, y)
    assert (chains.predict(X) == again.predict(X)).all()
    for model in (alone, powerset, chains):
        for proba in model.predict_proba(X):
            assert proba.sum(axis=1) == pytest.approx(1.0)


@of("milpbn.mdc.GBNCModel", "milpbn.mdc.GBNCSettings")
@few
@given(rows_with_labels(), st.sampled_from(["logistic:C=1", "gaussian-nb"]))
def test_a_model_comes_back_from_its_file(rows, base):
    X, y = rows
    model = GBNCClassifier(base).fit(X, y)
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save(path)
        again = GBNCClassifier.load(path)
        loaded = load_model(path)
    assert isinstance(loaded, GBNCModel)
    one, two = loaded.to_dict(), model.model_.to_dict()
    if base == "gaussian-nb":  # equal objects need not have equal bytes
        del one["base_models"], two["base_models"]
    assert one == two
    assert GBNCSettings.from_dict(loaded.settings.to_dict()) == loaded.settings
    assert (again.predict(X) == model.predict(X)).all()
    assert not hasattr(again, "feature_names_in_")
    for mine, theirs in zip(model.predict_proba(X), again.predict_proba(X), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-12)


@of("milpbn.mdc.verification.verify_gbnc", "milpbn.mdc.learn_gbnc")
@once
@given(st.integers(0, 3), st.floats(0.01, 5), st.sampled_from([None, 3]))
def test_verification_finds_a_false_score(part, wrong, validation):
    table = load_dataset("Jura")
    table = table.rows(np.arange(len(table)) % 4 == part)
    base = make_base("logistic:C=1")
    model = learn_gbnc(table, GBNCSettings(base, validation, max_parents=1))
    found = verify_gbnc(model, table)
    assert found.agrees, found.checks
    false = replace(model.result, objective=model.result.objective + wrong)
    assert not verify_gbnc(replace(model, result=false), table).agrees


@of("milpbn.mdc.base_estimators.make_base", "milpbn.mdc.regularisation.choose_base")
@few
@given(rows_with_labels(), st.floats(0.01, 10))
def test_a_base_model_is_its_text_and_the_best_one_is_chosen(rows, c):
    X, y = rows
    base = make_base(f"logistic:C={c}")
    assert make_base(str(base)) == base
    assert base.estimator(2, 2, 0).get_params()["C"] == c
    sets, encoded = [[()], [()]], training_rows(X, y, [2, 2])
    assert choose_base(base, encoded, sets, seed=0).base == base  # nothing to choose
    free = make_base("logistic")
    found = choose_base(free, encoded, sets, seed=0)
    candidates = list(free.candidates())
    values = [
        sum(
            held_out_log_likelihood(encoded, j, (), c.estimator(2, 2, 0), folds, Fits())
            for j, folds in enumerate(validation_folds(y[:, j], 0) for j in range(2))
        )
        for c in candidates
    ]
    k = candidates.index(found.base)
    assert values[k] == max(values[max(k - 1, 0) : k + 2])
    assert values[k] >= values[candidates.index(free.default())]
    assert found.finished


@of("milpbn.mdc.local_models.LocalModel", "milpbn.mdc.local_models.ConfigurationModel")
@few
@given(rows_with_labels())
def test_local_models_are_base_models_of_the_rows_of_a_configuration(rows):
    X, y = rows
    rows = training_rows(X, y, [2, 2])
    local = train_family(rows, 1, (0,), LogisticRegression()).model
    assert isinstance(local, LocalModel)
    table = local.log_table(rows.features, 2)
    assert np.exp(table).sum(axis=-1) == pytest.approx(1.0)
    for state, model in local.models.items():
        assert isinstance(model, ConfigurationModel)
        assert model.counts.tolist() == np.bincount(y[y[:, 0] == state, 1], minlength=2).tolist()
        assert np.exp(table[:, state]) == pytest.approx(model.proba(X))


@of("milpbn.mdc.features.FeatureEncoder")
@some
@given(
    st.lists(st.integers(-50, 50), min_size=2, max_size=20),
    st.sampled_from(["partition", "one-hot"]),
    st.randoms(),
)
def test_features_are_standardised_and_found_by_name(values, mixed, random):
    colors = [random.choice("rgb") for _ in values]
    frame = pd.DataFrame({"x": np.array(values, dtype=float), "color": colors})
    encoder = FeatureEncoder.fit(frame, {"color"}, mixed)
    again = FeatureEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    found = again.transform(frame[["color", "x"]])
    assert found.matrix[:, 0].mean() == pytest.approx(0, abs=1e-9)
    if len(set(values)) > 1:
        assert found.matrix[:, 0].std() == pytest.approx(1)
    if mixed == "one-hot":
        assert found.matrix[:, 1:].sum(axis=1) == pytest.approx(1)
        assert encoder.partition == ()
    else:
        (variable,) = encoder.partition
        assert [variable.states[c] for c in found.codes[:, 0]] == colors
    assert found.matrix.shape[1] == encoder.width


@of("milpbn.mdc.inference.most_probable", "milpbn.mdc.inference.marginals")
@some
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_inference_by_trying_all_joint_states(seed, d):
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, d).tolist()
    factors = []
    for j in range(d):
        scope = (*(p for p in range(j) if rng.random() < 0.5), j)
        table = rng.random((3, *(cards[v] for v in scope))) + 1e-3
        factors.append(Factor(scope, np.log(table / table.sum(axis=-1, keepdims=True))))
    states = list(product(*map(range, cards)))
    logs = np.array(
        [sum(f.values[(slice(None), *(s[v] for v in f.scope))] for f in factors) for s in states]
    )
    assert np.exp(logs).sum(axis=0) == pytest.approx(1.0)
    found = most_probable(factors, cards)
    for row in range(3):
        assert logs[states.index(tuple(found[row].tolist())), row] == pytest.approx(
            logs[:, row].max()
        )
    for j, table in enumerate(marginals(factors, cards)):
        for k in range(cards[j]):
            own = logsumexp([log for s, log in zip(states, logs, strict=True) if s[j] == k], axis=0)
            assert table[:, k] == pytest.approx(own)


@of("milpbn.mdc.dynamic.best_score")
@some
@given(data_sets(), spaces)
def test_dynamic_programming_finds_the_best_network(data, space):
    objective = build_objective(data, MDL(), space, prune=False)
    own = objective.space
    values = [
        objective.value(np.array(pick))
        for pick in product(*(own.of(i) for i in range(own.n_variables)))
        if oracle.is_acyclic([own.parent_sets[f] for f in pick])
    ]
    assert best_score(objective, own.n_variables) == pytest.approx(max(values))
