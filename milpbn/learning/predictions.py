"""Predictions for raw rows, as they are written, and as they are compared with labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from milpbn._types import BoolArray
from milpbn.encoding.columns import CATEGORICAL, ColumnCode
from milpbn.encoding.encoder import Encoder
from milpbn.errors import OptionError
from milpbn.messages import Message, option
from milpbn.network.costs import Costs
from milpbn.network.inference import log_posterior
from milpbn.network.multinet import Classifier


class Labelled(NamedTuple):
    """True and predicted states of the rows that have every label.

    Attributes
    ----------
    truth, guesses
        Numbers of states, a column per class variable; labels never seen in training are -1.
    rows
        Which rows have every label.
    unseen
        For each class variable with labels never seen in training, how often each occurs.
    """

    truth: pd.DataFrame
    guesses: pd.DataFrame
    rows: BoolArray
    unseen: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class PredictedRows:
    """What a model of any kind predicts for raw rows.

    Attributes
    ----------
    columns
        Predicted labels and probabilities, as a file of predictions shows them.
    states, chosen
        The states of each class variable, and the number of the predicted one in every row.
    labels
        The labels that the rows have, of the class variables that are among their columns.
    unseen
        For each column with values never seen in training, how often each value occurs.
    missing_counts
        For each column with missing values, their number.
    rate
        How well rows with labels are predicted, as lines of text.
    notes
        What else should be known.
    """

    columns: pd.DataFrame
    states: Mapping[str, tuple[str, ...]]
    chosen: pd.DataFrame
    labels: Mapping[str, pd.Series[str]]
    unseen: Mapping[str, Mapping[str, int]]
    missing_counts: Mapping[str, int]
    rate: Callable[[Labelled], list[str]]
    notes: tuple[str, ...] = ()

    def compared(self) -> Labelled | None:
        """The rows that have every label; None if there are no such rows."""
        if not set(self.states) <= set(self.labels):
            return None
        given = pd.DataFrame(dict(self.labels))
        rows: BoolArray = given.notna().all(axis=1).to_numpy(dtype=bool)
        if not rows.any():
            return None
        coded = {
            name: ColumnCode(name, CATEGORICAL, states=states).encode(given[name])
            for name, states in self.states.items()
        }
        return Labelled(
            pd.DataFrame({name: column.codes[rows] for name, column in coded.items()}),
            self.chosen.loc[rows],
            rows,
            {name: column.unseen for name, column in coded.items() if column.unseen},
        )


def not_for(name: str, kind: str) -> OptionError:
    """The error for an option that models of another kind have."""
    return OptionError(Message(option(name), f" requires a model for {kind}"))


def predict_class(
    network: Classifier,
    encoder: Encoder,
    frame: pd.DataFrame,
    given: Mapping[str, Mapping[str, float]] | None = None,
) -> PredictedRows:
    """Predict the class of raw rows: the most probable one, or that of the smallest cost."""
    target, states = encoder.target, encoder.target.variable.states
    costs = None if given is None else Costs.of(given, states)
    features = encoder.transform(frame)
    proba = np.exp(log_posterior(network, features.codes))
    best = proba.argmax(axis=1)
    chosen = best if costs is None else costs.decide(proba)
    columns = pd.DataFrame(proba, columns=[f"P({s})" for s in states])
    columns.insert(0, "prediction", np.array(states, dtype=object)[chosen])
    notes: tuple[str, ...] = ()
    if costs is not None:
        columns["expected cost"] = costs.expected(proba).min(axis=1)
        if len(states) == 2 and np.isfinite(costs.threshold):
            least = f"its probability is at least {costs.threshold:.4g}"
            notes = (f"{states[1]!r} is predicted if {least}",)

    def rate(found: Labelled) -> list[str]:
        truth, guesses = (part[target.name].to_numpy() for part in (found.truth, found.guesses))
        lines, known = [f"accuracy {100 * (truth == guesses).mean():.2f} %"], truth >= 0
        if costs is not None and known.any():
            probable = best[found.rows]
            means = (costs.mean(truth[known], own[known]) for own in (guesses, probable))
            lines.append("mean cost {:.4g}; of the most probable classes {:.4g}".format(*means))
        return lines

    return PredictedRows(
        columns,
        {target.name: states},
        pd.DataFrame({target.name: chosen}),
        {n: encoder.read_labels(frame[n]) for n in (target.name,) if n in frame},
        features.unseen,
        features.missing_counts,
        rate,
        notes,
    )
