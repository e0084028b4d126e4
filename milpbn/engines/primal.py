"""The primal side: structures near the relaxation's point, improved by local search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn.clock import Checkpoint, OutOfTime
from milpbn.scores import Objective
from milpbn.search.base import Search
from milpbn.search.local_search import Climber, LocalSearch
from milpbn.search.progress import Progress

FloatArray = npt.NDArray[np.float64]

# A run that has lasted so many seconds is long: a share of the time left, and so many seconds
# and kicks at the most, go to a local search of its own.
_DUE = 10.0
_SHARE = 0.1
_SECONDS = 15.0
_KICKS = 2000

# Points tried in vain before one more point is passed over between two tries.
_PATIENCE = 20


class Primal:
    """Rounds fractional points to structures and climbs from there.

    Parameters
    ----------
    objective, progress, seed
        See :class:`~milpbn.search.Search`.
    checkpoint
        Raises when the run must end.
    """

    source = "rounding"

    def __init__(
        self, objective: Objective, progress: Progress, seed: int, checkpoint: Checkpoint
    ) -> None:
        self.search = Search(objective, progress, seed, checkpoint=checkpoint)
        self._climber: Climber | None = None
        self._tried: set[bytes] = set()
        self._failures = 0
        self._waited = 0
        self._due = progress.clock.elapsed + _DUE

    @property
    def climber(self) -> Climber:
        """The local search, made when it is first needed."""
        if self._climber is None:
            self._climber = Climber(self.search, self.source)
        return self._climber

    def search_when_due(self) -> None:
        """Search widely once in a run that is going to be long."""
        clock = self.search.progress.clock
        if clock.elapsed >= self._due:
            self.search_widely(min(_SECONDS, _SHARE * clock.remaining), _KICKS)

    def search_widely(self, seconds: float, patience: int) -> None:
        """A local search of its own, from the best structure so far."""
        self._due = np.inf
        checkpoint, clock = self.search.checkpoint, self.search.progress.clock
        part = clock.until(clock.elapsed + seconds)

        def limited() -> None:
            checkpoint()
            part.checkpoint()

        search = Search(
            self.search.objective,
            self.search.progress,
            int(self.search.rng.integers(2**31)),
            self.search.progress.families,
            limited,
        )
        try:
            Climber(search, LocalSearch.name).run(patience)
        except OutOfTime:
            checkpoint()

    def improve(self, eta: FloatArray) -> None:
        """Try the structure that the point suggests, less often the longer it was in vain."""
        self._waited += 1
        if self._waited <= self._failures // _PATIENCE:
            return
        self._waited = 0
        self._failures += 1
        before = self.search.progress.value
        self._climb_from(self.round(eta))
        if self.search.progress.value > before:
            self._failures = 0

    def _climb_from(self, families: npt.NDArray[np.int64]) -> None:
        key = families.tobytes()
        if key in self._tried:
            return
        self._tried.add(key)
        self.climber.restore(families)
        self.climber.climb()

    def round(self, eta: FloatArray) -> npt.NDArray[np.int64]:
        """Give each variable its heaviest family that closes no cycle, heaviest first."""
        space = self.search.space
        families = space.feasible_families()
        n = space.n_variables
        parents: list[tuple[int, ...]] = [()] * n
        placed = np.zeros(n, dtype=bool)
        for f in np.argsort(-eta, kind="stable"):
            child = int(space.child[f])
            if placed[child] or self._reaches(parents, space.parent_sets[f], child):
                continue
            families[child], parents[child], placed[child] = f, space.parent_sets[f], True
            if placed.all():
                return families
        return space.feasible_families()

    def _reaches(self, parents: list[tuple[int, ...]], above: tuple[int, ...], child: int) -> bool:
        """Whether `child` is an ancestor of (or among) the variables `above`."""
        stack, seen = list(above), set(above)
        while stack:
            v = stack.pop()
            if v == child:
                return True
            new = [p for p in parents[v] if p not in seen]
            seen.update(new)
            stack.extend(new)
        return False
