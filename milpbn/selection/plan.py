"""The plan of a selection: which settings are tried, and how they are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import BaseCrossValidator, ParameterGrid, check_cv

from milpbn.datasets.bins import parse_bins
from milpbn.errors import OptionError
from milpbn.families.constraints import BUDGETS
from milpbn.learning.methods import ENGINES, Method
from milpbn.learning.settings import Settings, make_settings
from milpbn.messages import Message, Spelling
from milpbn.scores import SoftMargin, score_class
from milpbn.search.local_search import LocalSearch
from milpbn.selection.auto import AUTO, AUTO_GRID
from milpbn.selection.criteria import CRITERIA, LOG_LOSS, criterion_name
from milpbn.selection.validation import ValidationSplit, stratified_folds

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
"""Settings and their candidate values, or a list of such grids."""

# The settings that can be chosen, and what their values must be if nothing else reads them.
_ANY = (object, "a value")
_NUMBER = (Real, "a number")
_SWITCH = (bool, "true or false")
_SELECTABLE: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("structure_score", "penalty", "validation", "smoothing"), _ANY),
    **dict.fromkeys(("method", "parameters", "bins"), _ANY),
    **dict.fromkeys(("p", "gamma", "ess"), _NUMBER),
    **dict.fromkeys(("max_parents", *BUDGETS), (Integral, "a whole number")),
    **dict.fromkeys(("class_parents", "augmented"), _SWITCH),
}


class Planned(NamedTuple):
    """A candidate: the number of its grid, the values that the grid gives, and all settings.

    `bins` say how it cuts numeric columns; None for the bins of the table.
    """

    grid: int
    values: dict[str, Any]
    settings: Settings
    bins: str | None = None


@dataclass(frozen=True)
class SelectionPlan:
    """The candidates of a selection, and how they are compared.

    Parameters
    ----------
    grid
        Settings and their candidate values, such as ``{"p": [0.6, 0.9], "parameters": ["ml",
        "cl"]}``; a list of such grids, from simple to complex; or ``"auto"`` for
        :data:`~milpbn.selection.auto.AUTO_GRID`. The best candidate of a grid is chosen. Of
        several grids, the first one is used whose best candidate is within one standard error of
        the difference from the best of all (for log-loss and accuracy).
    by
        The measure to select by: ``"log-loss"``, ``"accuracy"``, ``"balanced-accuracy"`` or
        ``"auc"``.
    cv
        How rows are held out: a number of stratified folds, a splitter of scikit-learn, or a
        list of pairs (training rows, held-out rows); by default :class:`ValidationSplit`.
    exact_folds
        Run exact engines inside the folds, too.
    bins
        Cuttings of numeric columns to choose from, together with every grid; see
        :func:`~milpbn.datasets.bins.parse_bins`. Cuts are learned inside the folds.
    """

    grid: Grid | str = AUTO
    by: str = LOG_LOSS
    cv: int | BaseCrossValidator | None = None
    exact_folds: bool = False
    bins: Sequence[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", criterion_name(self.by))
        if isinstance(self.cv, int) and self.cv < 2:
            raise OptionError(f"selection needs at least 2 folds, not {self.cv}")
        if isinstance(self.grid, str) and self.grid != AUTO:
            raise OptionError(
                f"the grid must be a dictionary, a list of dictionaries or {AUTO!r}, "
                f"not {self.grid!r}"
            )
        for grid in self.grids:
            for name, values in grid.items():
                _check_values(name, values)

    @property
    def grids(self) -> list[Mapping[str, Sequence[Any]]]:
        """The grids, one after the other."""
        grids: list[Mapping[str, Sequence[Any]]] = list(AUTO_GRID)
        if not isinstance(self.grid, str):
            grids = [self.grid] if isinstance(self.grid, Mapping) else list(self.grid)
        if self.bins is None:
            return grids
        return [{**grid, "bins": self.bins} for grid in grids]

    @property
    def races(self) -> bool:
        """Whether candidates that are clearly worse after some folds are not continued.

        Only those that nobody asked for by name, and only for measures that are means of rows.
        """
        return isinstance(self.grid, str) and CRITERIA[self.by].by_row is not None

    def to_dict(self) -> dict[str, Any]:
        """Plain data that tell plans apart."""
        return {
            "grid": [{name: list(map(str, v)) for name, v in grid.items()} for grid in self.grids],
            "by": self.by,
            "cv": self.cv if self.cv is None else str(self.cv),
            "exact_folds": self.exact_folds,
        }

    def candidates(self, names: Mapping[str, Any]) -> list[Planned]:
        """All candidates, with `names` as the settings that the grids do not give."""
        return [
            Planned(grid, dict(values), _settings(names, values), values.get("bins"))
            for grid, one in enumerate(self.grids)
            for values in ParameterGrid(one)
        ]

    def splitter(self, seed: int) -> BaseCrossValidator:
        """What divides the rows; the seed is for splitters of our own."""
        if self.cv is None:
            return ValidationSplit(seed)
        return stratified_folds(self.cv, seed) if isinstance(self.cv, int) else check_cv(self.cv)


def _not_selectable(name: str) -> Message:
    known = ", ".join(_SELECTABLE)
    on_command_line = known.replace("structure_score", "score").replace("_", "-")
    spelling = Spelling(known, on_command_line)
    return Message(f"{name!r} cannot be selected; choose among ", spelling)


def _check_values(name: str, values: Any) -> None:
    if name not in _SELECTABLE:
        raise OptionError(_not_selectable(name))
    listed = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str)
    if not listed or len(values) == 0:
        raise OptionError(f"select {name}: expected a list of values, not {values!r}")
    kind, what = _SELECTABLE[name]
    for value in values:
        if name == "bins":
            parse_bins(value)
        if not isinstance(value, kind):
            raise OptionError(f"select {name}: {value!r} is not {what}")


def _settings(names: Mapping[str, Any], values: Mapping[str, Any]) -> Settings:
    """The settings of a candidate; local search if the engine cannot maximise its score."""
    own = {**names, **values}
    own.pop("bins", None)  # a property of the table
    method: Method = own.get("method", Settings.method)
    exact = score_class(own.get("structure_score", SoftMargin.name)).exact
    if isinstance(method, str) and method in ENGINES and not exact:
        own["method"] = LocalSearch.name
    return make_settings(**own)
