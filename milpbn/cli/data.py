"""Options that say which data to learn from, and loading them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.params import Names

if TYPE_CHECKING:
    from milpbn.datasets.table import Table

DATA_OPTIONS = (
    "dataset",
    "file",
    "target",
    "categorical",
    "numeric",
    "drop",
    "missing",
    "rows",
)
"""The names of the data options, as `load_table` takes them."""

_OPTIONS = (
    click.option("--dataset", help="A bundled data set; see `milpbn datasets list`."),
    click.option("--data", "file", metavar="FILE", help="Your own CSV, Parquet or ARFF file."),
    click.option("--target", help="The class column of FILE."),
    click.option("--categorical", type=Names(), default=(), help="Columns of FILE: a,b,c."),
    click.option("--numeric", type=Names(), default=(), help="Columns of FILE: a,b,c."),
    click.option("--drop", type=Names(), default=(), help="Columns of FILE to leave out: a,b,c."),
    click.option(
        "--missing",
        type=click.Choice(["drop", "state"]),
        help="Leave incomplete rows out, or let missing be a state of its own.  "
        "[default: the catalog's policy, or drop]",
    ),
)

_ROWS = (
    click.option(
        "--rows",
        type=click.Choice(["train", "all"]),
        default="train",
        show_default=True,
        help="Learn from the training rows, or from all (no test accuracy then).",
    ),
)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the data options to a command."""
    for option in reversed((*_OPTIONS, *_ROWS)):
        command = option(command)
    return command


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the data options without the choice of rows."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_data_options(options: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if options["dataset"] and options["file"]:
        raise click.UsageError("say either --dataset NAME or --data FILE, not both")
    if not options["dataset"] and not options["file"]:
        raise click.UsageError(
            "say what to learn from: --dataset NAME (see `milpbn datasets list`), "
            "or --data FILE --target COLUMN"
        )
    if options["file"] and not options["target"]:
        raise click.UsageError("--data needs --target COLUMN, the column to predict")
    for name in ("target", "categorical", "numeric", "drop"):
        if options["dataset"] and options[name]:
            raise click.UsageError(f"--{name} goes with --data FILE, not with --dataset")


def load_table(
    *,
    dataset: str | None,
    file: str | None,
    target: str | None,
    categorical: tuple[str, ...],
    numeric: tuple[str, ...],
    drop: tuple[str, ...],
    missing: str | None,
    rows: str,
) -> Table:
    """The table that the data options describe; see `check_data_options`."""
    import numpy as np

    from milpbn.datasets import load_dataset, read_table

    if file is not None:
        assert target is not None
        table = read_table(
            file,
            target,
            categorical=categorical,
            numeric=numeric,
            drop=drop,
            missing=missing or "drop",
        )
    else:
        assert dataset is not None
        table = load_dataset(dataset)
        table = table if missing is None else replace(table, missing=missing)
    if rows == "all":
        table = replace(table, is_train=np.ones(len(table.features), dtype=bool))
    return table
