"""Accuracy against the number of missing features, as in the publications below.

In every test row a given number of features, drawn at random for each row, is removed.
Networks sum them out; a support vector machine gets the means of the training rows instead.
All classifiers see the same rows with the same features missing.

References
----------
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 6.6.
Pernkopf & Wohlmayr (2013), Stochastic margin-based structure learning of Bayesian network
classifiers, section 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import BoolArray
from milpbn.clock import Clock
from milpbn.datasets.table import DROP, Table, with_states
from milpbn.encoding import EncodedData
from milpbn.errors import DataError, OptionError
from milpbn.learning.classifier import encode, learn_encoded
from milpbn.learning.methods import METHODS
from milpbn.learning.settings import make_settings
from milpbn.network.inference import predict
from milpbn.network.multinet import Classifier
from milpbn.parameters import make_parameters
from milpbn.settings import SettingNames, chosen_states
from milpbn.structure import AnyStructure
from milpbn.words import count

SVM = "svm"
"""The name of the support vector machine among the classifiers."""

DEFAULT_CLASSIFIERS = ("nb+ml", "nb+cl", "tan-cmi+ml", "hc+ml", "hc+cl", SVM)


@dataclass(frozen=True)
class CurvePoint:
    """The accuracy of one classifier with one number of missing features.

    Attributes
    ----------
    classifier
        Name of the classifier.
    missing
        Number of features missing in every row.
    accuracy, deviation
        Mean and standard deviation over the repetitions.
    """

    classifier: str
    missing: int
    accuracy: float
    deviation: float


class _Predictor(Protocol):
    def __call__(self, missing: BoolArray) -> npt.NDArray[np.integer]:
        """The predicted classes of the test rows, without the features in `missing`."""
        ...


def default_counts(n_features: int, most: int = 13) -> tuple[int, ...]:
    """Numbers of missing features from 0 to all but one, evenly spaced.

    Examples
    --------
    >>> default_counts(5), default_counts(36)[:4]
    ((0, 1, 2, 3, 4), (0, 3, 6, 9))
    """
    step = -(-max(n_features - 1, 1) // (most - 1))
    return tuple(range(0, n_features, step))


class MissingCurve:
    """Classifiers learned from the training rows, to be tested with missing features.

    Parameters
    ----------
    table
        Data with held-out rows, see :func:`~milpbn.evaluation.protocol.hold_out`.
    classifiers
        ``"STRUCTURE+PARAMETERS"``: a method of :func:`milpbn.learn_structure` and a
        parameter learner, such as ``"tan-cmi+cl"``; or ``"svm"``.
    tell
        Called with a line of text for every learned classifier.
    settings
        As for :func:`milpbn.learn_structure`. By default structures maximise ``"cr"`` and the
        class is a root. The time limit is for each classifier, and the seed also decides which
        features are missing.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> curve = MissingCurve(load_dataset("mofn-3-7-10"), ["nb+ml", "nb+cl"])
    >>> points = list(curve.points([0, 9], repeats=2))
    >>> [(p.classifier, p.missing, round(p.accuracy, 3)) for p in points[:2]]
    [('nb+ml', 0, 0.921), ('nb+cl', 0, 1.0)]
    """

    def __init__(
        self,
        table: Table,
        classifiers: Sequence[str] = DEFAULT_CLASSIFIERS,
        *,
        tell: Callable[[str], None] = lambda _: None,
        **settings: Unpack[SettingNames],
    ) -> None:
        for name in classifiers:
            check_classifier(name)
        if not table.has_test:
            raise DataError(f"{table.name} has no test rows to remove features from")
        self.seed = settings.get("seed", 0)
        table = with_states(table, **chosen_states(settings))
        if table.missing == DROP:
            table = table.rows(~table.incomplete)
        encoded = encode(table)
        # A value never seen in training would be one more missing feature.
        whole = encoded.data.is_train | (encoded.data.codes >= 0).all(axis=1)
        if not whole.all():
            rows = count(int((~whole).sum()), "test row")
            tell(f"left out: {rows} with values never seen in training")
            encoded = replace(encoded, data=encoded.data.select(whole))
            table = table.rows(whole)
        self.data = encoded.data
        self._labels = self.data.test()[:, 0]
        self.n_features = len(self.data.variables) - 1
        self._predictors: dict[str, _Predictor] = {}
        given: dict[str, Any] = {"score": "cr", "class_parents": False, **settings}
        structures: dict[str, AnyStructure] = {}
        for name in classifiers:
            method, _, parameters = name.partition("+")
            if name == SVM:
                columns = [c.name for c in encoded.encoder.columns]
                self._predictors[name] = _support_vectors(table, columns, self.data)
            else:
                # Classifiers that differ in their parameters alone share the structure.
                how = {"method": structures.get(method, method), "parameters": parameters}
                own = make_settings(**{**given, **how})
                model = learn_encoded(encoded, own, clock=Clock(own.time_limit))
                structures[method] = model.network.structure
                self._predictors[name] = _network(model.network, self.data)
            right = 100 * self._accuracy(name, self._no_mask())
            tell(f"{name}: {right:.2f} % of the test rows correct")

    def points(self, counts: Sequence[int], repeats: int = 10) -> Iterator[CurvePoint]:
        """Yield the points of the curve, one number of missing features after another.

        Parameters
        ----------
        counts
            Numbers of missing features, at most all.
        repeats
            Number of passes over the test rows, each with different features missing.
        """
        for n in counts:
            if not 0 <= n <= self.n_features:
                raise OptionError(
                    f"{n} features cannot be missing: the classifiers use {self.n_features}"
                )
        for n in counts:
            # With nothing to draw, every pass is the same.
            passes = repeats if 0 < n < self.n_features else 1
            masks = [self._mask(n, k) for k in range(passes)]
            for name in self._predictors:
                shares = [self._accuracy(name, mask) for mask in masks]
                yield CurvePoint(name, n, float(np.mean(shares)), float(np.std(shares)))

    def _no_mask(self) -> BoolArray:
        return np.zeros((len(self._labels), self.n_features), dtype=bool)

    def _mask(self, n: int, k: int) -> BoolArray:
        """A mask with `n` features, drawn at random, for every test row."""
        rng = np.random.default_rng([self.seed, n, k])
        order = rng.random((len(self._labels), self.n_features)).argsort(axis=1)
        return order < n

    def _accuracy(self, name: str, mask: BoolArray) -> float:
        return float(np.mean(self._predictors[name](mask) == self._labels))


def check_classifier(name: str) -> None:
    """Raise an error for a name that is not a classifier."""
    method, plus, parameters = name.partition("+")
    if name == SVM:
        return
    if not plus or method not in METHODS:
        raise OptionError(
            f"{name!r} is not a classifier; write STRUCTURE+PARAMETERS as in tan-cmi+cl, or {SVM}; "
            f"structures: {', '.join(METHODS)}"
        )
    make_parameters(parameters)


def _network(network: Classifier, data: EncodedData) -> _Predictor:
    features = data.test()[:, 1:]
    return lambda missing: predict(network, np.where(missing, -1, features))


def _support_vectors(table: Table, columns: list[str], data: EncodedData) -> _Predictor:
    """An SVM with a Gaussian kernel on the raw columns; missing ones get the training mean.

    Numbers are standardised, categories are one-hot (their means are frequencies). Penalty
    and kernel width are chosen by cross-validation inside the training rows.
    """
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    blocks, owner = [], []
    for j, name in enumerate(columns):
        column = table.features[name]
        numeric = name in table.numeric
        block = column.to_frame() if numeric else pd.get_dummies(column, prefix=name)
        mean, spread = block[data.is_train].mean(), block[data.is_train].std(ddof=0)
        # Scaling moves the mean to zero, so missing values are filled with zero.
        scaled = (block - mean) / (spread.where(spread > 0, 1.0) if numeric else 1.0)
        blocks.append(scaled.astype(float).fillna(0.0))
        owner += [j] * block.shape[1]
    wide, labels = pd.concat(blocks, axis=1).to_numpy(), data.codes[:, 0]
    grid = {"C": [1.0, 10.0], "gamma": ["scale", 0.3 / len(columns)]}
    search = GridSearchCV(SVC(), grid, cv=3).fit(wide[data.is_train], labels[data.is_train])
    rows = wide[~data.is_train]

    def predicted(missing: BoolArray) -> npt.NDArray[np.integer]:
        out: npt.NDArray[np.integer] = search.predict(np.where(missing[:, owner], 0.0, rows))
        return out

    return predicted
