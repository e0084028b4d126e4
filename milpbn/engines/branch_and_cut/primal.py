"""Primal heuristics: round the relaxation's solution to a structure, improve it by local search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import or_

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray
from milpbn.anytime.progress import Progress
from milpbn.clock import Checkpoint, OutOfTime
from milpbn.scores import Objective
from milpbn.search.base import Search
from milpbn.search.local_search import Climber, LocalSearch

# Limits of the local search before the first branching: kicks without success, and seconds.
_ROOT_KICKS = 10
_ROOT_SECONDS = 3.0
# There is another local search after this many nodes, and then whenever their number has
# doubled. A node takes as long as about F / 160 kicks, where F is the number of families,
# whatever the number of rows. So the search takes about a tenth of the time, and a little more
# if there are few families. It is limited by nodes rather than seconds, which makes runs
# reproducible; the share of the time is only a safeguard. A search after one that has found nothing
# is shorter.
_FIRST_SEARCH = 8
_FAMILIES_PER_KICK = 2000
_NODES_PER_KICK = 8
_SHARE = 0.2
_AFTER_FAILURE = 0.25

# A round at the root that takes more than a second is followed by a search of half that time: with
# hundreds of features the first rounds leave the bound as it is, and better structures are what
# can be had.
_LONG_ROUND = 1.0
_SHARE_OF_ROUND = 0.5
_UNTIL_TIME_IS_UP = 10**9

# A climb from a rounded point takes this many seconds and this share of the time at most. It only
# takes so long with very many rows.
_CLIMB_SECONDS = 5.0

# One more point is skipped between two attempts for every this many failures.
_PATIENCE = 3


class Primal:
    """Rounds fractional points to structures and starts a hill climber there.

    Parameters
    ----------
    objective, progress, seed
        See :class:`~milpbn.search.Search`.
    checkpoint
        Raises if the run must end.
    """

    source = "rounding"

    def __init__(
        self, objective: Objective, progress: Progress, seed: int, checkpoint: Checkpoint
    ) -> None:
        self._checkpoint = checkpoint
        self.search = Search(objective, progress, seed, checkpoint=checkpoint)
        self._climber: Climber | None = None
        self._wide: Climber | None = None
        self._tried: set[bytes] = set()
        self._failures = 0
        self._waited = 0
        self._begin = progress.clock.elapsed
        self._due = _FIRST_SEARCH
        self._search_failed = False

    @property
    def climber(self) -> Climber:
        """The local search, created on first use.

        It does not change the parents of the class: the relaxation's point decides about them.
        """
        if self._climber is None:
            self._climber = Climber(self.search, self.source, tries_class=False)
        return self._climber

    def search_at_root(self) -> None:
        """Search before the first branching: a better structure now saves many nodes."""
        share = _SHARE * self.search.progress.clock.remaining
        self.search_widely(min(_ROOT_SECONDS, share), _ROOT_KICKS)

    def search_after(self, seconds: float) -> None:
        """Search if a round at the root took that long."""
        if seconds > _LONG_ROUND:
            self.search_widely(_SHARE_OF_ROUND * seconds, _UNTIL_TIME_IS_UP)

    def search_when_due(self, nodes: int) -> None:
        """Search from time to time, longer as the tree grows."""
        if nodes >= self._due:
            self._due = 2 * nodes
            spent = self.search.progress.clock.elapsed - self._begin
            kicks = nodes * len(self.search.space) // _FAMILIES_PER_KICK
            hope = _AFTER_FAILURE if self._search_failed else 1.0
            before = self.search.progress.value
            self.search_widely(
                hope * _SHARE * spent, int(hope * max(kicks, nodes // _NODES_PER_KICK))
            )
            self._search_failed = self.search.progress.value <= before

    def search_widely(self, seconds: float, patience: int) -> None:
        """Continue a separate local search: leaving a good structure takes many kicks."""
        progress = self.search.progress
        with self._limited(seconds) as limited:
            if self._wide is None:
                seed = int(self.search.rng.integers(2**31))
                search = Search(self.search.objective, progress, seed, progress.families, limited)
                self._wide = Climber(search, LocalSearch.name)
            self._wide.search.checkpoint = limited
            if progress.families is not None and progress.value > self._wide.best_value:
                self._wide.go_on_from(progress.families)
            self._wide.run(patience)

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[Checkpoint]:
        """A checkpoint that ends the block after some seconds, and the run at its end."""
        clock = self.search.progress.clock
        part = clock.until(clock.elapsed + seconds)

        def limited() -> None:
            self._checkpoint()
            part.checkpoint()

        try:
            yield limited
        except OutOfTime:
            self._checkpoint()

    def improve(self, eta: FloatArray) -> None:
        """Climb from the rounded point; after failures, less and less often."""
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
        spent = self.search.progress.clock.elapsed - self._begin
        with self._limited(_CLIMB_SECONDS + _SHARE * spent) as limited:
            self.search.checkpoint = limited
            self.climber.restore(families)
            self.climber.climb()
        self.search.checkpoint = self._checkpoint

    def round(self, eta: FloatArray) -> npt.NDArray[np.int64]:
        """Give each variable its heaviest family that is possible, in order of weight.

        A family is possible if it closes no cycle, and breaks no budget while the variables that
        still wait have their smallest families.
        """
        space = self.search.space
        families = space.feasible_families()
        placed = np.zeros(space.n_variables, dtype=bool)
        # Each variable and its ancestors, as bits.
        above = [1 << v for v in range(space.n_variables)]
        for f in np.argsort(-eta, kind="stable"):
            child, parents = int(space.child[f]), space.parent_sets[f]
            if placed[child] or any(above[p] >> child & 1 for p in parents):
                continue
            if not len(self.search.feasibility.within_budgets(families, child, np.array([f]))):
                continue
            families[child], placed[child] = f, True
            added = reduce(or_, (above[p] for p in parents), 0)
            above = [a | added if a >> child & 1 else a for a in above]
            if placed.all():
                return families
        return space.feasible_families()
