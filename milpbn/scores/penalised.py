"""The search state of a row score with a linear cost per family."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, FloatArray
from milpbn.families.moves import take_best
from milpbn.scores.base import SearchState


class PenalisedState:
    """A search state whose score is that of another state plus the costs of its families.

    Parameters
    ----------
    state
        The state without costs.
    costs
        ``(F,)``: what each family adds to the score, never positive.
    """

    def __init__(self, state: SearchState, costs: FloatArray) -> None:
        self._state = state
        self._costs = costs

    @property
    def families(self) -> npt.NDArray[np.int64]:
        """The current structure."""
        return self._state.families

    @property
    def value(self) -> float:
        """Its score."""
        return self._state.value + float(self._costs[self._state.families].sum())

    @property
    def evaluations(self) -> int:
        """Score evaluations so far."""
        return self._state.evaluations

    @evaluations.setter
    def evaluations(self, value: int) -> None:
        self._state.evaluations = value

    def scores(
        self, variable: int, candidates: npt.ArrayLike, threshold: float = -np.inf
    ) -> FloatArray:
        """See :class:`~milpbn.scores.SearchState`."""
        candidates = np.asarray(candidates, dtype=np.int64)
        now = self._state.families
        rest = float(self._costs[now].sum() - self._costs[now[variable]])
        costs = rest + self._costs[candidates]
        # A candidate is abandoned only if it misses the threshold whatever it costs.
        highest = float(costs.max(initial=-np.inf))
        found: FloatArray = self._state.scores(variable, candidates, threshold - highest) + costs
        return found

    def exchange(self, variable: int, family: int) -> None:
        """See :class:`~milpbn.scores.SearchState`."""
        self._state.exchange(variable, family)

    def take_best(self, variable: int, candidates: npt.ArrayLike, threshold: float) -> bool:
        """See :class:`~milpbn.scores.SearchState`."""
        return take_best(self, variable, candidates, threshold)

    def reset(self, families: AnyFamilies) -> None:
        """See :class:`~milpbn.scores.SearchState`."""
        self._state.reset(families)

    def sort_rows(self) -> None:
        """See :class:`~milpbn.scores.SearchState`."""
        self._state.sort_rows()
