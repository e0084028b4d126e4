"""Frames of other libraries give the model that the same frame of pandas gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.model_selection import cross_validate

from milpbn import BNClassifier, GBNCClassifier, load_dataset
from milpbn.datasets import table_from_frame

polars = pytest.importorskip("polars")

N = 60
RNG = np.random.default_rng(0)
Y = RNG.choice(["no", "yes"], N)
FRAME = pd.DataFrame(
    {
        "size": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N) + (Y == "yes")),
        "color": RNG.choice(["red", "green", None], N),
        "day": pd.date_range("2020-01-01", periods=N),
        "flag": RNG.random(N) < 0.5,
        "grade": pd.Categorical(RNG.choice(["S", "M", "L"], N), ["S", "M", "L"]),
    }
)
LIBRARIES = {
    "polars": polars.from_pandas,
    "polars, lazy": lambda frame: polars.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


def fitted(X: Any, y: Any = Y) -> BNClassifier:
    return BNClassifier(method="tan-cmi", max_parents=2).fit(X, y)


def content(model: BNClassifier) -> dict[str, Any]:
    told = model.model_.to_dict()
    return {k: told[k] for k in ("encoder", "structure", "log_probabilities")}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.filterwarnings("ignore::milpbn.errors.DataWarning")
def test_the_model_and_its_predictions_are_those_of_pandas(library: str) -> None:
    other = LIBRARIES[library](FRAME)
    one, two = fitted(FRAME), fitted(other)
    assert content(one) == content(two)
    assert two.feature_names_in_.tolist() == list(FRAME.columns)
    np.testing.assert_array_equal(one.predict_proba(FRAME), two.predict_proba(other))
    shuffled = LIBRARIES[library](FRAME[FRAME.columns[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        two.predict(shuffled)


@pytest.mark.filterwarnings("ignore::milpbn.errors.DataWarning")
def test_labels_may_be_a_series_of_polars() -> None:
    other = fitted(polars.from_pandas(FRAME), polars.Series("y", Y))
    assert content(other) == content(fitted(FRAME))


def test_tables_are_read_from_every_frame() -> None:
    one = table_from_frame(FRAME, Y)
    two = table_from_frame(polars.from_pandas(FRAME), Y)
    pd.testing.assert_frame_equal(one.features, two.features)


def test_several_class_variables() -> None:
    table = load_dataset("Jura")
    X, y = table.features.head(120), table.targets.head(120)
    one, two = GBNCClassifier().fit(X, y), GBNCClassifier().fit(polars.from_pandas(X), y)
    np.testing.assert_array_equal(one.predict(X), two.predict(polars.from_pandas(X)))


@pytest.mark.filterwarnings("ignore::milpbn.errors.DataWarning")
def test_weights_are_routed() -> None:
    weights = np.where(Y == "yes", 3.0, 0.5)
    folds = [(np.arange(40), np.arange(40, N))]
    with config_context(enable_metadata_routing=True):
        model = BNClassifier(method="nb").set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        routed = cross_validate(
            model, FRAME, Y, params={"sample_weight": weights}, cv=folds, return_estimator=True
        )
    by_hand = BNClassifier(method="nb").fit(FRAME[:40], Y[:40], weights[:40])
    assert content(routed["estimator"][0]) == content(by_hand)
    assert content(by_hand) != content(BNClassifier(method="nb").fit(FRAME[:40], Y[:40]))
