"""The base models of one family: P(Y_j | features) for every configuration of the parents.

The rows of one configuration train one base model. States that a base model has not seen get a
probability by Laplace's rule: with n rows and r states, a state that does not occur in the rows
of a configuration has probability 1 / (n + r), and the base model distributes the rest. So a
configuration without rows is uniform, one with a single state gives it (n + 1) / (n + r), and
one in which every state occurs has the probabilities of its base model unchanged.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import ThreadpoolController

from milpbn._types import Codes, FloatArray
from milpbn.errors import DataError, OptionError
from milpbn.mdc.features import Features
from milpbn.mdc.rows import TrainingRows

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
        Number of rows with each state of Y_j, or the sum of their weights.
    estimator
        The base model, trained on the codes of the states that occur; None if fewer than
        two occur or there are no features to train on.
    """

    counts: npt.NDArray[Any]
    estimator: Any = None

    def proba(self, matrix: FloatArray) -> FloatArray:
        """``(rows, r)``: P(Y_j | features)."""
        counts = self.counts.astype(np.float64)
        n, r = counts.sum(), len(counts)
        if self.estimator is None:
            return np.broadcast_to((counts + 1.0) / (n + r), (len(matrix), r))
        out = np.full((len(matrix), r), 1.0 / (n + r))
        shown = counts > 0
        rest = 1.0 - (~shown).sum() / (n + r)
        out[:, shown] = rest * self.estimator.predict_proba(matrix)
        return out

    def log_likelihood(self, rows: TrainingRows, child: int) -> float:
        """Log-likelihood of the states of a class variable in some rows."""
        labels = rows.codes[:, child]
        logs = safe_log(self.proba(rows.matrix)[np.arange(len(rows)), labels])
        return float((logs if rows.weights is None else rows.weights * logs).sum())


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

    @property
    def shares(self) -> FloatArray:
        """How often each state of the class variable occurs in training."""
        counts = np.sum([m.counts for m in self.models.values()], axis=0)
        shares: FloatArray = counts / counts.sum()
        return shares

    @property
    def fitted(self) -> int:
        """The number of configurations with a base model."""
        return sum(model.estimator is not None for model in self.models.values())

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
    rows: TrainingRows,
    child: int,
    parents: tuple[int, ...],
    base: Any,
    folds: Codes | None = None,
) -> TrainedFamily:
    """Train one base model per configuration of `parents` and score the training rows.

    Parameters
    ----------
    rows
        The training rows.
    child, parents
        The family.
    base
        The base estimator, cloned for every configuration.
    folds
        The fold of each row, to score rows that are held out.
    """
    models, total, fits, cards = {}, 0.0, Fits(), rows.nodes.cards
    with one_thread():
        for number, own in _partition(rows, parents):
            models[number] = configuration_model(own, child, base, fits)
            if folds is None:
                total += models[number].log_likelihood(own, child)
    if folds is not None:
        total = held_out_log_likelihood(rows, child, parents, base, folds, fits)
    discrete = [p for p in parents if p >= rows.nodes.d]
    local = LocalModel(
        child=child,
        parents=parents,
        n_class_parents=len(parents) - len(discrete),
        cards=tuple(cards[p] for p in parents),
        models=models,
        frequencies=tuple(rows.counts(p) / rows.total for p in discrete),
        empty=ConfigurationModel(np.zeros(cards[child], dtype=np.int64)),
    )
    return TrainedFamily(local, total, fits)


def _numbers(rows: TrainingRows, parents: tuple[int, ...]) -> Iterator[tuple[int, Codes]]:
    """Each configuration that occurs, with the numbers of its rows in ascending order."""
    numbers = rows.configurations(parents)
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    for chosen in np.split(order, starts[1:]):
        yield int(numbers[chosen[0]]), chosen


def _partition(rows: TrainingRows, parents: tuple[int, ...]) -> Iterator[tuple[int, TrainingRows]]:
    """Each configuration that occurs, with its rows."""
    for number, chosen in _numbers(rows, parents):
        yield number, rows.part(chosen)


def held_out_log_likelihood(
    rows: TrainingRows,
    child: int,
    parents: tuple[int, ...],
    base: Any,
    folds: Codes,
    fits: Fits,
) -> float:
    """Log-likelihood of the rows of each fold under base models trained on all other rows.

    Parameters
    ----------
    rows, child, parents, base
        See :func:`train_family`.
    folds
        The fold of each row; -1 for rows that are never held out.
    fits
        Counts the trained base models.
    """
    total = 0.0
    with one_thread():
        for _, chosen in _numbers(rows, parents):
            own, fold = rows.part(chosen), folds[chosen]
            for k in np.unique(fold[fold >= 0]):
                model = configuration_model(own.part(fold != k), child, base, fits)
                total += model.log_likelihood(own.part(fold == k), child)
    return total


def configuration_model(
    rows: TrainingRows, child: int, base: Any, fits: Fits
) -> ConfigurationModel:
    """The model of a class variable in one configuration, from its rows."""
    counts = rows.counts(child)
    if rows.matrix.shape[1] == 0 or np.count_nonzero(counts) < 2:
        return ConfigurationModel(counts)
    return ConfigurationModel(
        counts, fit_base(base, rows.matrix, rows.codes[:, child], fits, rows.weights)
    )


def fit_base(
    base: Any,
    matrix: FloatArray,
    labels: Codes,
    fits: Fits,
    weights: FloatArray | None = None,
) -> Any:
    """A trained copy of `base`; its warnings are recorded in `fits`, not shown."""
    weighted = {} if weights is None else {weight_parameter(base): weights}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator = clone(base).fit(matrix, labels, **weighted)
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


def weight_parameter(base: Any) -> str:
    """The parameter of `fit` that takes the weights of rows; an error if there is none."""
    last, prefix = base, ""
    while isinstance(last, Pipeline):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if not has_fit_parameter(last, "sample_weight"):
        raise OptionError(
            f"the rows have weights, but the base estimator {type(last).__name__} cannot learn "
            "from weighted rows; choose another one, or leave out the weights"
        )
    return f"{prefix}sample_weight"
