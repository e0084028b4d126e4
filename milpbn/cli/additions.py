"""Shared by the commands that compute something for a model and add it to its file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from milpbn import PROCESS_START
from milpbn.bar import Bar
from milpbn.cli.grouping import Group, option, option_group
from milpbn.cli.interrupts import Interrupts
from milpbn.cli.models import model_table, moved_data_option, single_class_model
from milpbn.cli.options import setting_option
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import OutputFile, refuse_overwriting

if TYPE_CHECKING:
    from milpbn.learning.model import Model

# Seconds between two lines of progress if stderr is not a terminal.
_SECONDS_BETWEEN_LINES = 10.0

model_options = option_group(
    (
        click.argument("model_file", metavar="MODEL.json"),
        moved_data_option,
        setting_option("time_limit"),
        setting_option("seed", "Random seed."),
    )
)
"""The model file, and limits of the run."""

addition_options = option_group(
    (
        option(
            Group.OUTPUT,
            "--out",
            type=OutputFile(),
            metavar="OUT.json",
            help="Save the model with the result here.  [default: MODEL.json]",
        ),
        option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print the result as JSON."),
        option(Group.OUTPUT, "--quiet", is_flag=True, help="No progress on stderr."),
    )
)
"""Options for the output."""


class Addition:
    """One run of such a command.

    Parameters
    ----------
    ctx, options
        The command and its options.
    first
        What the progress bar says at first.
    """

    def __init__(self, ctx: click.Context, options: dict[str, Any], first: str) -> None:
        from milpbn.clock import Clock
        from milpbn.files import check_writable

        self.options = options
        self.out = options["out"] or options["model_file"]
        refuse_overwriting({"--out": options["out"]}, {"the data": options["file"]})
        check_writable(self.out)
        self.clock = Clock(options["time_limit"], started=PROCESS_START)
        self.model = single_class_model(options["model_file"])
        self.table = model_table(self.model, options["model_file"], options["file"])
        self.bar = Bar(
            sys.stderr,
            first,
            quiet=options["quiet"],
            seconds_between_lines=_SECONDS_BETWEEN_LINES,
        )
        self._interrupts = ctx.find_object(Interrupts) or Interrupts()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Show progress; an error that the model causes names its file."""
        from milpbn.errors import ConstraintError, ModelFileError, OptionError

        try:
            with self.bar:
                yield
        except (ModelFileError, OptionError, ConstraintError) as error:
            raise error.at(self.options["model_file"]) from None

    def watch(self, words: str) -> Callable[[int, int], None]:
        """A callback that shows how many pieces are done, such as "samples"."""

        def show(done: int, total: int) -> None:
            self.bar.show(done, total, f"{done} of {total} {words}; Ctrl-C keeps them")

        return show

    def finish(self) -> None:
        """From now on, no signal may stop the report."""
        self._interrupts.close()

    def deliver(self, model: Model, content: dict[str, Any], lines: Sequence[str]) -> None:
        """Print the result, and save the model."""
        with Outputs(quiet=self.options["quiet"]) as outputs:
            if self.options["as_json"]:
                outputs.report(json.dumps(content, indent=1, allow_nan=False))
            else:
                outputs.report("\n".join(lines))
            outputs.write(self.out, model.save)
