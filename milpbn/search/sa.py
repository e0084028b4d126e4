"""Simulated annealing over trees.

This is Algorithm 1 of Pernkopf & Wohlmayr (2013) with its constants. A proposal draws a
feature, then a new parent for it, which is added or replaces another parent. A better
structure is accepted; a worse one is accepted with probability ``exp((new - old) / (r T))``.
Here the scores are those of the publication: the classification rate as a fraction of the rows with
r = 1, and the margin score MM = SM / gamma with r = 100. Other scores are used as they are,
with r = 100.

Three points that the publication leaves open:

- A proposal that would close a cycle or violate the constraints is drawn again; it does not
  count as a try.
- The best structure visited is reported, not the last one.
- Structures of equal score are always accepted and never count as rejections, so the
  published loop might not end. Here it ends at the latest when the temperature has fallen to
  a billionth of its initial value.

References
----------
Pernkopf & Wohlmayr (2013), Stochastic margin-based structure learning of Bayesian network
classifiers, section 4.3.
"""

from __future__ import annotations

import math

from milpbn.errors import OptionError
from milpbn.scores import Objective, SearchState
from milpbn.scores.base import RATE
from milpbn.search.base import Learner, Search
from milpbn.search.hc import KTrees

# Below this fraction of the initial temperature only equal scores are accepted.
_FROZEN = 1e-9
# Smaller relative differences are rounding errors, not improvements.
_ROUNDING = 1e-12


class SimulatedAnnealing(Learner):
    """Simulated annealing from naive Bayes.

    Parameters
    ----------
    temperature
        The initial T.
    cooling
        The factor D by which T is multiplied.
    r
        The scale of score differences; None stands for 1 for the classification rate and 100
        for other scores.
    max_rejections
        Stop after this many rejections since the last improvement, times N features.
    max_tries, max_successes
        Cool after this many proposals, or accepted proposals, at one temperature, times N.
    """

    name = "sa"
    title = "simulated annealing"

    def __init__(
        self,
        temperature: float = 1.0,
        cooling: float = 0.8,
        r: float | None = None,
        max_rejections: int = 100,
        max_tries: int = 50,
        max_successes: int = 5,
    ) -> None:
        if not (temperature > 0 and 0 < cooling < 1 and (r is None or r > 0)):
            raise OptionError(
                "simulated annealing needs temperature > 0, 0 < cooling < 1 and r > 0, not "
                f"temperature={temperature}, cooling={cooling}, r={r}"
            )
        self.temperature = temperature
        self.cooling = cooling
        self.r = r
        self.max_rejections = max_rejections
        self.max_tries = max_tries
        self.max_successes = max_successes

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        trees = KTrees(search)
        state = search.state(trees.naive_bayes() if search.start is None else search.start)
        search.offer(state, self.name)
        n = len(trees.features)
        scale = self.scale(search.objective)
        temperature, rejections = self.temperature, 0
        while rejections < self.max_rejections * n and temperature > _FROZEN * self.temperature:
            state.sort_rows()
            tries = successes = 0
            while successes < self.max_successes * n and tries < self.max_tries * n:
                tries += 1
                move = _propose(search, trees, state)
                if move is None:
                    return
                before = state.value
                if not self._accept(search, state, move, scale * temperature):
                    rejections += 1
                    continue
                successes += 1
                if state.value > before + _ROUNDING * abs(before):
                    rejections = 0
                    search.offer(state, self.name)
            temperature *= self.cooling

    def scale(self, objective: Objective) -> float:
        """r in units of the objective: times all rows for the rate, times gamma for margins."""
        default = 1.0 if objective.kind == RATE else 100.0
        return (default if self.r is None else self.r) * objective.unit

    @staticmethod
    def _accept(
        search: Search, state: SearchState, move: tuple[int, int], temperature: float
    ) -> bool:
        """Exchange if ``random < exp((new - old) / temperature)``.

        The random number is drawn first. It gives the score that the proposal must reach, and
        a proposal that cannot reach it is abandoned before all rows are scored.
        """
        search.checkpoint()
        draw = float(search.rng.random())
        least = state.value + temperature * math.log(draw) if draw > 0 else -math.inf
        if state.scores(move[0], [move[1]], least)[0] < least:
            return False
        state.exchange(*move)
        return True


def _propose(search: Search, trees: KTrees, state: SearchState) -> tuple[int, int] | None:
    """A random feature with a random change of one edge; None if no change is possible."""
    left = list(trees.features)
    while left:
        feature = left.pop(int(search.rng.integers(len(left))))
        candidates = trees.replacements(state.families, feature)
        if len(candidates):
            return feature, int(candidates[search.rng.integers(len(candidates))])
    return None
