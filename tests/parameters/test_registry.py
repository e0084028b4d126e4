"""Parameter learners by name and settings."""

import pytest

from milpbn.errors import OptionError
from milpbn.parameters import PARAMETERS, make_parameters


@pytest.mark.parametrize(
    "text",
    [
        "ml",
        "cl",
        "mm",
        "cl:penalty=0.1",
        "cl:method=cg,selection=cross-tuning",
        "mm:folds=3,lambda=0.5,penalty=0.0",
    ],
)
def test_what_is_read_is_written(text):
    learner = make_parameters(text)
    assert str(learner) == text
    assert make_parameters(str(learner)) == learner
    assert make_parameters(learner) is learner


def test_auto_means_chosen_by_validation():
    assert make_parameters("cl:penalty=auto") == make_parameters("cl")


def test_every_learner_has_a_name_and_a_title():
    for name, kind in PARAMETERS.items():
        assert make_parameters(name).name == name
        assert kind.title


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cll", "did you mean cl"),
        ("map", "known ones: ml, cl, mm"),
        ("ml:folds=3", "one of: none"),
        ("cl:lambda=1", "'lambda=1' is not a setting.*selection, penalty"),
        ("cl:penalty", "'penalty' is not a setting"),
        ("cl:penalty=x", "penalty needs a number or auto, not 'x'"),
        ("cl:folds=2.5", "folds needs a whole number, not '2.5'"),
        ("cl:penalty=-1", "number >= 0"),
        ("cl:penalty=nan", "number >= 0"),
        ("cl:penalty=1,selection=none", "only with selection=l2"),
        ("cl:selection=early", "one of l2, cross-tuning, none"),
        ("cl:method=newton", "one of l-bfgs, cg"),
        ("cl:folds=1", "at least 2"),
        ("mm:lambda=0", "positive"),
        ("mm:penalty=inf", "number >= 0"),
    ],
)
def test_nonsense_is_refused_by_name(text, message):
    with pytest.raises(OptionError, match=message):
        make_parameters(text)
