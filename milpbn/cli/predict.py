"""``milpbn predict``: classes and probabilities for the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import pandas as pd

    from milpbn.encoding import EncodedFeatures
    from milpbn.network.model_file import Model


@click.command()
@click.argument("model_file", metavar="MODEL.json")
@click.argument("data_file", metavar="FILE")
@click.option("--out", metavar="PREDICTIONS.csv", help="Write there instead of to stdout.")
def predict(model_file: str, data_file: str, out: str | None) -> None:
    """Predict the class of every row of FILE (CSV, Parquet or ARFF), with probabilities.

    Missing values, and values never seen in training, are summed out exactly. If FILE
    has the class column too, the accuracy is reported.
    """
    from milpbn.datasets import read_features
    from milpbn.files import check_writable, write_whole
    from milpbn.network.model_file import Model

    if out:
        check_writable(out)
    model = Model.load(model_file)
    needed = [c.name for c in model.encoder.columns]
    frame = read_features(data_file, needed, target=model.encoder.target.name)
    features = model.encoder.transform(frame)
    _report_values(data_file, features)
    predictions = _predictions(model, features)
    text = predictions.to_csv(index=False, lineterminator="\n")
    if out:
        write_whole(out, text)
    else:
        click.echo(text, nl=False)
    _report_accuracy(model, frame, predictions)


def _predictions(model: Model, features: EncodedFeatures) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    from milpbn.network.inference import log_posterior

    states = model.encoder.target.variable.states
    proba = np.exp(log_posterior(model.network, features.codes))
    frame = pd.DataFrame(proba, columns=[f"P({s})" for s in states])
    frame.insert(0, "prediction", np.array(states, dtype=object)[proba.argmax(axis=1)])
    return frame


def _report_values(file: str, features: EncodedFeatures) -> None:
    for column, values in features.unseen.items():
        shown = ", ".join(repr(v) for v in list(values)[:3]) + (", ..." if len(values) > 3 else "")
        click.echo(
            f"note: {file}: column {column!r} has {sum(values.values())} values never seen in "
            f"training ({shown}); they are treated as missing",
            err=True,
        )
    if features.missing_counts:
        total = sum(features.missing_counts.values())
        click.echo(
            f"note: {file}: {total} missing values in {', '.join(features.missing_counts)}",
            err=True,
        )


def _report_accuracy(model: Model, frame: pd.DataFrame, predictions: pd.DataFrame) -> None:
    target = model.encoder.target
    if target.name not in frame.columns:
        return
    truth = target.encode(frame[target.name]).codes
    states = {s: k for k, s in enumerate(target.variable.states)}
    predicted = predictions["prediction"].map(states).to_numpy()
    labelled = ~frame[target.name].isna().to_numpy()
    if labelled.any():
        hits = (predicted == truth)[labelled]
        click.echo(
            f"accuracy {100 * hits.mean():.2f} % on {int(labelled.sum())} labelled rows", err=True
        )
