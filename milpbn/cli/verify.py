"""``milpbn verify``: check what a model file claims, from the data up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from milpbn.cli.params import Duration

if TYPE_CHECKING:
    from milpbn.datasets.table import Table
    from milpbn.network.model_file import Model
    from milpbn.verification import Verification

EXIT_DISAGREES = 4

_MARKS = {True: "holds", False: "DISAGREES", None: "open"}


@click.command(short_help="Check a model file from the data up.")
@click.argument("model_file", metavar="MODEL.json")
@click.option("--data", "file", metavar="FILE", help="The data, if they have moved since.")
@click.option(
    "--time-limit",
    type=Duration(),
    default="60s",
    show_default=True,
    help="For deriving bounds and enumerating: 90s, 5m.",
)
@click.pass_context
def verify(ctx: click.Context, model_file: str, file: str | None, time_limit: float) -> None:
    """Read the data again and check everything that MODEL.json claims.

    Encoding, parameters, constraints and score are computed anew by independent code; the
    root bound is derived from scratch; a fresh search looks for a structure above the bound;
    and where the space is small enough, every structure is looked at. Exit code 4 if anything
    disagrees.
    """
    from milpbn.network.model_file import Model
    from milpbn.verification import verify_model

    model = Model.load(model_file)
    table = _table(model, model_file, file)
    verification = verify_model(model, table, time_limit=time_limit)
    for check in verification.checks:
        click.echo(f"{_MARKS[check.holds]:<11}{check.claim} ({check.seen})")
    click.echo("\n" + _verdict(model, verification))
    ctx.exit(0 if verification.agrees else EXIT_DISAGREES)


def _verdict(model: Model, verification: Verification) -> str:
    result = model.result
    if not verification.agrees:
        return "The model does not agree with its data: do not trust what it claims."
    if result.bound is None:
        return "Everything agrees. The structure is a heuristic's: no bound is claimed."
    what = "The optimum" if result.status == "optimal" else f"The bound {result.bound:.6f}"
    if verification.proofs:
        return (
            f"Everything agrees. {what} was proven again by {' and by '.join(verification.proofs)}."
        )
    return (
        f"Everything agrees. {what} rests on the tree of the run, which was not repeated; the root "
        "bound and a fresh search do not contradict it."
    )


def _table(model: Model, model_file: str, file: str | None) -> Table:
    """The table of the model, read again."""
    from milpbn.cli.data import load_table
    from milpbn.errors import ModelFileError

    told = model.data
    if not ("dataset" in told or "file" in told):
        raise ModelFileError(
            f"{model_file} does not say where its data came from; nothing to check"
        )
    if "dataset" in told and file is not None:
        raise click.UsageError(
            f"{model_file} was learned from the bundled set {told['dataset']}: no --data is needed"
        )
    if "file" in told and "columns" not in told:
        raise ModelFileError(
            f"{model_file} does not say how the columns of {told['file']} were read; learn it "
            "again with this version of milpbn"
        )
    columns = told.get("columns", {})
    return load_table(
        dataset=told.get("dataset"),
        file=file or told.get("file"),
        target=columns.get("target"),
        categorical=tuple(columns.get("categorical", ())),
        numeric=tuple(columns.get("numeric", ())),
        drop=tuple(columns.get("drop", ())),
        missing=told["missing"],
        rows=told["rows"],
    )
