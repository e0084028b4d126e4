"""``milpbn solve``: learn a structure, with a bound on its distance from the optimum."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from milpbn.cli.alternatives import alternative_options, given_limits, with_alternatives
from milpbn.cli.data import data_options, held_out_options
from milpbn.cli.grid import check_grid, solve_grid
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.options import (
    checkpoint_options,
    given_names,
    given_settings,
    grid_score_options,
    picture_options,
    proof_options,
    run_options,
    space_options,
    worker_options,
)
from milpbn.cli.outputs import say
from milpbn.cli.params import OutputFile, usage_errors
from milpbn.cli.registries import Registered, registry
from milpbn.cli.selecting import (
    accept_old_plot,
    given_plan,
    selection_options,
    selection_plot_option,
)
from milpbn.cli.session import Session
from milpbn.messages import option as spelled

if TYPE_CHECKING:
    from milpbn.learning.methods import Engine
    from milpbn.learning.model import Model
    from milpbn.learning.settings import Settings
    from milpbn.result import Result
    from milpbn.scores import Objective
    from milpbn.structure import Structure

# Options of a tree that belongs to milpbn.
_OF_TREE = ("checkpoint", "resume", "workers", "scheduler", "certificate")


@command(short_help="Learn a structure exactly.")
@data_options
@held_out_options
@option(
    Group.DATA,
    "--jkl",
    metavar="X.jkl",
    help="Use the local scores in this file instead of data; see `milpbn scores`.",
    rare=True,
)
@grid_score_options
@space_options
@selection_options
@selection_plot_option
@option(
    Group.PROOF,
    "--engine",
    type=Registered(registry("milpbn.learning.methods", "ENGINES")),
    default="branch-and-cut",
    show_default=True,
    help="Engine that solves the problem.",
    rare=True,
)
@option(
    Group.PROOF,
    "--host",
    type=Registered(registry("milpbn.anytime.options", "HOSTS")),
    default="highs",
    show_default=True,
    help="Solver that manages the branch-and-cut tree; scip needs the extra milpbn[scip].",
    rare=True,
)
@option(
    Group.PROOF,
    "--emit",
    type=Registered(registry("milpbn.anytime.options", "EMITTERS")),
    default="pulp",
    show_default=True,
    help="How the monolithic model is passed to HiGHS.",
    rare=True,
)
@option(
    Group.PROOF,
    "--warm-start",
    metavar="FILE|NAME|none",
    default="local-search",
    show_default=True,
    help="Start from a model, network or structure file, or from the result of a heuristic of "
    "`milpbn learn`; none for no start.",
    rare=True,
)
@proof_options
@worker_options
@checkpoint_options
@alternative_options
@option(
    Group.PROOF,
    "--write-model",
    type=OutputFile(".lp", ".mps"),
    metavar="X.lp|X.mps",
    help="Save the mixed-integer program.",
    rare=True,
)
@option(
    Group.PROOF,
    "--certificate",
    type=OutputFile(),
    metavar="FILE",
    help="Save the proof of the bound, compressed; `milpbn verify --certificate` replays it.",
)
@run_options
@picture_options("Draw the network (png, svg, pdf, dot).")
@click.pass_context
def solve(ctx: click.Context, /, **options: Any) -> None:
    """Learn a structure exactly; print objective, bound and gap.

    The time limit covers the whole run, including reading the data. Ctrl-C ends the run and
    keeps the best structure, its bound and the trace.

    \b
    Examples:
      milpbn solve --dataset car --score sm
      milpbn solve --data my.csv --target outcome --time-limit 5m --out model.json
      milpbn solve --dataset heart --class-root --p 0.6,0.8,0.9,0.99
      milpbn solve --data my.csv --target outcome --select auto
      milpbn solve --dataset heart --class-root --best 10
      milpbn solve --dataset heart --class-root --out heart.json --certificate heart.gz
      milpbn solve --jkl asia.jkl --out structure.json
      milpbn solve --dataset german --checkpoint german.tree
      milpbn solve --dataset german --checkpoint german.tree --resume german.tree
    """
    from milpbn.errors import OutputError

    if options["jkl"]:
        from milpbn.cli.jkl import solve_local_scores

        solve_local_scores(ctx, options)
    accept_old_plot(options)
    _check(ctx, options)
    limits = given_limits(options)
    start = start_structure(options["warm_start"])
    search = ("warm start",) if isinstance(start, str) else ()
    settings, plan = given_settings(options, start=start), given_plan(options, "plot_selection")
    if plan is not None:
        names = given_names(options, start=start)
        plan.candidates(names)  # bad values are reported before anything is read
        search = ("selecting", *search)
    note_replaced_checkpoint(options)
    session = Session(ctx, options, settings, (*search, "building", "solving"))
    grid = isinstance(options["p"], tuple)
    with session.table:
        session.load()
        if plan is not None:
            session.select(names, plan)
        models = solve_grid(session) if grid else [_solve(session)]
        if limits is not None:
            models = [with_alternatives(session, models[0], limits)]
    if not grid:
        session.deliver(models[0])
    if session.missing:
        raise OutputError(
            f"{session.missing} was not written: nothing was proven, or there was no space"
        )
    results = [model.result for model in models]
    complete = len(results) == (len(options["p"]) if grid else 1)
    stopped = any(model.parameters.stopped_early for model in models)
    if limits is not None:
        stopped |= not all(m.alternatives and m.alternatives.complete for m in models)
    closed = all(_finished(r, session.settings, options["gap"]) for r in results)
    ctx.exit(0 if complete and closed and not stopped else EXIT_STOPPED)


def _finished(result: Result, settings: Settings, gap: float) -> bool:
    """Whether the run has done what it was asked for; a selected heuristic owes no proof."""
    from milpbn.learning.methods import ENGINES

    if settings.method not in ENGINES:
        return result.status == "feasible"
    within = result.gap_rel is not None and result.gap_rel <= gap
    return result.status == "optimal" or within


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    """Reject options that contradict each other, before anything is read."""
    from milpbn.scores import score_class

    Session.check(options)
    if isinstance(options["p"], tuple):
        check_grid(options)
        if options["select"]:
            raise click.UsageError(
                "--select requires a single value of p; write --select p=0.6,0.9"
            )
        if options["checkpoint"] or options["resume"]:
            raise click.UsageError("--checkpoint and --resume require a single value of p")
        if options["warm_start"] != "local-search":
            raise click.UsageError(
                "--warm-start requires a single value of p; several start from one another"
            )
    check_engine(ctx, options)
    if options["write_model"] and score_class(options["score"]).smooth:
        raise click.UsageError(
            f"--write-model cannot be combined with --score {options['score']}: it is not "
            "piecewise linear, so no mixed-integer linear program describes it"
        )
    score = score_class(options["score"])
    if not score.exact:
        raise click.UsageError(
            f"--score {score.name} cannot be maximised exactly; `milpbn learn` can search with it"
        )


def check_engine(ctx: click.Context, options: dict[str, Any]) -> None:
    """Reject options of one engine or host that are given for another."""
    from milpbn.learning.methods import ENGINES, require_tree

    engine, host = ENGINES[options["engine"]], options["host"]
    emit_given = ctx.get_parameter_source("emit") is ParameterSource.COMMANDLINE
    if emit_given and not engine.emitters:
        raise click.UsageError(f"--emit requires --engine {_names(lambda e: e.emitters)}")
    if options["workers"] and options["scheduler"]:
        raise click.UsageError("give one of --workers and --scheduler")
    with usage_errors():
        for name in _OF_TREE:
            if options[name]:
                require_tree(name, options["engine"], host)
    if host != "scip":
        return
    if host not in engine.other_hosts:
        raise click.UsageError(f"--host requires --engine {_names(lambda e: bool(e.other_hosts))}")
    from milpbn.engines.branch_and_cut.scip_host import scip_version

    scip_version()


def _names(able: Callable[[Engine], bool]) -> str:
    from milpbn.learning.methods import ENGINES

    return " or ".join(name for name, engine in ENGINES.items() if able(engine))


def note_replaced_checkpoint(options: dict[str, Any]) -> None:
    """Say that a checkpoint will be lost while there is time for Ctrl-C."""
    file = options["checkpoint"]
    if file and not options["resume"] and not options["quiet"] and Path(file).is_file():
        replaced = spelled("resume", file).on_command_line()
        say(f"note: {file} will be replaced; {replaced} continues from it.")


def start_structure(given: str) -> Structure | str | None:
    """Read --warm-start: a structure from a file, the name of a heuristic, or None."""
    from milpbn.errors import OptionError
    from milpbn.search import LEARNERS

    if given == "none":
        return None
    if given in LEARNERS:
        return given
    if not Path(given).exists():
        raise OptionError(
            f"--warm-start {given!r} is neither a file nor a heuristic; the heuristics are "
            f"{', '.join(LEARNERS)}"
        )
    from milpbn.interchange import read_structure  # slow to import

    return read_structure(given)


def _solve(session: Session) -> Model:
    from milpbn.learning.maximise import Shared

    shared = Shared(_write_model(session)) if session.options["write_model"] else None
    file = session.options["certificate"]
    before = _stamp(file)
    model = session.learn(shared=shared, certificate=file)
    if file and _stamp(file) != before:
        session.table.print(f"wrote {file}")
    elif file and (before or not Path(file).exists()):
        session.missing = file
    return model


def _stamp(file: str | None) -> tuple[int, int] | None:
    """What changes if an ordinary file is written."""
    if file is None or not Path(file).is_file():
        return None
    stat = Path(file).stat()
    return stat.st_ino, stat.st_mtime_ns


def _write_model(session: Session) -> Objective:
    """Save the mixed-integer program; return its objective, which the engine solves next."""
    from milpbn.clock import OutOfTime
    from milpbn.engines.monolithic import build_model, write_model
    from milpbn.errors import MilpbnError
    from milpbn.learning.objective import build_objective

    clock, file = session.clock, session.options["write_model"]
    settings = session.settings
    limit = settings.options.memory_limit
    objective = build_objective(
        session.data, settings.score, settings.space, clock=clock, options=settings.options
    )
    clock.close_phase("scoring")
    try:
        model, _ = build_model(objective, memory_limit=limit, checkpoint=clock.checkpoint)
    except OutOfTime:
        raise MilpbnError(
            f"the time limit of {clock.limit:g} s was reached before {file} could be "
            "written; allow more time or lower --max-parents"
        ) from None
    write_model(model, file)
    session.table.print(f"wrote {file}")
    clock.close_phase("writing")
    return objective
