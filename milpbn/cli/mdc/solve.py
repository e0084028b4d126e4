"""``milpbn mdc solve``: learn a class network exactly."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from milpbn import PROCESS_START
from milpbn.cli.data import check_data_options, several_targets_options, show_notes
from milpbn.cli.engine import engine_option, start_structure
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED, Interrupts
from milpbn.cli.mdc.options import (
    load_several,
    make_classifier,
    model_options,
    notes_for_warnings,
)
from milpbn.cli.models import describe_gbnc
from milpbn.cli.options import constraint_options, output_options, setting_option
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import refuse_overwriting
from milpbn.cli.registries import Registered, registry
from milpbn.cli.workers import worker_processes

if TYPE_CHECKING:
    from milpbn.clock import Clock
    from milpbn.datasets.table import Table
    from milpbn.mdc import GBNCClassifier
    from milpbn.mdc.model_file import GBNCModel
    from milpbn.result import TracePoint

_SETTINGS = (
    "base",
    "validation",
    "max_parents",
    "mixed",
    "max_discrete_parents",
    "loss",
    "time_limit",
    "jobs",
    "seed",
)


@command(short_help="Learn a class network exactly.")
@several_targets_options
@model_options
@constraint_options
@option(
    Group.METHOD,
    "--loss",
    type=Registered(registry("milpbn.mdc.gbnc", "LOSSES")),
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
@output_options
@click.pass_context
def solve(ctx: click.Context, /, **options: Any) -> None:
    """Train base models, then find the class network with the highest score.

    The score is the penalised likelihood of the training rows, or with --validation the
    likelihood of held-out rows.

    Ctrl-C or the time limit ends the training of base models early. The class network is then
    the best one over the families scored so far, and the bound covers the others.

    \b
    Examples:
      milpbn mdc solve --dataset Jura
      milpbn mdc solve --dataset Adult --base logistic:C=0.1 --jobs 2 --out adult.json
      milpbn mdc solve --data my.csv --targets color,brand,type
    """
    check_data_options(options)
    refuse_overwriting(
        {"--out": options["out"], "--trace": options["trace_file"]},
        {"the data": options["file"], "the constraints": options["constraints_file"]},
    )
    from milpbn.clock import Clock

    clock = Clock(options["time_limit"], started=PROCESS_START)
    model = make_classifier(options)
    model.loss, model.engine = options["loss"], options["method"]
    model.start = start_structure(options["start"])
    table = load_several(options)
    clock.close_phase("loading")
    if not options["quiet"]:
        show_notes(table.notes)
    with notes_for_warnings(quiet=options["quiet"]):
        with worker_processes(options):
            _learn(ctx, model, table, clock, options)
        _deliver(model, table, options)
    ctx.exit(0 if model.optimal_ else EXIT_STOPPED)


def _learn(
    ctx: click.Context,
    model: GBNCClassifier,
    table: Table,
    clock: Clock,
    options: dict[str, Any],
) -> None:
    from milpbn.cli.live import GapTable
    from milpbn.mdc.progress import TrainingBar

    quiet = options["quiet"]
    interrupts = ctx.find_object(Interrupts) or Interrupts()
    gaps = GapTable(clock, interrupts, quiet=quiet)
    features, codes = model.prepare(table.features, table.targets)
    clock.close_phase("encoding")
    if model.leaves_choice and not quiet:
        say("choosing the settings of the base models by validation")
    with ExitStack() as stack:
        bar = stack.enter_context(TrainingBar(sys.stderr, quiet=quiet))

        def listener(point: TracePoint) -> None:
            stack.close()  # training is over: the bar makes room for the gap table
            if point.source == "end":
                interrupts.close()  # from here on no signal may keep the result from being saved
            gaps(point)

        model.learn_codes(
            features,
            codes,
            clock,
            start_source=options["start"],
            training_listener=bar,
            listener=listener,
        )
    if not quiet:
        show_notes(model.fits_.notes())


def _deliver(model: GBNCClassifier, table: Table, options: dict[str, Any]) -> None:
    from milpbn.cli.report import trace_csv
    from milpbn.files import write_whole
    from milpbn.mdc.model_file import GBNCModel, describe_table

    saved = GBNCModel(
        model,
        settings={
            **{name: options[name] for name in _SETTINGS},
            "engine": options["method"],
            "warm_start": options["start"],
            "constraints": model.constraints.to_dict() if model.constraints else {},
        },
        data=describe_table(table),
    )
    scores = _training_scores(model, table)
    trace = trace_csv(model.result_)
    with Outputs(quiet=options["quiet"]) as outputs:
        outputs.report(_json(saved, scores) if options["as_json"] else _text(saved, scores))
        outputs.write(options["out"], saved.save)
        outputs.write(options["trace_file"], lambda file: write_whole(file, trace))


def _training_scores(model: GBNCClassifier, table: Table) -> dict[str, float]:
    from milpbn.mdc import exact_match_score, hamming_score

    predicted = model.predict(table.features)
    truth = table.targets.to_numpy(dtype=object)
    return {
        "exact_match": exact_match_score(truth, predicted),
        "hamming": hamming_score(truth, predicted),
    }


def _text(model: GBNCModel, scores: dict[str, float]) -> str:
    shares = (
        f"exact match {100 * scores['exact_match']:.2f} %, "
        f"Hamming score {100 * scores['hamming']:.2f} % (loss {model.classifier.loss})"
    )
    return f"{describe_gbnc(model)}\n{'training':<12}{shares}\n\n{model.classifier.structure_}"


def _json(model: GBNCModel, scores: dict[str, float]) -> str:
    import json
    from dataclasses import asdict

    content = {
        "data": model.data,
        "settings": model.settings,
        "training": asdict(model.classifier.training_),
        "result": model.classifier.result_.to_dict(),
        "training_scores": scores,
    }
    return json.dumps(content, indent=1, allow_nan=False)
