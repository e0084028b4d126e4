"""From the name of a method to an estimator that an evaluation can fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.model_selection import GridSearchCV

from milpbn.errors import OptionError
from milpbn.estimators import BNClassifier
from milpbn.evaluation.protocol import ValidationSplit
from milpbn.learning import METHODS
from milpbn.maximising import ENGINES, warm_starter
from milpbn.parameters import make_parameters
from milpbn.scores import score_class
from milpbn.scores.rescore import check_per_class
from milpbn.search.local_search import LocalSearch
from milpbn.search.multinet import MULTINETS

# Methods whose structure does not depend on score, margin or number of parents.
_FIXED = ("nb", "tan-cmi", "tan-ear", *MULTINETS)

# What the arguments `methods` and `parameters` say.
_GIVEN = ("engine", "parameters")


@dataclass(frozen=True)
class Candidate:
    """A method with its parameter learner, ready to be cloned and fitted.

    Attributes
    ----------
    method, parameters
        The labels in the table; `parameters` is empty for an estimator of one's own.
    estimator
        Unfitted.
    grid
        What validation on the training rows selects, and from which values.
    """

    method: str
    parameters: str
    estimator: Any
    grid: dict[str, list[Any]] = field(default_factory=dict)

    def with_selection(self, seed: int) -> Any:
        """The estimator, inside a grid search where there is something to select."""
        if not self.grid:
            return self.estimator
        return GridSearchCV(
            self.estimator, self.grid, cv=ValidationSplit(seed), error_score="raise"
        )


class StoppableClassifier(BNClassifier):
    """A classifier that passes Ctrl-C on: half a structure is no result of a fold."""

    def fit(self, X: Any, y: Any) -> BNClassifier:
        """See :class:`~milpbn.BNClassifier`."""
        super().fit(X, y)
        if "interrupted" in (self.result_.status, self.parameters_.ended):
            raise KeyboardInterrupt
        return self


def candidates(
    methods: Sequence[str] | Mapping[str, Any],
    parameters: Sequence[str],
    select: Mapping[str, Sequence[Any]],
    settings: Mapping[str, Any],
) -> list[Candidate]:
    """Every method with every way to learn parameters; names and values are checked."""
    if isinstance(methods, Mapping):
        return [Candidate(name, "", estimator) for name, estimator in methods.items()]
    _check_settings(settings, select)
    for name in parameters:
        make_parameters(name)
    for what, names in (("method", methods), ("parameters", parameters)):
        if twice := [n for n in names if list(names).count(n) > 1]:
            raise OptionError(f"the {what} {twice[0]!r} is listed twice")
    if not methods or not parameters:
        raise OptionError("name at least one method, and one way to learn parameters")
    return [_candidate(m, p, select, settings) for m in methods for p in parameters]


def _candidate(
    label: str, parameters: str, select: Mapping[str, Sequence[Any]], settings: Mapping[str, Any]
) -> Candidate:
    method, _, named = label.partition(":")
    if method not in METHODS:
        raise OptionError(f"unknown method {method!r}; known methods: {', '.join(METHODS)}")
    given = named or settings.get("score", "sm")
    score = score_class(given)
    if method in ENGINES and not score.exact:
        raise OptionError(
            f"{label}: the score {score.name} cannot be solved exactly; choose a heuristic"
        )
    if method in MULTINETS:
        check_per_class(score)
    # What changes nothing need not be selected.
    grid = {
        name: list(values)
        for name, values in select.items()
        if method not in _FIXED and (name not in ("p", "gamma") or name in score.parameter_names())
    }
    # A selection fits many times: local search gives up as soon as it does for a start.
    engine = warm_starter(method) if grid and method == LocalSearch.name else method
    estimator = StoppableClassifier(
        **{**settings, "engine": engine, "score": given, "parameters": parameters}
    )
    return Candidate(label, parameters, estimator, grid)


def _check_settings(settings: Mapping[str, Any], select: Mapping[str, Sequence[Any]]) -> None:
    known = BNClassifier().get_params()
    for name in (*settings, *select):
        if name not in known or name in _GIVEN:
            raise OptionError(
                f"BNClassifier has no parameter {name!r} to set here; it has "
                f"{', '.join(k for k in known if k not in _GIVEN)}"
            )
    for name, values in select.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise OptionError(f"select {name}: expected a list of values, not {values!r}")
