"""From the name of a method to something that learns from the rows of a fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from milpbn.datasets.table import Table
from milpbn.errors import OptionError
from milpbn.estimators.bn import PARAMETERS
from milpbn.evaluation.measures import Measures, measure
from milpbn.evaluation.metrics import (
    exact_match_score,
    hamming_score,
    macro_f1_score,
    sub_exact_match_score,
)
from milpbn.evaluation.others import Other, is_other, read_other
from milpbn.evaluation.records import Predictions
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.maximise import START_PATIENCE, warm_starter
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings, make_settings
from milpbn.network.multinet import Classifier
from milpbn.parameters import make_parameters
from milpbn.result import Result
from milpbn.search.local_search import LocalSearch
from milpbn.search.multinet import MULTINETS
from milpbn.selection.auto import AUTO
from milpbn.selection.choose import learn_selected
from milpbn.selection.plan import SelectionPlan
from milpbn.selection.validation import RowNumbers
from milpbn.settings import (
    LimitNames,
    ParameterNames,
    ProofNames,
    ScoreNames,
    SmoothingNames,
    SpaceNames,
    StateNames,
    declared,
)

# Methods whose structure does not depend on score, margin or number of parents.
_FIXED = ("nb", "tan-cmi", "tan-ear", *MULTINETS)

# Unsuccessful kicks after which local search ends; with more it would mostly use up its time limit.
_PATIENCE = 400

# What can be set for all methods; the other settings are arguments of their own or of the table.
_SETTABLE = (
    *declared(ScoreNames, SmoothingNames, SpaceNames, LimitNames, ProofNames),
    "start",
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
    unconverged
        Number of base models that did not converge.
    """

    measure: Callable[[Table, RowNumbers], tuple[Measures, Predictions | None]]
    network: Classifier | None = None
    result: Result | None = None
    selected: Mapping[str, Any] = field(default_factory=dict)
    unconverged: int = 0


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
    names: Mapping[str, Any], plan: SelectionPlan | None, table: Table, seed: int
) -> Learned:
    """A method of milpbn with the settings `names`; validation selects what `plan` lists."""
    if plan is None:
        model = learn_classifier(table, make_settings(**names))
    else:
        model = learn_selected(table, names, plan)
    # Half a structure is not a result of a fold.
    if "interrupted" in (model.result.status, model.parameters.ended):
        raise KeyboardInterrupt
    selected = model.selection.plain_values if model.selection else {}
    measure_rows = partial(_measure_model, model, set(table.target))
    return Learned(measure_rows, model.network, model.result, selected)


def _measure_model(
    model: Model, trained: set[str], test: Table, rows: RowNumbers
) -> tuple[Measures, Predictions | None]:
    classes = np.array(model.encoder.target.variable.states, dtype=object)
    proba = np.exp(model.log_posterior(test.features))
    return _measure(classes, proba, trained, test, rows)


def _learn_other(other: Other, table: Table, seed: int) -> Learned:
    """A classifier of another library."""
    fitted = other.fit(table, seed)
    classes = np.array(fitted.classes, dtype=object)

    def measure_rows(test: Table, rows: RowNumbers) -> tuple[Measures, Predictions | None]:
        return _measure(classes, fitted.proba(test.features), set(classes), test, rows)

    return Learned(measure_rows, selected=fitted.selected)


def _learn_estimator(estimator: Any, table: Table, seed: int) -> Learned:
    """Any scikit-learn classifier, for one class variable or several.

    Classifiers for several class variables have no policy for missing values of their own.
    """
    if table.targets.shape[1] > 1 and table.missing == "drop":
        table = table.rows(~table.incomplete)
    fitted = _fitted(clone(estimator), table)
    best = getattr(fitted, "best_estimator_", fitted)
    result = getattr(best, "result_", None)
    if result is not None and result.status == "interrupted":
        raise KeyboardInterrupt
    selected, unconverged = dict(getattr(fitted, "best_params_", {})), 0
    if hasattr(best, "fits_"):  # it has base models
        selected, unconverged = {**selected, **best.selected()}, best.fits_.unconverged
    network = getattr(best, "network_", None)
    trained = set(table.target) if table.targets.shape[1] == 1 else set()
    measure_rows = partial(_measure_estimator, fitted, trained)
    return Learned(measure_rows, network, result, selected, unconverged)


def _fitted(estimator: Any, table: Table) -> Any:
    """The estimator, fitted to a table if it can, so that columns are not decided again."""
    if hasattr(estimator, "fit_table"):
        return estimator.fit_table(table)
    y = table.target if table.targets.shape[1] == 1 else table.targets
    weights = table.row_weights()
    if weights is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise OptionError(
            f"the rows have weights, but {type(estimator).__name__} cannot learn from weighted rows"
        )
    more = {} if weights is None else {"sample_weight": weights}
    return estimator.fit(table.features, y, **more)


def _measure_estimator(
    estimator: Any, trained: set[str], test: Table, rows: RowNumbers
) -> tuple[Measures, Predictions | None]:
    """With several class variables, there are predictions for each loss.

    Exact and sub-exact match have those for the subset 0/1 loss, the Hamming score and the macro
    F1 score those for the Hamming loss.
    """
    if test.targets.shape[1] == 1:
        proba = estimator.predict_proba(test.features)
        return _measure(estimator.classes_, proba, trained, test, rows)
    predicted = {}
    for loss in ("subset", "hamming"):
        if "loss" in estimator.get_params():
            estimator.set_params(loss=loss)
        predicted[loss] = estimator.predict(test.features)
    truth = test.targets.to_numpy(dtype=object)
    measures = Measures(
        len(truth),
        correct=round(exact_match_score(truth, predicted["subset"]) * len(truth)),
        hamming=hamming_score(truth, predicted["hamming"]),
        sub_exact=sub_exact_match_score(truth, predicted["subset"]),
        macro_f1=macro_f1_score(truth, predicted["hamming"]),
    )
    return measures, None


def _measure(
    classes: Any, proba: Any, trained: set[str], test: Table, rows: RowNumbers
) -> tuple[Measures, Predictions]:
    """Measure predictions; a class of the training rows that the method lost has probability 0.

    A method that leaves out incomplete rows loses the classes that have no others.
    """
    lost = sorted(trained - set(classes))
    classes = np.append(np.asarray(classes, dtype=object), lost)
    proba = np.hstack([proba, np.zeros((len(proba), len(lost)))])
    measures = measure(classes, proba, test.target.to_numpy())
    return measures, Predictions(rows.tolist(), [str(c) for c in classes], proba.tolist())


def contenders(
    methods: Sequence[str] | Mapping[str, Any],
    parameters: Sequence[str],
    plan: SelectionPlan | None,
    settings: Mapping[str, Any],
) -> list[Contender]:
    """Every method with every way to learn parameters; names and values are checked."""
    if isinstance(methods, Mapping):
        return [Contender(n, "", partial(_learn_estimator, e)) for n, e in methods.items()]
    _check_settings(settings)
    for name in parameters:
        make_parameters(name)
    for what, names in (("method", methods), ("parameters", parameters)):
        if twice := [n for n in names if list(names).count(n) > 1]:
            raise OptionError(f"the {what} {twice[0]!r} is listed twice")
    if not methods or not parameters:
        raise OptionError("give at least one method and one parameter learner")
    made = []
    for label in methods:
        if label == AUTO:
            made.append(_automatic(plan, settings))
        elif is_other(label):
            made.append(Contender(label, "", partial(_learn_other, read_other(label))))
        else:
            made += [_contender(label, p, plan, settings) for p in parameters]
    return made


def _automatic(plan: SelectionPlan | None, settings: Mapping[str, Any]) -> Contender:
    """The classifier that chooses among the default candidates, as BNClassifierCV does."""
    plan = replace(plan, grid=AUTO) if plan else SelectionPlan()
    names = _setting_names(settings)
    plan.candidates(names)
    return Contender(AUTO, "", partial(_learn_network, names, plan))


def _setting_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {PARAMETERS.get(name, name): value for name, value in settings.items()}


def _contender(
    label: str, parameters: str, plan: SelectionPlan | None, settings: Mapping[str, Any]
) -> Contender:
    method, _, score = label.partition(":")
    names = {**_setting_names(settings), "method": method, "parameters": parameters}
    names |= {"score": score} if score else {}
    try:
        made = make_settings(**names)
        plan = plan and _applicable(plan, method, made)
        if plan is not None:
            plan.candidates(names)
    except OptionError as error:
        raise OptionError(f"{label}: {error}") from None
    if method == LocalSearch.name:
        # A selection fits many models: local search stops as early as it does for a start.
        names["method"] = warm_starter(method, _PATIENCE if plan is None else START_PATIENCE)
    return Contender(label, parameters, partial(_learn_network, names, plan))


def _applicable(plan: SelectionPlan, method: str, settings: Settings) -> SelectionPlan | None:
    """The plan without settings that change nothing for this method."""
    score, grids = settings.score.parameter_names(), []
    for grid in plan.grids:
        kept = {}
        for name, values in grid.items():
            always = name in declared(ParameterNames, StateNames)
            of_score = name != "score" and name in declared(ScoreNames) and "score" not in grid
            if always or (method not in _FIXED and (not of_score or name in score)):
                kept[name] = values
        grids.append(kept)
    return replace(plan, grid=grids) if any(grids) else None


def _check_settings(settings: Mapping[str, Any]) -> None:
    for name in _setting_names(settings):
        if name not in _SETTABLE:
            raise OptionError(
                f"{name!r} is not a setting that all methods have; these are {', '.join(_SETTABLE)}"
            )
