"""Classifiers of other libraries, on raw columns and on the states of milpbn's encoder."""

import re
import warnings
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from milpbn import Encoder, evaluate, load_dataset
from milpbn.datasets import Table
from milpbn.errors import DataError, OptionError
from milpbn.evaluation.others import OTHERS, read_other

# Importing it alone takes seconds.
EBM = pytest.param(
    "interpret:ebm",
    marks=[
        pytest.mark.slow,
        pytest.mark.skipif(not find_spec("interpret"), reason="InterpretML is not installed"),
    ],
)
NAMES = [*(name for name in OTHERS if name.startswith("sk:")), EBM]
EARLY = "sk:gradient-boosting:early_stopping=yes"
EVERY = [*NAMES, EARLY, "sk:svm:inputs=states", "sk:gradient-boosting:inputs=states"]


def toy(n=60, labels=("p", "q")):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, n)
    features = pd.DataFrame({"x": np.array(list("abc"))[x], "y": rng.normal(size=n) + 2 * (x > 0)})
    target = np.where(x + rng.random(n) > 1.4, labels[1], labels[0])
    return Table("toy", features, pd.Series(target, name="class"), ("y",))


@pytest.mark.parametrize("name", EVERY)
def test_probabilities_of_rows_with_values_never_seen(name):
    fitted = read_other(name).fit(toy(), seed=0)
    new = pd.DataFrame({"x": ["a", "c", "unheard"], "y": [-1.0, 3.0, np.nan]})
    proba = fitted.proba(new)
    assert fitted.classes == ("p", "q")
    assert proba.sum(axis=1) == pytest.approx(np.ones(3))
    assert proba[0, 0] > 0.5 > proba[1, 0]
    assert (read_other(name).fit(toy(), seed=0).proba(new) == proba).all()


def test_logistic_regression_sees_one_indicator_per_state():
    table = toy()
    fitted = read_other("sk:logistic:inputs=states").fit(table, seed=0)
    encoder = Encoder.fit(table)
    codes = encoder.encode(table).codes
    cards = [v.card for v in encoder.variables[1:]]
    wide = np.column_stack(
        [codes[:, j + 1] == k for j, card in enumerate(cards) for k in range(card)]
    )
    by_hand = LogisticRegression(max_iter=1000, **fitted.selected).fit(
        wide.astype(float), codes[:, 0]
    )
    assert fitted.selected["C"] in (0.01, 0.1, 1.0, 10.0, 100.0)
    expected = by_hand.predict_proba(wide.astype(float))
    assert fitted.proba(table.features) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", EVERY)
def test_rare_classes_and_warnings_do_not_leak(name):
    table = toy()
    target = table.target.copy()
    target.iloc[:2] = "rare"
    target.iloc[2] = "single"
    rare = Table("toy", table.features, target, ("y",))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = read_other(name).fit(rare, seed=0)
    assert fitted.classes == ("p", "q", "rare", "single")
    assert fitted.proba(table.features).sum(axis=1) == pytest.approx(np.ones(60))


@pytest.mark.parametrize("name", ["sk:gradient-boosting", "sk:tree:inputs=states", "sk:logistic"])
def test_columns_with_very_many_states(name):
    n = 400
    many = pd.DataFrame({"x": ["a", "b"] * (n // 2), "id": [f"v{k % 300}" for k in range(n)]})
    table = Table("toy", many, pd.Series(["p", "q"] * (n // 2), name="class"), ())
    proba = read_other(name).fit(table, seed=0).proba(many)
    assert (proba.argmax(axis=1) == np.arange(n) % 2).mean() > 0.9


@pytest.mark.parametrize("name", EVERY)
def test_without_a_feature_the_frequencies_are_left(name):
    target = pd.Series(["p", "q", "q"] * 10, name="class")
    constant, empty = pd.DataFrame({"x": ["a"] * 30}), pd.DataFrame({"x": [np.nan] * 30})
    for features, numeric in ((constant, ()), (empty, ("x",))):
        table = Table("toy", features, target, numeric, missing="state")
        assert read_other(name).fit(table, seed=0).proba(features)[0, 1] > 0.5


@pytest.mark.parametrize("name", [*NAMES, EARLY])
def test_rows_with_gaps_are_learned_from(name):
    """Only the rows with a gap say what a gap means."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    x[::2] = np.nan
    features = pd.DataFrame({"x": x, "empty": np.nan})
    target = pd.Series(["p", "q"] * 60, name="class")
    table = Table("toy", features, target, ("x", "empty"))
    proba = read_other(name).fit(table, seed=0).proba(features)
    assert (proba.argmax(axis=1) == np.arange(120) % 2).mean() > 0.9


@pytest.mark.parametrize("inputs", ["raw", "states"])
def test_raw_numbers_are_not_cut(inputs):
    fitted = read_other(f"sk:logistic:inputs={inputs}").fit(toy(), seed=0)
    new = pd.DataFrame({"x": ["b", "b"], "y": [2.5, 2.6]})
    first, second = fitted.proba(new)[:, 0]
    assert (first == second) == (inputs == "states")


def test_weights_count_rows_several_times():
    table = toy()
    weights = np.ones(60)
    weights[table.target == "q"] = 20.0
    for name in ("sk:logistic", EARLY):
        plain, heavy = (
            read_other(name).fit(t, seed=0).proba(table.features)[:, 1].mean()
            for t in (table, replace(table, weights=weights))
        )
        assert heavy > plain


def test_early_stopping_holds_rows_out():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(200, 5))).add_prefix("x")
    target = pd.Series(["p", "q"] * 100, name="class")
    table = Table("noise", noise, target, tuple(noise))
    sure = [
        read_other(name).fit(table, seed=0).proba(noise).max(axis=1).mean()
        for name in (EARLY, "sk:gradient-boosting", "sk:gradient-boosting:early_stopping=no")
    ]
    assert sure[0] < sure[1] == sure[2]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("sk:svm:states", "'states' is not a setting; write name=value with one of: inputs"),
        ("sk:svm:inputs=bins", "sk:svm: inputs must be one of raw, states, not 'bins'"),
        (f"{EARLY}x", "early_stopping must be one of auto, yes, no, not 'yesx'"),
        ("interpret:tree", "unknown method 'interpret:tree'"),
    ],
)
def test_unknown_settings_are_named(label, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        read_other(label)


def test_what_has_to_be_installed_is_said(monkeypatch):
    monkeypatch.setattr("milpbn.evaluation.others.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"needs InterpretML: pip install 'milpbn\[ebm\]'"):
        evaluate("monks-1", ["nb", "interpret:ebm"])


def test_they_are_methods_of_an_evaluation():
    evaluation = evaluate("monks-1", ["nb", "sk:tree"], parameters=["ml", "cl"])
    labels = [s.label for s in evaluation.summaries()]
    assert labels == [("nb", "ml"), ("nb", "cl"), ("sk:tree", "")]
    table = load_dataset("monks-1")
    test = table.test()
    fitted = read_other("sk:tree").fit(table.train(), seed=0)
    right = np.array(fitted.classes)[fitted.proba(test.features).argmax(axis=1)] == test.target
    last = evaluation.records[-1]
    assert last.measures.correct == right.sum()
    assert last.selected == fitted.selected
    assert (last.n_parameters, last.status) == (None, "")
    with pytest.raises(OptionError, match="unknown method 'sk:forest'; the classifiers of other"):
        evaluate("monks-1", ["sk:forest"])


def test_what_scikit_learn_refuses_is_an_error_about_the_rows():
    features = pd.DataFrame({"x": list("abab") * 3})
    single = Table("toy", features, pd.Series(["p", *"q" * 11], name="class"), ())
    with pytest.raises(DataError, match=r"sk:svm cannot learn from these rows: .*class"):
        read_other("sk:svm").fit(single, seed=0)  # its folds have a single class
