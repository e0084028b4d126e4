"""Options that say which data to learn from, and loading them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.options import option_group
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

FILE_OPTION = click.option(
    "--data", "file", metavar="FILE", help="Your own CSV, Parquet or ARFF file."
)
COLUMN_OPTIONS = (
    click.option(
        "--categorical",
        type=Names(),
        default=(),
        help="Columns of FILE that are categories: a,b,c.",
    ),
    click.option(
        "--numeric", type=Names(), default=(), help="Columns of FILE that are numbers: a,b,c."
    ),
    click.option("--drop", type=Names(), default=(), help="Columns of FILE to leave out: a,b,c."),
)

_TABLE = (
    click.option("--dataset", help="A bundled data set; see `milpbn datasets list`."),
    FILE_OPTION,
    click.option("--target", help="The class column of FILE."),
    *COLUMN_OPTIONS,
    click.option(
        "--missing",
        type=click.Choice(["drop", "state"]),
        help="Leave incomplete rows out, or let missing be a state of its own.  "
        "[default: the catalog's policy, or drop]",
    ),
)
_ROWS = click.option(
    "--rows",
    type=click.Choice(["train", "all"]),
    default="train",
    show_default=True,
    help="Learn from the training rows, or from all (no test accuracy then).",
)

data_options = option_group((*_TABLE, _ROWS))
"""Which rows to learn from."""

table_options = option_group(_TABLE)
"""The data options without the choice of rows."""


def check_data_options(options: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other, before anything is read."""
    check_source(options, "--target COLUMN", ("target", "categorical", "numeric", "drop"))


def check_source(options: Mapping[str, Any], targets: str, of_files: Sequence[str]) -> None:
    """Refuse both sources or none, and options of the one that are given to the other.

    Parameters
    ----------
    options
        The command's options.
    targets
        How to say what is predicted; FILE needs it.
    of_files
        The options that go with FILE alone, that of the targets first.
    """
    if options["dataset"] and options["file"]:
        raise click.UsageError("say either --dataset NAME or --data FILE, not both")
    if not options["dataset"] and not options["file"]:
        raise click.UsageError(
            "say what to learn from: --dataset NAME (see `milpbn datasets list`), "
            f"or --data FILE {targets}"
        )
    if options["file"] and not options[of_files[0]]:
        raise click.UsageError(f"--data needs {targets}: what to predict")
    for name in of_files:
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
