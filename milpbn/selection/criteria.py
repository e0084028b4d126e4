"""Measures of predictions for held-out rows, by which settings are selected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from milpbn._types import FloatArray, IntArray
from milpbn.errors import OptionError

LOG_LOSS = "log-loss"


@dataclass(frozen=True)
class Criterion:
    """A measure of predictions.

    Attributes
    ----------
    measure
        Computes it from labels, log-probabilities ``(M, |C|)`` and weights of rows.
    smaller_is_better
        Whether the smallest value is the best.
    percent
        Whether it is a share, shown in per cent.
    by_row
        Computes what each row contributes to a mean that is larger for better predictions (NaN
        for rows that say nothing), if the measure is such a mean.
    """

    measure: Callable[[IntArray, FloatArray, FloatArray], float]
    smaller_is_better: bool = False
    percent: bool = True
    by_row: Callable[[IntArray, FloatArray], FloatArray] | None = None

    def rank(self, value: float | None) -> float:
        """A number that is larger for better values; -inf for none."""
        if value is None or math.isnan(value):
            return -math.inf
        return -value if self.smaller_is_better else value

    def show(self, value: float) -> str:
        """The value as text."""
        return f"{100 * value:.2f} %" if self.percent else f"{value:.4f}"


def _log_probabilities(labels: IntArray, log_proba: FloatArray) -> FloatArray:
    """Rows whose class was not among the training rows say nothing about the settings."""
    own = log_proba[np.arange(len(labels)), labels]
    return np.where(np.isfinite(own), own, np.nan)


def _log_loss(labels: IntArray, log_proba: FloatArray, weights: FloatArray) -> float:
    own = _log_probabilities(labels, log_proba)
    known = ~np.isnan(own)
    return -float(np.average(own[known], weights=weights[known])) if known.any() else math.nan


def _correct(labels: IntArray, log_proba: FloatArray) -> FloatArray:
    out: FloatArray = (log_proba.argmax(axis=1) == labels).astype(float)
    return out


def _accuracy(labels: IntArray, log_proba: FloatArray, weights: FloatArray) -> float:
    return float(np.average(_correct(labels, log_proba), weights=weights))


def _balanced_accuracy(labels: IntArray, log_proba: FloatArray, weights: FloatArray) -> float:
    """The mean over the classes that have rows; scikit-learn warns about the others."""
    groups = [labels == c for c in np.unique(labels)]
    return float(np.mean([_accuracy(labels[g], log_proba[g], weights[g]) for g in groups]))


def _auc(labels: IntArray, log_proba: FloatArray, weights: FloatArray) -> float:
    """The mean over the classes, each against the rest; classes without rows are left out."""
    from sklearn.metrics import roc_auc_score  # slow to import, and help texts list the criteria

    proba = np.exp(log_proba)
    areas = [
        roc_auc_score(labels == c, proba[:, c], sample_weight=weights)
        for c in range(1 if proba.shape[1] == 2 else 0, proba.shape[1])
        if 0 < (labels == c).sum() < len(labels)
    ]
    return float(np.mean(areas)) if areas else math.nan


CRITERIA: dict[str, Criterion] = {
    LOG_LOSS: Criterion(
        _log_loss, smaller_is_better=True, percent=False, by_row=_log_probabilities
    ),
    "accuracy": Criterion(_accuracy, by_row=_correct),
    "balanced-accuracy": Criterion(_balanced_accuracy),
    "auc": Criterion(_auc),
}
"""What settings can be selected by. Log-loss is per row, in nats."""


# What scikit-learn calls them.
_OTHER_NAMES = {
    "neg_log_loss": LOG_LOSS,
    "log_loss": LOG_LOSS,
    "balanced_accuracy": "balanced-accuracy",
    "roc_auc": "auc",
    "roc_auc_ovr": "auc",
}


def criterion_name(name: str) -> str:
    """milpbn's name of a criterion, also from scikit-learn's name.

    Examples
    --------
    >>> criterion_name("accuracy"), criterion_name("roc_auc")
    ('accuracy', 'auc')
    """
    found = _OTHER_NAMES.get(name, name)
    if found not in CRITERIA:
        raise OptionError(f"cannot select by {name!r}; choose one of {', '.join(CRITERIA)}")
    return found


def measure_all(
    labels: IntArray, log_proba: FloatArray, weights: FloatArray | None = None
) -> dict[str, float]:
    """Every criterion, without those that the labels leave undefined.

    Without `weights`, every row counts as one.

    Examples
    --------
    >>> import numpy as np
    >>> log_proba = np.log([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    >>> measured = measure_all(np.array([0, 1, 1]), log_proba)
    >>> {name: round(value, 3) for name, value in measured.items()}
    {'log-loss': 0.607, 'accuracy': 0.667, 'balanced-accuracy': 0.75, 'auc': 1.0}
    """
    amounts = np.ones(len(labels)) if weights is None else weights
    values = {name: c.measure(labels, log_proba, amounts) for name, c in CRITERIA.items()}
    return {name: value for name, value in values.items() if not math.isnan(value)}


def standard_errors(
    labels: IntArray, log_proba: FloatArray, weights: FloatArray | None = None
) -> dict[str, float]:
    """Standard errors over the rows of the criteria that are means of rows.

    Examples
    --------
    >>> import numpy as np
    >>> log_proba = np.log([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    >>> errors = standard_errors(np.array([0, 1, 1]), log_proba)
    >>> {name: round(value, 3) for name, value in errors.items()}
    {'log-loss': 0.321, 'accuracy': 0.333}
    """
    errors = {
        name: mean_and_error(c.by_row(labels, log_proba), weights)[1]
        for name, c in CRITERIA.items()
        if c.by_row is not None
    }
    return {name: error for name, error in errors.items() if not math.isnan(error)}


def mean_and_error(values: FloatArray, weights: FloatArray | None = None) -> tuple[float, float]:
    """The mean over rows and its standard error, without rows that say nothing (NaN).

    Rows with weights are independent rows whose values count more or less, not repeated rows.

    Examples
    --------
    >>> import numpy as np
    >>> mean_and_error(np.array([1.0, 3.0, np.nan]))
    (2.0, 1.0)
    """
    known = ~np.isnan(values)
    n = int(known.sum())
    if n < 2:
        return math.nan, math.nan
    shares = known[known] / n if weights is None else weights[known] / weights[known].sum()
    mean = float(shares @ values[known])
    squares = float(((shares * (values[known] - mean)) ** 2).sum())
    return mean, math.sqrt(squares * n / (n - 1))
