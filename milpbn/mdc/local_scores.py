"""What a family scores: the penalised likelihood of the training rows, or of held-out rows.

Penalised:  S_j(Pi) = log-likelihood of the training rows + PEN_j(Pi),
            PEN_j(Pi) = -(log N / 2) (r_j - 1) q(Pi)
Held out:   S_j(Pi) = log-likelihood of the rows of every fold, under base models that were
            trained on the other folds

Each has a ceiling: an upper bound on the scores of Pi and of all its supersets. Log-likelihoods
are at most 0 and PEN decreases with every parent, so PEN_j(Pi) is the ceiling of the first.

The ceiling of the second follows from counts. Take a row in fold k, and let n be the number of
rows outside k with the same configuration of Pi (or the sum of their weights), and c the number
of states of Y_j among them.
A state that does not occur among them has probability 1 / (n + r_j), each of the others at most
1 - (r_j - c) / (n + r_j) = (n + c) / (n + r_j). With more parents n and c can only fall, so the
row's probability is at most
    (n + c) / (n + r_j)   if its state occurs among those rows: this bound falls with n and c and
                          never falls below 1 / r_j;
    1 / r_j               otherwise, since the state cannot occur with more parents either.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from sklearn.model_selection import KFold

from milpbn._types import Codes, FloatArray
from milpbn.errors import DataError
from milpbn.families.candidates import ParentSet
from milpbn.mdc.rows import TrainingRows


class LocalScore(ABC):
    """The score of a family, and an upper bound for it and for families with more parents.

    Parameters
    ----------
    rows
        The training rows.
    """

    folds: Codes | None = None
    """The fold of each row, if rows are held out."""

    def __init__(self, rows: TrainingRows) -> None:
        self.rows = rows

    @abstractmethod
    def penalty(self, child: int, parents: ParentSet) -> float:
        """What is added to the log-likelihood; never positive."""

    @abstractmethod
    def ceiling(self, child: int, parents: ParentSet) -> float:
        """An upper bound on the scores of the parent set and of all its supersets."""


class PenalisedLikelihood(LocalScore):
    """The log-likelihood of the training rows with a BIC penalty."""

    def penalty(self, child: int, parents: ParentSet) -> float:
        """PEN_j(Pi)."""
        cards = self.rows.nodes.cards
        q = math.prod(cards[p] for p in parents)
        # A total weight below 1 must not turn the penalty into a reward.
        return -0.5 * math.log(max(self.rows.total, 1.0)) * (cards[child] - 1) * q

    def ceiling(self, child: int, parents: ParentSet) -> float:
        """PEN_j(Pi)."""
        return self.penalty(child, parents)


class HeldOutLikelihood(LocalScore):
    """The log-likelihood of held-out rows, which needs no penalty.

    Parameters
    ----------
    rows
        The training rows.
    folds
        The fold of each row.
    """

    folds: Codes

    def __init__(self, rows: TrainingRows, folds: Codes) -> None:
        super().__init__(rows)
        self.folds = folds
        self._ceilings: dict[tuple[int, ParentSet], float] = {}

    def penalty(self, child: int, parents: ParentSet) -> float:
        """None."""
        return 0.0

    def ceiling(self, child: int, parents: ParentSet) -> float:
        """The sum over rows of the logarithms of the bounds that the module derives."""
        key = child, parents
        if key not in self._ceilings:
            self._ceilings[key] = self._ceiling(child, parents)
        return self._ceilings[key]

    def _ceiling(self, child: int, parents: ParentSet) -> float:
        rows, states = self.rows, self.rows.codes[:, child]
        r, weights = rows.nodes.cards[child], rows.weights
        _, row = np.unique(rows.configurations(parents), return_inverse=True)
        outside = self._outside(row, states, r, None)
        # Which states occur follows from numbers of rows: differences of sums of weights round.
        n = (outside if weights is None else self._outside(row, states, r, weights)).sum(axis=1)
        c, occurs = (outside > 0).sum(axis=1), outside[np.arange(len(states)), states] > 0
        logs = np.log(np.where(occurs, (n + c) / (n + r), 1 / r))
        return float((logs if weights is None else weights * logs).sum())

    def _outside(self, row: Codes, states: Codes, r: int, weights: FloatArray | None) -> FloatArray:
        """``(rows, r)``: how often each state occurs in the same configuration of other folds."""
        counts = np.zeros((row.max() + 1, self.folds.max() + 1, r))
        np.add.at(counts, (row, self.folds, states), 1.0 if weights is None else weights)
        out: FloatArray = (counts.sum(axis=1, keepdims=True) - counts)[row, self.folds]
        return out


def make_local_score(rows: TrainingRows, validation: int | None, seed: int) -> LocalScore:
    """The penalised score, or for a number of folds the score of held-out rows."""
    if validation is None:
        return PenalisedLikelihood(rows)
    return HeldOutLikelihood(rows, _random_folds(len(rows), validation, seed))


def _random_folds(n_rows: int, validation: int, seed: int) -> Codes:
    """The fold of each row."""
    if n_rows < validation:
        raise DataError(f"{n_rows} rows are too few for validation in {validation} folds")
    folds = np.empty(n_rows, dtype=np.int64)
    splitter = KFold(validation, shuffle=True, random_state=seed)
    for number, (_, held_out) in enumerate(splitter.split(folds)):
        folds[held_out] = number
    return folds
