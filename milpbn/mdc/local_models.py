"""The base models of one family: P(Y_j | features) for every configuration of the parents.

The rows of one configuration train one base model. States that a base model has not seen get a
probability by Laplace's rule: with n rows and r states, a state that does not occur in the rows
of a configuration has probability 1 / (n + r), and the base model distributes the rest. So a
configuration without rows is uniform, one with a single state gives it (n + 1) / (n + r), and
one in which every state occurs has the probabilities of its base model unchanged.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from milpbn._types import Codes, FloatArray
from milpbn.errors import DataError
from milpbn.mdc.features import Features

_TINY = np.finfo(np.float64).tiny


@lru_cache(maxsize=1)
def _threads() -> ThreadpoolController:
    # Finding the libraries takes longer than training many base models: once per process is enough.
    return ThreadpoolController()


def one_thread() -> Any:
    """A context in which linear algebra uses one thread.

    On problems of this size its threads mostly wait for each other; parallel training uses
    the cores better.
    """
    return _threads().limit(limits=1)


def safe_log(probabilities: FloatArray) -> FloatArray:
    """Logarithms that are never -inf, and never above 0."""
    out: FloatArray = np.log(np.clip(probabilities, _TINY, 1.0))
    return out


@dataclass(frozen=True)
class ConfigurationModel:
    """P(Y_j | features) within one configuration.

    Attributes
    ----------
    counts
        Number of rows with each state of Y_j.
    estimator
        The base model, trained on the codes of the states that occur; None if fewer than
        two occur or there are no features to train on.
    """

    counts: npt.NDArray[np.int64]
    estimator: Any = None

    def proba(self, matrix: FloatArray) -> FloatArray:
        """``(rows, r)``: P(Y_j | features)."""
        n, r = int(self.counts.sum()), len(self.counts)
        if self.estimator is None:
            return np.broadcast_to((self.counts + 1.0) / (n + r), (len(matrix), r))
        out = np.full((len(matrix), r), 1.0 / (n + r))
        shown = self.counts > 0
        rest = 1.0 - (~shown).sum() / (n + r)
        out[:, shown] = rest * self.estimator.predict_proba(matrix)
        return out

    def log_likelihood(self, matrix: FloatArray, labels: Codes) -> float:
        """Log-likelihood of rows with these states."""
        return float(safe_log(self.proba(matrix)[np.arange(len(labels)), labels]).sum())


@dataclass(frozen=True)
class LocalModel:
    """The base models of a family (Y_j, parents).

    Attributes
    ----------
    child, parents
        Nodes: class variables first, then discrete features. Parents are sorted.
    n_class_parents
        How many of the parents are class variables.
    cards
        Numbers of states of the parents.
    models
        By configuration number; configurations without rows are left out.
    frequencies
        For each discrete parent, how often each state occurs in training. If the state of a
        row is unknown, its distribution is the average over states with these weights.
    empty
        The model of a configuration without rows.
    """

    child: int
    parents: tuple[int, ...]
    n_class_parents: int
    cards: tuple[int, ...]
    models: Mapping[int, ConfigurationModel] = field(repr=False)
    frequencies: tuple[FloatArray, ...] = field(repr=False)
    empty: ConfigurationModel = field(repr=False)

    def log_table(self, features: Features, d: int) -> FloatArray:
        """``(rows, states of each class parent..., r)``: log P(y_j | class parents, row).

        `d` is the number of class variables, the first node that is a feature.
        """
        k = self.n_class_parents
        q_class, q_discrete = prod(self.cards[:k]), prod(self.cards[k:])
        out = np.zeros((len(features), q_class, len(self.empty.counts)))
        for part in range(q_discrete):
            weight = self._weight(features.codes, part, d)
            rows = np.flatnonzero(weight)
            if len(rows) == 0:
                continue
            matrix = features.matrix[rows]
            for configuration in range(q_class):
                model = self.models.get(configuration * q_discrete + part, self.empty)
                out[rows, configuration] += weight[rows, None] * model.proba(matrix)
        return safe_log(out).reshape(len(features), *self.cards[:k], -1)

    def _weight(self, codes: Codes, part: int, d: int) -> FloatArray:
        """How much each row belongs to a joint state of the discrete parents."""
        weight = np.ones(len(codes))
        k = self.n_class_parents
        states = np.unravel_index(part, self.cards[k:]) if self.cards[k:] else ()
        for node, state, share in zip(self.parents[k:], states, self.frequencies, strict=True):
            column = codes[:, node - d]
            weight *= np.where(column < 0, share[state], column == state)
        return weight


@dataclass
class Fits:
    """How the training of base models went.

    Attributes
    ----------
    n
        Number of fitted base models.
    unconverged
        Number of base models that reported that they did not converge.
    messages
        The other warnings, each once.
    """

    n: int = 0
    unconverged: int = 0
    messages: set[str] = field(default_factory=set)

    def add(self, other: Fits) -> None:
        """Include the base models of another part of the training."""
        self.n += other.n
        self.unconverged += other.unconverged
        self.messages |= other.messages

    def notes(self) -> list[str]:
        """What the user should know."""
        notes = sorted(self.messages)
        if self.unconverged:
            notes.insert(
                0,
                f"{self.unconverged} of {self.n} base models did not converge, so results depend "
                "on where they stopped; regularise them more, or allow more iterations",
            )
        return notes


@dataclass(frozen=True)
class TrainedFamily:
    """The result of training one family.

    Attributes
    ----------
    model
        The base models.
    log_likelihood
        Log-likelihood of the training rows; with folds, each row is predicted by base models
        that were trained without its fold.
    fits
        How the training of the base models went.
    """

    model: LocalModel
    log_likelihood: float
    fits: Fits


def train_family(
    matrix: FloatArray,
    codes: Codes,
    cards: Sequence[int],
    child: int,
    parents: tuple[int, ...],
    d: int,
    base: Any,
    folds: Codes | None = None,
) -> TrainedFamily:
    """Train one base model per configuration of `parents` and score the training rows.

    Parameters
    ----------
    matrix
        The features that base models see.
    codes, cards
        States of all nodes in the training rows, and their numbers of states.
    child, parents
        The family.
    d
        Number of class variables.
    base
        The base estimator, cloned for every configuration.
    folds
        The fold of each row, to score rows that are held out.
    """
    models, total, fits = {}, 0.0, Fits()
    with one_thread():
        for number, rows in _partition(configurations(codes, cards, parents)):
            own, labels = matrix[rows], codes[rows, child]
            models[number] = _configuration(own, labels, cards[child], base, fits)
            if folds is None:
                total += models[number].log_likelihood(own, labels)
    if folds is not None:
        total = held_out_log_likelihood(matrix, codes, cards, child, parents, base, folds, fits)
    discrete = [p for p in parents if p >= d]
    local = LocalModel(
        child=child,
        parents=parents,
        n_class_parents=len(parents) - len(discrete),
        cards=tuple(cards[p] for p in parents),
        models=models,
        frequencies=tuple(
            np.bincount(codes[:, p], minlength=cards[p]) / len(codes) for p in discrete
        ),
        empty=ConfigurationModel(np.zeros(cards[child], dtype=np.int64)),
    )
    return TrainedFamily(local, total, fits)


def configurations(codes: Codes, cards: Sequence[int], parents: Sequence[int]) -> Codes:
    """The number of the parents' configuration in each row."""
    numbers = np.zeros(len(codes), dtype=np.int64)
    for p in parents:
        numbers = numbers * cards[p] + codes[:, p]
    return numbers


def _partition(numbers: Codes) -> Iterator[tuple[int, Codes]]:
    """Each configuration that occurs, with its rows in ascending order."""
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        yield int(numbers[rows[0]]), rows


def held_out_log_likelihood(
    matrix: FloatArray,
    codes: Codes,
    cards: Sequence[int],
    child: int,
    parents: Sequence[int],
    base: Any,
    folds: Codes,
    fits: Fits,
) -> float:
    """Log-likelihood of the rows of each fold under base models trained on all other rows.

    Parameters
    ----------
    matrix, codes, cards, child, parents, base
        See :func:`train_family`.
    folds
        The fold of each row; -1 for rows that are never held out.
    fits
        Counts the trained base models.
    """
    total = 0.0
    with one_thread():
        for _, rows in _partition(configurations(codes, cards, parents)):
            own, labels, fold = matrix[rows], codes[rows, child], folds[rows]
            for k in np.unique(fold[fold >= 0]):
                out = fold == k
                model = _configuration(own[~out], labels[~out], cards[child], base, fits)
                total += model.log_likelihood(own[out], labels[out])
    return total


def _configuration(
    matrix: FloatArray, labels: Codes, card: int, base: Any, fits: Fits
) -> ConfigurationModel:
    """The model of one configuration, from its rows."""
    counts = np.bincount(labels, minlength=card)
    if matrix.shape[1] == 0 or np.count_nonzero(counts) < 2:
        return ConfigurationModel(counts)
    return ConfigurationModel(counts, fit_base(base, matrix, labels, fits))


def fit_base(base: Any, matrix: FloatArray, labels: Codes, fits: Fits) -> Any:
    """A trained copy of `base`; its warnings are recorded in `fits`, not shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator = clone(base).fit(matrix, labels)
        except ValueError as error:
            raise DataError(
                f"the base estimator {type(base).__name__} failed on a configuration with "
                f"{len(labels)} rows and {len(np.unique(labels))} classes: {error}"
            ) from error
    fits.n += 1
    fits.unconverged += any(issubclass(w.category, ConvergenceWarning) for w in caught)
    # newton-cholesky continues with lbfgs after a LinAlgWarning, so it can be ignored.
    harmless = (ConvergenceWarning, LinAlgWarning)
    fits.messages |= {str(w.message) for w in caught if not issubclass(w.category, harmless)}
    return estimator
