"""``milpbn verify``: check the claims of a model file against its data."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import model_table, moved_data_option, single_class_model, trust_option
from milpbn.cli.options import setting_option
from milpbn.cli.outputs import show
from milpbn.cli.params import refuse_options

if TYPE_CHECKING:
    from milpbn.datasets.table import Table
    from milpbn.learning.model import Model

EXIT_DISAGREES = 4

_MARKS = {True: "holds", False: "DISAGREES", None: "open"}


class Replay(NamedTuple):
    """What the replay of a certificate shows."""

    lines: list[str]
    verdict: str
    holds: bool


@command(short_help="Check a model file against its data.")
@click.argument("model_file", metavar="MODEL.json")
@moved_data_option
@option(
    Group.PROOF,
    "--certificate",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Replay the proof in this file, which `milpbn solve --certificate` wrote.",
)
@setting_option(
    "time_limit",
    "Time limit for bounds and enumeration, and for the replay if it is given: 90s, 5m.",
    default="60s",
    shown="60s",
)
@setting_option("memory_limit")
@trust_option
@click.pass_context
def verify(
    ctx: click.Context,
    model_file: str,
    file: str | None,
    certificate: str | None,
    time_limit: float,
    memory_limit: int,
    trust: tuple[str, ...],
) -> None:
    """Read the data again and check everything that MODEL.json claims.

    Encoding, parameters, constraints and score are computed again by independent code; the
    root bound is derived from scratch; new searches look for a structure above the bound, or
    missing from the alternatives, or against the margins of arcs; and if the space is small
    enough, every structure is enumerated. The exit code is 4 if anything disagrees. Redundant
    entries must agree. Entries that cannot be checked, such as timings, are listed. With several
    class variables, the base models of the file are used as they are; only a score of held-out
    rows needs new ones.

    With --certificate, the proof of the bound is replayed, too, by a small program that shares no
    code with the learners: it computes tables and cuts from the definitions.

    \b
    Examples:
      milpbn verify heart.json
      milpbn solve --dataset heart --class-root --out heart.json --certificate heart.gz
      milpbn verify heart.json --certificate heart.gz
    """
    from milpbn.errors import ConstraintError, ModelFileError, OptionError
    from milpbn.files import read_marked_json
    from milpbn.model_files import load_model
    from milpbn.model_files import verify as verify_model
    from milpbn.verification.checks import DISAGREES

    if certificate is None:
        refuse_options(ctx, ("memory_limit",), "requires --certificate")
    # Models for several class variables have no certificate.
    single = None if certificate is None else single_class_model(model_file)
    model = single or load_model(model_file, trust)
    content = read_marked_json(model_file, model.versions)
    table = model_table(model, model_file, file)
    try:
        verification = verify_model(model, table, content=content, time_limit=time_limit)
    except (ModelFileError, OptionError, ConstraintError) as error:
        raise error.at(model_file) from None
    holds, verdict = verification.agrees, verification.verdict
    for check in verification.checks:
        show(f"{_MARKS[check.holds]:<11}{check.claim} ({check.seen})")
    if verification.unchecked:
        show(_not_checked(verification.unchecked))
    if certificate is not None and single is not None:
        limited = ctx.get_parameter_source("time_limit") is ParameterSource.COMMANDLINE
        seconds = time_limit if limited else None
        replayed = replay(single, table, certificate, memory_limit, seconds)
        show("\n".join(replayed.lines))
        agrees = "Everything agrees." if replayed.holds else "Everything else agrees."
        verdict = f"{agrees if holds else DISAGREES} {replayed.verdict}"
        holds &= replayed.holds
    show("\n" + verdict)
    ctx.exit(0 if holds else EXIT_DISAGREES)


def replay(
    model: Model, table: Table, certificate: str, memory_limit: int, time_limit: float | None
) -> Replay:
    """Replay a certificate, by the checker that shares no code with the learners."""
    from milpbn.errors import CertificateError
    from milpbn.verification.certificate_claims import check_model
    from milpbn.words import count

    try:
        proven = check_model(model, table, certificate, memory_limit, time_limit)
    except CertificateError as error:
        lines = [f"REJECTED   {error.on_command_line()}"]
        return Replay(lines, "The certificate proves nothing here.", holds=False)
    size = f"{count(proven.nodes, 'node')}, {count(proven.rows, 'row')}"
    lines = [
        f"proven     no structure in this space scores more than {proven.bound:.6f} ({size})",
        f"found      the structure of the model scores {proven.score:.6f}",
    ]
    verdict = "The certificate holds. It proves the bound of the model."
    if proven.optimal:
        verdict = "The certificate holds. The structure is optimal, at the tolerance of the model."
    return Replay(lines, verdict, holds=True)


def _not_checked(entries: Sequence[str]) -> str:
    """The entries that cannot be checked, as a paragraph like the claims above it."""
    return fill(
        ", ".join(entries),
        width=99,
        initial_indent=f"{'open':<11}cannot be checked: ",
        subsequent_indent=" " * 11,
        break_long_words=False,
        break_on_hyphens=False,
    )
