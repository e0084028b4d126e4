"""Options that say which data to learn from, and loading them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.params import Names

if TYPE_CHECKING:
    from milpbn.datasets.table import Table

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
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


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
    """The table that the data options describe."""
    import numpy as np

    from milpbn.datasets import load_dataset, read_table

    if (dataset is None) == (file is None):
        raise click.UsageError("say either --dataset NAME or --data FILE --target COLUMN")
    if file is not None:
        if target is None:
            raise click.UsageError("--data needs --target COLUMN, the column to predict")
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
        given = {"--target": target, "--categorical": categorical, "--numeric": numeric}
        for option, value in {**given, "--drop": drop}.items():
            if value:
                raise click.UsageError(f"{option} goes with --data FILE, not with --dataset")
        table = load_dataset(dataset)
        table = table if missing is None else replace(table, missing=missing)
    if rows == "all":
        table = replace(table, is_train=np.ones(len(table.features), dtype=bool))
    return table
