"""Options that select the data, loading the data, and printing notes about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.grouping import Group, option, option_group
from milpbn.cli.options import setting_option, setting_options
from milpbn.cli.outputs import say
from milpbn.cli.params import Names, Number
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.messages import on_command_line
from milpbn.settings import (
    ClassWeightNames,
    ColumnNames,
    CutNames,
    FileNames,
    StateNames,
    declared,
)
from milpbn.settings.declaration import dashed

if TYPE_CHECKING:
    from milpbn.datasets.table import Table

_DATASET = option(
    Group.DATA, "--dataset", help="Name of a bundled data set; see `milpbn datasets list`."
)
_FILE = option(
    Group.DATA, "--data", "file", metavar="FILE", help="Your own CSV, Parquet or ARFF file."
)
_TARGET = option(Group.DATA, "--target", help="The class column of FILE.")
# Bundled data sets have their own way to be read, so defaults are not passed on.
_COLUMNS = option_group(
    (
        setting_options(FileNames, default=None),
        setting_options(ClassWeightNames),
        setting_options(StateNames, CutNames, default=None),
    )
)
_ROWS = option(
    Group.DATA,
    "--rows",
    type=click.Choice(["train", "all"]),
    default="train",
    show_default=True,
    help="Learn from the training rows, or from all rows (then without test accuracy).",
    rare=True,
)

data_options = option_group((_DATASET, _FILE, _TARGET, _COLUMNS, _ROWS))
"""Options that select the rows to learn from."""

_TEST = option(
    Group.DATA,
    "--test",
    "test_file",
    metavar="FILE",
    help="Test rows: a second file with the columns of --data.",
)

held_out_options = option_group(
    (
        option(
            Group.DATA,
            "--holdout",
            type=Number(0, 1),
            metavar="SHARE",
            help="Hold out this share of the rows of each class and test on them: 0.25.",
        ),
        _TEST,
    )
)
"""Options that hold out rows for a test."""

several_sets_options = option_group(
    (
        option(
            Group.DATA,
            "--dataset",
            type=Names(),
            metavar="NAME[,NAME...]",
            help="One or several bundled data sets; see `milpbn datasets list`.",
        ),
        _FILE,
        _TARGET,
        _COLUMNS,
        _TEST,
        option(
            Group.DATA,
            "--fold-column",
            metavar="COLUMN",
            help="Column of FILE with the number of each row's test fold; not a feature.",
            rare=True,
        ),
    )
)
"""The data options of `evaluate`: one file, or one or several bundled data sets."""

several_targets_options = option_group(
    (
        _DATASET,
        _FILE,
        option(
            Group.DATA,
            "--targets",
            type=Names(),
            default=(),
            help="The class columns of FILE: a,b,c.",
        ),
        *(setting_option(name, default=None) for name in ("categorical", "numeric", "drop")),
        setting_option(
            "missing",
            "auto, state: keep incomplete rows; a missing category is a state of its own, a "
            "missing number becomes the mean. drop: leave them out.",
            default=None,
            shown="auto",
        ),
        *(setting_option(name, default=None) for name in ("dates", "weight")),
    )
)
"""The data options of commands for several class variables."""


def check_data_options(options: Mapping[str, Any]) -> None:
    """Reject options that contradict each other, before anything is read."""
    several = "targets" in options
    target, example = ("targets", "a,b,c") if several else ("target", "COLUMN")
    if options["dataset"] and options["file"]:
        raise click.UsageError("give either --dataset NAME or --data FILE, not both")
    if not options["dataset"] and not options["file"]:
        raise click.UsageError(
            "give the data to learn from: --dataset NAME (see `milpbn datasets list`), "
            f"or --data FILE --{target} {example}"
        )
    if options["file"] and not options[target]:
        raise click.UsageError(f"--data requires --{target} {example} to know what to predict")
    for name in (target, *declared(FileNames), *(("missing",) if several else ())):
        if options["dataset"] and options.get(name):
            raise click.UsageError(
                f"{dashed(name)} requires --data FILE and cannot be combined with --dataset"
            )
    _check_held_out(options)


def _check_held_out(options: Mapping[str, Any]) -> None:
    """Reject more than one way to choose test rows, and ways that do not fit the data."""
    names = {"test_file": "--test", "holdout": "--holdout", "fold_column": "--fold-column"}
    given = [flag for name, flag in names.items() if options.get(name) is not None]
    given += ["--folds"] if "fold_column" in options and options.get("folds") else []
    given += ["--rows all"] if options.get("rows") == "all" and given else []
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} cannot be combined with {given[1]}")
    if options["dataset"] and given and given[0] in ("--test", "--fold-column"):
        raise click.UsageError(
            f"{given[0]} requires --data FILE and cannot be combined with --dataset"
        )


def load_table(options: Mapping[str, Any], checkpoint: Checkpoint = no_checkpoint) -> Table:
    """Load the table that the data options describe; see `check_data_options`."""
    import numpy as np

    from milpbn.datasets import load_dataset, read_table
    from milpbn.datasets.bins import MDLP
    from milpbn.datasets.own_bins import OTHERS
    from milpbn.datasets.table import weighted, with_states
    from milpbn.datasets.weights import parse_class_weight

    given = {k: options[k] for k in declared(ColumnNames) if options.get(k) not in (None, ())}
    if options.get("cuts"):
        given["bins"] = {**options["cuts"], OTHERS: given.get("bins", MDLP)}
    if options["file"] is not None:
        target = options.get("target") or options["targets"]
        table = read_table(options["file"], target, checkpoint=checkpoint, **given)
    else:
        table = load_dataset(options["dataset"], missing=given.pop("missing", None))
        table = with_states(table, **given)
    if (class_weight := options.get("class_weight")) is not None:
        labels = sorted(set(table.target))
        factors = parse_class_weight(class_weight, dict(zip(labels, labels, strict=True)))
        table = weighted(table, table.weights, factors)
    if options.get("rows") == "all":
        source = {**table.source, "rows": "all"}
        table = replace(table, is_train=np.ones(len(table), dtype=bool), source=source)
    return table


def notes_on_incomplete_rows(table: Table, fate: str = "are left out") -> list[str]:
    """What becomes of rows in which a feature is missing, for tables not yet encoded.

    `fate` is what becomes of rows that nothing is learned from.
    """
    from milpbn.datasets.table import AUTO, DROP
    from milpbn.messages import Message, option

    n = int(table.incomplete.sum())
    if n == 0 or table.targets.shape[1] > 1:
        return []
    told = f"{table.name}: {n} of {len(table)} rows "
    if table.missing == DROP:
        told += f"{fate} because a feature is missing; "
        return [Message(told, option("missing", AUTO), " learns from them.")]
    return [f"{told}have a missing feature; in training rows, it is a state of its own."]


def hold_out_rows(
    table: Table, *, test_file: str | None = None, holdout: float | None = None, seed: int = 0
) -> Table:
    """The table with test rows from a second file or from its own rows, if one is asked for."""
    if test_file is not None:
        from milpbn.datasets import add_test_rows

        return add_test_rows(table, test_file)
    if holdout is None:
        return table
    from milpbn.evaluation.protocol import hold_out

    # The source says how to draw the same rows again.
    source = {**table.source, "holdout": {"share": holdout, "seed": seed}}
    return replace(hold_out(table, holdout, seed), source=source)


def show_notes(notes: Iterable[str], show: Callable[[str], None] = say) -> None:
    """Print notes about the data, with options spelled as on the command line."""
    for note in notes:
        show(f"note: {on_command_line(note)}")
