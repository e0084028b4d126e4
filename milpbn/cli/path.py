"""``milpbn path``: optimal networks from the smallest one to the one without a penalty."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import data_options, held_out_options
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.options import (
    given_names,
    limit_options,
    margin_options,
    p_grid_option,
    proof_options,
    space_options,
)
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import PENALTIES, OutputFile
from milpbn.cli.session import Session
from milpbn.widths import fitting, terminal_width

if TYPE_CHECKING:
    from milpbn.selection.path import PathPlan, PathPoint, PenaltyPath

# The columns of the table and their widths.
_WIDTHS = {
    **{"p": 6, "penalty": 9, "status": 11, "objective": 13, "gap": 10, "parameters": 10},
    **{"arcs": 5, "features": 8, "training": 9, "test": 9, "log-loss": 15, "accuracy": 14},
}
# What a narrow terminal leaves out first.
_DISPENSABLE = ("objective", "features", "training", "arcs", "log-loss", "gap")


@command(short_help="Learn optimal networks for a grid of penalties.")
@data_options
@held_out_options
@margin_options
@p_grid_option
@option(
    Group.SCORE,
    "--penalty",
    "penalties",
    type=PENALTIES,
    metavar="LAMBDA,...",
    help="Penalties per free parameter: 0,0.5,2,bic.  [default: an automatic grid]",
)
@option(
    Group.SCORE,
    "--points",
    type=click.IntRange(min=2),
    default=20,
    show_default=True,
    help="Maximum number of penalties above 0 in the automatic grid.",
)
@space_options
@option(
    Group.PROTOCOL,
    "--folds",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Number of folds for held-out log-loss and accuracy; 0 to hold no rows out.",
)
@proof_options
@limit_options
@option(
    Group.OUTPUT, "--out", type=OutputFile(), metavar="PATH.csv", help="Save the points as CSV."
)
@option(
    Group.OUTPUT,
    "--plot",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="PATH.png",
    help="Plot margin, size and held-out measures (png, svg, pdf).",
)
@option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print the points as JSON.")
@option(Group.OUTPUT, "--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.pass_context
def path(ctx: click.Context, /, **options: Any) -> None:
    """Learn an optimal network for every penalty of a grid, the sparsest first.

    Each line has its own objective, bound and gap. The automatic grid begins at a penalty for
    which the network without arcs is optimal, and ends at 0. Several values of --p have a path
    each. Log-loss and accuracy on held-out rows come from cross-validation within the training
    rows, with local search inside the folds, and are shown with their standard errors. The time
    limit is divided among the penalties and the folds. Ctrl-C keeps the finished penalties.

    \b
    Examples:
      milpbn path --dataset heart --class-root --plot heart.png
      milpbn path --data my.csv --target outcome --penalty 0,0.5,1,5 --time-limit 10m --out path.csv
    """
    plan = _check(options)
    names = given_names(options, start="local-search")
    from milpbn.learning.settings import make_settings
    from milpbn.selection.path import PathWatch, run_path

    session = Session(ctx, options, make_settings(**names), ("solving", "folds"))
    table = session.table

    def show_point(point: PathPoint, total: int) -> None:
        at = f"penalty {point.penalty:g}{_p(point) if plan.ps else ''}"
        size = point.model.network.n_parameters
        table.print(f"{at}: {point.model.result.status}, {size} parameters")

    def show_fold(done: int, total: int, what: str) -> None:
        table.step(f"folds, {done} of {total} runs")

    with table:
        session.load()
        found = run_path(
            session.rows,
            session.encoded,
            names,
            plan,
            clock=session.clock,
            watch=PathWatch(point=show_point, folds=show_fold),
        )
        session.interrupts.close()
    _deliver(session, found)
    closed = all(_is_closed(point, options["gap"]) for point in found.points)
    ctx.exit(0 if found.complete and closed else EXIT_STOPPED)


def _check(options: dict[str, Any]) -> PathPlan:
    """The plan; reject options that contradict each other, before anything is read."""
    Session.check(options)
    from milpbn.errors import OptionError
    from milpbn.scores import score_class
    from milpbn.selection.path import PathPlan

    kind = score_class(options["score"])
    if "penalty" not in kind.parameter_names():
        raise click.UsageError(f"--score {kind.name} has no penalty per parameter")
    try:
        ps = options["p"] if isinstance(options["p"], tuple) else ()
        return PathPlan(options["penalties"], options["points"], options["folds"] or None, ps)
    except OptionError as error:
        raise click.UsageError(error.on_command_line()) from None


def _is_closed(point: PathPoint, gap: float) -> bool:
    result = point.model.result
    return result.status == "optimal" or (result.gap_rel is not None and result.gap_rel <= gap)


def _deliver(session: Session, found: PenaltyPath) -> None:
    from milpbn.files import write_whole

    def plot(file: str) -> None:
        from milpbn.pictures import plot_path

        plot_path(found, file, title=session.data.name)

    options = session.options
    content = {
        "data": session.data.name,
        "complete": found.complete,
        "folds": found.folds,
        "points": [point.to_dict() for point in found.points],
    }
    with Outputs(quiet=options["quiet"]) as outputs:
        as_json = options["as_json"]
        outputs.report(json.dumps(content, indent=1, allow_nan=False) if as_json else _table(found))
        table = found.to_frame().to_csv(index=False, lineterminator="\n")
        outputs.write(options["out"], lambda file: write_whole(file, table))
        outputs.write(options["plot"], plot)


def _p(point: PathPoint) -> str:
    return f" with p {point.p:g}"


def _table(found: PenaltyPath) -> str:
    several = len({point.p for point in found.points}) > 1
    has_test = any(point.test_accuracy is not None for point in found.points)
    has = {"p": several, "test": has_test, "log-loss": found.folds, "accuracy": found.folds}
    widths = {name: room for name, room in _WIDTHS.items() if has.get(name, True)}
    shown = fitting(widths, _DISPENSABLE, terminal_width())
    header = {name: name for name in _WIDTHS}
    lines = [_line(cells, shown) for cells in (header, *map(_cells, found.points))]
    lines.append("")
    if found.folds:
        lines.append(
            f"log-loss and accuracy: held-out rows, {found.folds} folds, local search inside the "
            "folds; ± standard error"
        )
    if found.note:
        lines.append(found.note)
    best = found.best
    if best is not None:
        lines.append(
            f"smallest log-loss: penalty {best.penalty:g}{_p(best) if several else ''}, "
            f"{best.model.network.n_parameters} parameters"
        )
    return "\n".join(lines).rstrip()


def _line(cells: Mapping[str, str], widths: Mapping[str, int]) -> str:
    return " ".join(
        f"{cells[name]:{'<' if name == 'status' else '>'}{room}}" for name, room in widths.items()
    )


def _cells(point: PathPoint) -> dict[str, str]:
    row = point.to_dict()
    test, loss, share = row["test_accuracy"], row["log_loss"], row["accuracy"]
    return {
        "p": "-" if point.p is None else f"{point.p:g}",
        "penalty": f"{row['penalty']:g}",
        "status": row["status"],
        "objective": f"{row['objective']:.4f}",
        "gap": "-" if row["gap"] is None else f"{100 * row['gap']:.4f} %",
        "parameters": str(row["parameters"]),
        "arcs": str(row["arcs"]),
        "features": str(row["features"]),
        "training": f"{100 * row['training_accuracy']:.2f} %",
        "test": "-" if test is None else f"{100 * test:.2f} %",
        "log-loss": "-" if loss is None else f"{loss:.4f} ± {row['log_loss_error'] or 0:.4f}",
        "accuracy": "-"
        if share is None
        else f"{100 * share:.1f} ± {100 * row['accuracy_error']:.1f} %",
    }
