"""Other methods for several class variables, with which GBNC is compared.

Binary relevance ignores dependencies between class variables, a classifier chain passes
predicted classes to the next class variable, and class powerset has one class for every joint
state that occurs. The chain is implemented here because scikit-learn's `ClassifierChain` passes
classes on as numbers, which gives the states of a class variable an order they do not have.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from milpbn._types import Codes, FloatArray
from milpbn.datasets.table import AUTO, Table
from milpbn.families.candidates import ParentSet
from milpbn.mdc.base_estimators import make_base
from milpbn.mdc.candidates import Nodes
from milpbn.mdc.estimator import MultiDimensionalClassifier
from milpbn.mdc.features import ONE_HOT, Features, encode_frame
from milpbn.mdc.local_models import (
    ConfigurationModel,
    Fits,
    configuration_model,
    held_out_log_likelihood,
    one_thread,
)
from milpbn.mdc.regularisation import choose_base, validation_folds
from milpbn.mdc.rows import TrainingRows, encode_rows
from milpbn.mdc.settings import check_choice

_Link = tuple[int, tuple[int, ...]]


class _OtherMethod(MultiDimensionalClassifier):
    """The common parameters of the other methods; categories become indicator columns."""

    def __init__(
        self,
        base_estimator: Any = None,
        *,
        categorical_features: str | Sequence[int] | Sequence[str] = "from_dtype",
        numeric_features: Sequence[int] | Sequence[str] = (),
        missing: str = AUTO,
        dates: str = "expand",
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.base_estimator = base_estimator
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.missing = missing
        self.dates = dates
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, table: Table) -> None:
        self.encoder_, rows = encode_rows(table, ONE_HOT)
        self._readings, self.fits_ = table.readings, Fits()
        self._learn_rows(rows)

    @abstractmethod
    def _learn_rows(self, rows: TrainingRows) -> None:
        """Fit to encoded rows."""

    def _bases(self, rows: TrainingRows) -> list[Any]:
        """The unfitted base estimator of each class variable; sets ``base_``."""
        base, seed = make_base(self.base_estimator), self.random_state
        own: list[list[ParentSet]] = [[()]] * rows.nodes.d
        self.base_ = choose_base(base, rows, own, seed=seed or 0, n_jobs=self.n_jobs).base
        return [self.base_.estimator(rows.matrix.shape[1], r, seed) for r in rows.nodes.cards]

    def _encode(self, frame: pd.DataFrame) -> Features:
        return encode_frame(frame, self.encoder_, self._readings)

    def _predict_codes(self, features: Features) -> Codes:
        return np.column_stack([p.argmax(axis=1) for p in self.marginals(features)])

    def _collect(self, trained: Sequence[tuple[Any, Fits]]) -> list[Any]:
        """The models of parallel tasks, whose trouble is added to ``fits_``."""
        for _, fits in trained:
            self.fits_.add(fits)
        return [model for model, _ in trained]


def _fit(rows: TrainingRows, child: int, base: Any) -> tuple[ConfigurationModel, Fits]:
    fits = Fits()
    with one_thread():
        return configuration_model(rows, child, base, fits), fits


class BinaryRelevance(_OtherMethod):
    """One independent base model for each class variable.

    Parameters
    ----------
    base_estimator, categorical_features, numeric_features, missing, dates, n_jobs, random_state
        See :class:`GBNCClassifier`.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> BinaryRelevance().fit(X, [[0, 1], [0, 1], [1, 0], [1, 0]]).predict([[5.0]])
    array([[1, 0]])
    """

    def _learn_rows(self, rows: TrainingRows) -> None:
        trained = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit)(rows, j, base) for j, base in enumerate(self._bases(rows))
        )
        self.models_ = self._collect(trained)

    def marginals(self, features: Features) -> list[FloatArray]:
        """See :class:`MultiDimensionalClassifier`."""
        return [model.proba(features.matrix) for model in self.models_]


ORDERS = ("random", "auto")
"""How the orders of classifier chains are chosen."""


class ClassifierChains(_OtherMethod):
    """An ensemble of chains in random orders, or one chain in an order chosen by validation.

    In a chain, a class variable sees the features and the classes before it, as indicators:
    the true ones in training, the predicted ones later. Several chains vote on each class
    variable.

    Parameters
    ----------
    base_estimator, categorical_features, numeric_features, missing, dates, n_jobs, random_state
        See :class:`GBNCClassifier`.
    order : {"random", "auto"}, default="random"
        ``"random"``: chains in random orders. ``"auto"``: one chain, whose order has the
        highest log-likelihood of the held-out rows of
        :class:`~milpbn.evaluation.ValidationSplit`.
    n_chains : int, default=10
        Number of random orders. With ``order="auto"`` validation chooses among them, or among
        all orders if there are not more than that.

    Attributes
    ----------
    orders_ : list of list of str
        The order of each chain.

    References
    ----------
    Read, Pfahringer, Holmes & Frank (2011), Classifier chains for multi-label classification.
    """

    def __init__(
        self,
        base_estimator: Any = None,
        *,
        order: str = "random",
        n_chains: int = 10,
        categorical_features: str | Sequence[int] | Sequence[str] = "from_dtype",
        numeric_features: Sequence[int] | Sequence[str] = (),
        missing: str = AUTO,
        dates: str = "expand",
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            base_estimator,
            categorical_features=categorical_features,
            numeric_features=numeric_features,
            missing=missing,
            dates=dates,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.order = order
        self.n_chains = n_chains

    def _learn_rows(self, rows: TrainingRows) -> None:
        check_choice("order", self.order, ORDERS)
        bases = self._bases(rows)
        orders = self._candidates(len(bases))
        if self.order == "auto":
            orders = [self._best_order(orders, bases, rows)]
        self.orders_ = [[self.target_names_[j] for j in order] for order in orders]
        trained = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_chain)(bases, order, rows) for order in orders
        )
        self.chains_: list[_Chain] = self._collect(trained)

    def _candidates(self, d: int) -> list[list[int]]:
        if self.order == "auto" and math.factorial(d) <= self.n_chains:
            return list(map(list, permutations(range(d))))
        rng = np.random.default_rng(self.random_state)
        return [rng.permutation(d).tolist() for _ in range(self.n_chains)]

    def _best_order(
        self, orders: Sequence[list[int]], bases: Sequence[Any], rows: TrainingRows
    ) -> list[int]:
        """The order with the highest held-out log-likelihood, the first of equals.

        The likelihood is a sum over class variables, and each term depends only on the set of
        class variables before it.
        """
        joint = np.unique(rows.codes, axis=0, return_inverse=True)[1]
        folds = validation_folds(joint, self.random_state or 0)
        links = list(dict.fromkeys(link for order in orders for link in _links(order)))
        values = Parallel(n_jobs=self.n_jobs)(
            delayed(_held_out_link)(link, bases, rows, folds) for link in links
        )
        value = dict(zip(links, values, strict=True))
        return max(orders, key=lambda order: sum(value[link] for link in _links(order)))

    def selected(self) -> dict[str, Any]:
        """See :class:`MultiDimensionalClassifier`."""
        order = {"order": self.orders_[0]} if self.order == "auto" else {}
        return {**super().selected(), **order}

    def marginals(self, features: Features) -> list[FloatArray]:
        """See :class:`MultiDimensionalClassifier`."""
        votes = np.stack([chain.predict(features.matrix) for chain in self.chains_])
        return [
            _indicators(votes[:, :, j], len(classes)).mean(axis=0)
            for j, classes in enumerate(self.target_classes_)
        ]


@dataclass(frozen=True)
class _Chain:
    """Base models in the order in which classes are passed on."""

    order: list[int]
    cards: list[int]
    models: list[Any]

    def predict(self, matrix: FloatArray) -> Codes:
        codes = np.empty((len(matrix), len(self.order)), dtype=np.int64)
        for j, model in zip(self.order, self.models, strict=True):
            codes[:, j] = model.proba(matrix).argmax(axis=1)
            matrix = np.column_stack([matrix, _indicators(codes[:, j], self.cards[j])])
        return codes


def _fit_chain(bases: Sequence[Any], order: list[int], rows: TrainingRows) -> tuple[_Chain, Fits]:
    models, fits = [], Fits()
    with one_thread():
        for place, j in enumerate(order):
            models.append(configuration_model(_seeing(rows, order[:place]), j, bases[j], fits))
    return _Chain(order, list(rows.nodes.cards), models), fits


def _seeing(rows: TrainingRows, before: Sequence[int]) -> TrainingRows:
    """The rows with the states of some class variables among their features."""
    seen = (_indicators(rows.codes[:, p], rows.nodes.cards[p]) for p in before)
    return replace(rows, matrix=np.column_stack([rows.matrix, *seen]))


def _links(order: Sequence[int]) -> Iterator[_Link]:
    """Each class variable of a chain, with the sorted class variables before it."""
    for place, j in enumerate(order):
        yield j, tuple(sorted(order[:place]))


def _held_out_link(link: _Link, bases: Sequence[Any], rows: TrainingRows, folds: Codes) -> float:
    j, before = link
    return held_out_log_likelihood(_seeing(rows, before), j, (), bases[j], folds, Fits())


def _indicators(codes: Codes, card: int) -> FloatArray:
    return np.asarray(codes[..., None] == np.arange(card), dtype=np.float64)


class ClassPowerset(_OtherMethod):
    """One base model whose classes are the joint states that occur in training.

    Parameters
    ----------
    base_estimator, categorical_features, numeric_features, missing, dates, n_jobs, random_state
        See :class:`GBNCClassifier`.
    """

    def _learn_rows(self, rows: TrainingRows) -> None:
        self.states_, joint = np.unique(rows.codes, axis=0, return_inverse=True)
        nodes = Nodes(("joint state",), (len(self.states_),), 1)
        rows = replace(rows, codes=joint.reshape(-1, 1), nodes=nodes)
        (base,) = self._bases(rows)
        (self.model_,) = self._collect([_fit(rows, 0, base)])

    def _predict_codes(self, features: Features) -> Codes:
        states: Codes = self.states_[self.model_.proba(features.matrix).argmax(axis=1)]
        return states

    def marginals(self, features: Features) -> list[FloatArray]:
        """See :class:`MultiDimensionalClassifier`."""
        joint = self.model_.proba(features.matrix)
        return [
            joint @ _indicators(self.states_[:, j], len(classes))
            for j, classes in enumerate(self.target_classes_)
        ]
