"""The baselines with which GBNC is compared, with the same interface.

Binary relevance ignores dependencies between class variables, a classifier chain passes
predicted classes to the next class variable, and class powerset has one class for every joint
state that occurs. The chain is implemented here because scikit-learn's `ClassifierChain` passes
classes on as numbers, which gives the states of a class variable an order they do not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.multioutput import MultiOutputClassifier

from milpbn._types import Codes, FloatArray
from milpbn.mdc.base import MultiDimensionalClassifier
from milpbn.mdc.features import Features
from milpbn.mdc.local_models import one_thread


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
        base = self._base(features, max(map(len, self.target_classes_)))
        with one_thread():
            self.model_ = MultiOutputClassifier(base, n_jobs=self.n_jobs)
            self.model_.fit(features.matrix, codes)

    def marginals(self, features: Features) -> list[FloatArray]:
        """See :class:`MultiDimensionalClassifier`."""
        return list(self.model_.predict_proba(features.matrix))


class ClassifierChains(_Baseline):
    """An ensemble of chains in random orders; each class variable is decided by their votes.

    In a chain, a class variable sees the features and the classes before it, as indicators:
    the true ones in training, the predicted ones later.

    Parameters
    ----------
    base_estimator, categorical_features, n_jobs, random_state
        See :class:`GBNCClassifier`.
    n_chains : int, default=10
        Number of chains, each in a random order.

    References
    ----------
    Read, Pfahringer, Holmes & Frank (2011), Classifier chains for multi-label classification.
    """

    def __init__(
        self,
        base_estimator: Any = None,
        *,
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
        self.n_chains = n_chains

    def _learn(self, features: Features, codes: Codes) -> None:
        base = self._base(features, max(map(len, self.target_classes_)))
        rng = np.random.default_rng(self.random_state)
        cards = [len(c) for c in self.target_classes_]
        orders = [rng.permutation(len(cards)).tolist() for _ in range(self.n_chains)]
        self.chains_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_chain)(base, order, features.matrix, codes, cards) for order in orders
        )

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
    base: Any, order: list[int], matrix: FloatArray, codes: Codes, cards: list[int]
) -> _Chain:
    models = []
    with one_thread():
        for j in order:
            models.append(clone(base).fit(matrix, codes[:, j]))
            matrix = np.column_stack([matrix, _indicators(codes[:, j], cards[j])])
    return _Chain(order, cards, models)


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
        with one_thread():
            self.model_ = self._base(features, len(self.states_))
            self.model_.fit(features.matrix, joint.ravel())

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
