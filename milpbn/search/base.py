"""The interface of the heuristic learners, and running one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from milpbn._types import Families
from milpbn.anytime import Progress, Run, simple_starts, simplest_start
from milpbn.clock import Checkpoint, OutOfTime
from milpbn.families.candidates import FamilySpace
from milpbn.families.feasibility import Feasibility
from milpbn.result import Result, Status
from milpbn.scores import Objective, ScoreReport, SearchState
from milpbn.structure import Structure


class Search:
    """What a heuristic is given: objective, feasible exchanges, time, randomness and the record.

    Parameters
    ----------
    objective
        What is maximised, over its candidate families.
    progress
        Where better structures are reported.
    seed
        Seed for all random decisions.
    start
        A structure to begin with, for learners that can use one.
    checkpoint
        Called between evaluations; raises when the search must end. Default: that of the
        clock.
    """

    def __init__(
        self,
        objective: Objective,
        progress: Progress,
        seed: int,
        start: Families | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.objective = objective
        self.progress = progress
        self.checkpoint = checkpoint or progress.clock.checkpoint
        self.rng = np.random.default_rng(seed)
        self.start = start
        self._states: list[SearchState] = []

    @property
    def space(self) -> FamilySpace:
        """The candidate families."""
        return self.objective.space

    @cached_property
    def feasibility(self) -> Feasibility:
        """Which families may be exchanged."""
        return Feasibility(self.space)

    @property
    def evaluations(self) -> int:
        """Score evaluations so far."""
        return sum(state.evaluations for state in self._states)

    def state(self, families: Families) -> SearchState:
        """A search state whose evaluations are counted."""
        state = self.objective.state(families)
        self._states.append(state)
        return state

    def simple_start(self) -> Families:
        """Naive Bayes if the constraints allow it, else some structure that they allow.

        If naive Bayes is too large for the budgets, its most useful part is returned.
        """
        return self.reduced(next(iter(simple_starts(self.space).values())))

    def reduced(self, families: Families) -> Families:
        """The structure, without the families whose loss is least if it is too large.

        Dropped families are replaced by those of the smallest structure, which is within the
        budgets.
        """
        if self.space.fits(families):
            return families
        state, smallest = self.state(families), self.space.feasible_families()
        while not self.space.fits(state.families):
            self.checkpoint()
            left = np.flatnonzero(state.families != smallest)
            scores = [float(state.scores(int(v), [int(smallest[v])])[0]) for v in left]
            variable = int(left[int(np.argmax(scores))])
            state.exchange(variable, int(smallest[variable]))
        return state.families.copy()

    def offer(self, state: SearchState, source: str) -> None:
        """Report the structure of the state if it is better than the best so far."""
        if state.value > self.progress.value:
            self.progress.incumbent(state.families.copy(), source)


class Learner(ABC):
    """A heuristic: ``run`` reports structures until it is finished or out of time."""

    name: ClassVar[str]
    title: ClassVar[str]
    whole_space: ClassVar[bool] = False
    """Whether it needs families that no optimal structure has, which pruning would remove."""

    @abstractmethod
    def run(self, search: Search) -> None:
        """Search, and call ``search.offer`` for each structure found."""


def run_learner(
    learner: Learner,
    objective: Objective,
    score: ScoreReport,
    run: Run | None = None,
    *,
    known: Structure | None = None,
) -> Result:
    """Run a heuristic until it ends, its time limit, or Ctrl-C, and return the best structure.

    Parameters
    ----------
    learner
        The heuristic.
    objective, score
        What is maximised, and its score (for the report).
    run
        Time, start, seed and listener; its bound appears in the trace.
    known
        A structure that is returned if the run is stopped before it has a better one.
    """
    run = run or Run()
    progress = run.progress(objective)
    families = None if run.start is None else objective.space.families(run.start)
    search = Search(objective, progress, run.options.seed, families)
    status = Status.FEASIBLE
    try:
        learner.run(search)
    except OutOfTime:
        status = Status.TIME_LIMIT
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if known is not None and status is not Status.FEASIBLE:
        progress.incumbent(objective.space.families(known), "start")
    if progress.families is None:
        # Stopped before the first report: return the start or the simplest structure.
        source = "start"
        if families is None:
            source, families = simplest_start(objective.space)
        progress.incumbent(families, source)
    run.clock.close_phase("searching")
    return progress.result(
        score, status, engine=learner.name, bound=None, evaluations=search.evaluations
    )
