"""``milpbn verify``: check the claims of a model file against its data."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import click

from milpbn.cli.models import model_table, moved_data_option, trust_option
from milpbn.cli.outputs import show
from milpbn.cli.params import Duration

if TYPE_CHECKING:
    from milpbn.learning.checks import Verification
    from milpbn.learning.model import Model

EXIT_DISAGREES = 4

_MARKS = {True: "holds", False: "DISAGREES", None: "open"}


@click.command(short_help="Check a model file against its data.")
@click.argument("model_file", metavar="MODEL.json")
@moved_data_option
@click.option(
    "--time-limit",
    type=Duration(),
    default="60s",
    show_default=True,
    help="Time limit for bounds and enumeration: 90s, 5m.",
)
@trust_option
@click.pass_context
def verify(
    ctx: click.Context,
    model_file: str,
    file: str | None,
    time_limit: float,
    trust: tuple[str, ...],
) -> None:
    """Read the data again and check everything that MODEL.json claims.

    Encoding, parameters, constraints and score are computed again by independent code; the
    root bound is derived from scratch; a new search looks for a structure above the bound;
    and if the space is small enough, every structure is enumerated. The exit code is 4 if
    anything disagrees. Entries that say the same in two places must agree, and those that
    nothing can confirm, such as times, are listed. With several class variables, the base
    models of the file are used as they are; only a score of held-out rows needs new ones.
    """
    from milpbn.errors import ConstraintError, ModelFileError, OptionError
    from milpbn.files import read_marked_json
    from milpbn.learning.model import Model
    from milpbn.learning.verification import verify_model
    from milpbn.mdc.verification import verify_gbnc
    from milpbn.model_files import load_model

    model = load_model(model_file, trust)
    content = read_marked_json(model_file, model.versions)
    table = model_table(model, model_file, file)
    try:
        if isinstance(model, Model):
            verification = verify_model(model, table, content=content, time_limit=time_limit)
            verdict = _verdict(model, verification)
        else:
            verification = verify_gbnc(model, table, content=content)
            verdict = _verdict_several(verification)
    except (ModelFileError, OptionError, ConstraintError) as error:
        raise error.at(model_file) from None
    for check in verification.checks:
        show(f"{_MARKS[check.holds]:<11}{check.claim} ({check.seen})")
    if verification.unchecked:
        show(_not_checked(verification.unchecked))
    show("\n" + verdict)
    ctx.exit(0 if verification.agrees else EXIT_DISAGREES)


def _not_checked(entries: Sequence[str]) -> str:
    """The entries that nothing can confirm, as a paragraph like the claims above it."""
    return fill(
        ", ".join(entries),
        width=99,
        initial_indent=f"{'open':<11}nothing can confirm or refute ",
        subsequent_indent=" " * 11,
        break_long_words=False,
        break_on_hyphens=False,
    )


_DISAGREES = "The model does not agree with its data: do not trust its claims."


def _verdict_several(verification: Verification) -> str:
    if not verification.agrees:
        return _DISAGREES
    complete = all(check.holds for check in verification.checks)
    verdict = "Everything agrees." if complete else "Nothing disagrees, but a claim is open."
    return (
        f"{verdict} The bound itself was not checked: base models of other families were not "
        "trained again."
    )


def _verdict(model: Model, verification: Verification) -> str:
    result = model.result
    if not verification.agrees:
        return _DISAGREES
    if result.bound is None:
        return "Everything agrees. A heuristic found the structure, so there is no bound to check."
    what = "The optimum" if result.status == "optimal" else f"The bound {result.bound:.6f}"
    if verification.proofs:
        return (
            f"Everything agrees. {what} was proven again by {' and by '.join(verification.proofs)}."
        )
    return (
        f"Everything agrees. {what} depends on the search tree of the run, which was not repeated; "
        "the root bound and a new search do not contradict it."
    )
