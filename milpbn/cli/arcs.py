"""``milpbn arcs``: how much score each arc of a model is worth."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.additions import Addition, addition_options, model_options
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.words import arc_in_list, count

if TYPE_CHECKING:
    from milpbn.certainty.arc_records import ArcMargin, ArcMargins

# How many arcs that the model does not have are listed.
_OTHERS = 10
_OWN = "arc of the model"
_TITLES = ("without it", "without an edge", "with it")


@command(short_help="Prove which arcs of a model matter, and by how much.")
@model_options
@addition_options
@option(
    Group.CONTENT, "--all", "show_all", is_flag=True, help="List all arcs that the model lacks."
)
@click.pass_context
def arcs(ctx: click.Context, /, **options: Any) -> None:
    """Show how much score each arc is worth: the loss if it is removed, or added.

    For every arc of the model: the best score without it, and without an arc between the two
    variables in either direction. For every other arc: the best score with it. Each is an
    interval between what was found and what is proven. The time is divided among the open
    questions; after the time limit or Ctrl-C, the same command continues with the open ones.

    \b
    Examples:
      milpbn arcs model.json
      milpbn arcs model.json --time-limit 5m
      milpbn inspect model.json --draw network.svg
    """
    run = Addition(ctx, options, "cuts of the root")
    from dataclasses import replace

    from milpbn.certainty.arcs import model_arc_margins

    with run.working():
        margins = model_arc_margins(
            run.model,
            run.table,
            clock=run.clock,
            seed=options["seed"],
            watch=run.watch("questions closed"),
        )
        run.finish()
    lines = arc_lines(margins, None if options["show_all"] else _OTHERS)
    run.deliver(replace(run.model, arcs=margins), margins.to_dict(), lines)
    ctx.exit(0 if margins.complete else EXIT_STOPPED)


def arc_lines(margins: ArcMargins, most: int | None = _OTHERS) -> list[str]:
    """The margins as a table: arcs of the model, then at most this many others."""
    from milpbn.certainty.arc_records import show_loss

    own = [a for a in margins.arcs if a.present]
    others = [a for a in margins.arcs if not a.present]
    shown = others[:most]
    show = partial(show_loss, tolerance=margins.tolerance)
    room = max([len(_OWN), *(len(_name(a)) for a in (*own, *shown))])
    lines = [f"{'questions':<12}{margins.closed} of {len(margins.answers)} closed", ""]
    if own:
        lines.append(f"{_OWN:<{room}} {_TITLES[0]:>18} {_TITLES[1]:>18}")
        lines += [f"{_name(a):<{room}} {show(a.margin):>18} {show(a.edge):>18}" for a in own]
        lines.append("")
    if shown:
        lines.append(f"{'other arc':<{room}} {_TITLES[2]:>18}")
        lines += [f"{_name(a):<{room}} {show(a.margin):>18}" for a in shown]
        if len(others) > len(shown):
            lines.append(f"{len(others) - len(shown)} more; `milpbn arcs --all` lists them")
        lines.append("")
    return [*lines, *_summary(margins, own)]


def _summary(margins: ArcMargins, own: list[ArcMargin]) -> list[str]:
    slack = margins.tolerance
    edges = sum(a.edge is not None and a.edge.low > slack for a in own)
    arcs = sum(a.margin.low > slack for a in own)
    lines = [
        "Figures are losses of score: the best structure of the kind scores this much less than "
        "the model.",
        f"Proven: {arcs} of {count(len(own), 'arc')} and {edges} of {count(len(own), 'edge')} are "
        "in every structure that scores as much as the model.",
    ]
    if margins.best > margins.objective + slack:
        lines.append(
            f"A structure scores {margins.best:.6f}, the model only {margins.objective:.6f}: a "
            "negative loss is a gain."
        )
    return lines


def _name(arc: ArcMargin) -> str:
    return arc_in_list(arc.parent, arc.child)
