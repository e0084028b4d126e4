"""``milpbn stability``: how often the arcs of a model are learned again from resampled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.additions import Addition, addition_options, model_options
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.params import Duration
from milpbn.cli.registries import Registered, registry
from milpbn.cli.workers import jobs_options, n_jobs, worker_processes
from milpbn.words import arc_in_list

if TYPE_CHECKING:
    from milpbn.certainty.stability_records import Arc
    from milpbn.learning.model import Model

# How many arcs that the model does not have are listed.
_OTHERS = 10
_OWN = "arc of the model"


@command(short_help="Relearn the structure on bootstrap samples and count the arcs.")
@model_options
@option(
    Group.PROTOCOL,
    "--resamples",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Number of bootstrap samples.",
)
@option(
    Group.METHOD,
    "--method",
    type=Registered(registry("milpbn.certainty.stability", "METHODS")),
    default="local-search",
    show_default=True,
    help="What learns the structures; branch-and-cut proves that they are optimal.",
)
@option(
    Group.LIMITS, "--resample-limit", type=Duration(), help="Time limit for each sample: 10s, 1m."
)
@jobs_options("Number of samples to work on in parallel; -1 for all cores.")
@addition_options
@click.pass_context
def stability(ctx: click.Context, /, **options: Any) -> None:
    """Learn structures from bootstrap samples of the rows of MODEL.json, and count their arcs.

    A frequency says how an arc depends on the sample of rows; a margin (see `milpbn arcs`) says
    what it is worth on the rows at hand. Both are shown if the model has them. Ctrl-C and the time
    limit keep the samples that are finished.

    \b
    Examples:
      milpbn stability model.json
      milpbn stability model.json --method branch-and-cut --resample-limit 30s --jobs 2
    """
    run = Addition(ctx, options, "samples")
    from dataclasses import replace

    from milpbn.certainty.stability import model_stability

    with run.working(), worker_processes(options, kill=True):
        found = model_stability(
            run.model,
            run.table,
            resamples=options["resamples"],
            method=options["method"],
            resample_limit=options["resample_limit"],
            clock=run.clock,
            seed=options["seed"],
            n_jobs=n_jobs(options),
            watch=run.watch("samples"),
        )
        run.finish()
    model = replace(run.model, stability=found)
    run.deliver(model, found.to_dict(), stability_lines(model))
    ctx.exit(0 if found.complete else EXIT_STOPPED)


def stability_lines(model: Model) -> list[str]:
    """The frequencies as a table, beside the proven margins if the model has them."""
    from milpbn.structure import Structure

    found, structure = model.stability, model.result.structure
    assert found is not None
    assert isinstance(structure, Structure)
    own = sorted(structure.arcs, key=lambda arc: (-found.edge_frequency(arc), arc))
    others = [arc for arc in found.counts if arc not in set(own)][:_OTHERS]
    room = max([len(_OWN), *(len(arc_in_list(*arc)) for arc in (*own, *others))])

    def line(arc: Arc) -> str:
        shares = f"{_share(found.frequency(arc))} {_share(found.edge_frequency(arc))}"
        return f"{arc_in_list(*arc):<{room}} {shares}{_margins(model, arc)}".rstrip()

    def head(what: str, *losses: str) -> str:
        titles = losses if model.arcs is not None else ()
        shown = "".join(f" {title:>18}" for title in titles)
        return f"{what:<{room}} {'arc':>9} {'edge':>9}{shown}"

    proven = f", {found.optimal} proven optimal" if found.optimal else ""
    lines = [
        f"{'samples':<12}{found.resamples} of {found.wanted}, {found.method}{proven}",
        "",
        head(_OWN, "loss without it", "without an edge"),
        *map(line, own),
    ]
    if others:
        lines += ["", head("other arc", "loss with it"), *map(line, others)]
    return lines


def _margins(model: Model, arc: Arc) -> str:
    """The proven margins of an arc, if the model has them."""
    from milpbn.certainty.arc_records import show_loss

    if model.arcs is None:
        return ""
    known = next((a for a in model.arcs.arcs if (a.parent, a.child) == arc), None)
    losses = () if known is None else (known.margin, known.edge)
    return "".join(f" {show_loss(loss, model.arcs.tolerance):>18}" for loss in losses)


def _share(value: float) -> str:
    return f"{100 * value:>7.1f} %"
