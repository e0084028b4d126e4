"""Accuracy and log-loss of a model on rows that it was not learned from."""

import numpy as np

from milpbn.datasets.table import Table
from milpbn.evaluation.measures import mean_log_loss, measure
from milpbn.learning.model import Model


def complete(table: Table) -> Table:
    """Without incomplete rows, if missing values are to be dropped."""
    return table.rows(~table.incomplete) if table.missing == "drop" else table


def accuracy_and_loss(model: Model, rows: Table) -> tuple[float, float]:
    """The share of correct predictions, and the log-loss."""
    classes = np.array(model.encoder.target.variable.states, dtype=object)
    proba = np.exp(model.log_posterior(rows.features))
    found = measure(classes, proba, rows.target.to_numpy())
    return found.accuracy, mean_log_loss([found])
