"""``milpbn grid``: one line for each p."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import data_options, held_out_options
from milpbn.cli.drawing import draw_network_of, plot_gap_of
from milpbn.cli.engine import check_engine, engine_option, finished
from milpbn.cli.grouping import command
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.options import (
    given_settings,
    p_grid_option,
    picture_options,
    run_options,
    setting_option,
    setting_options,
    space_options,
)
from milpbn.cli.outputs import Outputs
from milpbn.cli.session import Session
from milpbn.settings import SETTINGS, ProofNames, ScoreNames, TreeNames

if TYPE_CHECKING:
    from milpbn.learning.model import Model
    from milpbn.result import Listener

PLACE = "{p}"
"""Placeholder for the value of p in the names of output files."""

_HEADER = (
    f"{'p':>7} {'status':<11} {'objective':>15} {'bound':>15} {'gap':>10} {'nodes':>7} "
    f"{'seconds':>8} {'training':>10} {'test':>9}"
)


# The files that a grid writes, one for each p.
_FILES = {"out": "--out", "trace_file": "--trace", "plot": "--plot", "draw": "--draw"}


@command(short_help="Learn optimal structures for several values of p.")
@data_options
@held_out_options
@setting_option("score", "Score to maximise: {scores_with_p}.")
@p_grid_option
@setting_options(ScoreNames, but=("score", "p", "gamma", "ess"))
@space_options
@engine_option
@setting_options(ProofNames, TreeNames, but=("checkpoint", "resume"))
@run_options
@picture_options("Draw the networks (png, svg, pdf, dot).")
@click.pass_context
def grid(ctx: click.Context, /, **options: Any) -> None:
    """Learn an optimal structure for every p of a grid, and print one line for each.

    The runs share their tables and their cuts, and each starts from the structures of the others.
    The time limit is divided among them. Files need {p} in their names. Ctrl-C keeps the finished
    values.

    \b
    Examples:
      milpbn grid --dataset heart --class-root --p 0.6,0.8,0.9,0.99
      milpbn grid --dataset car --p 0.7,0.9 --out car-{p}.json
    """
    _check(ctx, options)
    settings = given_settings(options, start=SETTINGS["start"].default)
    session = Session(ctx, options, settings, ("warm start", "building", "solving"))
    with session.table:
        session.load()
        models = _solve(session)
    complete = len(models) == len(options["p"])
    stopped = any(model.parameters.stopped_early for model in models)
    closed = all(finished(model.result, session.settings) for model in models)
    ctx.exit(0 if complete and closed and not stopped else EXIT_STOPPED)


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    """Reject options that contradict each other, before anything is read."""
    if options["p"] is None:
        raise click.UsageError("give the values of p: --p 0.6,0.8,0.9")
    if not isinstance(options["p"], tuple):
        options["p"] = (options["p"],)
    Session.check(options)
    check_engine(ctx, options)
    for name, option in _FILES.items():
        if options[name] and PLACE not in str(options[name]):
            raise click.UsageError(
                f"several values of p write several files: put {PLACE} into the file name of "
                f"{option}, as in {_example(options[name])}"
            )


def _example(file: str) -> str:
    path = Path(file)
    return str(path.with_name(f"{path.stem}-{PLACE}{path.suffix}"))


def _solve(session: Session) -> list[Model]:
    """Solve for every p, save and print each result as it comes; Ctrl-C keeps the finished ones."""
    from milpbn.learning.classifier import fit_model, structure_clock
    from milpbn.selection.grid import run_grid, settings_by_p

    options, settings = session.options, settings_by_p(session.settings, session.options["p"])

    def listener(p: float) -> Listener:
        session.table.print(f"p = {p:g}")
        return session.table

    models: list[Model] = []
    outputs = Outputs(quiet=options["quiet"], tell=session.table.print)
    runs = run_grid(
        session.data,
        settings,
        clock=structure_clock(session.clock, session.settings.parameters, session.data.codes.size),
        listener=listener,
    )
    with outputs:
        try:
            if not options["as_json"]:
                outputs.report(_HEADER)
            for p, result in runs:
                model = fit_model(session.encoded, settings[p], result, clock=session.clock)
                session.note_parameters(model)
                models.append(model)
                if not options["as_json"]:
                    outputs.report(_line(p, model, session))
                _save(outputs, options, model, p)
        except KeyboardInterrupt:
            if not models:
                raise
            done = f"{len(models)} of {len(settings)}"
            session.table.print(f"note: interrupted after {done} values of p")
        if options["as_json"]:
            reports = [_as_dict(model, session) for model in models]
            outputs.report(json.dumps(reports, indent=1, allow_nan=False))
    return models


def _save(outputs: Outputs, options: dict[str, Any], model: Model, p: float) -> None:
    from milpbn.cli.report import trace_csv
    from milpbn.files import write_whole

    out, trace, plot, draw = (str(options[name] or "").replace(PLACE, str(p)) for name in _FILES)
    outputs.write(out, model.save)
    outputs.write(trace, lambda file: write_whole(file, trace_csv(model.result)))
    outputs.write(plot, partial(plot_gap_of, model))
    outputs.write(draw, partial(draw_network_of, model))


def _as_dict(model: Model, session: Session) -> dict[str, Any]:
    from milpbn.cli.report import report_dict

    return report_dict(model, session.data)


def _line(p: float, model: Model, session: Session) -> str:
    from milpbn.cli.report import accuracies

    result = model.result
    shares = accuracies(model, session.data)
    test = f"{100 * shares['test']:>7.2f} %" if "test" in shares else f"{'-':>9}"
    assert result.bound is not None
    gap = "-" if result.gap_rel is None else f"{100 * result.gap_rel:.4f} %"
    return (
        f"{p:>7g} {result.status:<11} {result.objective:>15.6f} {result.bound:>15.6f} "
        f"{gap:>10} {result.nodes:>7} {sum(result.seconds.values()):>8.2f} "
        f"{100 * shares['training']:>8.2f} % {test}"
    )
