"""What searches need of a structure: scores of exchanges, and the best exchange."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray, IntArray


class Exchangeable(Protocol):
    """A structure whose families can be exchanged one at a time."""

    @property
    def families(self) -> IntArray:
        """The current structure."""

    @property
    def value(self) -> float:
        """Its score."""

    def scores(
        self, variable: int, candidates: npt.ArrayLike, threshold: float = -np.inf
    ) -> FloatArray:
        """Scores with each candidate as the family of `variable`; -inf if below `threshold`."""
        ...

    def exchange(self, variable: int, family: int) -> None:
        """Give `variable` another family."""
        ...


def take_best(
    state: Exchangeable, variable: int, candidates: npt.ArrayLike, threshold: float
) -> bool:
    """Exchange the family of `variable` for its best candidate, if that scores more.

    Returns whether the score, in double precision, is above the threshold; if not, the structure is
    what it was.
    """
    candidates = np.asarray(candidates, dtype=np.int64)
    scores = state.scores(variable, candidates, threshold)
    pick = int(np.argmax(scores))
    if scores[pick] < threshold:
        return False
    old = int(state.families[variable])
    state.exchange(variable, int(candidates[pick]))
    if state.value > threshold:
        return True
    state.exchange(variable, old)
    return False
