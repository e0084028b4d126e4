"""The rows that a command measures a model on: those of its own data, or those of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milpbn.cli.grouping import Decorator, Group, option
from milpbn.cli.models import model_table
from milpbn.words import count

if TYPE_CHECKING:
    from milpbn.evaluation.rows import MeasuredRows
    from milpbn.learning.model import Model


def measured_rows_option(purpose: str) -> Decorator:
    """The option --test; `purpose` is the first sentence of its help text."""
    default = "[default: the test rows of the model's data, or else its training rows]"
    text = f"{purpose}  {default}"
    return option(Group.DATA, "--test", "file", metavar="FILE", help=text, old=("--data",))


def measured_rows(model: Model, model_file: str, file: str | None) -> MeasuredRows | None:
    """The rows of `file`, or else the test rows of the model's data, or its training rows.

    None if there is no file, and the model does not say where its data are.
    """
    if file is not None:
        return rows_of_file(model, file)
    if not ("dataset" in model.data or "file" in model.data):
        return None
    from milpbn.errors import DataError
    from milpbn.evaluation.rows import MeasuredRows

    source = model.data.get("file")
    if source is not None and not Path(source).exists():
        raise DataError(
            f"there is no file {source}, which {model_file} was learned from; give rows with --test"
        )
    data = model.encoder.encode(model_table(model, model_file, None))
    training = not len(data.test())
    codes, kind = (data.train(), "training") if training else (data.test(), "test")
    described = f"{count(len(codes), f'{kind} row')} of {data.name}"
    return MeasuredRows(codes, described, training, data.notes)


def rows_of_file(model: Model, file: str) -> MeasuredRows:
    """The rows of a file as codes, -1 for classes and values that are not known."""
    import numpy as np

    from milpbn.cli.predict import coded
    from milpbn.datasets import read_features
    from milpbn.evaluation.rows import MeasuredRows

    encoder = model.encoder
    frame = read_features(file, encoder.sources(), [encoder.target.name], strict=False)
    features = coded(model, file, frame)
    labels = np.full(len(frame), -1)
    if encoder.target.name in frame:
        labels = encoder.target.encode(encoder.read_labels(frame[encoder.target.name])).codes
    codes = np.column_stack([labels, features])
    return MeasuredRows(codes, f"{count(len(codes), 'row')} of {file}")
