"""Rare inputs of learners that no other test has: what is refused, and what still works."""

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier, BNClassifierCV, learn_structure, load_dataset, make_settings
from milpbn.errors import DataError, OptionError, SolverError
from milpbn.learning.classifier import encode
from milpbn.learning.structure import _check
from milpbn.selection.validation import stratified_folds


def test_labels_are_strings_or_numbers():
    labels = np.array([1, "1"] * 10, dtype=object)
    with pytest.raises(DataError, match="mixes strings and numbers"):
        BNClassifier(method="nb").fit(pd.DataFrame({"x": [*"ab"] * 10}), labels)


def test_settings_that_do_not_exist():
    data = encode(load_dataset("iris")).data
    for call in (make_settings, lambda **names: learn_structure(data, **names)):
        with pytest.raises(OptionError, match="unknown setting 'max_parent'; the settings are"):
            call(max_parent=1)


def test_a_model_of_another_learner_has_no_selection(tmp_path):
    iris, path = load_dataset("iris"), tmp_path / "model.json"
    BNClassifier(method="nb").fit(iris.features, iris.target).save(path)
    loaded = BNClassifierCV.load(path)
    assert loaded.selection_ is None
    assert (loaded.best_params_, len(loaded.cv_results_)) == ({}, 0)
    assert loaded.score(iris.features, iris.target) > 0.9


def test_classes_that_are_rarer_than_the_folds():
    labels = np.repeat(np.arange(6), 2)
    parts = list(stratified_folds(4, 0).split(np.zeros(12), labels))
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(12))


def test_a_learner_that_exceeds_a_budget_is_not_believed():
    data = encode(load_dataset("iris")).data
    result, settings = learn_structure(data, method="nb"), make_settings(method="nb")
    _check(result, settings, data)
    with pytest.raises(SolverError, match=r"has 4 arcs, but max_arcs is 1; please report this"):
        _check(result, make_settings(method="nb", max_arcs=1), data)
