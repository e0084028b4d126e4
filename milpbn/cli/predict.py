"""``milpbn predict``: classes and probabilities for the rows of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import show_notes
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import trust_option
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import COSTS, Names, OutputFile, refuse_overwriting
from milpbn.words import count

if TYPE_CHECKING:
    import pandas as pd

    from milpbn._types import BoolArray, Codes, IntArray
    from milpbn.learning.model import Model
    from milpbn.mdc.model_file import GBNCModel
    from milpbn.network.costs import Costs


@command(short_help="Predict the class of every row of a file.")
@click.argument("model_file", metavar="MODEL.json")
@click.argument("data_file", metavar="FILE")
@option(
    Group.METHOD,
    "--loss",
    type=click.Choice(["subset", "hamming"]),
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
    from milpbn.learning.model import Model
    from milpbn.model_files import load_model

    model = load_model(model_file, trust)
    if isinstance(model, Model):
        if loss:
            raise click.UsageError("--loss requires a model for several class variables")
        _predict_one(model, data_file, costs, out, keep, strict)
    elif costs:
        raise click.UsageError("--costs requires a model for one class variable")
    else:
        model.classifier.loss = loss or model.classifier.loss
        _predict_several(model, data_file, out, keep, strict)


def _predict_one(
    model: Model,
    file: str,
    given: dict[str, dict[str, float]] | None,
    out: str | None,
    keep: tuple[str, ...],
    strict: bool,
) -> None:
    import numpy as np
    import pandas as pd

    from milpbn.datasets import read_features
    from milpbn.network.costs import Costs
    from milpbn.network.inference import log_posterior

    target = model.encoder.target
    costs = None if given is None else Costs.of(given, target.variable.states)
    sources = model.encoder.sources()
    frame = read_features(file, sources, [target.name], keep=keep, strict=strict)
    codes = coded(model, file, frame)
    states = target.variable.states
    proba = np.exp(log_posterior(model.network, codes))
    predictions = pd.DataFrame(proba, columns=[f"P({s})" for s in states])
    best = proba.argmax(axis=1)
    chosen = best if costs is None else costs.decide(proba)
    predicted = pd.Series(np.array(states, dtype=object)[chosen])
    predictions.insert(0, "prediction", predicted)
    if costs is not None:
        predictions["expected cost"] = costs.expected(proba).min(axis=1)
        if len(states) == 2 and np.isfinite(costs.threshold):
            say(f"{states[1]!r} is predicted if its probability is at least {costs.threshold:.4g}")
    with Outputs() as outputs:
        outputs.data(out, _csv(frame[list(keep)], predictions))
        labels = {n: model.encoder.read_labels(frame[n]) for n in (target.name,) if n in frame}
        compared = _compare(file, pd.DataFrame(labels), {target.name: (states, predicted)})
        if compared is not None:
            truth, guesses = compared
            rows = count(len(truth), "labelled row")
            say(f"accuracy {100 * (truth == guesses).to_numpy().mean():.2f} % on {rows}")
            if costs is not None:
                _report_costs(costs, truth, guesses, best[_labelled(labels[target.name])])
            _note_training_rows(file, frame, model.data)


def _labelled(labels: pd.Series[Any]) -> BoolArray:
    out: BoolArray = labels.notna().to_numpy(dtype=bool)
    return out


def _report_costs(
    costs: Costs, truth: pd.DataFrame, guesses: pd.DataFrame, probable: IntArray
) -> None:
    """The mean cost of the predictions, and of the most probable classes, where it is known."""
    true, chosen = truth.iloc[:, 0].to_numpy(), guesses.iloc[:, 0].to_numpy()
    known = true >= 0
    if not known.any():
        return
    means = (costs.mean(true[known], found[known]) for found in (chosen, probable))
    say("mean cost {:.4g}; of the most probable classes {:.4g}".format(*means))


def _predict_several(
    saved: GBNCModel, file: str, out: str | None, keep: tuple[str, ...], strict: bool
) -> None:
    import pandas as pd

    from milpbn.datasets import read_features
    from milpbn.datasets.readings import Reading, read_columns
    from milpbn.mdc import exact_match_score, hamming_score

    model = saved.classifier
    told = saved.data.get("readings", {})
    readings = {name: Reading.from_dict(reading) for name, reading in told.items()}
    names = list(model.target_names_)
    sources = [readings[c].source if c in readings else c for c in model.encoder_.names]
    frame = read_features(file, list(dict.fromkeys(sources)), names, keep=keep, strict=strict)
    features = model.encoder_.transform(read_columns(frame, readings))
    report_values(file, frame, features.unseen, features.missing_counts)
    predicted = pd.DataFrame(model.predict_features(features), columns=names)
    columns = [predicted]
    labels = dict(zip(names, model.target_classes_, strict=True))
    for (name, classes), proba in zip(labels.items(), model.marginals(features), strict=True):
        columns.append(pd.DataFrame(proba, columns=[f"P({name}={c})" for c in classes]))
    with Outputs() as outputs:
        outputs.data(out, _csv(frame[list(keep)], *columns))
        shown = {n: (tuple(map(str, c)), predicted[n].map(str)) for n, c in labels.items()}
        compared = _compare(file, frame, shown)
        if compared is not None:
            exact, hamming = (100 * f(*compared) for f in (exact_match_score, hamming_score))
            rows = count(len(compared[0]), "labelled row")
            say(f"exact match {exact:.2f} %, Hamming score {hamming:.2f} % on {rows}")
            _note_training_rows(file, frame, saved.data)


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


def _compare(
    file: str, frame: pd.DataFrame, predicted: Mapping[str, tuple[tuple[str, ...], pd.Series[str]]]
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """True and predicted states of the rows that have every label; None if there are no such rows.

    `predicted` holds, for each class variable, its states and the prediction for every row.
    Labels never seen in training count as errors.
    """
    import pandas as pd

    from milpbn.encoding.columns import CATEGORICAL, ColumnCode

    names = list(predicted)
    if not set(names) <= set(frame.columns):
        return None
    labelled = frame[names].notna().all(axis=1).to_numpy(dtype=bool)
    if not labelled.any():
        return None
    truth, guesses = {}, {}
    for name, (states, values) in predicted.items():
        coded = ColumnCode(name, CATEGORICAL, states=states).encode(frame[name])
        if coded.unseen:
            _note_unseen(file, name, "label", coded.unseen, "counted as errors")
        truth[name] = coded.codes[labelled]
        place = {s: k for k, s in enumerate(states)}
        guesses[name] = values.map(place).to_numpy()[labelled]
    return pd.DataFrame(truth), pd.DataFrame(guesses)


def _note_unseen(
    file: str, column: str, what: str, values: Mapping[str, int], consequence: str
) -> None:
    shown = ", ".join(repr(v) for v in list(values)[:3]) + (", ..." if len(values) > 3 else "")
    say(
        f"note: {file}: column {column!r} has {count(sum(values.values()), what)} never seen in "
        f"training ({shown}), {consequence}"
    )
