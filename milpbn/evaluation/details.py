"""The confusion matrix and the reliability curve of a method, over all its folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import f1_score, recall_score

from milpbn._types import FloatArray, IntArray
from milpbn.evaluation.measures import BINS, Measures
from milpbn.widths import aligned


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often rows of each class were predicted to be of each class.

    Attributes
    ----------
    classes
        The labels.
    counts
        Shape (classes, classes): true classes are rows, predicted classes are columns.

    Examples
    --------
    >>> confusion = Confusion(("no", "yes"), np.array([[8, 2], [3, 1]]))
    >>> round(confusion.balanced_accuracy, 3), round(confusion.macro_f1, 3)
    (0.525, 0.524)
    >>> print(confusion)
    true \\ predicted  no  yes
    no                 8    2
    yes                3    1
    """

    classes: tuple[str, ...]
    counts: IntArray

    @classmethod
    def of(cls, folds: Sequence[Measures]) -> Confusion:
        """The sum over folds, whose classes may differ."""
        classes = list(dict.fromkeys(label for m in folds for label in m.classes))
        total = np.zeros((len(classes), len(classes)), dtype=np.int64)
        for m in folds:
            own = [classes.index(label) for label in m.classes]
            total[np.ix_(own, own)] += np.array(m.confusion, dtype=np.int64).reshape(len(own), -1)
        return cls(tuple(classes), total)

    @property
    def balanced_accuracy(self) -> float:
        """The mean over the true classes of the share of correct rows."""
        truth, predicted, counts = self._rows()
        present = np.unique(truth)  # other classes have no recall
        return float(
            recall_score(truth, predicted, labels=present, average="macro", sample_weight=counts)
        )

    @property
    def macro_f1(self) -> float:
        """The mean of F1 over all classes that occur or were predicted."""
        truth, predicted, counts = self._rows()
        return float(f1_score(truth, predicted, average="macro", sample_weight=counts))

    def _rows(self) -> tuple[IntArray, IntArray, IntArray]:
        """One row for each pair of a true and a predicted class, with its weight."""
        truth, predicted = np.nonzero(self.counts)
        return truth, predicted, self.counts[truth, predicted]

    def __str__(self) -> str:
        cells = [[str(n) for n in row] for row in self.counts]
        return aligned(
            [["true \\ predicted", *self.classes]]
            + [[label, *row] for label, row in zip(self.classes, cells, strict=True)]
        )


@dataclass(frozen=True, eq=False)
class Reliability:
    """How often predictions of a given confidence are correct.

    The confidence of a prediction is the probability of the predicted class. Bins have equal
    width; bins without rows are left out.

    Attributes
    ----------
    low, high
        Limits of the bins.
    rows
        Number of rows in each bin.
    confidence
        Mean confidence in each bin.
    accuracy
        Share of correct rows in each bin.

    Examples
    --------
    >>> bins = [[0, 0.0, 0]] * 8 + [[10, 8.5, 6], [30, 28.5, 27]]
    >>> curve = Reliability.of([Measures(40, 33, bins=bins)])
    >>> round(curve.calibration_error, 4)
    0.1
    >>> print(curve)
    confidence   rows  mean confidence  accuracy
    0.8 to 0.9     10           85.0 %    60.0 %
    0.9 to 1.0     30           95.0 %    90.0 %
    """

    low: FloatArray
    high: FloatArray
    rows: IntArray
    confidence: FloatArray
    accuracy: FloatArray

    @classmethod
    def of(cls, folds: Sequence[Measures]) -> Reliability:
        """The curve over all rows of the folds."""
        sums = np.sum([np.array(m.bins).reshape(BINS, 3) for m in folds], axis=0)
        used = np.flatnonzero(sums[:, 0])
        rows, confidence, correct = sums[used].T
        return cls(
            used / BINS, (used + 1) / BINS, rows.astype(np.int64), confidence / rows, correct / rows
        )

    @property
    def calibration_error(self) -> float:
        """Expected calibration error: ``abs(accuracy - confidence)``, the mean over all rows."""
        return float(np.average(np.abs(self.accuracy - self.confidence), weights=self.rows))

    def __str__(self) -> str:
        lines = [["confidence", "rows", "mean confidence", "accuracy"]]
        for low, high, n, confidence, share in zip(*vars(self).values(), strict=True):
            cells = (f"{100 * confidence:.1f} %", f"{100 * share:.1f} %")
            lines.append([f"{low:.1f} to {high:.1f}", str(n), *cells])
        return aligned(lines)
