"""Labels that fit their boxes and tell variables apart."""

from __future__ import annotations

import pytest

from milpbn.pictures.labels import LINE, labels


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("age", "age"),
        ("word_freq_conference", "word_freq_conference"),
        ("capital_run_length_longest", "capital_run_\nlength_longest"),
        ("education of the father", "education\nof the father"),
        ("one\ntwo\tthree", "one two three"),
        ("numberOfOpenCreditLines", "numberOfOpen\nCreditLines"),
        ("", ""),
    ],
)
def test_labels_are_wrapped_at_separators(name: str, label: str) -> None:
    assert labels([name]) == [label]


def test_very_long_names_lose_their_middle() -> None:
    name = "the_beginning_" + "x" * 80 + "_the_end"
    (label,) = labels([name])
    assert label.startswith("the_beginning")
    assert label.endswith("the_end")
    assert "…" in label


def test_two_lines_of_limited_length_are_enough_for_any_name() -> None:
    for n in range(120):
        for letters in ("x", "ab_", "W. "):
            (label,) = labels([(letters * 120)[:n]])
            lines = label.split("\n")
            assert len(lines) <= 2
            assert all(len(line) <= LINE for line in lines)


def test_names_that_differ_only_in_the_middle_stay_apart() -> None:
    names = ["begin_" + "x" * 40 + middle + "x" * 40 + "_end" for middle in "abc"]
    short = labels(names)
    assert len(set(short)) == 3
    assert all(len(line) <= LINE for label in short for line in label.split("\n"))
