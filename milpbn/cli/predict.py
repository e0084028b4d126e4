"""``milpbn predict``: classes and probabilities for the rows of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from milpbn.cli.data import show_notes
from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.words import count

if TYPE_CHECKING:
    import pandas as pd

    from milpbn.encoding import EncodedFeatures
    from milpbn.network.model_file import Model


@click.command(short_help="Predict the class of every row of a file.")
@click.argument("model_file", metavar="MODEL.json")
@click.argument("data_file", metavar="FILE")
@click.option(
    "--out",
    type=OutputFile(),
    metavar="PREDICTIONS.csv",
    help="Write there instead of to stdout.",
)
def predict(model_file: str, data_file: str, out: str | None) -> None:
    """Predict the class of every row of FILE (CSV, Parquet or ARFF), with probabilities.

    Columns may come in any order, and further ones are ignored. Missing values, and values
    never seen in training, are summed out exactly. If FILE has the class column too, the
    accuracy is reported.
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file, "FILE": data_file})
    from milpbn.datasets import read_features
    from milpbn.files import write_whole
    from milpbn.network.model_file import Model

    model = Model.load(model_file)
    needed = [c.name for c in model.encoder.columns]
    frame = read_features(data_file, needed, model.encoder.target.name)
    features = model.encoder.transform(frame)
    show_notes(frame.attrs["notes"])
    report_values(data_file, features.unseen, features.missing_counts)
    predictions = _predictions(model, features)
    text = predictions.to_csv(index=False, lineterminator="\n")
    if out:
        write_whole(out, text)
    else:
        click.echo(text, nl=False)
    _report_accuracy(model, data_file, frame, predictions)


def _predictions(model: Model, features: EncodedFeatures) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    from milpbn.network.inference import log_posterior

    states = model.encoder.target.variable.states
    proba = np.exp(log_posterior(model.network, features.codes))
    frame = pd.DataFrame(proba, columns=[f"P({s})" for s in states])
    frame.insert(0, "prediction", np.array(states, dtype=object)[proba.argmax(axis=1)])
    return frame


def report_values(
    file: str, unseen: Mapping[str, Mapping[str, int]], missing_counts: Mapping[str, int]
) -> None:
    """Notes on values that the model does not know, and on missing ones."""
    for column, values in unseen.items():
        note_unseen(file, column, "value", values, "treated as missing")
    if missing_counts:
        total = sum(missing_counts.values())
        columns = ", ".join(map(repr, missing_counts))
        click.echo(f"note: {file}: {count(total, 'missing value')} in {columns}", err=True)


def _report_accuracy(
    model: Model, file: str, frame: pd.DataFrame, predictions: pd.DataFrame
) -> None:
    target = model.encoder.target
    if target.name not in frame.columns:
        return
    truth = target.encode(frame[target.name])
    if truth.unseen:
        note_unseen(file, target.name, "label", truth.unseen, "counted as errors")
    states = {s: k for k, s in enumerate(target.variable.states)}
    predicted = predictions["prediction"].map(states).to_numpy()
    labelled = ~frame[target.name].isna().to_numpy()
    if labelled.any():
        share = (predicted == truth.codes)[labelled].mean()
        rows = count(int(labelled.sum()), "labelled row")
        click.echo(f"accuracy {100 * share:.2f} % on {rows}", err=True)


def note_unseen(
    file: str, column: str, what: str, values: Mapping[str, int], consequence: str
) -> None:
    """A note on values of a column that were never seen in training."""
    shown = ", ".join(repr(v) for v in list(values)[:3]) + (", ..." if len(values) > 3 else "")
    click.echo(
        f"note: {file}: column {column!r} has {count(sum(values.values()), what)} never seen in "
        f"training ({shown}), {consequence}",
        err=True,
    )
