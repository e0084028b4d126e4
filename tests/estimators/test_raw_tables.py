"""Raw tables with all that goes wrong in them: a classifier, or an error that names the column."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier, BNClassifierCV
from milpbn.errors import DataError

N = 80
RNG = np.random.default_rng(0)
LABELS = RNG.choice(["a", "b", "c"], N)
X = 2.0 * (LABELS == "a") + RNG.normal(size=N)
WORDS = np.where(LABELS == "a", "u", RNG.choice(["u", "v"], N))
HOLED = RNG.random(N) < 0.3
DAYS = pd.Series(pd.date_range("2020-01-01", periods=N))


def texts() -> list[str]:
    words = ["lorem", "ipsum", "dolor", "sit"]
    return [f"{' '.join(RNG.choice(words, 5))} {k}" for k in range(N)]


USABLE: dict[str, dict[str, object]] = {
    "a column of NaN": {"gone": np.nan},
    "a column of None": {"gone": [None] * N},
    "constant columns": {"k": 1.0, "s": "k"},
    "dates with holes": {"d": DAYS.mask(HOLED)},
    "written dates with holes": {
        "d": [None if h else f"{k % 28 + 1}.3.2021" for k, h in enumerate(HOLED)]
    },
    "values of several types": {"m": [1, "a", 2.5, True] * (N // 4)},
    "huge integers": {"h": [10**25 + k % 50 for k in range(N)], "i": RNG.integers(0, 2**62, N)},
    "strings with blanks": {"s": RNG.choice([" a", "a ", " b b ", ""], N)},
    "repeated columns": {"y": X, "z": X},
    "a class that is never complete": {"h": np.where(LABELS == "a", np.nan, X)},
    "free text": {"t": texts()},
    "free text in few rows": {"t": [f"text {k}" if k < 10 else None for k in range(N)]},
    "types with NA": {
        "i": pd.array(np.where(HOLED, None, RNG.integers(0, 9, N)), dtype="Int64"),
        "b": pd.array(np.where(HOLED, None, True), dtype="boolean"),
        "s": pd.array(np.where(HOLED, None, "s"), dtype="string"),
    },
    "categories that do not occur": {
        "k": pd.Categorical(RNG.choice(["S", "L"], N), ["S", "M", "L"], ordered=True)
    },
    "durations and time zones": {
        "t": pd.to_timedelta(RNG.integers(0, 99, N), unit="h"),
        "z": pd.date_range("2020", periods=N, tz="UTC"),
    },
    "unusual names": {"a,b": 2 * X, "": 3 * X, "x y\n": 4 * X},
}

UNUSABLE: dict[str, dict[str, object]] = {
    "infinite": {"bad": np.where(np.arange(N) == 3, np.inf, X)},
    "infinite object": {"bad": pd.Series([float("inf"), "a"] * (N // 2), dtype=object)},
    "bytes": {"bad": [b"x", b"y"] * (N // 2)},
    "lists": {"bad": [[1], [2]] * (N // 2)},
    "complex": {"bad": X + 1j},
}


def frame_with(columns: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame({"x": X, "word": WORDS, **columns})


def fine() -> BNClassifier:
    return BNClassifier(method="nb", bins="fine", parameters="cl:penalty=3")


def selected() -> BNClassifier:
    return BNClassifierCV(time_limit=5)


def check(model: BNClassifier, frame: pd.DataFrame, labels: np.ndarray) -> None:
    """It predicts its own rows, and rows with any holes."""
    model.fit(frame, labels)
    assert model.model_.data["n_rows"] == len(frame)
    holes = frame.astype(object)
    holes.iloc[::2] = None
    holes.iloc[1::4, 0] = None
    for rows in (frame, holes):
        proba = model.predict_proba(rows)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore::milpbn.DataWarning")
@pytest.mark.parametrize("what", USABLE)
def test_a_raw_table_gives_a_classifier(what: str) -> None:
    check(fine(), frame_with(USABLE[what]), LABELS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::milpbn.DataWarning")
@pytest.mark.parametrize("what", USABLE)
def test_a_raw_table_gives_a_selected_classifier(what: str) -> None:
    check(selected(), frame_with(USABLE[what]), LABELS)


@pytest.mark.filterwarnings("ignore::milpbn.DataWarning")
def test_a_class_with_one_row() -> None:
    check(fine(), frame_with({}), np.where(np.arange(N) == 0, "rare", LABELS))


@pytest.mark.filterwarnings("ignore::milpbn.DataWarning")
def test_rows_in_which_everything_is_missing() -> None:
    empty = np.tile((np.arange(N) % 5 == 0)[:, None], (1, 2))
    check(fine(), frame_with({}).mask(empty), LABELS)


@pytest.mark.filterwarnings("ignore::milpbn.DataWarning")
def test_columns_without_use_leave_the_class_frequencies() -> None:
    check(fine(), pd.DataFrame({"gone": [np.nan] * N, "k": 1}), LABELS)


@pytest.mark.parametrize("make", [fine, selected])
@pytest.mark.parametrize("what", UNUSABLE)
def test_a_column_that_cannot_be_used_is_named(what: str, make: Callable[[], BNClassifier]) -> None:
    with pytest.raises(DataError, match=r"^X: column 'bad' holds values of .* leave it out$"):
        make().fit(frame_with(UNUSABLE[what]), LABELS)


def test_equal_names_are_an_error() -> None:
    twice = pd.concat([frame_with({}), frame_with({})], axis=1)
    with pytest.raises(DataError, match="X: several columns are named 'x', 'word'"):
        fine().fit(twice, LABELS)
