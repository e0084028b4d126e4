"""``milpbn predict``: classes and probabilities for the rows of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import show_notes
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import keep_data, trust_option
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import COSTS, Names, OutputFile, refuse_overwriting
from milpbn.cli.registries import Registered, registry
from milpbn.words import count

if TYPE_CHECKING:
    import pandas as pd

    from milpbn._types import Codes
    from milpbn.learning.model import Model


@command(short_help="Predict the class of every row of a file.")
@click.argument("model_file", metavar="MODEL.json")
@click.argument("data_file", metavar="FILE")
@option(
    Group.METHOD,
    "--loss",
    type=Registered(registry("milpbn.mdc.inference", "LOSSES")),
    help="Loss that predictions of several class variables minimise.  [default: the model's]",
)
@option(
    Group.METHOD,
    "--costs",
    type=COSTS,
    metavar="TRUE:PREDICTED=X,...|FILE.csv",
    help="Predict the class of the smallest expected cost: sick:healthy=10,healthy:sick=1, or a "
    "table with a row for each true class and a column for each prediction.",
)
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(),
    metavar="PREDICTIONS.csv",
    help="Write to this file instead of stdout.",
)
@option(
    Group.CONTENT,
    "--keep",
    type=Names(),
    default=(),
    help="Columns of FILE to copy to the output: id,name.",
)
@option(
    Group.CONTENT,
    "--strict",
    is_flag=True,
    help="Reject a FILE that lacks a column which the model uses.",
)
@trust_option
def predict(
    model_file: str,
    data_file: str,
    loss: str | None,
    costs: dict[str, dict[str, float]] | None,
    out: str | None,
    keep: tuple[str, ...],
    strict: bool,
    trust: tuple[str, ...],
) -> None:
    """Predict the class of every row of FILE (CSV, Parquet or ARFF), with probabilities.

    Columns may come in any order; additional ones are ignored. Missing values, and values
    never seen in training, are summed out exactly. (With several class variables a missing
    number becomes the training mean.) A column that FILE lacks is missing in every row. If
    FILE has the class columns too, the accuracy is reported.
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file, "FILE": data_file})
    from milpbn.datasets import read_features
    from milpbn.model_files import load_model

    model = load_model(model_file, trust)
    keep_data(model, {"--out": out})
    frame = read_features(data_file, model.sources(), model.targets, keep=keep, strict=strict)
    predictions = model.predict(frame, loss=loss, costs=costs)
    report_values(data_file, frame, predictions.unseen, predictions.missing_counts)
    for note in predictions.notes:
        say(note)
    with Outputs() as outputs:
        outputs.data(out, _csv(frame[list(keep)], predictions.columns))
        found = predictions.compared()
        if found is None:
            return
        for name, labels in found.unseen.items():
            _note_unseen(data_file, name, "label", labels, "counted as errors")
        first, *others = predictions.rate(found)
        say(f"{first} on {count(len(found.truth), 'labelled row')}")
        for line in others:
            say(line)
        _note_training_rows(data_file, frame, model.data)


def _note_training_rows(file: str, frame: pd.DataFrame, data: Mapping[str, Any]) -> None:
    if frame.attrs["source"]["sha256"] == data.get("sha256"):
        say(
            f"note: {file} has the rows that the model was learned from; on unseen data the "
            "accuracy is usually lower (milpbn evaluate estimates it)"
        )


def _csv(*columns: pd.DataFrame) -> str:
    import pandas as pd

    return pd.concat(columns, axis=1).to_csv(index=False, lineterminator="\n")


def coded(model: Model, file: str, frame: pd.DataFrame) -> Codes:
    """The codes of the features of rows from a file; prints notes about their values."""
    features = model.encoder.transform(frame)
    report_values(file, frame, features.unseen, features.missing_counts)
    return features.codes


def report_values(
    file: str,
    frame: pd.DataFrame,
    unseen: Mapping[str, Mapping[str, int]],
    missing_counts: Mapping[str, int],
) -> None:
    """Print notes about the file, about unseen values and about missing values."""
    show_notes(frame.attrs.get("notes", ()))
    for column, values in unseen.items():
        _note_unseen(file, column, "value", values, "treated as missing")
    if missing_counts:
        total = sum(missing_counts.values())
        columns = ", ".join(map(repr, missing_counts))
        say(f"note: {file}: {count(total, 'missing value')} in {columns}")


def _note_unseen(
    file: str, column: str, what: str, values: Mapping[str, int], consequence: str
) -> None:
    shown = ", ".join(repr(v) for v in list(values)[:3]) + (", ..." if len(values) > 3 else "")
    say(
        f"note: {file}: column {column!r} has {count(sum(values.values()), what)} never seen in "
        f"training ({shown}), {consequence}"
    )
