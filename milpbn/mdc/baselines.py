"""The baselines with which GBNC is compared, with the same interface.

Binary relevance ignores dependencies between class variables, a classifier chain passes
predicted classes to the next class variable, and class powerset has one class for every joint
state that occurs. The chain is implemented here because scikit-learn's `ClassifierChain` passes
classes on as numbers, which gives the states of a class variable an order they do not have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from milpbn._types import Codes, FloatArray
from milpbn.errors import OptionError
from milpbn.mdc.base import MultiDimensionalClassifier
from milpbn.mdc.bases import validation_folds
from milpbn.mdc.features import Features
from milpbn.mdc.local_models import Fits, fit_base, held_out_log_likelihood, one_thread

_Link = tuple[int, tuple[int, ...]]


class _Baseline(MultiDimensionalClassifier):
    """The common parameters of the baselines; categories become indicator columns."""

    mixed = "one-hot"

    def __init__(
        self,
        base_estimator: Any = None,
        *,
        categorical_features: str | Sequence[int] | Sequence[str] = "from_dtype",
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.base_estimator = base_estimator
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _predict_codes(self, features: Features) -> Codes:
        return np.column_stack([p.argmax(axis=1) for p in self.marginals(features)])

    def _collect(self, trained: Sequence[tuple[Any, Fits]]) -> list[Any]:
        """The models of parallel tasks; sets ``fits_``."""
        self.fits_ = Fits()
        for _, fits in trained:
            self.fits_.add(fits)
        return [model for model, _ in trained]


def _fit(base: Any, matrix: FloatArray, labels: Codes) -> tuple[Any, Fits]:
    fits = Fits()
    with one_thread():
        return fit_base(base, matrix, labels, fits), fits


class BinaryRelevance(_Baseline):
    """One independent base model for each class variable.

    Parameters
    ----------
    base_estimator, categorical_features, n_jobs, random_state
        See :class:`GBNCClassifier`.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> BinaryRelevance().fit(X, [[0, 1], [0, 1], [1, 0], [1, 0]]).predict([[5.0]])
    array([[1, 0]])
    """

    def _learn(self, features: Features, codes: Codes) -> None:
        bases = self._choose_base(features, codes, self._cards, [[()]] * codes.shape[1])
        trained = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit)(base, features.matrix, column)
            for base, column in zip(bases, codes.T, strict=True)
        )
        self.models_ = self._collect(trained)

    def marginals(self, features: Features) -> list[FloatArray]:
        """See :class:`MultiDimensionalClassifier`."""
        return [model.predict_proba(features.matrix) for model in self.models_]


ORDERS = ("random", "auto")
"""How the orders of classifier chains are chosen."""


class ClassifierChains(_Baseline):
    """An ensemble of chains in random orders, or one chain in an order chosen by validation.

    In a chain, a class variable sees the features and the classes before it, as indicators:
    the true ones in training, the predicted ones later. Several chains vote on each class
    variable.

    Parameters
    ----------
    base_estimator, categorical_features, n_jobs, random_state
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
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            base_estimator,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.order = order
        self.n_chains = n_chains

    def _learn(self, features: Features, codes: Codes) -> None:
        if self.order not in ORDERS:
            raise OptionError(f"order must be one of {', '.join(ORDERS)}, not {self.order!r}")
        bases = self._choose_base(features, codes, self._cards, [[()]] * codes.shape[1])
        orders = self._candidates(len(bases))
        if self.order == "auto":
            orders = [self._best_order(orders, bases, features, codes)]
        self.orders_ = [[self.target_names_[j] for j in order] for order in orders]
        trained = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_chain)(bases, order, features.matrix, codes, self._cards)
            for order in orders
        )
        self.chains_: list[_Chain] = self._collect(trained)

    def _candidates(self, d: int) -> list[list[int]]:
        if self.order == "auto" and math.factorial(d) <= self.n_chains:
            return list(map(list, permutations(range(d))))
        rng = np.random.default_rng(self.random_state)
        return [rng.permutation(d).tolist() for _ in range(self.n_chains)]

    def _best_order(
        self, orders: Sequence[list[int]], bases: Sequence[Any], features: Features, codes: Codes
    ) -> list[int]:
        """The order with the highest held-out log-likelihood, the first of equals.

        The likelihood is a sum over class variables, and each term depends only on the set of
        class variables before it.
        """
        folds = validation_folds(
            np.unique(codes, axis=0, return_inverse=True)[1], self.random_state or 0
        )
        links = list(dict.fromkeys(link for order in orders for link in _links(order)))
        values = Parallel(n_jobs=self.n_jobs)(
            delayed(_held_out_link)(link, bases, features.matrix, codes, self._cards, folds)
            for link in links
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
            codes[:, j] = model.predict(matrix)
            matrix = np.column_stack([matrix, _indicators(codes[:, j], self.cards[j])])
        return codes


def _fit_chain(
    bases: Sequence[Any], order: list[int], matrix: FloatArray, codes: Codes, cards: list[int]
) -> tuple[_Chain, Fits]:
    models, fits = [], Fits()
    with one_thread():
        for j in order:
            models.append(fit_base(bases[j], matrix, codes[:, j], fits))
            matrix = np.column_stack([matrix, _indicators(codes[:, j], cards[j])])
    return _Chain(order, cards, models), fits


def _links(order: Sequence[int]) -> Iterator[_Link]:
    """Each class variable of a chain, with the sorted class variables before it."""
    for place, j in enumerate(order):
        yield j, tuple(sorted(order[:place]))


def _held_out_link(
    link: _Link,
    bases: Sequence[Any],
    matrix: FloatArray,
    codes: Codes,
    cards: Sequence[int],
    folds: Codes,
) -> float:
    j, before = link
    seen = np.column_stack([matrix, *(_indicators(codes[:, p], cards[p]) for p in before)])
    return held_out_log_likelihood(seen, codes, cards, j, (), bases[j], folds, Fits())


def _indicators(codes: Codes, card: int) -> FloatArray:
    return np.asarray(codes[..., None] == np.arange(card), dtype=np.float64)


class ClassPowerset(_Baseline):
    """One base model whose classes are the joint states that occur in training.

    Parameters
    ----------
    base_estimator, categorical_features, n_jobs, random_state
        See :class:`GBNCClassifier`.
    """

    def _learn(self, features: Features, codes: Codes) -> None:
        self.states_, joint = np.unique(codes, axis=0, return_inverse=True)
        joint = joint.reshape(-1, 1)
        (base,) = self._choose_base(features, joint, [len(self.states_)], [[()]])
        (self.model_,) = self._collect([_fit(base, features.matrix, joint[:, 0])])

    def _predict_codes(self, features: Features) -> Codes:
        states: Codes = self.states_[self.model_.predict(features.matrix)]
        return states

    def marginals(self, features: Features) -> list[FloatArray]:
        """See :class:`MultiDimensionalClassifier`."""
        joint = self.model_.predict_proba(features.matrix)
        return [
            joint @ _indicators(self.states_[:, j], len(classes))
            for j, classes in enumerate(self.target_classes_)
        ]
