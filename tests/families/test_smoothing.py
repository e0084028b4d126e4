"""Smoothing by hand, and how it is written."""

import numpy as np
import pytest

from milpbn.errors import OptionError
from milpbn.families import Epsilon, Laplace, parse_smoothing

COUNTS = np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0]])


def theta(smoothing, axis=1, counts=COUNTS):
    return np.exp(smoothing.log_theta(counts, axis=axis))


def test_laplace_adds_one_to_every_count():
    assert theta(Laplace()) == pytest.approx(np.array([[4, 2, 1], [7 / 3] * 3]) / 7)


def test_laplace_adds_what_is_asked():
    assert theta(Laplace(0.5))[0] == pytest.approx([3.5 / 5.5, 1.5 / 5.5, 0.5 / 5.5])


def test_epsilon_replaces_zeros_and_nothing_else():
    assert theta(Epsilon())[0] == pytest.approx([0.75, 0.25, 1e-5])
    assert theta(Epsilon(0.01))[0] == pytest.approx([0.75, 0.25, 0.01])


def test_epsilon_stands_for_nothing_over_nothing():
    assert theta(Epsilon())[1] == pytest.approx([1e-5] * 3)


@pytest.mark.parametrize("smoothing", [Laplace(), Epsilon()])
def test_the_axis_says_where_the_states_are(smoothing):
    across = theta(smoothing, axis=0, counts=COUNTS.T.copy()).T
    assert across == pytest.approx(theta(smoothing))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("laplace", Laplace(1.0)),
        ("laplace:0.5", Laplace(0.5)),
        ("epsilon", Epsilon(1e-5)),
        ("epsilon:1e-6", Epsilon(1e-6)),
    ],
)
def test_smoothing_is_read_from_text_and_written_back(text, expected):
    assert parse_smoothing(text) == expected
    assert parse_smoothing(str(expected)) == expected


def test_a_smoothing_object_passes_through():
    smoothing = Laplace(2.0)
    assert parse_smoothing(smoothing) is smoothing


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lapace", r"unknown smoothing 'lapace'; use laplace\[:COUNT\] or epsilon\[:VALUE\]"),
        ("", "unknown smoothing ''"),
        ("laplace:one", "smoothing 'laplace:one': 'one' is not a number"),
        ("laplace:0", "positive count, not 0.0"),
        ("laplace:-1", "positive count, not -1.0"),
        ("laplace:inf", "positive count, not inf"),
        ("laplace:nan", "positive count, not nan"),
        ("epsilon:0", "0 < epsilon < 1, not 0.0"),
        ("epsilon:1", "0 < epsilon < 1, not 1.0"),
        ("epsilon:nan", "0 < epsilon < 1, not nan"),
    ],
)
def test_bad_smoothing_is_refused_with_the_reason(text, message):
    with pytest.raises(OptionError, match=message):
        parse_smoothing(text)
