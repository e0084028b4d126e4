"""From the name of a method to something that learns from the rows of a fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from milpbn.datasets.table import Table
from milpbn.errors import OptionError
from milpbn.estimators import BNClassifier
from milpbn.evaluation.measures import Measures, measure
from milpbn.evaluation.records import Predictions
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.maximise import warm_starter
from milpbn.learning.model import Model
from milpbn.learning.settings import make_settings
from milpbn.learning.validation import RowNumbers, ValidationSplit, part
from milpbn.mdc.metrics import exact_match_score, hamming_score
from milpbn.network.multinet import Classifier
from milpbn.parameters import make_parameters
from milpbn.result import Result
from milpbn.search.local_search import LocalSearch
from milpbn.search.multinet import MULTINETS

# Methods whose structure does not depend on score, margin or number of parents.
_FIXED = ("nb", "tan-cmi", "tan-ear", *MULTINETS)

# Parameters that only margin scores have.
_OF_MARGINS = ("p", "gamma", "penalty")

# Parameters of BNClassifier that the arguments `methods` and `parameters` or the table decide.
_GIVEN = (
    *("engine", "parameters"),
    *("categorical_features", "numeric_features", "missing", "dates", "max_states"),
)


@dataclass(frozen=True)
class Learned:
    """What a contender learned from the training rows of a fold.

    Attributes
    ----------
    measure
        Predicts test rows, which have these numbers in the whole table.
    network, result
        Structure with parameters, and how the structure was learned, if there is one.
    selected
        Hyper-parameters that validation chose.
    """

    measure: Callable[[Table, RowNumbers], tuple[Measures, Predictions | None]]
    network: Classifier | None = None
    result: Result | None = None
    selected: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """A method that an evaluation compares.

    Attributes
    ----------
    method, parameters
        Its label in the table, and how its parameters are learned (empty for classifiers that
        are not milpbn's).
    learn
        Learns from all rows of a table, with a seed; an interrupted run raises
        KeyboardInterrupt.
    """

    method: str
    parameters: str
    learn: Callable[[Table, int], Learned]


def _learn_network(
    names: Mapping[str, Any], grid: Mapping[str, list[Any]], table: Table, seed: int
) -> Learned:
    """A method of milpbn with the settings `names`; validation selects values of `grid`."""
    selected = _select(names, grid, table, seed) if grid else {}
    model = _model(table, {**names, **selected})
    return Learned(partial(_measure_model, model), model.network, model.result, selected)


def _select(
    names: Mapping[str, Any], grid: Mapping[str, list[Any]], table: Table, seed: int
) -> dict[str, Any]:
    """The values with the best mean accuracy on validation rows; the first of equals."""
    best, chosen = -1.0, {}
    for values in ParameterGrid(grid):
        shares = []
        for train, held_out in ValidationSplit(seed).split(table.features, table.target):
            model = _model(part(table, train), {**names, **values})
            shares.append(_measure_model(model, part(table, held_out), held_out)[0].accuracy)
        if np.mean(shares) > best:
            best, chosen = float(np.mean(shares)), dict(values)
    return chosen


def _model(table: Table, names: Mapping[str, Any]) -> Model:
    """The chain's model; half a structure is not a result of a fold."""
    model = learn_classifier(table, make_settings(**names))
    if "interrupted" in (model.result.status, model.parameters.ended):
        raise KeyboardInterrupt
    return model


def _measure_model(
    model: Model, test: Table, rows: RowNumbers
) -> tuple[Measures, Predictions | None]:
    classes = np.array(model.encoder.target.variable.states, dtype=object)
    return _measure(classes, np.exp(model.log_posterior(test.features)), test, rows)


def _learn_estimator(estimator: Any, table: Table, seed: int) -> Learned:
    """Any scikit-learn classifier, for one class variable or several."""
    y = table.target if table.targets.shape[1] == 1 else table.targets
    fitted = clone(estimator).fit(table.features, y)
    best = getattr(fitted, "best_estimator_", fitted)
    result = getattr(best, "result_", None)
    if result is not None and result.status == "interrupted":
        raise KeyboardInterrupt
    return Learned(
        partial(_measure_estimator, fitted),
        getattr(best, "network_", None),
        result,
        dict(getattr(fitted, "best_params_", {})),
    )


def _measure_estimator(
    estimator: Any, test: Table, rows: RowNumbers
) -> tuple[Measures, Predictions | None]:
    """With several class variables, each measure has predictions for its own loss."""
    if test.targets.shape[1] == 1:
        proba = estimator.predict_proba(test.features)
        return _measure(estimator.classes_, proba, test, rows)
    predicted = {}
    for loss in ("subset", "hamming"):
        if "loss" in estimator.get_params():
            estimator.set_params(loss=loss)
        predicted[loss] = estimator.predict(test.features)
    truth = test.targets.to_numpy(dtype=object)
    correct = round(exact_match_score(truth, predicted["subset"]) * len(truth))
    hamming = hamming_score(truth, predicted["hamming"])
    return Measures(len(truth), correct, hamming=hamming), None


def _measure(
    classes: Any, proba: Any, test: Table, rows: RowNumbers
) -> tuple[Measures, Predictions]:
    measures = measure(classes, proba, test.target.to_numpy())
    return measures, Predictions(rows.tolist(), [str(c) for c in classes], proba.tolist())


def contenders(
    methods: Sequence[str] | Mapping[str, Any],
    parameters: Sequence[str],
    select: Mapping[str, Sequence[Any]],
    settings: Mapping[str, Any],
) -> list[Contender]:
    """Every method with every way to learn parameters; names and values are checked."""
    if isinstance(methods, Mapping):
        return [Contender(n, "", partial(_learn_estimator, e)) for n, e in methods.items()]
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
        and (name not in _OF_MARGINS or name in made.score.parameter_names())
    }
    if grid and method == LocalSearch.name:
        # A selection fits many models: local search stops as early as it does for a start.
        names["method"] = warm_starter(method)
    return Contender(label, parameters, partial(_learn_network, names, grid))


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
