"""The first answers: naive Bayes at once, then TAN.

On wide data the other searches may need more time than they have. What starts from the better of
these two structures never ends below it.
"""

from __future__ import annotations

from milpbn.families.candidates import FamilySpace
from milpbn.search.base import Learner, Search
from milpbn.search.tan_cmi import TanCMI

# With fewer variables, local search is past both structures in no time.
_MANY_VARIABLES = 50


def is_wide(space: FamilySpace) -> bool:
    """Whether a search should begin with :class:`Simple`."""
    return space.n_variables > _MANY_VARIABLES


class Simple(Learner):
    """Naive Bayes, then TAN if the time allows."""

    name = "simple"
    title = "naive Bayes, then TAN"

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        search.offer(search.state(search.simple_start()), "naive-bayes")
        if search.objective.rows is not None:
            TanCMI().run(search)
