"""The setting `bins`, and cuts at quantiles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from milpbn.datasets import read_table
from milpbn.datasets.bins import equal_shares, parse_bins, quantile_count, quantile_cuts
from milpbn.errors import DataError, OptionError


def sizes(values, cuts):
    """The number of values in each bin."""
    return np.bincount(np.searchsorted(cuts, values, side="left"), minlength=len(cuts) + 1)


@pytest.mark.parametrize("text", ["mdlp", "auto", "quantile:2", "quantile:64"])
def test_known_bins(text):
    assert parse_bins(text) == text


def test_the_number_of_bins():
    assert quantile_count("quantile:12") == 12
    assert quantile_count("mdlp") is None


@pytest.mark.parametrize(
    "text", ["", "MDLP", "quantile", "quantile:", "quantile:1", "quantile:65", "quantile:-4", 6]
)
def test_unknown_bins_are_refused(text):
    with pytest.raises(OptionError, match=r"unknown bins .*; write mdlp, fine, auto, or quant"):
        parse_bins(text)


@pytest.mark.parametrize("n_bins", [2, 3, 5, 10])
def test_different_values_fall_into_bins_of_equal_size(n_bins):
    values = np.random.default_rng(0).permutation(60) / 7
    cuts = quantile_cuts(values, equal_shares(n_bins))
    assert sizes(values, cuts).tolist() == [60 // n_bins] * n_bins


@pytest.mark.parametrize("seed", range(40))
def test_with_ties_no_bin_is_empty_and_cuts_lie_midway(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, rng.integers(1, 12), rng.integers(1, 60)).astype(float)
    values[rng.random(len(values)) < 0.1] = np.nan
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    cuts = quantile_cuts(values, equal_shares(int(rng.integers(2, 20))))
    assert (np.diff(cuts) > 0).all()
    assert (sizes(known, cuts) > 0).all()
    assert set(cuts) <= set((distinct[1:] + distinct[:-1]) / 2)
    assert len(cuts) >= min(1, len(distinct) - 1)  # two different values are never put together


def test_a_cut_is_as_close_to_its_share_as_a_cut_can_be():
    values = np.array([0.0] * 70 + [1.0] * 4 + [2.0] * 26)
    assert quantile_cuts(values, [0.1]).tolist() == [0.5]
    assert quantile_cuts(values, [0.73]).tolist() == [1.5]
    assert quantile_cuts(values, [0.72]).tolist() == [1.5]  # the upper one of two
    assert quantile_cuts(values, [0.99]).tolist() == [1.5]


@pytest.mark.parametrize("seed", range(10))
def test_a_row_with_weight_two_counts_as_two_rows(seed):
    rng = np.random.default_rng(seed)
    values, times = rng.normal(size=50).round(1), rng.integers(1, 4, 50)
    shares = equal_shares(int(rng.integers(2, 12)))
    weighted = quantile_cuts(values, shares, times.astype(float))
    assert weighted.tolist() == quantile_cuts(values.repeat(times), shares).tolist()
    assert weighted.tolist() == quantile_cuts(values, shares, times * 0.1).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_the_cuts_for_few_bins_are_among_those_for_twice_as_many(seed):
    values = np.random.default_rng(seed).integers(0, 25, 80)
    cuts = [set(quantile_cuts(values, equal_shares(n))) for n in (2, 4, 8, 16)]
    assert all(few <= many for few, many in itertools.pairwise(cuts))


def test_values_without_cuts():
    assert quantile_cuts([3.0, 3.0], [0.5]).tolist() == []
    assert quantile_cuts([], [0.5]).tolist() == []
    assert quantile_cuts([np.nan, 1.0], [0.5]).tolist() == []
    with pytest.raises(DataError, match="an infinite value cannot be discretised"):
        quantile_cuts([1.0, np.inf], [0.5])


def test_neighbouring_floats_are_separated():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    (cut,) = quantile_cuts([low, high], [0.5])
    assert low <= cut < high


def test_several_targets_take_numbers_as_they_are(tmp_path):
    file = tmp_path / "two.csv"
    lines = [f"{i * 7 % 40 / 2},{'ab'[i % 2]},{'uv'[i // 20]}" for i in range(40)]
    file.write_text("\n".join(["x,y,z", *lines]))
    assert read_table(file, "y", drop=["z"], bins="quantile:4").bins == "quantile:4"
    with pytest.raises(OptionError, match="bins='auto' cannot be combined with several targets"):
        read_table(file, ["y", "z"], bins="auto")
