"""Maximise an objective with an engine, after the search for its start, or with a heuristic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from milpbn.anytime import Run
from milpbn.clock import Clock
from milpbn.engines.relaxation import Pool
from milpbn.learning.methods import ENGINES
from milpbn.learning.settings import Settings
from milpbn.result import Listener, Result, Status, TracePoint
from milpbn.scores import Objective
from milpbn.search import Learner, make_learner, run_learner
from milpbn.search.local_search import LocalSearch
from milpbn.structure import Structure

# The share of the remaining time, and the seconds, to which the search for a start is limited.
_START_SHARE = 0.1
_START_SECONDS = 3.0
# Unsuccessful kicks after which local search stops looking for a start. Branch-and-cut continues
# the search itself, once it knows that its root leaves a gap.
START_PATIENCE = 50
_BRIEF_PATIENCE = 2


@dataclass(frozen=True)
class Shared:
    """What runs on the same rows and families share.

    Attributes
    ----------
    objective
        The result of :func:`~milpbn.learning.objective.build_objective`.
    begin
        The structure from which the heuristic that looks for a start begins.
    pool
        Cuts of branch-and-cut; each run uses them and adds its own.
    """

    objective: Objective | None = None
    begin: Structure | None = None
    pool: Pool | None = None


def maximise(
    objective: Objective,
    settings: Settings,
    clock: Clock | None = None,
    listener: Listener | None = None,
    shared: Shared | None = None,
) -> Result:
    """Maximise an objective with an engine or a heuristic."""
    clock, method, start = clock or Clock(settings.time_limit), settings.method, settings.start
    assert isinstance(method, str | Learner)
    if isinstance(method, str) and method in ENGINES:
        return _run_engine(objective, settings, clock, listener, shared or Shared())
    given = start if isinstance(start, Structure) else None
    run = Run(clock, settings.options, given, settings.start_source, listener=listener)
    return run_learner(make_learner(method), objective, settings.score, run)


def _run_engine(
    objective: Objective,
    settings: Settings,
    clock: Clock,
    listener: Listener | None,
    shared: Shared,
) -> Result:
    """Run an exact engine, after the heuristic that looks for its start if one is named."""
    engine = ENGINES[str(settings.method)]
    if shared.pool is not None:
        engine = partial(engine, pool=shared.pool)
    before: tuple[TracePoint, ...] = ()
    interrupted = False
    start, source = settings.start, settings.start_source
    if isinstance(start, str):
        found = _find_start(objective, settings, clock, listener, shared)
        # The heuristic's trace comes before the engine's.
        before, source = found.trace[:-1], start
        assert isinstance(found.structure, Structure)
        start = found.structure
        interrupted = found.status is Status.INTERRUPTED
        if interrupted:
            clock = clock.until(clock.elapsed)
    result = engine(
        objective, settings.score, Run(clock, settings.options, start, source, listener=listener)
    )
    if interrupted and result.status is not Status.OPTIMAL:
        result = replace(result, status=Status.INTERRUPTED)
    return replace(result, trace=(*before, *result.trace))


def _find_start(
    objective: Objective,
    settings: Settings,
    clock: Clock,
    listener: Listener | None,
    shared: Shared,
) -> Result:
    """Run the heuristic that looks for a start, in a small share of the time."""
    name = str(settings.start)
    share = min(_START_SECONDS, _START_SHARE * clock.remaining)
    brief = settings.method == "branch-and-cut"
    run = Run(
        clock=clock.until(clock.elapsed + share, phase="warm start"),
        options=settings.options,
        start=shared.begin,
        bound=objective.quick_bound(),
        listener=_without_end(listener),
    )
    learner = warm_starter(name, _BRIEF_PATIENCE if brief else START_PATIENCE)
    return run_learner(learner, objective, settings.score, run)


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
