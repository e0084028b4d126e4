"""Scores by name."""

import pytest

from milpbn.errors import OptionError
from milpbn.families import Epsilon
from milpbn.network.rescore import _DEFINITIONS
from milpbn.scores import MDL, SCORES, BDeu, SoftBinaryMargin, SoftMargin, make_score


def test_scores_are_made_with_the_settings_that_apply():
    assert make_score("sm", p=0.7) == SoftMargin(p=0.7)
    assert make_score("sbm", gamma=2.0) == SoftBinaryMargin(gamma=2.0)
    assert make_score("sm", smoothing="epsilon:1e-4").smoothing == Epsilon(1e-4)
    assert make_score("bdeu", ess=5.0, p=0.1) == BDeu(ess=5.0)
    assert make_score("mdl") == make_score("bic") == MDL()


@pytest.mark.parametrize("name", ["cr", "cll", "sm", "sbm"])
def test_the_division_into_folds_is_a_setting(name):
    settings = make_score(name, folds=3).settings()
    assert (settings["folds"], settings["fold_seed"]) == (3, 0)
    assert "folds" not in make_score(name).settings()


def test_a_score_object_passes_through():
    score = SoftMargin(p=0.6)
    assert make_score(score, p=0.9) is score


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bdue", r"unknown score 'bdue'; did you mean bdeu\? known scores: sm, sbm, mdl, bdeu"),
        ("xyz", "unknown score 'xyz'; known scores: sm, sbm, mdl, bdeu.*bic"),
    ],
)
def test_unknown_scores_are_named_with_the_known_ones(name, message):
    with pytest.raises(OptionError, match=message):
        make_score(name)


def test_every_score_has_a_title_and_an_independent_definition():
    for name, kind in SCORES.items():
        assert kind.name == name
        assert kind.title
        assert kind in _DEFINITIONS


def test_only_decomposable_scores_look_at_all_parent_sets():
    assert {name for name, kind in SCORES.items() if kind.generative} == {"mdl", "bdeu"}
