"""Heuristic learners by name."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from milpbn.errors import OptionError
from milpbn.search.base import Learner
from milpbn.search.hc import CompleteHillClimbing, HillClimbing
from milpbn.search.local_search import LocalSearch
from milpbn.search.nb import NaiveBayes
from milpbn.search.order_based import OCR, OMI, OMISP, OMIExtended, RandomOrder
from milpbn.search.order_based_cl import OMICRCL
from milpbn.search.sa import SimulatedAnnealing
from milpbn.search.superparent import SuperParent
from milpbn.search.tan_cmi import TanCMI
from milpbn.search.tan_ear import TanEAR
from milpbn.search.tan_residual import TanResidual

LEARNERS: dict[str, Callable[[], Learner]] = {
    learner.name: learner
    for learner in (
        NaiveBayes,
        TanCMI,
        TanEAR,
        TanResidual,
        HillClimbing,
        CompleteHillClimbing,
        SimulatedAnnealing,
        OMI,
        OMISP,
        OCR,
        RandomOrder,
        OMIExtended,
        OMICRCL,
        SuperParent,
        LocalSearch,
    )
}


def make_learner(name: str | Learner) -> Learner:
    """The learner called `name` with its default settings.

    Examples
    --------
    >>> make_learner("nb").title
    'naive Bayes'
    """
    if isinstance(name, Learner):
        return name
    if name not in LEARNERS:
        near = get_close_matches(name, LEARNERS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise OptionError(f"unknown method {name!r}; {hint}known methods: {', '.join(LEARNERS)}")
    return LEARNERS[name]()
