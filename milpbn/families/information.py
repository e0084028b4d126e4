"""Entropy and mutual information of the training rows, in nats.

Probabilities are relative frequencies of observed values, without smoothing. With counts n(a)
that add up to M, the entropy of A is

    H(A) = log M - L(A) / M,    L(A) = sum_a n(a) log n(a),

and mutual information is a sum of entropies,

    I(A; B | S) = H(A, S) + H(B, S) - H(A, B, S) - H(S).

References
----------
Cover & Thomas (1991), Elements of information theory.
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from milpbn._types import Codes, FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import CLASS
from milpbn.families.rows import MergedRows

# Counters of a sweep, which should stay in the second-level cache, and rows counted in it (of
# all variables together), which is the time between two checks of the clock.
_COUNTERS = 2**15
_COUNTED = 5e7


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
        codes = self.rows.columns[variable]
        card = int(codes.max()) + 1
        key = self.group * card + codes
        occurs = np.zeros(self.n_groups * card, dtype=bool)
        occurs[key] = True
        number = np.cumsum(occurs) - 1
        return JointValues(self.rows, number[key], int(number[-1]) + 1)

    def in_doubt(self) -> tuple[IntArray, IntArray]:
        """The rows of groups with several classes, group by group, and where each group begins.

        In the other groups the class is certain, and no variable says more about it.
        """
        with_class = self.joined(CLASS)
        group_of = np.zeros(with_class.n_groups, dtype=np.int64)
        group_of[with_class.group] = self.group
        several = np.bincount(group_of, minlength=self.n_groups) > 1
        rows = np.flatnonzero(several[self.group])
        rows = rows[np.argsort(self.group[rows], kind="stable")]
        sizes = np.bincount(self.group[rows], minlength=self.n_groups)[several]
        return rows, np.concatenate([[0], np.cumsum(sizes)])


def class_information(given: JointValues, features: Sequence[int]) -> FloatArray:
    """``I(C; X | S)`` for each feature X, where S are the variables of `given`."""
    # M I(C; X | S) = L(X, C, S) - L(X, S) - (L(C, S) - L(S))
    rows, pointer = given.in_doubt()
    weights = given.rows.weights[rows]
    known = _sum(given.joined(CLASS).group[rows], weights) - _sum(given.group[rows], weights)
    found = _group_sums(given.rows, features, rows, pointer, rate=False)
    return (found - known) / given.rows.total


def majority(given: JointValues, features: Sequence[int]) -> FloatArray:
    """Rows classified correctly if each joint value predicts its most frequent class.

    For each feature X, the joint values are those of X and of the variables of `given`. This
    is the classification rate of the saturated network over the class and these variables, as
    a number of rows; of tied classes, one is counted as correct.
    """
    rows, pointer = given.in_doubt()
    certain = given.rows.total - float(given.rows.weights[rows].sum())
    return certain + _group_sums(given.rows, features, rows, pointer, rate=True)


def _group_sums(
    rows: MergedRows, features: Sequence[int], used: IntArray, pointer: IntArray, *, rate: bool
) -> FloatArray:
    from milpbn.families.counting import group_sums

    columns = rows.columns
    states, classes = int(columns.max(initial=0)) + 1, int(columns[CLASS].max(initial=0)) + 1
    out = np.empty(len(features))
    group_sums(
        columns, np.array(features, dtype=np.int64), used, pointer, columns[CLASS], rows.weights,
        np.zeros((states, classes)), np.zeros(states), rate, out,
    )  # fmt: skip
    return out


def _sum(values: Codes, weights: FloatArray) -> float:
    """L of a variable with these values."""
    counts = np.bincount(values, weights)
    return float(scipy.special.xlogy(counts, counts).sum())


@dataclass(frozen=True)
class PairInformation:
    """Information between two features and the class, for all pairs of features.

    The matrices are symmetric, ``(n, n)`` over all variables. The row and the column of the
    class, and the diagonal, are zero.

    Attributes
    ----------
    given_class
        ``I(Xi; Xj | C)``.
    plain
        ``I(Xi; Xj)``.
    about_class
        ``I(C; Xi, Xj)``.
    """

    given_class: FloatArray
    plain: FloatArray
    about_class: FloatArray


def pairwise_information(
    rows: MergedRows, cards: Sequence[int], checkpoint: Checkpoint = no_checkpoint
) -> PairInformation:
    """The information of all pairs of features, from one sweep over the rows per feature."""
    with_class, alone = _pair_sums(rows, cards, checkpoint)
    own = np.array([_sum(x, rows.weights) for x in rows.columns])
    values = (rows.columns[CLASS] + np.int64(cards[CLASS]) * x for x in rows.columns)
    own_with_class = np.array([_sum(x, rows.weights) for x in values])
    total = rows.total
    nothing = scipy.special.xlogy(total, total)

    def symmetric(information: FloatArray) -> FloatArray:
        upper = np.triu(information / total, 1)
        upper[CLASS] = 0.0
        return upper + upper.T

    # M I(A; B | S) = L(A, B, S) - L(A, S) - L(B, S) + L(S), where rounding makes zeros negative.
    given_class = with_class - own_with_class[:, None] - own_with_class + own[CLASS]
    plain = alone - own[:, None] - own + nothing
    return PairInformation(
        symmetric(np.maximum(given_class, 0.0)),
        symmetric(np.maximum(plain, 0.0)),
        symmetric(with_class - own[CLASS] - alone + nothing),
    )


def _pair_sums(
    rows: MergedRows, cards: Sequence[int], checkpoint: Checkpoint
) -> tuple[FloatArray, FloatArray]:
    """L(Xi, Xj, C) and L(Xi, Xj) for all features i < j."""
    from milpbn.families.counting import pair_sums

    n, states = len(cards), np.array(cards, dtype=np.int64)
    with_class, alone = np.zeros((n, n)), np.zeros((n, n))
    for i in range(CLASS + 1, n):
        for first, last in _sweeps(i, states, len(rows)):
            checkpoint()
            pair_sums(rows.columns, rows.weights, i, first, last, states, with_class[i], alone[i])
    return with_class, alone


def _sweeps(i: int, cards: IntArray, n_rows: int) -> Iterator[tuple[int, int]]:
    """Ranges of the variables after i that are counted in one sweep."""
    counters = cards[i + 1 :] * cards[i] * cards[CLASS]
    share = np.cumsum(np.maximum(counters / _COUNTERS, n_rows / _COUNTED)).astype(np.int64)
    ends = i + 1 + np.append(np.flatnonzero(np.diff(share)) + 1, len(share))
    first = i + 1
    for last in ends.tolist():
        if first < last:
            yield first, last
        first = last
