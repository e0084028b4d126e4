"""MDLP as a transformer of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from milpbn import BNClassifier, MDLPDiscretizer


@parametrize_with_checks([MDLPDiscretizer()])
def test_it_is_a_transformer(estimator, check):
    check(estimator)


def test_its_cuts_are_those_of_the_classifier():
    X, y = load_iris(return_X_y=True, as_frame=True)
    bins = MDLPDiscretizer().fit(X, y)
    columns = BNClassifier(method="nb").fit(X, y).encoder_.columns
    assert [cuts.tolist() for cuts in bins.cuts_] == [list(c.cuts) for c in columns]
    codes = np.stack([c.encode(X[c.name]).codes for c in columns], axis=1)
    assert (bins.transform(X) == codes).all()


def test_names_weights_and_missing_values():
    X, y = load_iris(return_X_y=True, as_frame=True)
    weights = np.arange(len(X)) % 3
    bins = MDLPDiscretizer(min_bin_share=0.1).set_output(transform="pandas")
    repeated = MDLPDiscretizer(min_bin_share=0.1).fit(
        X.loc[X.index.repeat(weights)], y.repeat(weights)
    )
    bins.fit(X, y, sample_weight=weights)
    assert [c.tolist() for c in bins.cuts_] == [c.tolist() for c in repeated.cuts_]
    assert bins.get_feature_names_out().tolist() == list(X.columns)
    holes = X.mask(np.eye(len(X), 4, dtype=bool))
    out = bins.transform(holes)
    assert isinstance(out, pd.DataFrame)
    assert (out.isna() == holes.isna()).all(axis=None)


def test_it_works_in_a_pipeline():
    X, y = load_iris(return_X_y=True)
    assert make_pipeline(MDLPDiscretizer(), LogisticRegression()).fit(X, y).score(X, y) > 0.9


def test_a_share_of_a_half_is_refused():
    with pytest.raises(ValueError, match="min_bin_share"):
        MDLPDiscretizer(min_bin_share=0.5).fit([[1.0], [2.0]], [0, 1])
