"""Naive Bayes: the class is the only parent of every feature."""

from __future__ import annotations

from milpbn.search.base import Learner, Search


class NaiveBayes(Learner):
    """Naive Bayes; if the constraints forbid it, some structure that satisfies them."""

    name = "nb"
    title = "naive Bayes"

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        search.offer(search.state(search.simple_start()), self.name)
