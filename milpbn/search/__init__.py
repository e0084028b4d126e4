"""Heuristic learners: one file per learner, one interface, by name in ``LEARNERS``.

They learn structures in seconds and give warm starts to the exact engines. All of them work
on the candidate families of the search space and so satisfy its constraints.
"""

from milpbn.search.base import Learner, Search, run_learner
from milpbn.search.registry import LEARNERS, make_learner

__all__ = ["LEARNERS", "Learner", "Search", "make_learner", "run_learner"]
