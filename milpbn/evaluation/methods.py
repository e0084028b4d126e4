"""The methods that an evaluation compares, built from their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from milpbn.datasets.table import Table
from milpbn.errors import OptionError
from milpbn.estimators import BNClassifier
from milpbn.evaluation.measures import Measures, measure
from milpbn.evaluation.protocol import RowNumbers, ValidationSplit, part
from milpbn.evaluation.records import Predictions
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.maximise import warm_starter
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings, make_settings
from milpbn.mdc.metrics import exact_match_score, hamming_score
from milpbn.network.multinet import Classifier
from milpbn.parameters import make_parameters
from milpbn.result import Result
from milpbn.scores import MarginScore
from milpbn.search.local_search import LocalSearch
from milpbn.search.multinet import MULTINETS

# Methods whose structure does not depend on score, margin or number of parents.
_FIXED = ("nb", "tan-cmi", "tan-ear", *MULTINETS)

# Parameters of BNClassifier that come from `methods`, `parameters` or the table.
_GIVEN = ("engine", "parameters", "categorical_features", "missing")


class Learned(Protocol):
    """What a contender learned from the training rows of a fold."""

    @property
    def selected(self) -> Mapping[str, Any]:
        """Hyper-parameters that validation chose."""

    @property
    def network(self) -> Classifier | None:
        """Structure and parameters, if there are any."""

    @property
    def result(self) -> Result | None:
        """How the structure was learned, if there is one."""

    def measure(self, test: Table, rows: RowNumbers) -> tuple[Measures, Predictions | None]:
        """Measure the predictions for test rows; `rows` are their numbers in the whole table."""


class Contender(Protocol):
    """A method that an evaluation compares."""

    @property
    def method(self) -> str:
        """Its label in the table."""

    @property
    def parameters(self) -> str:
        """How its parameters are learned; empty for classifiers that are not milpbn's."""

    def learn(self, table: Table, seed: int) -> Learned:
        """Learn from all rows of a table; an interrupted run raises KeyboardInterrupt."""


@dataclass(frozen=True)
class LearnedNetwork:
    """A Bayesian network classifier."""

    model: Model
    selected: Mapping[str, Any] = field(default_factory=dict)

    @property
    def network(self) -> Classifier:
        """Structure and parameters."""
        return self.model.network

    @property
    def result(self) -> Result:
        """How the structure was learned."""
        return self.model.result

    def measure(self, test: Table, rows: RowNumbers) -> tuple[Measures, Predictions | None]:
        """See :class:`Learned`."""
        proba = np.exp(self.model.log_posterior(test.features))
        classes = np.array(self.model.encoder.target.variable.states, dtype=object)
        return _measure_probabilities(classes, proba, test, rows)


@dataclass(frozen=True)
class NetworkContender:
    """A method of milpbn; validation on the training rows chooses among the values of `grid`."""

    method: str
    parameters: str
    names: Mapping[str, Any]
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def settings(self, **chosen: Any) -> Settings:
        """The settings with these values of the grid."""
        return make_settings(**{**self.names, **chosen})

    def learn(self, table: Table, seed: int) -> LearnedNetwork:
        """See :class:`Contender`."""
        selected = self._select(table, seed) if self.grid else {}
        return LearnedNetwork(_uninterrupted(table, self.settings(**selected)), selected)

    def _select(self, table: Table, seed: int) -> dict[str, Any]:
        """The values with the best mean accuracy on validation rows; ties go to the first."""
        best, chosen = -1.0, {}
        for values in ParameterGrid({name: list(v) for name, v in self.grid.items()}):
            shares = []
            for train, held_out in ValidationSplit(seed).split(table.features, table.target):
                model = _uninterrupted(part(table, train), self.settings(**values))
                measures, _ = LearnedNetwork(model).measure(
                    part(table, held_out), np.sort(held_out)
                )
                shares.append(measures.accuracy)
            if np.mean(shares) > best:
                best, chosen = float(np.mean(shares)), dict(values)
        return chosen


def _uninterrupted(table: Table, settings: Settings) -> Model:
    """Learn a model; an interrupted run is not a result of a fold."""
    model = learn_classifier(table, settings)
    if "interrupted" in (model.result.status, model.parameters.ended):
        raise KeyboardInterrupt
    return model


@dataclass(frozen=True)
class LearnedEstimator:
    """A fitted scikit-learn classifier."""

    estimator: Any

    @property
    def _best(self) -> Any:
        return getattr(self.estimator, "best_estimator_", self.estimator)

    @property
    def network(self) -> Classifier | None:
        """Structure and parameters, if it has them."""
        return getattr(self._best, "network_", None)

    @property
    def result(self) -> Result | None:
        """How the structure was learned, if it has one."""
        return getattr(self._best, "result_", None)

    @property
    def selected(self) -> Mapping[str, Any]:
        """The hyper-parameters that a grid search chose."""
        return dict(getattr(self.estimator, "best_params_", {}))

    def measure(self, test: Table, rows: RowNumbers) -> tuple[Measures, Predictions | None]:
        """See :class:`Learned`; with several class variables, each measure has its own loss."""
        if test.targets.shape[1] == 1:
            proba = self.estimator.predict_proba(test.features)
            return _measure_probabilities(self.estimator.classes_, proba, test, rows)
        truth = test.targets.to_numpy(dtype=object)
        exact, hamming = (self._predict(test, loss) for loss in ("subset", "hamming"))
        correct = round(exact_match_score(truth, exact) * len(truth))
        return Measures(len(truth), correct, hamming=hamming_score(truth, hamming)), None

    def _predict(self, test: Table, loss: str) -> Any:
        if "loss" in self.estimator.get_params():
            self.estimator.set_params(loss=loss)
        return self.estimator.predict(test.features)


@dataclass(frozen=True)
class EstimatorContender:
    """Any scikit-learn classifier, for one class variable or several."""

    method: str
    estimator: Any
    parameters: str = ""

    def learn(self, table: Table, seed: int) -> LearnedEstimator:
        """See :class:`Contender`."""
        y = table.target if table.targets.shape[1] == 1 else table.targets
        learned = LearnedEstimator(clone(self.estimator).fit(table.features, y))
        if learned.result is not None and learned.result.status == "interrupted":
            raise KeyboardInterrupt
        return learned


def _measure_probabilities(
    classes: Any, proba: Any, test: Table, rows: RowNumbers
) -> tuple[Measures, Predictions]:
    measures = measure(classes, proba, test.target.to_numpy())
    kept = Predictions([int(r) for r in rows], [str(c) for c in classes], proba.tolist())
    return measures, kept


def contenders(
    methods: Sequence[str] | Mapping[str, Any],
    parameters: Sequence[str],
    select: Mapping[str, Sequence[Any]],
    settings: Mapping[str, Any],
) -> list[Contender]:
    """Every method with every parameter learner; names and values are checked."""
    if isinstance(methods, Mapping):
        return [EstimatorContender(name, estimator) for name, estimator in methods.items()]
    _check_settings(settings, select)
    for name in parameters:
        make_parameters(name)
    for what, names in (("method", methods), ("parameters", parameters)):
        if twice := [n for n in names if list(names).count(n) > 1]:
            raise OptionError(f"the {what} {twice[0]!r} is listed twice")
    if not methods or not parameters:
        raise OptionError("give at least one method and one parameter learner")
    return [_contender(m, p, select, settings) for m in methods for p in parameters]


def _contender(
    label: str, parameters: str, select: Mapping[str, Sequence[Any]], settings: Mapping[str, Any]
) -> Contender:
    method, _, score = label.partition(":")
    names = {**settings, "method": method, "parameters": parameters}
    names["seed"] = names.pop("random_state", 0)
    names |= {"structure_score": score} if score else {}
    try:
        made = make_settings(**names)
    except OptionError as error:
        raise OptionError(f"{label}: {error}") from None
    # A hyper-parameter that changes nothing need not be selected.
    grid = {
        name: list(values)
        for name, values in select.items()
        if method not in _FIXED
        and (name not in ("p", "gamma") or isinstance(made.score, MarginScore))
    }
    if grid and method == LocalSearch.name:
        # A selection fits many models: local search stops as early as it does for a start.
        names["method"] = warm_starter(method)
    return NetworkContender(label, parameters, names, grid)


def _check_settings(settings: Mapping[str, Any], select: Mapping[str, Sequence[Any]]) -> None:
    known = [name for name in BNClassifier().get_params() if name not in _GIVEN]
    for name in (*settings, *select):
        if name not in known:
            raise OptionError(
                f"BNClassifier has no parameter {name!r} that can be set here; the parameters are "
                f"{', '.join(known)}"
            )
    for name, values in select.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise OptionError(f"select {name}: expected a list of values, not {values!r}")
