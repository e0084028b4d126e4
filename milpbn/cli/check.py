"""``milpbn check``: check the certificate of a proof, step by step."""

from __future__ import annotations

import click

from milpbn.cli.models import model_table, moved_data_option, single_class_model
from milpbn.cli.options import memory_option
from milpbn.cli.outputs import show
from milpbn.cli.params import Duration
from milpbn.cli.verify import EXIT_DISAGREES


@click.command(short_help="Check the certificate of a proof.")
@click.argument("model_file", metavar="MODEL.json")
@click.argument("certificate", metavar="CERTIFICATE", type=click.Path(exists=True, dir_okay=False))
@moved_data_option
@memory_option
@click.option("--time-limit", type=Duration(), help="Time limit for the replay: 90s, 5m.")
@click.pass_context
def check(
    ctx: click.Context,
    model_file: str,
    certificate: str,
    file: str | None,
    memory_limit: int,
    time_limit: float | None,
) -> None:
    """Check that CERTIFICATE proves the bound of MODEL.json.

    The data are read and encoded again. Everything else is done by a small program that
    shares no code with the learners: it computes tables and cuts from the definitions and
    replays the proof. The exit code is 4 if the proof does not hold, or proves less than
    the model claims.

    \b
    Example:
      milpbn solve --dataset heart --class-root --out heart.json --certificate heart.gz
      milpbn check heart.json heart.gz
    """
    from milpbn.errors import CertificateError
    from milpbn.learning.certificate_claims import check_model
    from milpbn.words import count

    model = single_class_model(model_file)
    table = model_table(model, model_file, file)
    try:
        proven = check_model(model, table, certificate, memory_limit, time_limit)
    except CertificateError as error:
        show(f"REJECTED   {error.on_command_line()}\n\nThe certificate proves nothing here.")
        ctx.exit(EXIT_DISAGREES)
    size = f"{count(proven.nodes, 'node')}, {count(proven.rows, 'row')}"
    show(f"proven     no structure in this space scores more than {proven.bound:.6f} ({size})")
    show(f"found      the structure of the model scores {proven.score:.6f}")
    show("\n" + _verdict(proven.optimal))


def _verdict(optimal: bool) -> str:
    if optimal:
        return "The certificate holds. The structure is optimal, at the tolerance of the model."
    return "The certificate holds. It proves the bound of the model."
