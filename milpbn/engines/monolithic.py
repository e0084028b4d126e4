"""The exact paper's MILP in one piece, through PuLP to HiGHS or straight to HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, replace

from milpbn.clock import Clock, OutOfTime
from milpbn.engines.highs import FloatArray, HighsAnswer, HighsRun, HighsSettings, Listeners
from milpbn.engines.report import engine_result
from milpbn.errors import OptionError, SolverError
from milpbn.families.candidates import DEFAULT_MEMORY
from milpbn.formulation.build import Layout, build_model
from milpbn.formulation.emit_highs import check_highs, pass_model
from milpbn.formulation.emit_pulp import to_pulp
from milpbn.formulation.model import SparseModel
from milpbn.result import Listener, Result, Status, WarmStart
from milpbn.scores import Objective, ScoreReport
from milpbn.search.progress import Progress
from milpbn.search.start import complete_quietly, offer_simple_starts
from milpbn.structure import Structure

HOSTS = ("highs", "scip")
EMITTERS = ("pulp", "highspy")


@dataclass(frozen=True)
class SolveOptions:
    """What every engine is told.

    Parameters
    ----------
    gap
        Relative gap at which to stop; 0 asks for a proof.
    threads, seed
        One thread is deterministic.
    emit
        ``"pulp"`` or ``"highspy"``: how the monolithic model reaches HiGHS.
    memory_limit
        Bytes for families, tables and the model.
    host
        Whose tree serves branch-and-cut: ``"highs"`` (milpbn's own, on HiGHS linear programs)
        or ``"scip"`` (with the extra ``milpbn[scip]``).
    """

    gap: float = 0.0
    threads: int = 1
    seed: int = 0
    emit: str = "pulp"
    memory_limit: int = DEFAULT_MEMORY
    host: str = "highs"

    def __post_init__(self) -> None:
        if not self.gap >= 0:
            raise OptionError(f"gap must not be negative: {self.gap}")
        if self.threads < 1:
            raise OptionError(f"threads must be at least 1, not {self.threads}")
        if self.emit not in EMITTERS:
            raise OptionError(f"emit must be one of {', '.join(EMITTERS)}, not {self.emit!r}")
        if self.host not in HOSTS:
            raise OptionError(f"host must be one of {', '.join(HOSTS)}, not {self.host!r}")


def solve_monolithic(
    objective: Objective,
    score: ScoreReport,
    *,
    clock: Clock | None = None,
    options: SolveOptions | None = None,
    start: Structure | None = None,
    start_source: str = "warm-start",
    listener: Listener | None = None,
) -> Result:
    """Solve the paper's MILP; always returns a structure, a bound and a gap.

    Parameters
    ----------
    objective, score
        What is maximised, and the score it came from (for the report).
    clock
        The time budget, already running.
    options
        See :class:`SolveOptions`.
    start, start_source
        A structure to begin with, and where it came from.
    listener
        Called with every :class:`~milpbn.result.TracePoint`.
    """
    clock, options = clock or Clock(), options or SolveOptions()
    progress = Progress(objective, clock, listener, objective.quick_bound())
    warm = None
    answer: HighsAnswer | None = None
    status = Status.TIME_LIMIT
    try:
        if start is not None:
            families = objective.space.families(start)
            warm = WarmStart(start_source, objective.value(families))
            progress.incumbent(families, start_source)
        offer_simple_starts(progress)
        model, layout = build_model(
            objective,
            memory_limit=options.memory_limit,
            emit=options.emit,
            checkpoint=clock.checkpoint,
        )
        progress.improve_bound(layout.bound, 0, "row bound")
        answer = _run(model, layout, progress, options)
        status = answer.status
    except OutOfTime:
        clock.close_phase("building")
    except KeyboardInterrupt:
        clock.close_phase("building")
        status = Status.INTERRUPTED
        complete_quietly(progress)
    if warm is not None and answer is not None:
        warm = replace(warm, accepted=answer.start_accepted)
    return engine_result("monolithic", progress, score, status, warm)


def _run(
    model: SparseModel, layout: Layout, progress: Progress, options: SolveOptions
) -> HighsAnswer:
    assert progress.families is not None
    run = _run_pulp if options.emit == "pulp" else _run_highspy
    answer = run(model, layout, progress, options, layout.point(progress.families))
    progress.clock.close_phase("solving")
    if answer.status is Status.INFEASIBLE:
        raise SolverError("HiGHS calls the model infeasible although a feasible structure is known")
    if answer.x is not None:
        progress.incumbent(layout.families(answer.x), "HiGHS")
    if answer.bound is not None:
        progress.improve_bound(answer.bound, answer.nodes, "HiGHS")
    return answer


def _listeners(layout: Layout, progress: Progress, order: slice | list[int]) -> Listeners:
    def on_solution(x: FloatArray) -> None:
        progress.incumbent(layout.families(x[order]), "HiGHS")

    def on_bound(bound: float, nodes: int) -> None:
        progress.improve_bound(bound, nodes, "HiGHS")

    return Listeners(on_solution, on_bound)


def _run_pulp(
    model: SparseModel,
    layout: Layout,
    progress: Progress,
    options: SolveOptions,
    start: FloatArray,
) -> HighsAnswer:
    from milpbn.engines.pulp_highs import AnytimeHiGHS

    problem, variables = to_pulp(model, checkpoint=progress.clock.checkpoint)
    for v, value in zip(variables, start.tolist(), strict=True):
        v.setInitialValue(value)
    # PuLP sorts columns by name: where each of the model's columns went.
    place = {v.name: k for k, v in enumerate(problem.variables())}
    order = [place[v.name] for v in variables]
    progress.clock.checkpoint()
    progress.clock.close_phase("building")
    solver = AnytimeHiGHS(
        time_limit=progress.clock.remaining,
        gap=options.gap,
        threads=options.threads,
        seed=options.seed,
        warm_start=True,
        listeners=_listeners(layout, progress, order),
        checkpoint=progress.clock.checkpoint,
    )
    problem.solve(solver)
    answer = solver.answer
    assert answer is not None
    x = None if answer.x is None else answer.x[order]
    return HighsAnswer(answer.status, x, answer.bound, answer.nodes, answer.start_accepted)


def _run_highspy(
    model: SparseModel,
    layout: Layout,
    progress: Progress,
    options: SolveOptions,
    start: FloatArray,
) -> HighsAnswer:
    import highspy

    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    check_highs(highs.setOptionValue("output_flag", False), "be silent")
    pass_model(highs, model)
    progress.clock.close_phase("building")
    settings = HighsSettings(
        time_limit=progress.clock.remaining,
        gap=options.gap,
        threads=options.threads,
        seed=options.seed,
    )
    listeners = _listeners(layout, progress, slice(None))
    return HighsRun(highs, settings, listeners).solve(start)
