"""An objective and a method in, a result out: the engines, and the search for their start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from milpbn.anytime import Run, SolveOptions
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut import solve_branch_and_cut
from milpbn.engines.monolithic import solve_monolithic
from milpbn.engines.relaxation import Pool
from milpbn.errors import OptionError
from milpbn.result import Listener, Result, Status, TracePoint
from milpbn.scores import Objective, Score, ScoreReport
from milpbn.search import LEARNERS, Learner, make_learner, run_learner
from milpbn.search.local_search import LocalSearch
from milpbn.structure import Structure

ENGINES: dict[str, Callable[..., Result]] = {
    "branch-and-cut": solve_branch_and_cut,
    "monolithic": solve_monolithic,
}
"""Exact engines by name."""

# The share of the remaining time, and the seconds, that the search for a start may take.
_START_SHARE = 0.1
_START_SECONDS = 3.0
# Kicks in vain after which local search gives up as a start. Branch-and-cut searches further
# itself, once it knows that its root leaves a gap.
_START_PATIENCE = 50
_BRIEF_PATIENCE = 2


def maximise(
    objective: Objective,
    score: Score,
    *,
    method: str | Learner = "branch-and-cut",
    clock: Clock | None = None,
    start: Structure | str | None = None,
    start_source: str = "warm-start",
    options: SolveOptions | None = None,
    listener: Listener | None = None,
    begin: Structure | None = None,
    pool: Pool | None = None,
) -> Result:
    """Maximise an objective that is there already; see :func:`run_method`."""
    clock, options = clock or Clock(), options or SolveOptions()
    if isinstance(method, str) and method in ENGINES:
        if not score.exact:
            raise OptionError(
                f"the score {score.name} cannot be solved exactly; choose another score or one of "
                f"the heuristics {', '.join(LEARNERS)}"
            )
        return run_engine(
            method, objective, score, clock, start, start_source, begin, options, listener, pool
        )
    given = start if isinstance(start, Structure) else None
    return run_learner(
        make_learner(method),
        objective,
        score,
        Run(clock=clock, options=options, start=given, listener=listener),
    )


def run_engine(
    name: str,
    objective: Objective,
    score: ScoreReport,
    clock: Clock,
    start: Structure | str | None,
    start_source: str,
    begin: Structure | None,
    options: SolveOptions,
    listener: Listener | None,
    pool: Pool | None = None,
) -> Result:
    """An exact engine, after the heuristic that looks for its start where one is named."""
    engine = ENGINES[name] if pool is None else partial(ENGINES[name], pool=pool)
    before: tuple[TracePoint, ...] = ()
    interrupted = False
    if isinstance(start, str):
        # A heuristic goes first, with a small share of the time. Its trace leads the engine's.
        share = min(_START_SECONDS, _START_SHARE * clock.remaining)
        found = run_learner(
            warm_starter(start, _BRIEF_PATIENCE if name == "branch-and-cut" else _START_PATIENCE),
            objective,
            score,
            Run(
                clock=clock.until(clock.elapsed + share, phase="warm start"),
                options=options,
                start=begin,
                bound=objective.quick_bound(),
                listener=_without_end(listener),
            ),
        )
        before = found.trace[:-1]
        assert isinstance(found.structure, Structure)
        start_source, start = start, found.structure
        interrupted = found.status is Status.INTERRUPTED
        if interrupted:
            clock = clock.until(clock.elapsed)
    result = engine(
        objective,
        score,
        Run(clock, options, start, start_source, listener=listener),
    )
    if interrupted and result.status is not Status.OPTIMAL:
        result = replace(result, status=Status.INTERRUPTED)
    return replace(result, trace=(*before, *result.trace))


def _without_end(listener: Listener | None) -> Listener | None:
    """The end of the heuristic is not the end of the run."""
    if listener is None:
        return None

    def told(point: TracePoint) -> None:
        if point.source != "end":
            listener(point)

    return told


def warm_starter(name: str, patience: int = _START_PATIENCE) -> Learner:
    """The heuristic that looks for a start; local search gives up sooner than on its own."""
    return LocalSearch(patience) if name == LocalSearch.name else make_learner(name)
