"""``milpbn solve``: learn a structure, with a bound on its distance from the optimum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.alternatives import alternative_options, given_limits, with_alternatives
from milpbn.cli.data import data_options, held_out_options
from milpbn.cli.engine import (
    check_engine,
    finished,
    method_options,
    note_replaced_checkpoint,
    start_structure,
)
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.options import (
    engine_options,
    exact_score_options,
    given_names,
    given_settings,
    picture_options,
    run_options,
    space_options,
    write_model_option,
)
from milpbn.cli.params import OutputFile
from milpbn.cli.selecting import (
    accept_old_plot,
    given_plan,
    selection_options,
    selection_plot_option,
)
from milpbn.cli.session import Session

if TYPE_CHECKING:
    from milpbn.clock import Clock
    from milpbn.learning.model import Model
    from milpbn.scores import Objective


@command(short_help="Learn a structure exactly.")
@data_options
@held_out_options
@exact_score_options
@space_options
@selection_options
@selection_plot_option
@method_options
@engine_options
@alternative_options
@write_model_option
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
      milpbn solve --data my.csv --target outcome --select auto
      milpbn solve --dataset heart --class-root --best 10
      milpbn solve --dataset heart --class-root --out heart.json --certificate heart.gz
      milpbn solve --dataset german --checkpoint german.tree
      milpbn solve --dataset german --checkpoint german.tree --resume german.tree
    """
    from milpbn.errors import OutputError

    accept_old_plot(options)
    _check(ctx, options)
    limits = given_limits(options)
    start = start_structure(options["start"])
    search = ("warm start",) if isinstance(start, str) else ()
    settings, plan = given_settings(options, start=start), given_plan(options, "plot_selection")
    if plan is not None:
        names = given_names(options, start=start)
        plan.candidates(names)  # bad values are reported before anything is read
        search = ("selecting", *search)
    note_replaced_checkpoint(options)
    session = Session(ctx, options, settings, (*search, "building", "solving"))
    with session.table:
        session.load()
        if plan is not None:
            session.select(names, plan)
        model = _solve(session)
        if limits is not None:
            model = with_alternatives(session, model, limits)
    session.deliver(model)
    if session.missing:
        raise OutputError(
            f"{session.missing} was not written: nothing was proven, or there was no space"
        )
    stopped = model.parameters.stopped_early
    if limits is not None:
        stopped |= model.alternatives is None or not model.alternatives.complete
    closed = finished(model.result, session.settings)
    ctx.exit(0 if closed and not stopped else EXIT_STOPPED)


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    """Reject options that contradict each other, before anything is read."""
    from milpbn.scores import score_class

    Session.check(options)
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


def _solve(session: Session) -> Model:
    from milpbn.learning.maximise import Shared
    from milpbn.learning.methods import method_name

    shared = Shared(_write_model(session)) if session.options["write_model"] else None
    file = session.options["certificate"]
    before = _stamp(file)
    model = session.learn(shared=shared, certificate=file)
    if file and _stamp(file) != before:
        session.table.print(f"wrote {file}")
    elif file and not session.settings.has_tree:
        method = method_name(session.settings.method)
        session.table.print(f"note: {file} was not written: {method} was chosen and proves nothing")
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
    from milpbn.learning.objective import build_objective

    clock, settings = session.clock, session.settings
    objective = build_objective(
        session.data, settings.score, settings.space, clock=clock, options=settings.options
    )
    clock.close_phase("scoring")
    file = session.options["write_model"]
    write_program(objective, file, clock, settings.options.memory_limit)
    session.table.print(f"wrote {file}")
    return objective


def write_program(objective: Objective, file: str, clock: Clock, memory_limit: int) -> None:
    """Save the mixed-integer program of an objective."""
    from milpbn.clock import OutOfTime
    from milpbn.engines.monolithic import build_model, write_model
    from milpbn.errors import MilpbnError

    try:
        model, _ = build_model(objective, memory_limit=memory_limit, checkpoint=clock.checkpoint)
    except OutOfTime:
        raise MilpbnError(
            f"the time limit of {clock.limit:g} s was reached before {file} could be "
            "written; allow more time or lower --max-parents"
        ) from None
    write_model(model, file)
    clock.close_phase("writing")
