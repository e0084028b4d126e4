"""Files, frames and estimators read the same table the same way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier, Encoder, read_table
from milpbn.datasets import load_catalog, load_frame, table_from_frame
from milpbn.datasets.frames import labelled_table
from milpbn.datasets.table import Table
from milpbn.errors import DataError, DataWarning
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.settings import make_settings

NAMES = [n for n, found in load_catalog().items() if len(found.targets) == 1]
ROWS = 400


def read_three_ways(path: Path, target: str) -> list[Table]:
    """The table of a file, of a frame, and of the estimator."""
    frame = pd.read_csv(path)
    features, labels = frame.drop(columns=target), frame[target]
    texts = labels.astype(str).rename(target)
    options = {"categorical_features": (), "numeric_features": (), "ordered": {}}
    options |= {"missing": "auto", "dates": "expand", "max_states": 50, "bins": "mdlp"}
    fitted = labelled_table(features, {target: (texts, tuple(sorted(set(texts))))}, **options)
    return [read_table(path, target), table_from_frame(features, labels), fitted]


def told(table: Table) -> set[str]:
    """The notes about the features, without the name of the table."""
    renamed = [
        note.partition(": ")[2]
        .replace("categorical_features", "categorical")
        .replace("numeric_features", "numeric")
        for note in map(str, table.notes)
    ]
    return {note for note in renamed if not note.startswith("target ")}


def check_alike(path: Path, target: str) -> None:
    first, *others = read_three_ways(path, target)
    encoder = Encoder.fit(first)
    for other in others:
        pd.testing.assert_frame_equal(other.features, first.features)
        assert other.numeric == first.numeric
        assert told(other) == told(first)
        own = Encoder.fit(other)
        assert (own.columns, own.dropped) == (encoder.columns, encoder.dropped)


@pytest.mark.parametrize("name", NAMES)
def test_bundled_sets_are_read_alike(name: str, tmp_path: Path) -> None:
    frame = load_frame(name)
    if len(frame) > ROWS:
        frame = frame.sample(ROWS, random_state=0)
    frame.to_csv(tmp_path / "set.csv", index=False)
    check_alike(tmp_path / "set.csv", frame.columns[-1])


def test_a_raw_table_is_read_alike(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(0), 120

    def holed(values: np.ndarray, token: str) -> np.ndarray:
        return np.where(rng.random(n) < 0.1, token, values.astype(str))

    frame = pd.DataFrame(
        {
            "id": rng.permutation(n) + 1000,
            "n": np.arange(n),
            "x": holed(rng.normal(size=n).round(3), "?"),
            "few": holed(rng.integers(1, 4, n), "?"),
            "level": rng.integers(1, 4, n),
            "word": holed(rng.choice(["u", "v"], n), "n/a"),
            "padded": rng.choice([" a ", "a", "b "], n),
            "shout": rng.choice(["TRUE", "FALSE"], n),
            "truth": rng.choice(["true", "false"], n),
            "share": [f"{v:.1f}%" for v in 100 * rng.random(n)],
            "zip": [f"{v:05d}" for v in rng.integers(100, 130, n)],
            "day": [str(day)[:10] for day in pd.date_range("2020-01-01", periods=n)],
            "class": rng.choice(["a", "b"], n),
        }
    )
    frame.loc[::7, "day"] = None
    frame.to_csv(tmp_path / "raw.csv", index=False)
    check_alike(tmp_path / "raw.csv", "class")
    table = read_table(tmp_path / "raw.csv", "class")
    assert {"x", "share", "zip"} < set(table.numeric)
    assert not {"id", "n"} & set(table.features)
    assert set(table.features["shout"]) == set(table.features["truth"]) == {"True", "False"}


@pytest.fixture(scope="module")
def shop() -> pd.DataFrame:
    rng, n = np.random.default_rng(0), 60
    frame = pd.DataFrame({"id": np.arange(n), "x": rng.normal(size=n), "word": [*"uv" * 30]})
    return frame.assign(unit="cm", gap=np.nan, kind=np.where(frame["x"] > 0, "p", "q"))


def test_an_estimator_of_a_model_takes_the_columns_of_the_file(
    shop: pd.DataFrame, tmp_path: Path
) -> None:
    shop.to_csv(tmp_path / "shop.csv", index=False)
    model = learn_classifier(read_table(tmp_path / "shop.csv", "kind"), make_settings(method="nb"))
    estimator = model.to_estimator()
    expected = np.exp(model.log_posterior(shop))
    for frame in (shop, shop[["word", "x"]], shop[shop.columns[::-1]], shop[["x", "word", "id"]]):
        np.testing.assert_allclose(estimator.predict_proba(frame), expected)
    assert estimator.score(shop, shop["kind"]) == 1.0


def test_a_column_that_is_absent_is_missing_in_every_row(shop: pd.DataFrame) -> None:
    table = table_from_frame(shop.drop(columns="kind"), shop["kind"])
    estimator = learn_classifier(table, make_settings(method="nb")).to_estimator()
    with pytest.warns(DataWarning, match="X: no column is named 'x'; missing in every row"):
        found = estimator.predict_proba(shop[["word"]])
    empty = shop.assign(x=np.nan)
    np.testing.assert_allclose(found, estimator.predict_proba(empty))
    with pytest.raises(DataError, match="X: no column is named 'x', 'word'; the model needs"):
        estimator.predict(shop[["id"]])


def test_a_fitted_estimator_has_the_columns_of_scikit_learn(shop: pd.DataFrame) -> None:
    X = shop.drop(columns="kind")
    model = BNClassifier(method="nb").fit(X, shop["kind"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])


def test_tokens_for_missing_values_are_missing_in_rows_to_predict(shop: pd.DataFrame) -> None:
    holes = shop.assign(word=shop["word"].where(shop.index % 5 > 0, None))
    encoder = Encoder.fit(table_from_frame(holes.drop(columns="kind"), shop["kind"]))
    assert encoder.variables[2].states == ("u", "v", "missing")
    rows = pd.DataFrame({"x": ["?", "1"], "word": ["?", " v"]})
    found = encoder.transform(rows)
    assert found.codes[:, 1].tolist() == [2, 1]
    assert found.codes[0, 0] == -1
