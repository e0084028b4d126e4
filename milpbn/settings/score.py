"""The settings of scores.

A score ignores those that only other scores have, if they are parameters of the estimators; the
others are refused.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, TypedDict

from milpbn.settings.declaration import OptionGroup, Setting
from milpbn.settings.values import Number, Parsed, Whole

if TYPE_CHECKING:
    from milpbn.families.smoothing import Smoothing
    from milpbn.scores import Score

_score = partial(Setting, OptionGroup.SCORE)


class ScoreNames(TypedDict, total=False):
    """What a structure maximises."""

    score: Annotated[
        "str | Score",
        _score(
            Parsed("milpbn.scores.registry", "read_score"),
            "Score to maximise: {known_scores}.",
            "sm",
            selectable=True,
            parameter="structure_score",
            old=("structure_score",),
        ),
    ]
    p: Annotated[
        float | None,
        _score(
            Number(above=0.5, below=1),
            "Desired class probability for {scores}.",
            0.9,
            optional=True,
            selectable=True,
        ),
    ]
    gamma: Annotated[
        float | None,
        _score(Number(above=0), "Desired log-margin, instead of {p}.", rare=True, selectable=True),
    ]
    penalty: Annotated[
        "float | str | None",
        _score(
            Parsed("milpbn.scores.concave", "parse_penalty", content=float | str),
            "Cost of one free parameter for {scores}; larger values give sparser networks. bic is "
            "half the logarithm of the number of rows.",
            0.0,
            shown="0",
            optional=True,
            selectable=True,
            metavar="LAMBDA|bic",
        ),
    ]
    validation: Annotated[
        "int | str | None",
        _score(
            Parsed("milpbn.scores.rows", "read_validation", content=int | str),
            "Score each row with parameters learned without it (loo) or without its fold, for "
            "{scores}.",
            shown="none; loo if columns have several resolutions",
            rare=True,
            selectable=True,
            metavar="loo|FOLDS|none",
        ),
    ]
    ess: Annotated[
        float | None,
        _score(
            Number(above=0),
            "Equivalent sample size for {scores}.",
            1.0,
            shown="1",
            optional=True,
            rare=True,
            selectable=True,
            parameter="",
        ),
    ]
    fold_seed: Annotated[
        int,
        _score(Whole(), "Random seed of the folds of {validation}.", 0, flags="", parameter=""),
    ]


class SmoothingNames(TypedDict, total=False):
    """How counts become probabilities: of scores, of monotone effects and of the classifier."""

    smoothing: Annotated[
        "str | Smoothing",
        Setting(
            OptionGroup.PARAMETERS,
            Parsed("milpbn.families", "parse_smoothing", as_text=True),
            "Smoothing of the parameters: laplace[:COUNT] or epsilon[:VALUE].",
            "laplace",
            rare=True,
            selectable=True,
        ),
    ]
