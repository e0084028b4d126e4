"""Entropy and mutual information against sums written out, row by row."""

import math

import numpy as np
import pytest
from problems import random_codes

from milpbn.families import MergedRows
from milpbn.families.information import (
    JointValues,
    class_information,
    entropy,
    pairwise_information,
)


def test_entropy_of_a_die_and_of_certainty():
    assert entropy([1] * 6) == pytest.approx(math.log(6))
    assert entropy([5, 0]) == 0


@pytest.mark.parametrize("seed", range(10))
def test_pairwise_information(information, seed):
    codes, cards = random_codes(np.random.default_rng(seed), 5, 3)
    given_class, plain = pairwise_information(MergedRows.from_codes(codes), cards)
    for i in range(5):
        for j in range(5):
            if i == j or 0 in (i, j):
                assert given_class[i, j] == plain[i, j] == 0
            else:
                assert given_class[i, j] == pytest.approx(information(codes, [i], [j], (0,)))
                assert plain[i, j] == pytest.approx(information(codes, [i], [j]))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("given", [(), (3,), (4, 2), (4, 2, 3)])
def test_information_about_the_class(information, seed, given):
    codes, _ = random_codes(np.random.default_rng(seed), 6, 3)
    rows = MergedRows.from_codes(codes)
    found = class_information(JointValues.of(rows, given), [1, 5])
    expected = [information(codes, [0], [x], given) for x in (1, 5)]
    assert found == pytest.approx(expected, abs=1e-12)


def test_majority_is_the_rate_of_the_saturated_network():
    codes = np.array([[0, 1, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0, 1]])
    rows = MergedRows.from_codes(codes)
    # (1, 1): two of three; (0, 0): one of two; (0, 1): one of one.
    assert JointValues.of(rows, [1, 2]).majority() == 4
    # Without features: three of six.
    assert JointValues.of(rows).majority() == 3
