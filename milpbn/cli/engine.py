"""What the commands with exact engines share: the method, the start and their checks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from milpbn.cli.grouping import option_group
from milpbn.cli.options import setting_option
from milpbn.cli.outputs import say
from milpbn.cli.params import usage_errors
from milpbn.cli.registries import Registered, registry
from milpbn.messages import option as spelled
from milpbn.settings import SETTINGS

if TYPE_CHECKING:
    from milpbn.learning.settings import Settings
    from milpbn.result import Result
    from milpbn.structure import Structure

engine_option = setting_option(
    "method",
    "Engine that solves the problem.",
    type=Registered(registry("milpbn.learning.methods", "ENGINES")),
    metavar=None,
    rare=True,
)

method_options = option_group(
    (engine_option, setting_option("start", default=SETTINGS["start"].default))
)
"""The engine, and where it starts."""


def check_engine(ctx: click.Context, options: dict[str, Any]) -> None:
    """Reject options of one engine or host that are given for another."""
    from milpbn.learning.methods import require

    if options.get("workers") and options["scheduler"]:
        raise click.UsageError("give one of --workers and --scheduler")
    method, host = options["method"], options.get("host", SETTINGS["host"].default)
    with usage_errors():
        for name, setting in SETTINGS.items():
            given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
            if setting.needs and given and options[name]:
                require(setting.needs, setting.spelling, method, host)
        if options.get("certificate"):
            require("tree_host", spelled("certificate"), method, host)
    if host == "scip":
        from milpbn.engines.branch_and_cut.scip_host import scip_version

        scip_version()


def note_replaced_checkpoint(options: dict[str, Any]) -> None:
    """Say that a checkpoint will be lost while there is time for Ctrl-C."""
    file = options["checkpoint"]
    if file and not options["resume"] and not options["quiet"] and Path(file).is_file():
        replaced = spelled("resume", file).on_command_line()
        say(f"note: {file} will be replaced; {replaced} continues from it.")


def start_structure(given: str) -> Structure | str | None:
    """Read --start: a structure from a file, the name of a heuristic, or None."""
    from milpbn.errors import OptionError
    from milpbn.search import LEARNERS

    if given == "none":
        return None
    if given in LEARNERS:
        return given
    if not Path(given).exists():
        raise OptionError(
            f"--start {given!r} is neither a file nor a heuristic; the heuristics are "
            f"{', '.join(LEARNERS)}"
        )
    from milpbn.interchange import read_structure  # slow to import

    return read_structure(given)


def finished(result: Result, settings: Settings) -> bool:
    """Whether the run has done what it was asked for; a selected heuristic owes no proof."""
    from milpbn.learning.methods import ENGINES

    if settings.method not in ENGINES:
        return result.status == "feasible"
    within = result.gap_rel is not None and result.gap_rel <= settings.options.gap
    return result.status == "optimal" or within
