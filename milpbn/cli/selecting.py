"""Options that choose settings by validation, shared by `solve`, `learn` and `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.grouping import Group, option, option_group
from milpbn.cli.outputs import say
from milpbn.cli.params import Candidates, OutputFile
from milpbn.cli.registries import criteria

if TYPE_CHECKING:
    from milpbn.selection.plan import SelectionPlan

AUTO = "auto"
BINS = "bins"

selection_options = option_group(
    (
        option(
            Group.SELECTION,
            "--select",
            type=Candidates(),
            multiple=True,
            metavar="NAME=VALUES|auto",
            help="Candidate values of a setting, compared by validation on the training rows: "
            "p=0.6,0.9, parameters=ml,cl or bins=mdlp,quantile:6; may be repeated. `auto` for the "
            "default candidates (with `milpbn evaluate`, use --method auto).",
        ),
        option(
            Group.SELECTION,
            "--select-by",
            metavar="MEASURE",
            help_from=lambda: f"Measure to select by: {criteria()}.  [default: log-loss]",
            rare=True,
        ),
        option(
            Group.SELECTION,
            "--exact-folds",
            is_flag=True,
            help="Run the exact engine, not local search, inside the folds of --select.",
            rare=True,
        ),
    )
)
"""Options that say what to choose from, and how."""

selection_plot_option = option(
    Group.SELECTION,
    "--plot-selection",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="OUT.png",
    help="Plot how the candidates of --select predict held-out rows (png, svg, pdf).",
    rare=True,
)


def accept_old_plot(options: dict[str, Any]) -> None:
    """The old spelling: with --select and without --plot-selection, --plot draws the candidates."""
    if options["select"] and options["plot"] and not options["plot_selection"]:
        if not options["quiet"]:
            say("note: with --select, --plot draws the candidates; use --plot-selection for this")
        options["plot_selection"], options["plot"] = options["plot"], None


def given_plan(options: Mapping[str, Any], *with_it: str) -> SelectionPlan | None:
    """The selection that the options ask for; names, values and contradictions are checked.

    `with_it` are further options of the command that only make sense with a selection.
    """
    names = [name for name, _ in options["select"]]
    if not names:
        for option in ("select_by", "exact_folds", *with_it):
            if options.get(option):
                raise click.UsageError(f"--{option.replace('_', '-')} requires --select")
        return None
    if AUTO in names and set(names) - {AUTO, BINS}:
        raise click.UsageError(f"--select {AUTO} can only be combined with --select {BINS}=...")
    if len(set(names)) < len(names):
        raise click.UsageError("--select is given twice for the same setting")
    if options["bins"] is not None and BINS in names:
        raise click.UsageError(f"--bins cannot be combined with --select {BINS}=...")
    for name in ("p", "gamma"):
        if options[name] is not None and {"p", "gamma"} & set(names):
            raise click.UsageError(f"--{name} cannot be combined with --select p=... or gamma=...")
    from milpbn.errors import OptionError
    from milpbn.selection.criteria import LOG_LOSS
    from milpbn.selection.plan import SelectionPlan

    given = {name: list(v) for name, v in options["select"]}
    own = None if options["bins"] is None else [options["bins"]]
    bins, by = given.pop(BINS, own), options["select_by"] or LOG_LOSS
    try:
        return SelectionPlan(
            AUTO if AUTO in given else given, by, exact_folds=options["exact_folds"], bins=bins
        )
    except OptionError as error:
        raise click.UsageError(error.on_command_line()) from None
