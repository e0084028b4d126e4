"""Shared by the commands that read a model file, for one class variable or several."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.grouping import Command, Group, option
from milpbn.cli.outputs import say
from milpbn.cli.params import Names, refuse_overwriting

if TYPE_CHECKING:
    import pandas as pd

    from milpbn.datasets.table import Table
    from milpbn.learning.model import Model
    from milpbn.model_files import AnyModel

trust_option = option(
    Group.CONTENT,
    "--trust",
    type=Names(),
    default=(),
    metavar="TYPE,...",
    help="Types of base models, other than scikit-learn's, that may be loaded from the file.",
)

moved_data_option = option(
    Group.DATA, "--data", "file", metavar="FILE", help="The data file, if it has moved since."
)


def single_class_model(path: str) -> Model:
    """Read a model file for one class variable."""
    from milpbn.errors import ModelFileError
    from milpbn.model_files import load_model

    model = load_model(path).single
    if model is None:
        raise ModelFileError(f"{path} is a model for several class variables; this needs one")
    return model


def keep_data(model: AnyModel, outputs: Mapping[str, str | None]) -> None:
    """Refuse outputs (option and file) that would replace the data of a model."""
    for source in (model.data, *model.data.get("updates", ())):
        refuse_overwriting(outputs, {"the data of the model": source.get("file")})


def old_spelling(command: click.Command) -> click.Command:
    """The old command `milpbn mdc NAME`, now `milpbn NAME`; it works the same, with a note."""
    callback: Callable[..., Any] = command.callback  # type: ignore[assignment]

    def noted(*args: Any, **options: Any) -> Any:
        name = command.name
        say(f"note: `milpbn mdc {name}` is now `milpbn {name}`")
        return callback(*args, **options)

    return Command(
        name=command.name,
        callback=noted,
        params=[p for p in command.params if p.name != "help_all"],
        help=f"Old name of `milpbn {command.name}`.",
        hidden=True,
    )


def _is_plausible(path: str) -> bool:
    """Whether a path from a model file, which may come from anybody, is an ordinary file.

    Files of the system, such as those in /proc, have the size 0.
    """
    from milpbn.datasets.readers import MOST_BYTES

    try:
        return Path(path).is_file() and 0 < Path(path).stat().st_size <= MOST_BYTES
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False


def model_table(model: AnyModel, model_file: str, file: str | None) -> Table:
    """Read the table again that a model was learned from; `file` if it has moved."""
    from milpbn.cli.data import hold_out_rows, load_table
    from milpbn.datasets.monotone import in_words
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
    if "dataset" not in told and file is None and not _is_plausible(told["file"]):
        raise ModelFileError(
            f"{model_file} names {told['file']!r} as its data, which is not a file of data; name "
            "the file with --data"
        )
    columns, own = told.get("columns", {}), told.get("own_bins", {})
    # Files from before these options existed kept dates and all states as categories.
    table = load_table(
        {
            **{"dates": "keep", **columns, "max_states": columns.get("max_states") or sys.maxsize},
            **{name: told.get(name) for name in ("dataset", "missing", "class_weight", "bins")},
            **{"file": file or told.get("file"), "rows": told.get("rows", "train")},
            **{"cuts": own.get("cuts"), "special": own.get("special")},
            "min_bin_share": own.get("min_share"),
            "monotone": in_words(told.get("monotone", {})),
        }
    )
    held_out = told.get("holdout")
    if held_out:
        table = hold_out_rows(table, holdout=held_out["share"], seed=held_out["seed"])
    if told.get("updates"):
        table = replace(table, updates=tuple(_updates(model, model_file)))
    return table


def _updates(model: AnyModel, model_file: str) -> Iterator[pd.DataFrame]:
    """Read the rows again that a model was updated with."""
    from milpbn.errors import ModelFileError

    for k, entry in enumerate(model.data["updates"], 1):
        file = entry.get("file")
        if file is None:
            raise ModelFileError(f"{model_file} does not say where the rows of update {k} are")
        if not _is_plausible(file):
            raise ModelFileError(
                f"{model_file} was updated with {file!r}, which is not a file of data; put the "
                "file back in its place"
            )
        yield labelled_rows(model, file, entry.get("sha256"))


def labelled_rows(model: AnyModel, file: str, sha256: str | None = None) -> pd.DataFrame:
    """Read rows with their class, for the encoder of a model; with a checksum, these very rows."""
    from milpbn.datasets import read_features
    from milpbn.errors import DataError
    from milpbn.learning.model import Model

    assert isinstance(model, Model)
    target = model.encoder.target.name
    frame = read_features(file, model.encoder.sources(), [target])
    if sha256 not in (None, frame.attrs["source"]["sha256"]):
        raise DataError(f"{file} has changed since the model was updated with it")
    if target not in frame:
        raise DataError(f"{file}: there is no column {target!r}, which is the class")
    return frame
