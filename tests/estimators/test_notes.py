"""How often the warnings of estimators are shown, and for which line."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from milpbn import BNClassifier, DataWarning

FOLDS = 3


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    return pd.DataFrame({"a": y + rng.normal(scale=0.1, size=60), "unit": "cm"}), y


@pytest.fixture
def told(monkeypatch):
    """The warnings that people see by default."""
    shown = []
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        monkeypatch.setattr(warnings, "showwarning", lambda *what: shown.append(what))
        yield shown


def cross_validate(rows):
    return cross_val_score(BNClassifier(max_parents=1, method="nb"), *rows, cv=FOLDS)


def test_a_note_that_all_folds_have_is_shown_once_for_the_line_that_asked(rows, told):
    cross_validate(rows)
    (message, category, file, _, *_) = told[0]
    assert [str(message)] == [str(m) for m, *_ in told]
    assert "column 'unit' is dropped" in str(message)
    assert category is DataWarning
    assert Path(file) == Path(__file__)


def test_another_line_is_told_again(rows, told):
    cross_val_score(BNClassifier(max_parents=1, method="nb"), *rows, cv=FOLDS)
    cross_val_score(BNClassifier(max_parents=1, method="nb"), *rows, cv=FOLDS)
    assert len(told) == 2


def test_filters_of_the_user_are_obeyed(rows, told):
    cross_validate(rows)
    told.clear()
    warnings.simplefilter("always", DataWarning)
    cross_validate(rows)
    assert len(told) == FOLDS
    told.clear()
    warnings.filterwarnings("ignore", message="X: column 'unit'")
    cross_validate(rows)
    assert not told
    warnings.filterwarnings("error", category=DataWarning)
    with pytest.raises(DataWarning, match="column 'unit' is dropped"):
        BNClassifier(method="nb").fit(*rows)


def test_what_was_ignored_was_not_shown(rows, told):
    for action, times in (("ignore", 0), ("default", 1)):
        warnings.simplefilter(action, DataWarning)
        cross_val_score(BNClassifier(max_parents=1, method="nb"), *rows, cv=FOLDS)
        assert len(told) == times


def test_filters_for_other_lines_and_modules_do_not_count(rows, told):
    cross_validate(rows)
    told.clear()
    warnings.filterwarnings("always", category=DataWarning, module="elsewhere")
    warnings.filterwarnings("always", category=DataWarning, lineno=1)
    warnings.simplefilter("always", DeprecationWarning)
    cross_validate(rows)
    assert not told


def test_whoever_calls_fit_is_told_each_time(rows, told):
    for _ in range(2):
        BNClassifier(method="nb").fit(*rows)
        warnings.simplefilter("default")  # Python forgets what it has shown
    assert len(told) == 2
    assert {Path(file) for _, _, file, *_ in told} == {Path(__file__)}
