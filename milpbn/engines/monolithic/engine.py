"""The MILP of Peharz & Pernkopf (2012) as a single model, through PuLP or directly to HiGHS."""

from __future__ import annotations

from dataclasses import replace

from milpbn._types import FloatArray
from milpbn.anytime import Progress, Run, complete_quietly
from milpbn.clock import OutOfTime
from milpbn.engines.monolithic.build import ModelLayout, build_model
from milpbn.engines.monolithic.emit_highs import Arrays
from milpbn.engines.monolithic.emit_pulp import to_pulp
from milpbn.engines.monolithic.highs import HighsAnswer, HighsRun, HighsSettings, Listeners
from milpbn.engines.monolithic.model import SparseModel
from milpbn.engines.report import EngineRecord
from milpbn.errors import SolverError
from milpbn.result import Result, Status
from milpbn.scores import Objective, ScoreReport


def solve_monolithic(objective: Objective, score: ScoreReport, run: Run | None = None) -> Result:
    """Solve the MILP of Peharz & Pernkopf (2012); always returns a structure and a bound.

    Parameters
    ----------
    objective, score
        The objective to maximise, and its score (for the report).
    run
        Time, start, options and listener.
    """
    run = run or Run()
    record = EngineRecord(objective, run)
    progress, clock = record.progress, run.clock
    status, accepted = Status.TIME_LIMIT, None
    try:
        record.begin()
        model, layout = build_model(
            objective,
            memory_limit=run.options.memory_limit,
            emit=run.options.emit,
            checkpoint=clock.checkpoint,
        )
        progress.improve_bound(layout.bound, 0, "row bound")
        answer = _run(model, layout, record)
        status, accepted = answer.status, answer.start_accepted
    except OutOfTime:
        clock.close_phase("building")
    except KeyboardInterrupt:
        clock.close_phase("building")
        status = Status.INTERRUPTED
        complete_quietly(progress)
    return record.result("monolithic", score, status, start_accepted=accepted)


def _run(model: SparseModel, layout: ModelLayout, record: EngineRecord) -> HighsAnswer:
    progress = record.progress
    assert progress.families is not None
    run = _run_pulp if record.run.options.emit == "pulp" else _run_highspy
    answer = run(model, layout, record, layout.point(progress.families))
    progress.clock.close_phase("solving")
    if answer.status is Status.INFEASIBLE:
        raise SolverError("HiGHS reports an infeasible model although a structure is known")
    if answer.x is not None:
        progress.incumbent(layout.families(answer.x), "HiGHS")
    if answer.bound is not None:
        progress.improve_bound(answer.bound, answer.nodes, "HiGHS")
    return answer


def _begin_solve(run: Run) -> HighsSettings:
    """End the building phase; returns the settings of the solve, with the remaining time."""
    run.clock.close_phase("building")
    options = run.options
    return HighsSettings(run.clock.remaining, options.gap, options.threads, options.seed)


def _listeners(layout: ModelLayout, progress: Progress, order: slice | list[int]) -> Listeners:
    def on_solution(x: FloatArray) -> None:
        progress.incumbent(layout.families(x[order]), "HiGHS")

    def on_bound(bound: float, nodes: int) -> None:
        progress.improve_bound(bound, nodes, "HiGHS")

    return Listeners(on_solution, on_bound)


def _run_pulp(
    model: SparseModel, layout: ModelLayout, record: EngineRecord, start: FloatArray
) -> HighsAnswer:
    from milpbn.engines.monolithic.pulp_highs import AnytimeHiGHS

    checkpoint = record.run.clock.checkpoint
    problem, variables = to_pulp(model, checkpoint=checkpoint)
    for v, value in zip(variables, start.tolist(), strict=True):
        v.setInitialValue(value)
    # PuLP sorts columns by name; `order` gives the new position of each column.
    place = {v.name: k for k, v in enumerate(problem.variables())}
    order = [place[v.name] for v in variables]
    checkpoint()
    solver = AnytimeHiGHS(
        _begin_solve(record.run),
        warm_start=True,
        listeners=_listeners(layout, record.progress, order),
        checkpoint=checkpoint,
    )
    problem.solve(solver)
    answer = solver.answer
    assert answer is not None
    return replace(answer, x=None if answer.x is None else answer.x[order])


def _run_highspy(
    model: SparseModel, layout: ModelLayout, record: EngineRecord, start: FloatArray
) -> HighsAnswer:
    listeners = _listeners(layout, record.progress, slice(None))
    return HighsRun(Arrays.of(model), _begin_solve(record.run), listeners).solve(start)
