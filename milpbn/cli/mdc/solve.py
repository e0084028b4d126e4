"""``milpbn mdc solve``: learn a class network exactly."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from milpbn import PROCESS_START
from milpbn.cli.data import check_data_options, several_targets_options, show_notes
from milpbn.cli.drawing import draw_network_of, plot_gap_of
from milpbn.cli.engine import check_engine, engine_option
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED, Interrupts
from milpbn.cli.mdc.options import (
    given_gbnc_settings,
    load_several,
    model_options,
    notes_for_warnings,
)
from milpbn.cli.options import (
    constraint_options,
    output_options,
    picture_options,
    setting_option,
    write_model_option,
)
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.cli.registries import Registered, registry
from milpbn.cli.workers import worker_processes

if TYPE_CHECKING:
    from milpbn.clock import Clock
    from milpbn.datasets.table import Table
    from milpbn.mdc import GBNCModel, GBNCSettings
    from milpbn.mdc.learn import Trained
    from milpbn.result import TracePoint


@command(short_help="Learn a class network exactly.")
@several_targets_options
@model_options
@constraint_options
@option(
    Group.METHOD,
    "--loss",
    type=Registered(registry("milpbn.mdc.inference", "LOSSES")),
    default="subset",
    show_default=True,
    help="Loss that predictions minimise; `milpbn predict --loss` can override it.",
)
@engine_option
@setting_option(
    "start",
    "Start from a model or structure file, or from the result of a heuristic; none for no start.",
    default="none",
    shown="none",
)
@setting_option("time_limit")
@setting_option("emit")
@write_model_option
@option(
    Group.PROOF,
    "--write-scores",
    type=OutputFile(".jkl"),
    metavar="X.jkl",
    help="Save the local scores of the families, for `milpbn solve-scores` and other solvers.",
    rare=True,
)
@output_options
@picture_options("Draw the class network (png, svg, pdf, dot).")
@click.pass_context
def solve(ctx: click.Context, /, **options: Any) -> None:
    """Train base models, then find the class network with the highest score.

    The score is the likelihood of held-out rows, or with --validation none the penalised
    likelihood of the training rows, which is faster.

    Ctrl-C or the time limit ends the training of base models early. The class network is then
    the best one over the families scored so far, and the bound covers the others.

    \b
    Examples:
      milpbn mdc solve --dataset Jura
      milpbn mdc solve --dataset Adult --base logistic:C=0.1 --jobs 2 --out adult.json
      milpbn mdc solve --data my.csv --targets color,brand,type --draw classes.png
    """
    check_data_options(options)
    names = ("out", "write_model", "write_scores", "plot", "draw")
    refuse_overwriting(
        {
            "--trace": options["trace_file"],
            **{f"--{name.replace('_', '-')}": options[name] for name in names},
        },
        {"the data": options["file"], "the constraints": options["constraints_file"]},
    )
    from milpbn.clock import Clock

    check_engine(ctx, options)
    clock = Clock(options["time_limit"], started=PROCESS_START)
    settings = given_gbnc_settings(options)
    table = load_several(options)
    clock.close_phase("loading")
    if not options["quiet"]:
        show_notes(table.notes)
    with notes_for_warnings(quiet=options["quiet"]):
        with worker_processes(options):
            model = _learn(ctx, table, settings, clock, options)
        _deliver(model, table, options)
    ctx.exit(0 if model.result.status == "optimal" else EXIT_STOPPED)


def _learn(
    ctx: click.Context,
    table: Table,
    settings: GBNCSettings,
    clock: Clock,
    options: dict[str, Any],
) -> GBNCModel:
    from milpbn.cli.live import GapTable
    from milpbn.mdc.learn import choose_network, train_families
    from milpbn.mdc.progress import TrainingBar

    quiet = options["quiet"]
    interrupts = ctx.find_object(Interrupts) or Interrupts()
    gaps = GapTable(clock, interrupts, quiet=quiet)
    if settings.chooses and not quiet:
        say("choosing the settings of the base models by validation")
    with ExitStack() as stack:
        bar = stack.enter_context(TrainingBar(sys.stderr, quiet=quiet))
        trained = train_families(table, settings, clock, bar)

    def listener(point: TracePoint) -> None:
        if point.source == "end":
            interrupts.close()  # from here on no signal may keep the result from being saved
        gaps(point)

    if not quiet:
        show_notes(trained.fits.notes())
    _write_problem(trained, clock, options)
    return choose_network(trained, clock, listener)


def _write_problem(trained: Trained, clock: Clock, options: dict[str, Any]) -> None:
    """Save what the engine solves next: the program, the local scores."""
    from milpbn.anytime import SolveOptions
    from milpbn.cli.solve import write_program
    from milpbn.files import write_whole
    from milpbn.interchange.jkl import write_jkl

    program, scores = options["write_model"], options["write_scores"]
    if program:
        write_program(trained.objective, program, clock, SolveOptions().memory_limit)
    if scores:
        write_whole(scores, write_jkl(trained.objective))
    for file in filter(None, (program, scores)):
        if not options["quiet"]:
            say(f"wrote {file}")


def _deliver(model: GBNCModel, table: Table, options: dict[str, Any]) -> None:
    from milpbn.cli.report import trace_csv
    from milpbn.files import write_whole

    scores, trace = _training_scores(model, table), trace_csv(model.result)
    with Outputs(quiet=options["quiet"]) as outputs:
        outputs.report(_json(model, scores) if options["as_json"] else _text(model, scores))
        outputs.write(options["out"], model.save)
        outputs.write(options["trace_file"], lambda file: write_whole(file, trace))
        outputs.write(options["plot"], partial(plot_gap_of, model))
        outputs.write(options["draw"], partial(draw_network_of, model))


def _training_scores(model: GBNCModel, table: Table) -> dict[str, float]:
    from milpbn.mdc import exact_match_score, hamming_score

    predicted = model.decide(model.encode(table.features))
    truth = model.known_codes(table.targets)
    return {
        "exact_match": exact_match_score(truth, predicted, table.weights),
        "hamming": hamming_score(truth, predicted, table.weights),
    }


def _text(model: GBNCModel, scores: dict[str, float]) -> str:
    shares = (
        f"exact match {100 * scores['exact_match']:.2f} %, "
        f"Hamming score {100 * scores['hamming']:.2f} % (loss {model.settings.loss})"
    )
    lines = [
        f"{'data':<12}{model.data['name']}, {model.data['n_rows']} rows",
        *model.facts(),
        str(model.result),
        f"{'training':<12}{shares}",
        "",
        str(model.structure),
    ]
    return "\n".join(lines)


def _json(model: GBNCModel, scores: dict[str, float]) -> str:
    import json

    content = model.to_dict()
    shown = {name: content[name] for name in ("data", "settings", "training", "result")}
    return json.dumps({**shown, "training_scores": scores}, indent=1, allow_nan=False)
