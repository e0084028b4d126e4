"""Entropy and mutual information against sums written out, row by row."""

import numpy as np
import pytest
from problems import random_codes

from milpbn.families import MergedRows
from milpbn.families.information import (
    JointValues,
    class_information,
    majority,
    pairwise_information,
)


@pytest.mark.parametrize("seed", range(10))
def test_pairwise_information(information, seed):
    codes, cards = random_codes(np.random.default_rng(seed), 5, 3)
    found = pairwise_information(MergedRows.from_codes(codes), cards)
    for i in range(5):
        for j in range(5):
            at = (i, j)
            if i == j or 0 in at:
                assert found.given_class[at] == found.plain[at] == found.about_class[at] == 0
            else:
                assert found.given_class[at] == pytest.approx(information(codes, [i], [j], (0,)))
                assert found.plain[at] == pytest.approx(information(codes, [i], [j]))
                assert found.about_class[at] == pytest.approx(information(codes, [0], at))
    assert min(found.given_class.min(), found.plain.min()) >= 0


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(1)
    codes, cards = random_codes(rng, 6, 3)
    weights = rng.integers(1, 4, len(codes))
    ours = MergedRows.from_codes(codes, weights / 4)
    theirs = MergedRows.from_codes(np.repeat(codes, weights, axis=0))
    for matrix in ("given_class", "plain", "about_class"):
        found, expected = (
            getattr(pairwise_information(rows, cards), matrix) for rows in (ours, theirs)
        )
        assert found == pytest.approx(expected, abs=1e-12)
    found, expected = (
        class_information(JointValues.of(rows, [3]), range(6)) for rows in (ours, theirs)
    )
    assert found == pytest.approx(expected, abs=1e-12)


def test_information_does_not_depend_on_blocks_and_sweeps(information, monkeypatch):
    """More rows than a block, a number of features that is not a multiple of four."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, [3, 2, 300, 3, 4, 2, 5, 2], (2500, 8))
    codes[:, 5] = codes[:, 4] % 2 ^ (rng.random(2500) < 0.2)
    rows, cards = MergedRows.from_codes(codes), (3, 2, 300, 3, 4, 2, 5, 2)
    found = pairwise_information(rows, cards)
    for i, j in [(1, 2), (2, 7), (3, 6), (4, 5)]:
        assert found.given_class[i, j] == pytest.approx(information(codes, [i], [j], (0,)))
    checks = []
    monkeypatch.setattr("milpbn.families.information._COUNTERS", 1)
    again = pairwise_information(rows, cards, lambda: checks.append(0))
    assert len(checks) == 21  # one pair at a time
    assert (again.given_class == found.given_class).all()
    assert (again.plain == found.plain).all()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("given", [(), (3,), (4, 2), (4, 2, 3)])
def test_information_about_the_class(information, seed, given):
    codes, _ = random_codes(np.random.default_rng(seed), 6, 3)
    rows = MergedRows.from_codes(codes)
    found = class_information(JointValues.of(rows, given), [1, 5])
    expected = [information(codes, [0], [x], given) for x in (1, 5)]
    assert found == pytest.approx(expected, abs=1e-12)


def test_certain_classes_leave_nothing_to_learn():
    codes = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    given = JointValues.of(MergedRows.from_codes(codes), [1])
    assert class_information(given, [2]).tolist() == [0.0]
    assert majority(given, [2]).tolist() == [4.0]


def test_majority_is_the_rate_of_the_saturated_network():
    codes = np.array([[0, 1, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0, 1]])
    rows = MergedRows.from_codes(codes)
    # (1, 1): two of three; (0, 0): one of two; (0, 1): one of one.
    assert majority(JointValues.of(rows, [1]), [2]).tolist() == [4]
    # x1 = 1: two of three; x1 = 0: two of three. x2 = 1: two of four; x2 = 0: one of two.
    assert majority(JointValues.of(rows), [1, 2]).tolist() == [4, 3]
