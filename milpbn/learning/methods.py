"""Everything that learns a structure, by name."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from milpbn.engines.branch_and_cut import solve_branch_and_cut
from milpbn.engines.monolithic import solve_monolithic
from milpbn.errors import OptionError
from milpbn.result import Result
from milpbn.scores import Score
from milpbn.scores.rescore import check_per_class
from milpbn.search import LEARNERS, Learner, make_learner
from milpbn.search.multinet import MULTINETS
from milpbn.structure import AnyStructure

ENGINES: dict[str, Callable[..., Result]] = {
    "branch-and-cut": solve_branch_and_cut,
    "monolithic": solve_monolithic,
}
"""Exact engines by name."""

METHODS = (*ENGINES, *LEARNERS, *MULTINETS)
"""The names of everything that learns a structure."""

Method = str | Learner | AnyStructure
"""A method by name, a heuristic with its own settings, or a given structure."""


def check_method(method: Method, score: Score) -> None:
    """Raise an error for a method that does not exist or cannot maximise the score."""
    if not isinstance(method, str):
        return
    if method not in METHODS:
        near = get_close_matches(method, METHODS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise OptionError(f"unknown method {method!r}; {hint}known methods: {', '.join(METHODS)}")
    if method in ENGINES and not score.exact:
        raise OptionError(
            f"the score {score.name} cannot be maximised exactly; choose another score or one of "
            f"the heuristics {', '.join(LEARNERS)}"
        )
    if method == "monolithic" and score.smooth:
        raise OptionError(
            f"the score {score.name} is not piecewise linear, so no single linear program "
            "describes it; choose the method branch-and-cut"
        )
    if method in MULTINETS:
        check_per_class(score)


def method_name(method: Method) -> str:
    """The method as reports and model files show it."""
    if isinstance(method, str):
        return method
    return method.name if isinstance(method, Learner) else "given structure"


def wants_whole_space(method: Method) -> bool:
    """Whether the method needs families that pruning removes because no optimum has them."""
    if method in MULTINETS:
        return True
    if method in ENGINES:
        return False
    assert isinstance(method, str | Learner)
    return make_learner(method).whole_space
