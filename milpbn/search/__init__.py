"""Heuristic learners: one file each, one interface, by name in ``LEARNERS``.

They give answers of their own in seconds, and warm starts to the exact engines. All
work on the candidate families of the search space, so all obey its constraints.
"""

from milpbn.search.base import Learner, Search, run_learner
from milpbn.search.registry import LEARNERS, make_learner

__all__ = ["LEARNERS", "Learner", "Search", "make_learner", "run_learner"]
