"""Maximise an objective with an engine, after the search for its start, or with a heuristic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Any

from milpbn.anytime import Run
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.proof import ProofLog
from milpbn.engines.branch_and_cut.rows import Pool
from milpbn.learning.methods import Engine, engine_of
from milpbn.learning.settings import Settings
from milpbn.result import Listener, Result, Status, TracePoint
from milpbn.scores import Objective
from milpbn.search import Learner, make_learner, run_learner
from milpbn.search.local_search import LocalSearch
from milpbn.search.simple import Simple, is_wide
from milpbn.structure import AnyStructure, Structure

# The share of the remaining time, and the seconds, to which the search for a start is limited.
_START_SHARE = 0.1
_START_SECONDS = 10.0
# The share of the remaining time for the first answer on wide data.
_FIRST_SHARE = 0.3
# Unsuccessful kicks after which local search stops looking for a start. Branch-and-cut continues
# the search itself, once it knows that its root leaves a gap.
START_PATIENCE = 50
_BRIEF_PATIENCE = 2


@dataclass(frozen=True)
class Shared:
    """What runs on the same or on similar rows share.

    Attributes
    ----------
    objective
        The result of :func:`~milpbn.learning.objective.build_objective`.
    begin
        Structures of other runs. Local search, also as the heuristic that looks for a start, begins
        with the best of them, and a heuristic that is stopped does not return less.
    pool
        Cuts of branch-and-cut; each run uses them and adds its own.
    chosen
        What the search for parameters chose in another run.
    """

    objective: Objective | None = None
    begin: tuple[AnyStructure, ...] = ()
    pool: Pool | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)


def maximise(
    objective: Objective,
    settings: Settings,
    clock: Clock | None = None,
    listener: Listener | None = None,
    shared: Shared | None = None,
    log: ProofLog | None = None,
) -> Result:
    """Maximise an objective with an engine or a heuristic.

    Branch-and-cut notifies `log` of its proof; other methods have none.
    """
    clock, shared = clock or Clock(settings.time_limit), shared or Shared()
    stages = _Stages(objective, settings, clock, listener)
    if (engine := engine_of(settings.method)) is not None:
        return _run_engine(engine, stages, shared, log)
    assert isinstance(settings.method, str | Learner)
    learner = make_learner(settings.method)
    start = settings.start if isinstance(settings.start, Structure) else None
    known = best_of(objective, shared.begin)
    if start is None and isinstance(learner, LocalSearch):
        start = known or stages.first_answer()
    return stages.last(partial(run_learner, learner, known=known), start, settings.start_source)


def best_of(objective: Objective, structures: Sequence[AnyStructure]) -> Structure | None:
    """The best of some structures of similar rows, as far as the objective has their families."""
    space = objective.space
    single = (s for s in structures if isinstance(s, Structure))
    known = [f for s in dict.fromkeys(single) if (f := space.adapted(s)) is not None]
    return space.structure(max(known, key=objective.value)) if known else None


class _Stages:
    """The parts of a run, one after the other: first answer, search for a start, engine.

    Parameters
    ----------
    objective, settings, clock, listener
        As for :func:`maximise`.
    """

    def __init__(
        self, objective: Objective, settings: Settings, clock: Clock, listener: Listener | None
    ) -> None:
        self.objective = objective
        self.settings = settings
        self.clock = clock
        self.listener = listener
        self.trace: tuple[TracePoint, ...] = ()
        self.interrupted = False

    def first_answer(self) -> Structure | None:
        """Naive Bayes or TAN on wide data; None on others."""
        if not is_wide(self.objective.space):
            return None
        return self.heuristic(Simple(), None, _FIRST_SHARE * self.clock.remaining)

    def heuristic(self, learner: Learner, start: Structure | None, seconds: float) -> Structure:
        """Run a heuristic that looks for a start."""
        proves = engine_of(self.settings.method) is not None
        phase = "warm start" if proves else "searching"
        run = Run(
            clock=self.clock.until(self.clock.elapsed + seconds, phase=phase),
            options=self.settings.options,
            start=start,
            bound=self.objective.quick_bound() if proves else inf,
            listener=_without_end(self.listener),
        )
        found = run_learner(learner, self.objective, self.settings.score, run)
        self.trace += found.trace[:-1]
        assert isinstance(found.structure, Structure)
        if found.status is Status.INTERRUPTED:
            self.interrupted = True
            self.clock = self.clock.until(self.clock.elapsed)
        return found.structure

    def last(self, method: Callable[..., Result], start: Structure | None, source: str) -> Result:
        """Run the method itself; its trace comes after those of the other stages."""
        run = Run(self.clock, self.settings.options, start, source, listener=self.listener)
        result = method(self.objective, self.settings.score, run)
        if self.interrupted and result.status is not Status.OPTIMAL:
            result = replace(result, status=Status.INTERRUPTED)
        return replace(result, trace=(*self.trace, *result.trace))


def _run_engine(engine: Engine, stages: _Stages, shared: Shared, log: ProofLog | None) -> Result:
    """Run an exact engine, after the heuristics that look for its start."""
    settings = stages.settings
    solve = engine.solve
    if shared.pool is not None and engine.shares_cuts:
        solve = partial(solve, pool=shared.pool)
    if log is not None and log.recording:
        solve = partial(solve, log=log)
    start, source = settings.start, settings.start_source
    if isinstance(start, str) and settings.options.resume is not None:
        start = None  # the checkpoint has a better one
    if isinstance(start, str):
        begin = best_of(stages.objective, shared.begin) or stages.first_answer()
        source = start
        seconds = min(_START_SECONDS, _START_SHARE * stages.clock.remaining)
        learner = warm_starter(start, _BRIEF_PATIENCE if engine.searches else START_PATIENCE)
        start = stages.heuristic(learner, begin, seconds)
    return stages.last(solve, start, source)


def _without_end(listener: Listener | None) -> Listener | None:
    """The listener without the end event: the end of the heuristic is not the end of the run."""
    if listener is None:
        return None

    def tell(point: TracePoint) -> None:
        if point.source != "end":
            listener(point)

    return tell


def warm_starter(name: str, patience: int = START_PATIENCE) -> Learner:
    """The heuristic that looks for a start; local search stops sooner than when it runs alone."""
    return LocalSearch(patience) if name == LocalSearch.name else make_learner(name)
