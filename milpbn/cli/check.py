"""``milpbn check``: the old spelling of ``milpbn verify --certificate``, for one more release."""

from __future__ import annotations

import click

from milpbn.cli.grouping import command
from milpbn.cli.models import model_table, moved_data_option, single_class_model
from milpbn.cli.options import setting_option
from milpbn.cli.outputs import say, show
from milpbn.cli.verify import EXIT_DISAGREES, replay


@command(hidden=True)
@click.argument("model_file", metavar="MODEL.json")
@click.argument("certificate", metavar="CERTIFICATE", type=click.Path(exists=True, dir_okay=False))
@moved_data_option
@setting_option("memory_limit")
@setting_option("time_limit", "Time limit for the replay: 90s, 5m.")
@click.pass_context
def check(
    ctx: click.Context,
    model_file: str,
    certificate: str,
    file: str | None,
    memory_limit: int,
    time_limit: float | None,
) -> None:
    """Check a certificate alone; now `milpbn verify MODEL.json --certificate CERTIFICATE`."""
    say("note: `milpbn check` is now `milpbn verify --certificate`, which checks the model, too")
    model = single_class_model(model_file)
    table = model_table(model, model_file, file)
    replayed = replay(model, table, certificate, memory_limit, time_limit)
    show("\n".join([*replayed.lines, "", replayed.verdict]))
    ctx.exit(0 if replayed.holds else EXIT_DISAGREES)
