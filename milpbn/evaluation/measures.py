"""Measures of the predictions of a fold, and their means over all folds.

What a fold keeps is small and can be added up: sums over rows, the confusion matrix and the bins
of the reliability curve. Only the AUC is a value of its own for each fold; probabilities of
different folds come from different classifiers, so that their ranks cannot be compared (Forman &
Scholz, 2010).

Intervals are those of Peharz & Pernkopf (2012), after Mitchell (1997): for one test set the
normal approximation of the binomial, ``1.96 sqrt(a (1 - a) / n)``; for k folds Student's t with
k - 1 degrees of freedom on the accuracies of the folds.

With several class variables a row is correct if all of them are predicted (exact match); the
Hamming score is the share of single class values that are correct.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from milpbn._types import FloatArray
from milpbn.selection.criteria import CRITERIA

BINS = 10
"""Number of bins of the reliability curve, of equal width from 0 to 1."""

_CONFIDENCE = 0.95

LEAST_PROBABILITY = float(np.finfo(np.float64).eps)
"""Smaller probabilities count as this in the log-loss, as in scikit-learn."""


@dataclass(frozen=True)
class Measures:
    """The measures of a fold.

    Attributes
    ----------
    rows
        Number of test rows.
    correct
        Number of correct rows; with several class variables, all of them must be correct.
    log_likelihood
        Sum of log P(class | features) over rows whose class occurs in the training rows; None
        if there are no probabilities. Probabilities below 2.2e-16 count as 2.2e-16.
    brier
        Sum of squared differences between the probabilities and the truth, or None.
    unknown
        Number of rows whose class never occurs in the training rows. They count as errors and
        have no likelihood.
    hamming
        Share of single class values that are correct; None with one class variable.
    sub_exact
        Share of rows with at most one wrong class value; None with one class variable.
    macro_f1
        Mean over class variables of their macro F1; None with one class variable, whose F1
        follows from `confusion`.
    auc
        Area under the ROC curve: the mean over the classes, each against the rest; None if it
        is not defined.
    classes
        Labels of the rows and columns of `confusion`.
    confusion
        Number of rows of every class (first index) that every class was predicted for.
    bins
        Rows, sum of confidences and correct rows for each bin of the reliability curve. The
        confidence is the probability of the predicted class.
    """

    rows: int
    correct: int
    log_likelihood: float | None = None
    brier: float | None = None
    unknown: int = 0
    hamming: float | None = None
    sub_exact: float | None = None
    macro_f1: float | None = None
    auc: float | None = None
    classes: list[str] = field(default_factory=list)
    confusion: list[list[int]] = field(default_factory=list)
    bins: list[list[float]] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        """The share of correct rows."""
        return self.correct / self.rows


def measure(classes: npt.NDArray[Any], proba: FloatArray, truth: npt.NDArray[Any]) -> Measures:
    """Measure predicted probabilities, columns as in `classes`.

    Examples
    --------
    >>> proba = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    >>> found = measure(np.array(["a", "b"]), proba, np.array(["a", "b", "c"]))
    >>> found.rows, found.correct, found.unknown, found.brier, round(found.log_likelihood, 4)
    (3, 2, 1, 2.625, -0.9808)
    >>> found.classes, found.confusion
    (['a', 'b', 'c'], [[1, 0, 0], [0, 1, 0], [1, 0, 0]])
    """
    from sklearn.metrics import confusion_matrix  # slow to import, and reports of a run need none

    codes = _codes(classes, truth)
    known = codes >= 0
    predicted = proba.argmax(axis=1)
    with np.errstate(divide="ignore"):
        auc = CRITERIA["auc"].measure(codes, np.log(proba), np.ones(len(codes)))
    labels = [*classes.tolist(), *sorted(set(truth[~known].tolist()))]
    return replace(
        measure_rows(classes, proba, truth),
        auc=None if math.isnan(auc) else auc,
        classes=[str(label) for label in labels],
        confusion=confusion_matrix(truth, np.array(labels)[predicted], labels=labels).tolist(),
        bins=_bins(proba.max(axis=1), predicted == codes),
    )


def measure_rows(classes: npt.NDArray[Any], proba: FloatArray, truth: npt.NDArray[Any]) -> Measures:
    """The measures that are sums over rows: no AUC, confusion matrix or reliability curve.

    Examples
    --------
    >>> proba = np.array([[0.5, 0.5], [0.25, 0.75]])
    >>> measure_rows(np.array(["a", "b"]), proba, np.array(["a", "a"])).accuracy
    0.5
    """
    codes = _codes(classes, truth)
    known = codes >= 0
    own = proba[np.flatnonzero(known), codes[known]]
    return Measures(
        rows=len(truth),
        correct=int((proba.argmax(axis=1) == codes).sum()),
        log_likelihood=float(np.log(np.maximum(own, LEAST_PROBABILITY)).sum()),
        # |p - e_c|^2 = |p|^2 - 2 p_c + 1, with p_c = 0 for a class that is not known.
        brier=float((proba**2).sum() - 2 * own.sum() + len(truth)),
        unknown=int((~known).sum()),
    )


def majority_proba(counts: npt.NDArray[Any], n_rows: int) -> FloatArray:
    """``(n_rows, |C|)``: the majority baseline, which predicts class frequencies for every row.

    Examples
    --------
    >>> majority_proba(np.array([3, 1]), 2).tolist()
    [[0.75, 0.25], [0.75, 0.25]]
    """
    return np.tile(counts / counts.sum(), (n_rows, 1))


def _codes(classes: npt.NDArray[Any], truth: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The number of each label in `classes`; -1 if it is not there."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in truth.tolist()], dtype=np.int64)


def _bins(confidence: FloatArray, correct: npt.NDArray[np.bool_]) -> list[list[float]]:
    place = np.minimum((BINS * confidence).astype(np.intp), BINS - 1)
    sums = [np.bincount(place, weights, BINS) for weights in (None, confidence, correct)]
    return [[int(n), float(c), int(right)] for n, c, right in zip(*sums, strict=True)]


def accuracy_interval(folds: Sequence[Measures]) -> tuple[float, float]:
    """Mean accuracy and half the width of its 95 % confidence interval.

    Examples
    --------
    >>> mean, half = accuracy_interval([Measures(1066, 931)])
    >>> round(100 * mean, 2), round(100 * half, 2)
    (87.34, 2.0)
    """
    shares = np.array([m.accuracy for m in folds])
    mean = float(shares.mean())
    quantile = (1 + _CONFIDENCE) / 2
    if len(folds) == 1:
        normal = scipy.special.ndtri(quantile)
        return mean, float(normal * np.sqrt(mean * (1 - mean) / folds[0].rows))
    spread = shares.std(ddof=1) / np.sqrt(len(folds))
    return mean, float(scipy.special.stdtrit(len(folds) - 1, quantile) * spread)


def mean_log_loss(folds: Sequence[Measures]) -> float | None:
    """Minus the log-likelihood per row, over all rows whose class was known."""
    sums = [m.log_likelihood for m in folds if m.log_likelihood is not None]
    if len(sums) < len(folds):
        return None
    rows = sum(m.rows - m.unknown for m in folds)
    return -sum(sums) / rows if rows else None


def mean_brier(folds: Sequence[Measures]) -> float | None:
    """Brier score per row: 0 is perfect, 2 the worst."""
    sums = [m.brier for m in folds if m.brier is not None]
    return sum(sums) / sum(m.rows for m in folds) if len(sums) == len(folds) else None


def mean_defined(values: Sequence[float | None]) -> float | None:
    """The mean without the folds where a measure is not defined."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None
