"""Tests between methods, by hand and against scipy."""

import numpy as np
import pytest
from scipy.stats import ttest_rel, wilcoxon

from milpbn.evaluation.comparison import compare_pairs, corrected_t, mark, signed_rank

A = np.array([0.81, 0.84, 0.78, 0.90, 0.86])
B = np.array([0.78, 0.80, 0.77, 0.84, 0.85])


def test_without_correction_it_is_the_paired_t_test():
    assert corrected_t(A, B, 0.0) == pytest.approx(ttest_rel(A, B).pvalue)


def test_the_corrected_t_by_hand():
    # Differences 0.03, 0.04, 0.01, 0.06, 0.01: mean 0.03, variance 0.00045. The test rows are a
    # quarter of the training rows, and with 4 degrees of freedom the distribution is elementary.
    t = 0.03 / np.sqrt((1 / 5 + 1 / 4) * 0.00045)
    u = t**2 / (1 + t**2 / 4)
    assert corrected_t(A, B, 0.25) == pytest.approx(1 - 3 / 4 * np.sqrt(u) * (1 - u / 12))
    assert corrected_t(B, A, 0.25) == corrected_t(A, B, 0.25)
    assert corrected_t(A, B, 0.25) > ttest_rel(A, B).pvalue


def test_where_there_is_nothing_to_test():
    assert corrected_t(A[:1], B[:1], 0.25) is None
    assert corrected_t(A, A + 1e-16, 0.25) is None
    assert corrected_t(A, A - 0.01, 0.25) == 0.0
    assert signed_rank(A, A) is None


def test_signed_rank_is_scipys():
    assert signed_rank(A, B) == pytest.approx(wilcoxon(A - B).pvalue)


def test_marks_show_the_direction_of_significant_differences():
    assert [mark(p, d) for p, d in ((0.049, 1), (0.049, -1), (0.051, 1))] == ["+", "-", ""]


def test_every_pair_is_compared_once():
    values = np.column_stack([A, B, A])
    labels = [("a", "ml"), ("b", "ml"), ("c", "")]
    found = compare_pairs(labels, values, signed_rank)
    assert [(c.method, c.other) for c in found] == [
        ("a", ("b", "ml")),
        ("a", ("c", "")),
        ("b", ("c", "")),
    ]
    assert [(c.wins, c.ties, c.losses) for c in found] == [(5, 0, 0), (0, 5, 0), (0, 0, 5)]
    assert found[0].difference == pytest.approx(0.03)
    assert found[1].p is None
    assert compare_pairs(labels, np.empty((0, 3)), signed_rank) == []
