"""Simulated annealing over trees: worse structures are accepted while it is hot.

Algorithm 1 of the paper with its constants. A proposal draws a feature, then a new parent
for it, which is added or takes the place of another. A better structure is accepted; a
worse one with probability ``exp((new - old) / (r T))``, where scores are the paper's: the
classification rate as a fraction of the rows with r = 1, and the margin score
MM = SM / gamma with r = 100. Scores that the paper does not use take r = 100 as they are.

Three points the paper leaves open:

- A proposal that would close a cycle or leave the constraints is drawn again; it does not
  count as a try.
- The best structure visited is reported, not the last.
- Structures of equal score are always accepted and never count as rejections, so that the
  published loop need not end. It ends here at the latest when the temperature has fallen to
  a billionth of its start.

References
----------
Pernkopf & Wohlmayr (2013), Stochastic margin-based structure learning of Bayesian network
classifiers, section 4.3.
"""

from __future__ import annotations

import math

from milpbn.errors import OptionError
from milpbn.scores import Objective, RowObjective, SearchState
from milpbn.scores.rows import HINGE, RATE
from milpbn.search.base import Learner, Search
from milpbn.search.hc import KTrees

# Below this fraction of the first temperature only equal scores are accepted.
_FROZEN = 1e-9
# Relative differences below this are rounding, not improvements.
_ROUNDING = 1e-12


class SimulatedAnnealing(Learner):
    """Simulated annealing from naive Bayes.

    Parameters
    ----------
    temperature
        T at the start.
    cooling
        D: T becomes D T.
    r
        The scale of score differences; None is 1 for the classification rate and 100
        for other scores.
    max_rejections
        Stop after this many rejections since the last improvement, times N features.
    max_tries, max_successes
        Cool after this many proposals, or accepted ones, at one temperature, times N.
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
        if isinstance(objective, RowObjective) and objective.kind == RATE:
            return (1.0 if self.r is None else self.r) * objective.rows.total
        r = 100.0 if self.r is None else self.r
        if isinstance(objective, RowObjective) and objective.kind == HINGE:
            return r * objective.gamma
        return r

    @staticmethod
    def _accept(
        search: Search, state: SearchState, move: tuple[int, int], temperature: float
    ) -> bool:
        """Exchange if ``random < exp((new - old) / temperature)``.

        The random number comes first: it gives the score that the proposal must reach,
        and a proposal that cannot is given up before all rows are scored.
        """
        search.checkpoint()
        draw = float(search.rng.random())
        least = state.value + temperature * math.log(draw) if draw > 0 else -math.inf
        if state.scores(move[0], [move[1]], least)[0] < least:
            return False
        state.exchange(*move)
        return True


def _propose(search: Search, trees: KTrees, state: SearchState) -> tuple[int, int] | None:
    """A random feature with a random change of one edge; None where nothing can change."""
    left = list(trees.features)
    while left:
        feature = left.pop(int(search.rng.integers(len(left))))
        candidates = trees.replacements(state.families, feature)
        if len(candidates):
            return feature, int(candidates[search.rng.integers(len(candidates))])
    return None
