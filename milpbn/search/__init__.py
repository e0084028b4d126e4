"""Heuristic learners: one file per learner, one interface, by name in ``LEARNERS``.

They learn structures in seconds and give warm starts to the exact engines. All of them work
on the candidate families of the search space and so satisfy its constraints.
"""

from milpbn.search.base import Learner, Search, run_learner
from milpbn.search.local_search import LocalSearch
from milpbn.search.registry import LEARNERS, make_learner
from milpbn.search.sa import SimulatedAnnealing

__all__ = [
    "LEARNERS",
    "Learner",
    "LocalSearch",
    "Search",
    "SimulatedAnnealing",
    "make_learner",
    "run_learner",
]
