"""Everything that learns a structure, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from milpbn.engines.branch_and_cut.engine import solve_branch_and_cut
from milpbn.engines.monolithic.engine import solve_monolithic
from milpbn.errors import OptionError
from milpbn.messages import Message, Spelling, option
from milpbn.result import Result
from milpbn.scores import Score
from milpbn.scores.rescore import check_per_class
from milpbn.search import LEARNERS, Learner, make_learner
from milpbn.search.multinet import MULTINETS
from milpbn.structure import AnyStructure


@dataclass(frozen=True)
class Engine:
    """An exact engine, and what it can do.

    Attributes
    ----------
    solve
        Maximises an objective.
    tree_host
        The host with which the tree is milpbn's own: it can be saved and continued, worked on by
        other processes, written down as a certificate, and searched for more structures. None if
        there is no such tree.
    other_hosts
        The other solvers that can manage its tree.
    smooth
        Whether it maximises scores that are not piecewise linear.
    shares_cuts
        Whether runs on the same rows can use each other's cuts.
    searches
        Whether it goes on looking for structures, so that a short search for its start is enough.
    emitters
        Whether there is a choice of how the program is passed to its solver.
    """

    solve: Callable[..., Result]
    tree_host: str | None = None
    other_hosts: tuple[str, ...] = ()
    smooth: bool = False
    shares_cuts: bool = False
    searches: bool = False
    emitters: bool = False


ENGINES: dict[str, Engine] = {
    "branch-and-cut": Engine(
        solve_branch_and_cut,
        tree_host="highs",
        other_hosts=("scip",),
        smooth=True,
        shares_cuts=True,
        searches=True,
    ),
    "monolithic": Engine(solve_monolithic, emitters=True),
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
    if method in ENGINES and score.smooth and not ENGINES[method].smooth:
        able = " or ".join(name for name, engine in ENGINES.items() if engine.smooth)
        raise OptionError(
            f"the score {score.name} is not piecewise linear, so no single linear program "
            f"describes it; choose the method {able}"
        )
    if method in MULTINETS:
        check_per_class(score)


def engine_of(method: Method) -> Engine | None:
    """The engine that a method is; None if it proves nothing."""
    return ENGINES.get(method) if isinstance(method, str) else None


def has_tree(method: Method, host: str) -> bool:
    """Whether a run has a tree of its own, see :class:`Engine`."""
    engine = engine_of(method)
    return engine is not None and engine.tree_host == host


def require(capability: str, what: Spelling, method: Method, host: str) -> None:
    """Raise an error if `what` needs something that the run's engine cannot do.

    `capability` is an attribute of :class:`Engine`.
    """
    engine, of_tree = engine_of(method), capability == "tree_host"
    if has_tree(method, host) if of_tree else engine is not None and getattr(engine, capability):
        return
    able = {name: getattr(e, capability) for name, e in ENGINES.items() if getattr(e, capability)}
    words: list[str | Spelling] = [option("method", " or ".join(able))]
    if of_tree:
        words += [" and ", option("host", next(iter(able.values())))]
    raise OptionError(Message(what, " requires ", *words))


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
