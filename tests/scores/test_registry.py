"""Scores by name, their settings, and what their classes say they can do."""

from dataclasses import dataclass

import oracle
import pytest

from milpbn.errors import OptionError
from milpbn.families import Epsilon
from milpbn.scores import (
    MDL,
    SCORES,
    BDeu,
    ClassificationRate,
    SoftBinaryMargin,
    SoftMargin,
    applicable_settings,
    make_score,
    score_class,
    score_names,
)
from milpbn.scores.base import DecomposableScore


def test_scores_are_made_with_their_settings():
    assert make_score("sm", p=0.7) == SoftMargin(p=0.7)
    assert make_score("sbm", gamma=2.0) == SoftBinaryMargin(gamma=2.0)
    assert make_score("sm", smoothing="epsilon:1e-4").smoothing == Epsilon(1e-4)
    assert make_score("bdeu", ess=5.0) == BDeu(ess=5.0)
    assert make_score("mdl") == make_score("bic") == MDL()
    assert make_score("mm", validation=3) == SoftMargin(validation=3)


def test_none_means_not_given():
    assert make_score("sm", p=None, gamma=None, smoothing=None, validation=None) == SoftMargin()
    assert make_score("mdl", p=None, ess=None, nothing=None) == MDL()


@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        ("mdl", {"p": 0.9}, "the score mdl has no setting 'p'; it has no settings"),
        ("bic", {"validation": 3}, "the score mdl has no setting 'validation'; it has no settings"),
        ("bdeu", {"gamma": 1.0}, "the score bdeu has no setting 'gamma'; its settings are ess"),
        ("cr", {"p": 0.9}, "no setting 'p'; its settings are smoothing, validation, fold_seed"),
        (
            "sm",
            {"alpha": 1.0},
            "no setting 'alpha'; its settings are .*, fold_seed, penalty, p, gamma",
        ),
    ],
)
def test_a_setting_that_the_score_does_not_have_is_named_with_those_it_has(name, setting, message):
    with pytest.raises(OptionError, match=message):
        make_score(name, **setting)


@pytest.mark.parametrize("name", ["cr", "cll", "sm", "sbm"])
def test_the_division_into_folds_is_a_setting(name):
    settings = make_score(name, validation=3).settings()
    assert (settings["validation"], settings["fold_seed"]) == (3, 0)
    assert "validation" not in make_score(name).settings()


def test_a_score_object_passes_through_and_takes_no_further_settings():
    score = SoftMargin(p=0.6)
    assert make_score(score) is score
    assert make_score(score, p=None) is score
    with pytest.raises(OptionError, match="already has its settings; do not give p as well"):
        make_score(score, p=0.9)


def test_settings_that_apply_are_picked():
    usual = {"p": 0.9, "gamma": None, "smoothing": "laplace"}
    assert applicable_settings("sm", usual) == usual
    assert applicable_settings("cll", usual) == {"smoothing": "laplace"}
    assert applicable_settings("mdl", usual) == {}
    # Otherwise the defaults of a caller would replace what the object was made with.
    assert applicable_settings(SoftMargin(p=0.6), usual) == {}
    with pytest.raises(OptionError, match="unknown score"):
        applicable_settings("xyz", usual)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bdue", r"unknown score 'bdue'; did you mean bdeu\? known scores: sm, mm, sbm, mdl, bic"),
        ("xyz", "unknown score 'xyz'; known scores: sm, mm, sbm, mdl, bic, bdeu, cr, cll"),
    ],
)
def test_unknown_scores_are_named_with_the_known_ones(name, message):
    with pytest.raises(OptionError, match=message):
        make_score(name)


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (SoftMargin(), {"p": 0.9, "gamma": 2.1972245773362196, "smoothing": "laplace:1"}),
        (SoftMargin(gamma=2.0), {"gamma": 2.0, "smoothing": "laplace:1"}),
        (
            SoftBinaryMargin(p=0.75, smoothing=Epsilon(), validation=3),
            {
                "p": 0.75,
                "gamma": 1.0986122886681098,
                "smoothing": "epsilon:1e-05",
                "validation": 3,
                "fold_seed": 0,
            },
        ),
        (ClassificationRate(fold_seed=4), {"smoothing": "laplace:1"}),
        (MDL(), {}),
        (BDeu(ess=2.5), {"ess": 2.5}),
    ],
    ids=repr,
)
def test_settings_as_reports_show_them(score, shown):
    assert score.settings() == shown
    assert list(score.settings()) == list(shown)


@pytest.mark.parametrize(
    "score",
    [
        SoftMargin(p=0.7, smoothing=Epsilon(1e-4)),
        SoftBinaryMargin(gamma=1.5, validation=4, fold_seed=9),
        ClassificationRate(validation=2),
        BDeu(ess=7.0),
        MDL(),
    ],
    ids=repr,
)
def test_reported_settings_make_the_score_again(score):
    again = make_score(score.name, **score.settings())
    without_p = {name: value for name, value in score.settings().items() if name != "p"}
    # Where p and gamma are both given, gamma wins.
    assert again.settings() == without_p


def test_a_score_of_a_users_own_needs_no_more_than_its_fields():
    @dataclass(frozen=True)
    class Weighted(DecomposableScore):
        name = "weighted"
        title = "weighted"
        weight: float = 0.5
        label: str | None = None

        def local(self, counts, total):
            return self.weight

    assert Weighted.parameter_names() == ("weight", "label")
    assert Weighted(2.0).settings() == {"weight": 2.0}
    assert Weighted.exact
    assert Weighted.decomposable
    assert not Weighted.per_class
    assert not Weighted.has_definition()
    assert make_score(Weighted(2.0)) == Weighted(2.0)


def test_every_score_has_a_title_and_an_independent_definition():
    for name, kind in SCORES.items():
        assert kind.name == name
        assert kind.title
        assert kind.has_definition()


def test_every_exact_score_is_in_the_oracle():
    # The engines are compared with brute force for every score of the oracle.
    assert set(oracle.SCORES) == set(score_names(lambda s: s.exact))
    assert set(oracle.TERMS) == set(score_names(lambda s: s.decomposable))


def test_names_and_aliases_are_unique():
    names = score_names(aliases=True)
    assert len(set(names)) == len(names)
    for name in names:
        assert name in (score_class(name).name, *score_class(name).aliases)


def test_what_the_scores_can_do():
    assert score_names(lambda s: s.exact) == ["sm", "sbm", "mdl", "bdeu", "cll"]
    assert score_names(lambda s: s.decomposable) == ["mdl", "bdeu"]
    assert score_names(lambda s: s.generative) == ["mdl", "bdeu"]
    assert score_names(lambda s: s.per_class) == ["sm", "cr", "cll"]
