"""What every heuristic learner is given, and what becomes of what it finds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from milpbn.clock import Checkpoint, Clock, OutOfTime
from milpbn.families.candidates import FamilySpace
from milpbn.result import Listener, Result, Status
from milpbn.scores import Objective, ScoreReport, SearchState
from milpbn.search.graph import Acyclicity
from milpbn.search.progress import Families, Progress
from milpbn.search.start import simple_starts
from milpbn.structure import Structure


class Search:
    """The setting of one run: objective, acyclicity, time, randomness, the record.

    Parameters
    ----------
    objective
        What is maximised, over its candidate families.
    progress
        Where better structures are reported.
    seed
        All randomness of the learner comes from it.
    start
        A structure to begin with, for learners that can.
    checkpoint
        Called between evaluations; raises when the search must end. The clock's by default.
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
    def acyclicity(self) -> Acyclicity:
        """Which families may be exchanged."""
        return Acyclicity(self.space)

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
        """Naive Bayes where the constraints allow it, else some structure."""
        return next(iter(simple_starts(self.space).values()))

    def offer(self, state: SearchState, source: str) -> None:
        """Report the state's structure if it beats the best so far."""
        if state.value > self.progress.value:
            self.progress.incumbent(state.families.copy(), source)


class Learner(ABC):
    """A heuristic: ``run`` reports structures until it is done or out of time."""

    name: ClassVar[str]
    title: ClassVar[str]
    whole_space: ClassVar[bool] = False
    """Whether it asks for families that no optimum has, and pruning would take from it."""

    @abstractmethod
    def run(self, search: Search) -> None:
        """Search, calling ``search.offer`` for what is found."""


def run_learner(
    learner: Learner,
    objective: Objective,
    score: ScoreReport,
    *,
    clock: Clock | None = None,
    seed: int = 0,
    start: Structure | None = None,
    bound: float = math.inf,
    listener: Listener | None = None,
) -> Result:
    """Run a heuristic to its end, its time limit, or Ctrl-C; the best structure is kept.

    A `bound` that is known beforehand stands in the trace beside the objective.
    """
    clock = clock or Clock()
    progress = Progress(objective, clock, listener, bound)
    families = None if start is None else objective.space.families(start)
    search = Search(objective, progress, seed, families)
    status = Status.FEASIBLE
    try:
        learner.run(search)
    except OutOfTime:
        status = Status.TIME_LIMIT
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if progress.families is None:
        # Stopped before the first report: the simplest structure is still an answer.
        progress.incumbent(search.simple_start(), "naive-bayes")
    clock.close_phase("searching")
    assert progress.families is not None
    return Result(
        status=status,
        structure=objective.space.structure(progress.families),
        objective=progress.value,
        bound=None,
        score=score.name,
        score_parameters=score.settings(),
        source=progress.source,
        engine=learner.name,
        evaluations=search.evaluations,
        seconds=dict(clock.phases),
        trace=progress.close(),
    )
