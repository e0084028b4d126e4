"""Scores by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from milpbn.errors import OptionError
from milpbn.scores.base import Score
from milpbn.scores.bdeu import BDeu
from milpbn.scores.cll import ConditionalLogLikelihood
from milpbn.scores.cr import ClassificationRate
from milpbn.scores.mdl import MDL
from milpbn.scores.sbm import SoftBinaryMargin
from milpbn.scores.sm import SoftMargin

SCORES: dict[str, type[Score]] = {
    s.name: s
    for s in (
        SoftMargin,
        SoftBinaryMargin,
        MDL,
        BDeu,
        ClassificationRate,
        ConditionalLogLikelihood,
    )
}
"""The built-in scores by name."""


def score_names(
    where: Callable[[type[Score]], bool] = lambda _: True, *, aliases: bool = False
) -> list[str]:
    """Names of the scores for which `where` holds, each followed by its aliases if asked for.

    Examples
    --------
    >>> score_names(lambda s: s.decomposable, aliases=True)
    ['mdl', 'bic', 'bdeu']
    """
    kinds = [s for s in SCORES.values() if where(s)]
    return [name for s in kinds for name in (s.name, *(s.aliases if aliases else ()))]


def score_class(score: str | Score) -> type[Score]:
    """The class of a score, given its name, an alias or an object."""
    if isinstance(score, Score):
        return type(score)
    for kind in SCORES.values():
        if score in (kind.name, *kind.aliases):
            return kind
    known = score_names(aliases=True)
    near = get_close_matches(score, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise OptionError(f"unknown score {score!r}; {hint}known scores: {', '.join(known)}")


def read_score(text: str) -> str:
    """The name of a score; any case and aliases are accepted.

    Examples
    --------
    >>> read_score("BIC")
    'mdl'
    """
    return score_class(text.lower()).name


def make_score(score: str | Score, **settings: Any) -> Score:
    """Make a score from its name and settings.

    Parameters
    ----------
    score
        ``"sm"`` (``"mm"``), ``"sbm"``, ``"mdl"`` (``"bic"``), ``"bdeu"``, ``"cr"`` or ``"cll"``;
        a score object is returned as it is.
    settings
        Fields of the score's class. None means "not given": the default of the class is used.

        - ``p``, ``gamma`` (sm, sbm): desired class probability, or the desired log-margin.
          If both are given, ``gamma`` is used.
        - ``smoothing`` (sm, sbm, cr, cll): how counts become probabilities,
          ``"laplace[:COUNT]"`` or ``"epsilon[:VALUE]"``.
        - ``validation``, ``fold_seed`` (sm, sbm, cr, cll): each row is scored with the counts
          of the other folds, or (``"loo"``) of all other rows.
        - ``ess`` (bdeu): equivalent sample size.

    Raises
    ------
    OptionError
        The score does not exist, or does not have one of the settings (see
        :func:`applicable_settings`).

    Examples
    --------
    >>> make_score("sm", p=0.99).settings()["smoothing"]
    'laplace:1'
    >>> make_score("bic")
    MDL()
    >>> make_score("mdl", p=0.9)
    Traceback (most recent call last):
    milpbn.errors.OptionError: the score mdl has no setting 'p'; it has no settings
    """
    kind = score_class(score)
    given = {name: value for name, value in settings.items() if value is not None}
    known = kind.parameter_names()
    for name in given:
        if name not in known:
            has = f"its settings are {', '.join(known)}" if known else "it has no settings"
            raise OptionError(f"the score {kind.name} has no setting {name!r}; {has}")
    if not isinstance(score, Score):
        return kind(**given)
    if given:
        raise OptionError(
            f"the score {score!r} already has its settings; do not give {', '.join(given)} as well"
        )
    return score


def applicable_settings(score: str | Score, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Select the settings that a score has, for callers with a fixed list of settings.

    A score object already has its settings, so none are selected for it.

    Examples
    --------
    >>> applicable_settings("bdeu", {"p": 0.9, "ess": 2.0})
    {'ess': 2.0}
    """
    if isinstance(score, Score):
        return {}
    known = score_class(score).parameter_names()
    return {name: value for name, value in settings.items() if name in known}
