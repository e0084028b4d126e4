"""Options that select the data, loading the data, and printing notes about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.grouping import Decorator, Group, option, option_group
from milpbn.cli.outputs import say
from milpbn.cli.params import (
    BINS,
    CLASS_WEIGHT,
    MONOTONE,
    ColumnNumbers,
    Names,
    Number,
    Order,
    Share,
)
from milpbn.cli.registries import Registered, registry
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.messages import on_command_line

if TYPE_CHECKING:
    from milpbn.datasets.own_bins import Bins
    from milpbn.datasets.table import Table
    from milpbn.datasets.weights import ClassWeight

DATA_OPTIONS = (
    "dataset",
    "file",
    "target",
    "categorical",
    "numeric",
    "drop",
    "missing",
    "dates",
    "max_states",
    "target_bins",
    "weight",
    "class_weight",
    "bins",
    "cuts",
    "special",
    "min_bin",
    "monotone",
    "ordered",
    "rows",
)
"""The names of the data options, which are the arguments of `load_table`."""


_DATASET = option(
    Group.DATA, "--dataset", help="Name of a bundled data set; see `milpbn datasets list`."
)


def _table_options(
    targets: Decorator, missing: str, dataset: Decorator = _DATASET
) -> tuple[Decorator, ...]:
    """Options that select a table, with the option for its targets and the help of --missing."""
    return (
        dataset,
        option(
            Group.DATA, "--data", "file", metavar="FILE", help="Your own CSV, Parquet or ARFF file."
        ),
        targets,
        option(
            Group.DATA,
            "--categorical",
            type=Names(),
            default=(),
            help="Columns of FILE to read as categories: a,b,c. Put a name that contains a comma "
            'in double quotes: a,"b, c".',
            rare=True,
        ),
        option(
            Group.DATA,
            "--numeric",
            type=Names(),
            default=(),
            help="Columns of FILE to read as numbers: a,b,c.",
            rare=True,
        ),
        option(
            Group.DATA,
            "--drop",
            type=Names(),
            default=(),
            help="Columns of FILE to leave out: a,b,c.",
            rare=True,
        ),
        option(
            Group.DATA,
            "--missing",
            type=Registered(registry("milpbn.datasets.table", "MISSING_POLICIES")),
            help=missing,
        ),
        option(
            Group.DATA,
            "--dates",
            type=click.Choice(["expand", "drop", "keep"]),
            help="Replace dates in FILE with year, month, weekday and time of day, leave them "
            "out, or read them as categories.  [default: expand]",
            rare=True,
        ),
    )


_TARGET = option(Group.DATA, "--target", help="The class column of FILE.")
_MISSING = (
    "What becomes of missing values in training rows. auto: they are a state of their own, and "
    "columns that are mostly empty are left out; state: a state in every column; drop: incomplete "
    "rows are left out.  [default: the data set's policy, or auto]"
)
_STATES = (
    option(
        Group.DATA,
        "--max-states",
        type=click.IntRange(min=2),
        help="Maximum number of states of a categorical column of FILE; the rarest values share "
        "one state.  [default: 50]",
        rare=True,
    ),
    option(
        Group.DATA,
        "--target-bins",
        type=click.IntRange(min=2),
        help="Cut the numeric class column of FILE into this many classes of about equal size.",
        rare=True,
    ),
    option(
        Group.DATA,
        "--ordered",
        type=Order(),
        multiple=True,
        metavar="COLUMN=A,B,...",
        help="All categories of a categorical column of FILE, in their order: size=S,M,L. May be "
        "repeated.",
        rare=True,
    ),
)
_WEIGHT = option(
    Group.DATA,
    "--weight",
    metavar="COLUMN",
    help="Column of FILE with the weights of the rows; not a feature. A weight of 2 counts "
    "a row twice.",
    rare=True,
)
_WEIGHTS = (
    _WEIGHT,
    option(
        Group.DATA,
        "--class-weight",
        type=CLASS_WEIGHT,
        metavar="balanced|LABEL=W,...",
        help="Factors for the weights of the rows of each class: sick=5,healthy=1; balanced gives "
        "all classes the same total weight.",
        rare=True,
    ),
)
_BINS = option(
    Group.DATA,
    "--bins",
    type=BINS,
    metavar="mdlp|fine|quantile:K|auto",
    help="How numeric columns are cut: where the classes change (mdlp), into fine bins for "
    "parameters with smooth effects (fine), into K bins with about the same number of rows, or in "
    "several resolutions among which the structure chooses (auto).  [default: mdlp]",
)
_OWN_BINS = (
    option(
        Group.DATA,
        "--cuts",
        type=ColumnNumbers(),
        multiple=True,
        metavar="COLUMN=X,...",
        help="Your own cuts of a numeric column: income=1000,2000. May be repeated.",
        rare=True,
    ),
    option(
        Group.DATA,
        "--special",
        type=ColumnNumbers(),
        multiple=True,
        metavar="COLUMN=X,...",
        help="Values of a numeric column that are states of their own, such as codes for refused "
        "answers: income=-999,-998. May be repeated.",
        rare=True,
    ),
    option(
        Group.DATA,
        "--min-bin",
        type=Share(),
        metavar="SHARE",
        help="Smallest share of a column's rows in a bin: 5%. Cuts given by --cuts are kept.",
        rare=True,
    ),
)
_MONOTONE = option(
    Group.SPACE,
    "--monotone",
    type=MONOTONE,
    metavar="FEATURE+,FEATURE-",
    help="Features along which the second of two classes may not become less (+) or more (-) "
    "likely, everything else equal: age+,income-.",
    rare=True,
)
_CUTTING = (_BINS, *_OWN_BINS, _MONOTONE)
_TABLE = (*_table_options(_TARGET, _MISSING), *_STATES, *_WEIGHTS, *_CUTTING)
_ROWS = option(
    Group.DATA,
    "--rows",
    type=click.Choice(["train", "all"]),
    default="train",
    show_default=True,
    help="Learn from the training rows, or from all rows (then without test accuracy).",
    rare=True,
)

data_options = option_group((*_TABLE, _ROWS))
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
        *_table_options(
            _TARGET,
            _MISSING,
            option(
                Group.DATA,
                "--dataset",
                type=Names(),
                metavar="NAME[,NAME...]",
                help="One or several bundled data sets; see `milpbn datasets list`.",
            ),
        ),
        *_STATES,
        *_WEIGHTS,
        *_CUTTING,
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
        *_table_options(
            option(
                Group.DATA,
                "--targets",
                type=Names(),
                default=(),
                help="The class columns of FILE: a,b,c.",
            ),
            "auto, state: keep incomplete rows; a missing category is a state of its own, a "
            "missing number becomes the mean. drop: leave them out.  [default: auto]",
        ),
        _WEIGHT,
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
    of_columns = (target, "categorical", "numeric", "ordered", "drop", "dates", "max_states")
    of_files = (*of_columns, "target_bins", "weight")
    for name in (*of_files, *(("missing",) if several else ())):
        if options["dataset"] and options.get(name):
            dashed = name.replace("_", "-")
            raise click.UsageError(
                f"--{dashed} requires --data FILE and cannot be combined with --dataset"
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


def load_table(
    *,
    dataset: str | None,
    file: str | None,
    target: str | Sequence[str] | None,
    categorical: tuple[str, ...],
    numeric: tuple[str, ...],
    drop: tuple[str, ...],
    missing: str | None,
    dates: str | None,
    max_states: int | None = None,
    target_bins: int | None = None,
    weight: str | None = None,
    class_weight: ClassWeight | None = None,
    bins: str | None = None,
    cuts: Sequence[tuple[str, Sequence[float]]] = (),
    special: Sequence[tuple[str, Sequence[float]]] = (),
    min_bin: float | None = None,
    monotone: Mapping[str, str] | None = None,
    ordered: Sequence[tuple[str, Sequence[str]]] = (),
    rows: str,
    checkpoint: Checkpoint = no_checkpoint,
) -> Table:
    """Load the table that the data options describe; see `check_data_options`."""
    import numpy as np

    from milpbn.datasets import load_dataset, read_table
    from milpbn.datasets.bins import MDLP
    from milpbn.datasets.infer import MAX_STATES
    from milpbn.datasets.own_bins import OTHERS
    from milpbn.datasets.table import AUTO, binned, directed, weighted
    from milpbn.datasets.weights import parse_class_weight

    given: Bins | None = bins
    if cuts:
        given = {**_by_column("cuts", cuts), OTHERS: bins or MDLP}
    apart, least = _by_column("special", special), min_bin or 0.0
    if file is not None:
        assert target is not None
        table = read_table(
            file,
            target,
            categorical=categorical,
            numeric=numeric,
            drop=drop,
            missing=missing or AUTO,
            dates=dates or "expand",
            max_states=max_states or MAX_STATES,
            target_bins=target_bins,
            weight=weight,
            checkpoint=checkpoint,
            bins=given or MDLP,
            special=apart,
            min_bin_share=least,
            monotone=monotone,
            ordered=_orders(ordered),
        )
    else:
        assert dataset is not None
        table = load_dataset(dataset, missing=missing)
        table = directed(binned(table, given, apart, least), monotone)
    if class_weight is not None:
        labels = sorted(set(table.target))
        factors = parse_class_weight(class_weight, dict(zip(labels, labels, strict=True)))
        table = weighted(table, table.weights, factors)
    if rows == "all":
        source = {**table.source, "rows": rows}
        table = replace(table, is_train=np.ones(len(table), dtype=bool), source=source)
    return table


def _by_column(
    flag: str, pairs: Sequence[tuple[str, Sequence[float]]]
) -> dict[str, Sequence[float]]:
    given = dict(pairs)
    if len(given) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise click.UsageError(
            f"--{flag} names the column {twice!r} twice; give all its numbers once"
        )
    return given


def _orders(ordered: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Sequence[str]]:
    """The declared orders; one for each column."""
    names = [name for name, _ in ordered]
    if twice := [name for name in names if names.count(name) > 1]:
        raise click.UsageError(f"--ordered: the column {twice[0]!r} is listed twice")
    return dict(ordered)


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
