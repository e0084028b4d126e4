"""The rows that a command measures a model on: those of its own data, or those of a file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from milpbn.words import count

if TYPE_CHECKING:
    from milpbn._types import Codes
    from milpbn.datasets.table import Table
    from milpbn.learning.model import Model
    from milpbn.model_files import AnyModel


@dataclass(frozen=True)
class MeasuredRows:
    """Rows of codes, the class first, and a few words about where they come from."""

    codes: Codes
    described: str


def measured_rows(model: Model, model_file: str, file: str | None) -> MeasuredRows | None:
    """The rows of `file`, or else the test rows of the model's data, or its training rows.

    None if there is no file, and the model does not say where its data are.
    """
    if file is not None:
        return _rows_of_file(model, file)
    if not ("dataset" in model.data or "file" in model.data):
        return None
    data = model.encoder.encode(table_of(model, model_file))
    codes, kind = (data.test(), "test") if len(data.test()) else (data.train(), "training")
    return MeasuredRows(codes, f"{count(len(codes), f'{kind} row')} of {data.name}")


def _rows_of_file(model: Model, file: str) -> MeasuredRows:
    import numpy as np

    from milpbn.cli.predict import report_values
    from milpbn.datasets import read_features

    encoder = model.encoder
    frame = read_features(file, encoder.sources(), [encoder.target.name], strict=False)
    features = encoder.transform(frame)
    report_values(file, frame, features.unseen, features.missing_counts)
    labels = np.full(len(frame), -1)
    if encoder.target.name in frame:
        labels = encoder.target.encode(encoder.read_labels(frame[encoder.target.name])).codes
    codes = np.column_stack([labels, features.codes])
    return MeasuredRows(codes, f"{count(len(codes), 'row')} of {file}")


def table_of(model: AnyModel, model_file: str, file: str | None = None) -> Table:
    """Read the table that a model was learned from again; `file` if it has moved."""
    from milpbn.cli.data import hold_out_rows, load_table
    from milpbn.errors import ModelFileError

    told = model.data
    if not ("dataset" in told or "file" in told):
        raise ModelFileError(
            f"{model_file} does not say where its data came from, so they cannot be read again"
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
