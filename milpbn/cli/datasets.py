"""``milpbn datasets``: list, describe and export the bundled data sets."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from milpbn.cli.grouping import Commands, Group, option
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import OutputFile

if TYPE_CHECKING:
    from milpbn.datasets import CatalogEntry


@click.group(cls=Commands)
def datasets() -> None:
    """List, describe and export the bundled data sets."""


def _protocol(found: CatalogEntry) -> str:
    if found.folds:
        return f"{found.folds}-fold"
    kind = {"first": "original", "seeded": "seeded"}.get(found.split, found.split)
    return f"{found.train} / {found.test} {kind}"


@datasets.command("list")
def list_command() -> None:
    """List the bundled data sets, one per line."""
    from milpbn.datasets import load_catalog

    click.echo(f"{'name':<18}{'rows':>7}{'features':>10}{'classes':>9}  protocol")
    for name, found in load_catalog().items():
        classes = "x".join(map(str, found.classes))
        click.echo(f"{name:<18}{found.rows:>7}{found.features:>10}{classes:>9}  {_protocol(found)}")


@datasets.command()
@click.argument("name")
def show(name: str) -> None:
    """Show the catalog entry of a data set."""
    from milpbn.datasets import entry

    found = entry(name)
    lines = {
        "name": found.name,
        "title": found.title,
        "about": found.description,
        "rows": f"{found.rows} ({found.complete_rows} complete)",
        "features": f"{found.features} ({len(found.numeric)} numeric)",
        "classes": ", ".join(
            f"{t}: {k}" for t, k in zip(found.targets, found.classes, strict=True)
        ),
        "protocol": _protocol(found),
        "missing": found.missing,
        "papers": found.papers,
        "source": found.source,
        "licence": found.licence,
        "sha256": found.sha256 or "generated",
    }
    for key, value in lines.items():
        if value:
            click.echo(
                textwrap.fill(value, 100, initial_indent=f"{key:<10}", subsequent_indent=" " * 10)
            )


@datasets.command()
@click.argument("name")
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(),
    metavar="FILE.csv",
    help="Write to this file instead of stdout.",
)
def export(name: str, out: str | None) -> None:
    """Write a data set as CSV, with a header; missing values are empty."""
    from milpbn.datasets import load_frame

    text = load_frame(name).to_csv(index=False, lineterminator="\n")
    with Outputs() as outputs:
        outputs.data(out, text)
