"""``milpbn verify``: check the claims of a model file against its data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milpbn.cli.models import trust_option
from milpbn.cli.outputs import show
from milpbn.cli.params import Duration

if TYPE_CHECKING:
    from milpbn.datasets.table import Table
    from milpbn.learning.model import Model
    from milpbn.learning.verification import Verification
    from milpbn.model_files import AnyModel

EXIT_DISAGREES = 4

_MARKS = {True: "holds", False: "DISAGREES", None: "open"}


@click.command(short_help="Check a model file against its data.")
@click.argument("model_file", metavar="MODEL.json")
@click.option("--data", "file", metavar="FILE", help="The data file, if it has moved since.")
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
    anything disagrees. With several class variables, the base models of the file are used as
    they are; only a score of held-out rows needs new ones.
    """
    from milpbn.errors import ConstraintError, ModelFileError, OptionError
    from milpbn.learning.model import Model
    from milpbn.learning.verification import verify_model
    from milpbn.mdc.verification import verify_gbnc
    from milpbn.model_files import load_model

    model = load_model(model_file, trust)
    table = _table(model, model_file, file)
    try:
        if isinstance(model, Model):
            verification = verify_model(model, table, time_limit=time_limit)
            verdict = _verdict(model, verification)
        else:
            verification = verify_gbnc(model, table)
            verdict = _verdict_several(verification)
    except (ModelFileError, OptionError, ConstraintError) as error:
        raise error.at(model_file) from None
    for check in verification.checks:
        show(f"{_MARKS[check.holds]:<11}{check.claim} ({check.seen})")
    show("\n" + verdict)
    ctx.exit(0 if verification.agrees else EXIT_DISAGREES)


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


def _table(model: AnyModel, model_file: str, file: str | None) -> Table:
    """Read the table of the model again."""
    from milpbn.cli.data import hold_out_rows, load_table
    from milpbn.errors import ModelFileError

    told = model.data
    if not ("dataset" in told or "file" in told):
        raise ModelFileError(
            f"{model_file} does not say where its data came from, so there is nothing to check"
        )
    if "dataset" in told and file is not None:
        raise click.UsageError(
            f"{model_file} was learned from the bundled data set {told['dataset']}; leave out "
            "--data"
        )
    if "file" in told and "columns" not in told:
        raise ModelFileError(
            f"{model_file} does not say how the columns of {told['file']} were read; learn it "
            "again with this version of milpbn"
        )
    if "dataset" not in told and file is None and not Path(told["file"]).is_file():
        raise ModelFileError(
            f"{model_file} names {told['file']!r} as its data, which is not a file; name the file "
            "with --data"
        )
    columns = told.get("columns", {})
    table = load_table(
        dataset=told.get("dataset"),
        file=file or told.get("file"),
        target=columns.get("target"),
        categorical=tuple(columns.get("categorical", ())),
        numeric=tuple(columns.get("numeric", ())),
        drop=tuple(columns.get("drop", ())),
        missing=told.get("missing"),
        # Files from before these options existed kept dates and all states as categories.
        dates=columns.get("dates", "keep"),
        max_states=columns.get("max_states", sys.maxsize),
        target_bins=columns.get("target_bins"),
        weight=columns.get("weight"),
        class_weight=told.get("class_weight"),
        rows=told.get("rows", "train"),
    )
    held_out = told.get("holdout")
    return (
        hold_out_rows(table, holdout=held_out["share"], seed=held_out["seed"])
        if held_out
        else table
    )
