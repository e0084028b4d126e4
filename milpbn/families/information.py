"""Entropy and mutual information of the training rows, in nats.

Probabilities are relative frequencies of observed values, without smoothing. Conditional
mutual information is a sum of entropies,

    I(A; B | S) = H(A, S) + H(B, S) - H(A, B, S) - H(S).

References
----------
Cover & Thomas (1991), Elements of information theory.
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import CLASS
from milpbn.families.counts import joint_counts
from milpbn.families.rows import MergedRows


def entropy(counts: npt.ArrayLike) -> float:
    """H of the distribution proportional to `counts`.

    Examples
    --------
    >>> round(entropy([2, 2, 0]), 6)
    0.693147
    """
    counts = np.asarray(counts, dtype=np.float64)
    total = counts.sum()
    return float(np.log(total) - xlogy(counts, counts).sum() / total)


@dataclass(frozen=True)
class JointValues:
    """Rows grouped by the observed joint values of some variables.

    Attributes
    ----------
    rows
        The training rows.
    group
        ``(U,)``: the index of the joint value of each row.
    n_groups
        Number of observed joint values.

    Examples
    --------
    >>> rows = MergedRows.from_codes(np.array([[0, 0, 1], [1, 0, 1], [1, 2, 0]]))
    >>> JointValues.of(rows, [1, 2]).n_groups
    2
    """

    rows: MergedRows
    group: IntArray
    n_groups: int

    @classmethod
    def of(cls, rows: MergedRows, variables: Sequence[int] = ()) -> JointValues:
        """The joint values of `variables`; without variables, all rows are one group."""
        values = cls(rows, np.zeros(len(rows), dtype=np.int64), 1)
        for v in variables:
            values = values.joined(v)
        return values

    def joined(self, variable: int) -> JointValues:
        """The joint values with one additional variable."""
        codes = self.rows.codes[:, variable]
        card = int(codes.max()) + 1
        key = self.group * card + codes
        occurs = np.zeros(self.n_groups * card, dtype=bool)
        occurs[key] = True
        number = np.cumsum(occurs) - 1
        return JointValues(self.rows, number[key], int(number[-1]) + 1)

    def entropy(self) -> float:
        """H of the joint value."""
        return entropy(np.bincount(self.group, self.rows.weights))

    def majority(self) -> float:
        """Rows classified correctly if each joint value predicts its most frequent class.

        This is the classification rate of the saturated network over the class and the
        variables, as a number of rows; of tied classes, one is counted as correct.
        """
        n_classes = int(self.rows.labels.max()) + 1
        key = self.group * n_classes + self.rows.labels
        counts = np.bincount(key, self.rows.weights, minlength=self.n_groups * n_classes)
        return float(counts.reshape(-1, n_classes).max(axis=1).sum())


def class_information(given: JointValues, features: Sequence[int]) -> FloatArray:
    """``I(C; X | S)`` for each feature X, where S are the variables of `given`."""
    with_class = given.joined(CLASS)
    known = with_class.entropy() - given.entropy()
    return np.array(
        [given.joined(x).entropy() - with_class.joined(x).entropy() + known for x in features]
    )


def pairwise_information(
    rows: MergedRows, cards: Sequence[int], checkpoint: Checkpoint = no_checkpoint
) -> tuple[FloatArray, FloatArray]:
    """``I(Xi; Xj | C)`` and ``I(Xi; Xj)`` for all pairs of features.

    Both are symmetric ``(n, n)`` matrices over all variables; the row and the column of
    the class, and the diagonal, are zero.
    """
    n = len(cards)
    given_class, plain = np.zeros((n, n)), np.zeros((n, n))
    for i in range(1, n):
        checkpoint()
        for j in range(i + 1, n):
            counts = joint_counts(rows, (i, j, CLASS), cards)
            given_class[i, j] = _given_last_axis(counts)
            plain[i, j] = _given_last_axis(counts.sum(axis=2, keepdims=True))
    return given_class + given_class.T, plain + plain.T


def _given_last_axis(counts: FloatArray) -> float:
    """I(A; B | S) from joint counts with the axes A, B, S; never negative."""
    terms = entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0))
    return max(terms - entropy(counts) - entropy(counts.sum(axis=(0, 1))), 0.0)
