"""Scores by name, for the command line and the estimator."""

from __future__ import annotations

from difflib import get_close_matches

from milpbn.errors import OptionError
from milpbn.families.smoothing import Smoothing, parse_smoothing
from milpbn.scores.base import Score
from milpbn.scores.bdeu import BDeu
from milpbn.scores.cll import ConditionalLogLikelihood
from milpbn.scores.cr import ClassificationRate
from milpbn.scores.margin import MarginScore
from milpbn.scores.mdl import MDL
from milpbn.scores.rows import RowScore
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
ALIASES = {"bic": "mdl", "mm": "sm"}
"""Other names; the papers' MM is SM up to the factor lambda = 1 / gamma."""


def make_score(
    name: str | Score,
    *,
    p: float | None = 0.9,
    gamma: float | None = None,
    smoothing: str | Smoothing = "laplace",
    ess: float = 1.0,
    folds: int | None = None,
    fold_seed: int = 0,
) -> Score:
    """The score called `name` with the settings that apply to it.

    Parameters
    ----------
    name
        ``"sm"`` (``"mm"``), ``"sbm"``, ``"mdl"`` (``"bic"``), ``"bdeu"``, ``"cr"`` or ``"cll"``;
        a score that is there already is returned as it is.
    p, gamma
        Desired class probability of the margin scores, or the desired log-margin itself.
    smoothing
        How counts become probabilities: ``"laplace[:COUNT]"`` or ``"epsilon[:VALUE]"``.
    ess
        Equivalent sample size of ``"bdeu"``.
    folds, fold_seed
        Rows of a fold are judged by the counts of the others, for scores that are sums over
        rows; None judges the training rows themselves.

    Examples
    --------
    >>> make_score("sm", p=0.99).settings()["smoothing"]
    'laplace:1'
    >>> make_score("bic")
    MDL()
    """
    if isinstance(name, Score):
        return name
    key = ALIASES.get(name, name)
    if key not in SCORES:
        known = [*SCORES, *ALIASES]
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise OptionError(f"unknown score {name!r}; {hint}known scores: {', '.join(known)}")
    kind = SCORES[key]
    if issubclass(kind, MarginScore):
        return kind(parse_smoothing(smoothing), folds, fold_seed, p, gamma)
    if issubclass(kind, RowScore):
        return kind(parse_smoothing(smoothing), folds, fold_seed)
    if folds is not None:
        raise OptionError(f"the score {kind.name} is not a sum over rows: it takes no folds")
    return BDeu(ess=ess) if kind is BDeu else kind()
