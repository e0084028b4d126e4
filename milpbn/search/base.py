"""What every heuristic learner is given, and what becomes of what it finds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from milpbn._types import Families
from milpbn.anytime import Progress, Run, simple_starts
from milpbn.clock import Checkpoint, OutOfTime
from milpbn.families.acyclicity import Acyclicity
from milpbn.families.candidates import FamilySpace
from milpbn.result import Result, Status
from milpbn.scores import Objective, ScoreReport, SearchState


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
    learner: Learner, objective: Objective, score: ScoreReport, run: Run | None = None
) -> Result:
    """Run a heuristic to its end, its time limit, or Ctrl-C; the best structure is kept.

    Parameters
    ----------
    learner
        The heuristic.
    objective, score
        What is maximised, and the score it came from (for the report).
    run
        Time, start, seed and listener; its bound stands in the trace beside the objective.
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
    if progress.families is None:
        # Stopped before the first report: the simplest structure is still an answer.
        progress.incumbent(search.simple_start(), "naive-bayes")
    run.clock.close_phase("searching")
    return progress.result(
        score, status, engine=learner.name, bound=None, evaluations=search.evaluations
    )
