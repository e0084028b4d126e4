"""``milpbn solve-scores``: the best structure for local scores, without data or classifier."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milpbn import PROCESS_START
from milpbn.cli.engine import (
    check_engine,
    method_options,
    note_replaced_checkpoint,
    start_structure,
)
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import Interrupts
from milpbn.cli.options import engine_options, run_options
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.settings import SolveOptions

if TYPE_CHECKING:
    from milpbn.result import Result, TracePoint
    from milpbn.scores.local import LocalScores


@command("solve-scores", short_help="Learn a structure exactly from local scores.")
@click.argument("jkl", metavar="X.jkl")
@method_options
@engine_options
@run_options
@option(
    Group.OUTPUT,
    "--plot",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="OUT.png",
    help="Plot objective and bound over time (png, svg, pdf).",
)
@click.pass_context
def solve_scores(ctx: click.Context, /, **options: Any) -> None:
    """Find the best structure for the local scores in a file, without data or classifier.

    Files in the format of GOBNILP (.jkl) list the score of every candidate parent set; `milpbn
    scores` writes them. With --out, the structure is saved.

    \b
    Examples:
      milpbn solve-scores asia.jkl --out structure.json
    """
    check_engine(ctx, options)
    refuse_overwriting(
        {
            "--out": options["out"],
            "--trace": options["trace_file"],
            "--plot": options["plot"],
            "--checkpoint": options["checkpoint"],
        },
        {"the local scores": options["jkl"]},
    )
    from milpbn.cli.interrupts import EXIT_STOPPED
    from milpbn.cli.live import GapTable
    from milpbn.clock import Clock
    from milpbn.interchange.jkl import read_jkl
    from milpbn.learning.maximise import maximise
    from milpbn.learning.settings import Settings

    note_replaced_checkpoint(options)
    interrupts = ctx.find_object(Interrupts) or Interrupts()
    start = start_structure(options["start"])
    phases = ("loading", *(("warm start",) if isinstance(start, str) else ()), "building")
    clock = Clock(options["time_limit"], started=PROCESS_START)
    table = GapTable(clock, interrupts, (*phases, "solving"), quiet=options["quiet"])

    def listen(point: TracePoint) -> None:
        if point.source == "end":
            interrupts.close()  # from here on no signal may keep the result from being saved
        table(point)

    with table:
        scores = read_jkl(options["jkl"])
        clock.close_phase("loading")
        settings = Settings(
            score=scores,
            method=options["method"],
            start=start,
            start_source=options["start"],
            options=SolveOptions(**{f.name: options[f.name] for f in fields(SolveOptions)}),
        )
        result = maximise(scores.given, settings, clock, listen)
    _deliver(result, scores, options)
    within = result.gap_rel is not None and result.gap_rel <= options["gap"]
    ctx.exit(0 if result.status == "optimal" or within else EXIT_STOPPED)


def _deliver(result: Result, scores: LocalScores, options: dict[str, Any]) -> None:
    from milpbn.cli.report import trace_csv
    from milpbn.files import write_whole

    def plot(file: str) -> None:
        from milpbn.pictures import plot_gap

        plot_gap(result, file, title=Path(options["jkl"]).name)

    with Outputs(quiet=options["quiet"]) as outputs:
        if options["as_json"]:
            outputs.report(json.dumps({"result": result.to_dict()}, indent=1, allow_nan=False))
        else:
            space = scores.given.space
            outputs.report(f"{'families':<12}{len(space)} for {space.n_variables} variables")
            outputs.report(f"{result}\n\n{result.structure}")
        structure = json.dumps(result.structure.to_dict(), indent=1) + "\n"
        outputs.write(options["out"], lambda file: write_whole(file, structure))
        outputs.write(options["trace_file"], lambda file: write_whole(file, trace_csv(result)))
        outputs.write(options["plot"], plot)
