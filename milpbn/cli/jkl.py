"""``milpbn solve --jkl``: the best structure for local scores, without data or classifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from milpbn import PROCESS_START
from milpbn.cli.data import DATA_OPTIONS
from milpbn.cli.interrupts import Interrupts
from milpbn.cli.options import BUDGETS, SCORE_SETTINGS, given_solve_options
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import refuse_options, refuse_overwriting

if TYPE_CHECKING:
    from milpbn.result import Result, TracePoint
    from milpbn.scores.local import LocalScores

# The file determines the families and their scores.
_NOT_WITH_SCORES = (
    *DATA_OPTIONS,
    "holdout",
    "test_file",
    "score",
    *SCORE_SETTINGS,
    "smoothing",
    "parameters",
    "max_parents",
    "class_parents",
    "augmented",
    "require",
    "forbid",
    "constraints_file",
    *BUDGETS,
    "feature_costs",
    "select",
    "select_by",
    "exact_folds",
    "plot_selection",
    "write_model",
    "certificate",
)


def solve_local_scores(ctx: click.Context, options: dict[str, Any]) -> NoReturn:
    """Solve, report, and exit with the exit code of `milpbn solve`."""
    _check(ctx, options)
    from milpbn.cli.interrupts import EXIT_STOPPED
    from milpbn.cli.live import GapTable
    from milpbn.cli.solve import note_replaced_checkpoint, start_structure
    from milpbn.clock import Clock
    from milpbn.interchange.jkl import read_jkl
    from milpbn.learning.maximise import maximise
    from milpbn.learning.settings import Settings

    note_replaced_checkpoint(options)
    interrupts = ctx.find_object(Interrupts) or Interrupts()
    start = start_structure(options["warm_start"])
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
            method=options["engine"],
            start=start,
            start_source=options["warm_start"],
            options=given_solve_options(options),
        )
        result = maximise(scores.given, settings, clock, listen)
    _deliver(result, scores, options)
    within = result.gap_rel is not None and result.gap_rel <= options["gap"]
    ctx.exit(0 if result.status == "optimal" or within else EXIT_STOPPED)


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    from milpbn.cli.solve import check_engine

    check_engine(ctx, options)
    why = (
        "cannot be combined with --jkl: the file already contains the parent sets and their scores"
    )
    refuse_options(ctx, _NOT_WITH_SCORES, why)
    refuse_options(ctx, ("best", "within", "draw"), "cannot be combined with --jkl: it needs data")
    refuse_overwriting(
        {
            "--out": options["out"],
            "--trace": options["trace_file"],
            "--plot": options["plot"],
            "--checkpoint": options["checkpoint"],
        },
        {"the local scores": options["jkl"]},
    )


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
