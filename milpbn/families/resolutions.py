"""The resolutions that each family chooses: parent sets repeated for all combinations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import BoolArray, IntArray
from milpbn.families.parent_sets import Members
from milpbn.families.views import Views

ResolutionArray = npt.NDArray[np.int8]
"""The resolution of each parent, 0 for the padding, and in the last column that of the child."""


def with_resolutions(
    members: Members, offsets: IntArray, views: Views
) -> tuple[Members, IntArray, ResolutionArray]:
    """Repeat every parent set for each combination of the resolutions of its family.

    Families with the same parents are ordered by their numbers of parameters. A variable without
    parents keeps one family, with the fewest states.

    Parameters
    ----------
    members, offsets
        The parent sets, and where those of each variable begin.
    views
        The resolutions of the variables.

    Examples
    --------
    >>> from milpbn.encoding.columns import Coarsening
    >>> views = Views((2, 3), ((), (Coarsening(("x", "y"), (0, 0, 1)),)))
    >>> sets = np.array([[-1], [-1], [0]], dtype=np.int16)
    >>> found, offsets, seen = with_resolutions(sets, np.array([0, 1, 3]), views)
    >>> found.ravel().tolist(), offsets.tolist(), seen.tolist()
    ([-1, -1, 0, 0], [0, 1, 4], [[0, 0], [0, 1], [0, 1], [0, 0]])
    """
    child = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    scope = np.column_stack([members, child])
    n_choices = np.append(views.counts, 1)[scope]  # the last for the padding
    bare: BoolArray = np.all(members < 0, axis=1)
    n_choices[bare] = 1
    repeats = n_choices.prod(axis=1)
    first = np.cumsum(repeats) - repeats
    which = np.repeat(np.arange(len(members)), repeats)
    # The digits of a number with mixed radices run through all combinations.
    rest = np.arange(len(which)) - first[which]
    seen = np.zeros((len(which), scope.shape[1]), dtype=np.int8)
    for column in range(scope.shape[1]):
        radix = n_choices[which, column]
        seen[:, column] = rest % radix
        rest //= radix
    seen[bare[which], -1] = views.smallest[child[bare]]
    view = views.first[scope[which]] + seen
    cards = np.where(scope[which] < 0, 1, views.cards[np.minimum(view, len(views.cards) - 1)])
    parameters = (cards[:, -1] - 1) * cards[:, :-1].prod(axis=1)
    order = np.lexsort((parameters, which))
    which, seen = which[order], seen[order]
    counts = np.bincount(child[which], minlength=len(offsets) - 1)
    return members[which], np.concatenate([[0], np.cumsum(counts)]), seen
