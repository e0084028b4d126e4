"""The primal side: structures near the relaxation's point, improved by local search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray
from milpbn.anytime.progress import Progress
from milpbn.clock import Checkpoint, OutOfTime
from milpbn.scores import Objective
from milpbn.search.base import Search
from milpbn.search.local_search import Climber, LocalSearch

# Kicks in vain, and seconds, of the local search before the first branching.
_ROOT_KICKS = 10
_ROOT_SECONDS = 3.0
# After so many nodes, and whenever they have doubled since, there is another. A node takes the
# time of about F / 160 kicks, F being the number of families, whatever the rows; so many kicks
# are a tenth of the time, and a few more where families are few. Counting nodes instead of
# seconds keeps runs the same from one time to the next; the share is for the unforeseen.
_DUE = 8
_FAMILIES_A_KICK = 2000
_NODES_A_KICK = 8
_SHARE = 0.2

# Points tried in vain before one more point is passed over between two tries.
_PATIENCE = 8


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
        self._wide: Climber | None = None
        self._tried: set[bytes] = set()
        self._failures = 0
        self._waited = 0
        self._begin = progress.clock.elapsed
        self._due = _DUE

    @property
    def climber(self) -> Climber:
        """The local search, made when it is first needed.

        Whether the class has parents is for the relaxation's point to say.
        """
        if self._climber is None:
            self._climber = Climber(self.search, self.source, tries_class=False)
        return self._climber

    def search_at_root(self) -> None:
        """Search before the first branching: every family that falls now is worth many nodes."""
        share = _SHARE * self.search.progress.clock.remaining
        self.search_widely(min(_ROOT_SECONDS, share), _ROOT_KICKS)

    def search_when_due(self, nodes: int) -> None:
        """Search widely now and then, longer as the tree grows."""
        if nodes >= self._due:
            self._due = 2 * nodes
            spent = self.search.progress.clock.elapsed - self._begin
            kicks = nodes * len(self.search.space) // _FAMILIES_A_KICK
            self.search_widely(_SHARE * spent, max(kicks, nodes // _NODES_A_KICK))

    def search_widely(self, seconds: float, patience: int) -> None:
        """A local search of its own, on and on: it needs long spells to leave a good structure."""
        checkpoint, progress = self.search.checkpoint, self.search.progress
        part = progress.clock.until(progress.clock.elapsed + seconds)

        def limited() -> None:
            checkpoint()
            part.checkpoint()

        try:
            if self._wide is None:
                seed = int(self.search.rng.integers(2**31))
                search = Search(self.search.objective, progress, seed, progress.families, limited)
                self._wide = Climber(search, LocalSearch.name)
            self._wide.search.checkpoint = limited
            if progress.families is not None and progress.value > self._wide.best_value:
                self._wide.go_on_from(progress.families)
            self._wide.run(patience)
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
