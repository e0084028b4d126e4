"""The MDLP recursion: by hand, against a plain recursion, and on published answers."""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from milpbn.datasets.table import Table
from milpbn.encoding import EncodedData, Encoder, mdlp_cuts
from milpbn.errors import DataError

DATA = Path(__file__).parents[2] / "data"


def test_two_separated_classes_are_cut_midway() -> None:
    # E = 1, both parts pure: Gain = 1. Delta = log2(3^2 - 2) - 2*1 = 0.807,
    # (log2 7 + 0.807) / 8 = 0.452 < 1: accepted, at (4 + 11) / 2.
    # Both parts hold one class: the recursion ends.
    cuts = mdlp_cuts([1, 2, 3, 4, 11, 12, 13, 14], list("aaaabbbb"))
    np.testing.assert_array_equal(cuts, [7.5])
    assert cuts.dtype == np.float64


def test_three_classes_take_the_lower_of_two_equal_cuts_then_the_other() -> None:
    # E = log2 3. Both cuts leave (4*0 + 8*1)/12 = 0.667: Gain = 0.918.
    # Delta = log2 25 - (3*1.585 - 1*0 - 2*1) = 1.889, (log2 11 + 1.889)/12 = 0.446: accepted.
    # The upper part is the case above: 17.5.
    values = [1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24]
    np.testing.assert_array_equal(mdlp_cuts(values, list("aaaabbbbcccc")), [7.5, 17.5])


def test_a_cut_that_does_not_pay_for_itself_is_refused() -> None:
    # aaba: E = 0.811. Best below 3: (2*0 + 2*1)/4 = 0.5, Gain = 0.311.
    # Delta = log2 7 - (2*0.811 - 1*0 - 2*1) = 3.185, (log2 3 + 3.185)/4 = 1.19 > 0.311.
    assert mdlp_cuts([1, 2, 3, 4], list("aaba")).size == 0


def test_three_rows_are_enough_for_a_cut() -> None:
    # aab: Gain = E = 0.918. Delta = log2 7 - 2*0.918 = 0.971, (log2 2 + 0.971)/3 = 0.657.
    np.testing.assert_array_equal(mdlp_cuts([1, 2, 3], list("aab")), [2.5])


def test_two_rows_of_two_classes_are_cut() -> None:
    # Gain = E = 1. Delta = log2 7 - 2 = 0.807, (log2 1 + 0.807)/2 = 0.404.
    np.testing.assert_array_equal(mdlp_cuts([5, 3], ["x", "y"]), [4.0])


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([], []),
        ([1.0], ["a"]),
        ([math.nan, math.nan], ["a", "b"]),
        ([1, 2, 3, 4], list("aaaa")),
        ([7, 7, 7, 7], list("abab")),
    ],
    ids=["empty", "one row", "all missing", "one class", "one value"],
)
def test_nothing_to_cut(values: list[float], labels: list[str]) -> None:
    cuts = mdlp_cuts(values, labels)
    assert cuts.shape == (0,)
    assert cuts.dtype == np.float64


@pytest.mark.parametrize("seed", range(20))
def test_weighted_rows_are_cut_like_repeated_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 80))
    labels, weights = rng.integers(0, 3, n), rng.integers(1, 5, n)
    values = np.round(rng.normal(labels), 1)
    expected = mdlp_cuts(np.repeat(values, weights), np.repeat(labels, weights))
    np.testing.assert_array_equal(mdlp_cuts(values, labels, weights.astype(float)), expected)
    # Fractions that add up to the same counts; zero is not hidden by rounding.
    tenths = np.repeat(values, 10), np.repeat(labels, 10), np.repeat(weights / 10, 10)
    np.testing.assert_array_equal(mdlp_cuts(*tenths), expected)


def test_light_rows_are_not_cut() -> None:
    # N = 0.8: Gain = 1 < (0 + log2 7 - 2) / 0.8 = 1.009, although log2(N - 1) does not exist.
    assert mdlp_cuts([1, 2, 11, 12], list("aabb"), np.full(4, 0.2)).size == 0


def test_missing_values_are_ignored() -> None:
    # Six known rows, aaabbb: Gain = 1 > (log2 5 + 0.807) / 6 = 0.522.
    cuts = mdlp_cuts([math.nan, 1, 2, math.nan, 3, 11, 12, 13], list("baababbb"))
    np.testing.assert_array_equal(cuts, [7.0])


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.0, math.nextafter(1.0, 2.0)), (-1.7e308, 1.7e308), (5e-324, 1e-323), (1.6e308, 1.7e308)],
    ids=["neighbouring floats", "huge range", "denormal", "huge values"],
)
def test_a_cut_separates_its_two_values_whatever_they_are(low: float, high: float) -> None:
    (cut,) = mdlp_cuts([low] * 5 + [high] * 5, list("aaaaabbbbb"))
    assert low <= cut < high


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match=r"equal length.*\(2,\) and \(3,\)"):
        mdlp_cuts([1, 2], ["a", "b", "a"])
    with pytest.raises(DataError, match="infinite"):
        mdlp_cuts([1, math.inf], ["a", "b"])


# A plain recursion over all cuts, one row at a time, to check the vectorised one.


def entropy(labels: list[int]) -> float:
    return -sum(n / len(labels) * math.log2(n / len(labels)) for n in Counter(labels).values())


def plain_cuts(pairs: list[tuple[float, int]]) -> list[float]:
    """Cuts of sorted (value, label) pairs, straight from the definition."""
    labels = [label for _, label in pairs]
    n, best = len(pairs), None
    for i in range(1, n):
        if pairs[i - 1][0] < pairs[i][0]:
            parts = labels[:i], labels[i:]
            weighted = sum(len(part) * entropy(part) for part in parts) / n
            if best is None or weighted < best[0] - 1e-12:
                best = weighted, i
    if best is None:
        return []
    weighted, i = best
    e, e1, e2 = entropy(labels), entropy(labels[:i]), entropy(labels[i:])
    k, k1, k2 = len(set(labels)), len(set(labels[:i])), len(set(labels[i:]))
    delta = math.log2(3**k - 2) - (k * e - k1 * e1 - k2 * e2)
    if e - weighted <= (math.log2(n - 1) + delta) / n + 1e-12:
        return []
    cut = (pairs[i - 1][0] + pairs[i][0]) / 2
    return [*plain_cuts(pairs[:i]), cut, *plain_cuts(pairs[i:])]


@pytest.mark.parametrize("seed", range(150))
def test_agrees_with_the_plain_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    labels = rng.integers(0, rng.integers(1, 6), n)
    # From few tied values to all distinct, from informative to noise, some missing.
    noise = rng.normal(scale=rng.choice([0.1, 0.5, 2.0]), size=n)
    values = np.round(labels % 3 + noise, int(rng.integers(0, 6)))
    values[rng.random(n) < rng.choice([0.0, 0.1])] = np.nan
    known = ~np.isnan(values)
    pairs = sorted(zip(values[known].tolist(), labels[known].tolist(), strict=True))
    np.testing.assert_allclose(mdlp_cuts(values, labels), plain_cuts(pairs), rtol=1e-15)


@pytest.mark.parametrize("n_classes", [39, 40, 41, 45, 60, 80, 700])
def test_any_number_of_classes(n_classes: int) -> None:
    # Two blocks of values; the classes of the lower one do not occur in the upper one, and
    # within a block they are mixed. So k1 = k2 = k/2, E = log2 k, E1 = E2 = log2 k - 1, and
    # Gain = 1. log2(3^k - 2) = k log2 3 + log2(1 - 2 / 3^k).
    half = n_classes // 2
    for copies in (1, 2, 3, 5):
        labels = np.tile(np.arange(2 * half), copies)
        values = np.where(labels < half, 0.0, 1.0)
        n, k = len(labels), 2 * half
        log_power = k * math.log2(3) + math.log1p(-2 / 3**k) / math.log(2)
        delta = log_power - (k * math.log2(k) - 2 * half * (math.log2(k) - 1))
        worth_it = (math.log2(n - 1) + delta) / n < 1
        assert mdlp_cuts(values, labels).tolist() == ([0.5] if worth_it else [])


@pytest.mark.parametrize("seed", range(8))
def test_many_classes_agree_with_the_plain_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, (42, 48, 64, 100)[seed % 4], 400)
    values = np.round(labels // 8 + rng.normal(scale=0.3, size=400), 2)
    pairs = sorted(zip(values.tolist(), labels.tolist(), strict=True))
    cuts = mdlp_cuts(values, labels)
    np.testing.assert_allclose(cuts, plain_cuts(pairs), rtol=1e-15)


def test_row_order_and_label_names_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 300)
    values = labels + rng.normal(scale=0.5, size=300)
    cuts = mdlp_cuts(values, labels)
    assert cuts.size > 0
    order = rng.permutation(300)
    np.testing.assert_array_equal(mdlp_cuts(values[order], labels[order]), cuts)
    np.testing.assert_array_equal(mdlp_cuts(values, np.array(list("zyxw"))[labels]), cuts)


# Known answers on the data sets of the papers.


def read(path: Path, n_train: int | None = None, categorical: bool = False) -> EncodedData:
    frame = pd.read_csv(path, dtype={"class": str})
    features = frame.drop(columns="class")
    if categorical:
        features = features.astype(str)
    table = Table(
        name=path.name,
        features=features,
        targets=frame["class"],
        numeric=() if categorical else tuple(features.columns),
        is_train=None if n_train is None else np.arange(len(frame)) < n_train,
    )
    return Encoder.fit(table).encode(table)


def bundled(name: str) -> Path:
    return DATA / f"{name}.csv.gz"


def verification(name: str) -> Path:
    folder = os.environ.get("MILPBN_VERIFY_DATA")
    if not folder:
        pytest.skip(f"set MILPBN_VERIFY_DATA to the folder of {name}.csv.gz to check it")
    path = Path(folder) / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"MILPBN_VERIFY_DATA is set, but {path} is not there")
    return path


def naive_bayes_accuracy(data: EncodedData, laplace: bool) -> float:
    """Test accuracy in percent; zero probabilities become 1e-5 without Laplace."""
    train, test = data.train(), data.test()
    n_class = np.bincount(train[:, 0], minlength=data.variables[0].card)
    prior = n_class + 1.0 if laplace else n_class
    log_p = np.tile(np.log(prior / prior.sum()), (len(test), 1))
    for j, variable in enumerate(data.variables[1:], start=1):
        n = np.zeros((variable.card, len(n_class)))
        np.add.at(n, (train[:, j], train[:, 0]), 1)
        theta = (n + 1) / (n_class + variable.card) if laplace else n / n_class
        log_p += np.log(np.where(theta > 0, theta, 1e-5))[test[:, j]]
    return 100 * float(np.mean(log_p.argmax(axis=1) == test[:, 0]))


def test_satimage_reproduces_the_published_naive_bayes() -> None:
    data = read(bundled("satimage"), n_train=4435)
    assert data.variables[1].card == 9 + 1
    assert naive_bayes_accuracy(data, laplace=True) == pytest.approx(81.40, abs=1e-9)
    assert naive_bayes_accuracy(data, laplace=False) == pytest.approx(81.75, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "n_train", "categorical", "laplace", "epsilon"),
    [
        ("chess", 2130, True, 87.34, 87.15),
        ("mofn-3-7-10", 300, True, 86.72, 86.43),
        ("waveform-21", 300, False, 78.91, 78.57),
    ],
)
def test_verification_files_reproduce_the_known_naive_bayes(
    name: str, n_train: int, categorical: bool, laplace: float, epsilon: float
) -> None:
    data = read(verification(name), n_train, categorical)
    assert round(naive_bayes_accuracy(data, laplace=True), 2) == laplace
    assert round(naive_bayes_accuracy(data, laplace=False), 2) == epsilon


@pytest.mark.parametrize(
    ("name", "categorical", "n_features", "n_distinct"),
    [
        ("vehicle", False, 18, 677),
        ("chess", True, 36, 3196),
        ("satimage", False, 36, 6434),
        ("letter", False, 15, 16679),
    ],
)
def test_features_and_distinct_rows_left_by_mdlp_on_all_rows(
    name: str, categorical: bool, n_features: int, n_distinct: int
) -> None:
    data = read(bundled(name), categorical=categorical)
    assert len(data.variables) - 1 == n_features
    assert len(np.unique(data.codes, axis=0)) == n_distinct


def test_segment_at_full_precision_leaves_the_published_distinct_rows() -> None:
    data = read(verification("segment"))
    assert len(data.variables) - 1 == 18
    assert len(np.unique(data.codes, axis=0)) == 1959
