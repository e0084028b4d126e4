"""``milpbn mdc predict``: all classes of the rows of a file, with probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from milpbn.cli.data import show_notes
from milpbn.cli.mdc.inspect import trust_option
from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.words import count

if TYPE_CHECKING:
    import pandas as pd

    from milpbn.mdc import GBNCClassifier


@click.command(short_help="Predict the classes of every row of a file.")
@click.argument("model_file", metavar="MODEL.json")
@click.argument("data_file", metavar="FILE")
@click.option(
    "--loss",
    type=click.Choice(["subset", "hamming"]),
    help="What predictions minimise.  [default: the model's]",
)
@click.option(
    "--out",
    type=OutputFile(),
    metavar="PREDICTIONS.csv",
    help="Write there instead of to stdout.",
)
@trust_option
def predict(
    model_file: str, data_file: str, loss: str | None, out: str | None, trust: tuple[str, ...]
) -> None:
    """Predict all class variables of every row of FILE (CSV, Parquet or ARFF).

    Columns may come in any order, and further ones are ignored. A missing number becomes the
    training mean; categories that are missing or were never seen are averaged out. If FILE has
    the class columns too, exact match and Hamming score are reported.
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file, "FILE": data_file})
    from milpbn.cli.predict import report_values
    from milpbn.datasets import read_features
    from milpbn.files import write_whole
    from milpbn.mdc.model_file import GBNCModel

    model = GBNCModel.load(model_file, trust).classifier
    model.loss = loss or model.loss
    frame = read_features(data_file, model.encoder_.names, model.target_names_)
    features = model.encoder_.transform(frame)
    show_notes(frame.attrs["notes"])
    report_values(data_file, features.unseen, features.missing_counts)
    import pandas as pd

    predicted = pd.DataFrame(model.predict_features(features), columns=list(model.target_names_))
    columns = [predicted]
    marginals = model.marginals(features)
    for name, classes, proba in zip(
        model.target_names_, model.target_classes_, marginals, strict=True
    ):
        columns.append(pd.DataFrame(proba, columns=[f"P({name}={c})" for c in classes]))
    text = pd.concat(columns, axis=1).to_csv(index=False, lineterminator="\n")
    if out:
        write_whole(out, text)
    else:
        click.echo(text, nl=False)
    _report_scores(model, data_file, frame, predicted)


def _report_scores(
    model: GBNCClassifier, file: str, frame: pd.DataFrame, predicted: pd.DataFrame
) -> None:
    """Both scores, where every class column is there; labels never seen count as errors."""
    from milpbn.cli.predict import note_unseen
    from milpbn.encoding.columns import CATEGORICAL, ColumnCode
    from milpbn.mdc import exact_match_score, hamming_score

    names = list(model.target_names_)
    if not set(names) <= set(frame.columns):
        return
    labelled = frame[names].notna().all(axis=1).to_numpy(dtype=bool)
    if not labelled.any():
        return
    truth, guesses = {}, {}
    for name, classes in zip(names, model.target_classes_, strict=True):
        states = tuple(map(str, classes))
        column = ColumnCode(name, CATEGORICAL, states=states)
        coded = column.encode(frame[name])
        if coded.unseen:
            note_unseen(file, name, "label", coded.unseen, "counted as errors")
        truth[name] = coded.codes[labelled]
        codes = {s: k for k, s in enumerate(states)}
        guesses[name] = predicted[name].map(str).map(codes).to_numpy()[labelled]
    import pandas as pd

    true, guessed = pd.DataFrame(truth), pd.DataFrame(guesses)
    exact, hamming = (100 * f(true, guessed) for f in (exact_match_score, hamming_score))
    rows = count(int(labelled.sum()), "labelled row")
    click.echo(f"exact match {exact:.2f} %, Hamming score {hamming:.2f} % on {rows}", err=True)
