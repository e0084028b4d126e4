"""Naive Bayes: the class is the only parent of every feature."""

from __future__ import annotations

from milpbn.search.base import Learner, Search
from milpbn.search.hc import choose_resolutions


class NaiveBayes(Learner):
    """Naive Bayes; if the constraints forbid it, some structure that satisfies them.

    If variables have several resolutions, the score chooses among them.
    """

    name = "nb"
    title = "naive Bayes"

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        state = search.state(search.simple_start())
        search.offer(state, self.name)
        choose_resolutions(search, state)
        search.offer(state, self.name)
