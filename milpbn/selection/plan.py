"""The plan of a selection: which settings are tried, and how they are judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import BaseCrossValidator, ParameterGrid, check_cv

from milpbn.datasets.bins import parse_bins
from milpbn.datasets.table import Table
from milpbn.errors import OptionError
from milpbn.learning.methods import ENGINES, Method
from milpbn.learning.settings import Settings, make_settings
from milpbn.messages import Message, Spelling
from milpbn.scores import SoftMargin, score_class
from milpbn.search.local_search import LocalSearch
from milpbn.selection.auto import AUTO, AUTO_GRIDS, most_parents
from milpbn.selection.criteria import CRITERIA, LOG_LOSS, criterion_name
from milpbn.selection.validation import EnoughFolds, stratified_folds
from milpbn.settings import SETTINGS, renamed

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
"""Settings and their candidate values, or a list of such grids."""

_SELECTABLE = {name: one for name, one in SETTINGS.items() if one.selectable}


class Planned(NamedTuple):
    """A candidate: the number of its grid, the values that the grid gives, and all settings."""

    grid: int
    values: dict[str, Any]
    settings: Settings


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
        list of pairs (training rows, held-out rows); by default :class:`EnoughFolds`.
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
        if isinstance(self.grid, str) and self.grid not in AUTO_GRIDS:
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
        grids: list[Mapping[str, Sequence[Any]]]
        if isinstance(self.grid, str):
            grids = list(AUTO_GRIDS[self.grid])
        else:
            given = [self.grid] if isinstance(self.grid, Mapping) else self.grid
            grids = [renamed(grid) for grid in given]
        if self.bins is None:
            return grids
        return [{**grid, "bins": self.bins} for grid in grids]

    def for_table(self, table: Table) -> SelectionPlan:
        """The plan with the default candidates for a table; those of a user stay as they are."""
        return replace(self, grid="auto-ml") if table.monotone and self.grid == AUTO else self

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

    def candidates(self, names: Mapping[str, Any], n_features: int = 0) -> list[Planned]:
        """All candidates, with `names` as the settings that the grids do not give.

        Of the default candidates, those for few features are left out if there are more.
        """
        most = math.inf if not isinstance(self.grid, str) else most_parents(n_features)
        return [
            Planned(grid, dict(values), _settings(names, values))
            for grid, one in enumerate(self.grids)
            for values in ParameterGrid(one)
            if values.get("max_parents", 0) <= most
        ]

    def splitter(self, seed: int) -> BaseCrossValidator:
        """What divides the rows; the seed is for splitters of our own."""
        if self.cv is None:
            return EnoughFolds(seed)
        return stratified_folds(self.cv, seed) if isinstance(self.cv, int) else check_cv(self.cv)


def _not_selectable(name: str) -> Message:
    known = ", ".join(_SELECTABLE)
    spelling = Spelling(known, known.replace("_", "-"))
    return Message(f"{name!r} cannot be selected; choose among ", spelling)


def _check_values(name: str, values: Any) -> None:
    if name not in _SELECTABLE:
        raise OptionError(_not_selectable(name))
    listed = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str)
    if not listed or len(values) == 0:
        raise OptionError(f"select {name}: expected a list of values, not {values!r}")
    for value in values:
        if name == "bins":
            parse_bins(value)
        _SELECTABLE[name].check(value, f"select {name}: each value")


def _settings(names: Mapping[str, Any], values: Mapping[str, Any]) -> Settings:
    """The settings of a candidate; local search if the engine cannot maximise its score."""
    own = renamed({**names, **values})
    method: Method = own.get("method", Settings.method)
    exact = score_class(own.get("score", SoftMargin.name)).exact
    if isinstance(method, str) and method in ENGINES and not exact:
        own["method"] = LocalSearch.name
    return make_settings(**own)
