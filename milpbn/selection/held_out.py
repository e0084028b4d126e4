"""Learn with many settings from the rows of one fold, and predict its held-out rows.

Settings share what does not depend on them: the encoding, the tables of a score for all p and
penalties, its cuts for all p, structures as starts, and parameters of equal structures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from milpbn._types import FloatArray
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.rows import Pool
from milpbn.learning.classifier import Encoded, fit_parameters
from milpbn.learning.maximise import Shared, warm_starter
from milpbn.learning.methods import ENGINES, engine_of, method_name, wants_whole_space
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import Settings
from milpbn.learning.structure import run_method
from milpbn.network.inference import log_posterior
from milpbn.result import Status
from milpbn.scores import Objective, Score
from milpbn.search.local_search import LocalSearch
from milpbn.structure import AnyStructure

# Consecutive kicks without success after which local search ends.
_PATIENCE = 5
# The share of the time limit that is reserved for parameters that need a search.
_PARAMETERS_SHARE = 0.4
# So many candidate families can be listed in a second; a search has more to do.
_FAMILIES_PER_SECOND = 1e6

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Predicted:
    """Predictions for the held-out rows.

    Attributes
    ----------
    log_proba
        Log-probabilities, with a column for each class of all rows.
    n_parameters
        Free parameters of the network.
    stopped_early
        Whether the search for the structure or for parameters was stopped by the time limit.
    structure
        The structure.
    chosen
        What the search for parameters chose.
    """

    log_proba: FloatArray
    n_parameters: int
    stopped_early: bool
    structure: AnyStructure
    chosen: Mapping[str, Any]


class FoldLearner:
    """Learns from the rows of a fold.

    Parameters
    ----------
    encoded
        The training rows of the fold.
    settings
        All settings that will be tried.
    held_out
        The features of the held-out rows.
    classes
        The classes of all rows; some may be missing in this fold.
    exact
        Whether exact engines are used; otherwise local search takes their place.
    """

    def __init__(
        self,
        encoded: Encoded,
        settings: Sequence[Settings],
        held_out: pd.DataFrame,
        classes: Sequence[str],
        *,
        exact: bool = False,
    ) -> None:
        self._encoded = encoded
        self._codes = encoded.encoder.transform(held_out).codes
        self._n_classes = len(classes)
        self._columns = [classes.index(state) for state in encoded.data.variables[0].states]
        self._exact = exact
        self._least_penalty: dict[Key, Settings] = {}
        for one in map(self._fitting, settings):
            key = _tables_key(one)
            least = self._least_penalty.setdefault(key, one)
            if self._penalty(one.score) < self._penalty(least.score):
                self._least_penalty[key] = one
        self._objectives: dict[Key, Objective] = {}
        self._pools: dict[Key, Pool] = {}
        self._structures: dict[Key, tuple[AnyStructure, bool]] = {}
        self._predicted: dict[Key, Predicted] = {}

    def predict(self, settings: Settings, clock: Clock) -> Predicted:
        """Learn with these settings and predict the held-out rows."""
        settings = self._fitting(settings)
        structure, stopped = self._structure(settings, self._structure_clock(settings, clock))
        key = (structure, str(settings.parameters), str(settings.smoothing))
        if key not in self._predicted:
            self._predicted[key] = self._fit(structure, settings, clock)
        predicted = self._predicted[key]
        return replace(predicted, stopped_early=predicted.stopped_early or stopped)

    @staticmethod
    def _structure_clock(settings: Settings, clock: Clock) -> Clock:
        if settings.parameters.counted or clock.limit == math.inf:
            return clock
        return clock.until(clock.end - _PARAMETERS_SHARE * clock.limit)

    def _fitting(self, settings: Settings) -> Settings:
        return settings.for_variables(self._encoded.data.variables)

    def _fit(self, structure: AnyStructure, settings: Settings, clock: Clock) -> Predicted:
        data = self._encoded.data
        network, report = fit_parameters(data, structure, settings, clock)
        if report.ended == "interrupted":
            raise KeyboardInterrupt
        log_proba = np.full((len(self._codes), self._n_classes), -np.inf)
        log_proba[:, self._columns] = log_posterior(network, self._codes)
        stopped = report.ended == "time_limit"
        return Predicted(log_proba, network.n_parameters, stopped, structure, report.chosen)

    def _structure(self, settings: Settings, clock: Clock) -> tuple[AnyStructure, bool]:
        """The structure, and whether the search for it was stopped by the time limit."""
        tables = _tables_key(settings)
        key = (tables, str(settings.score), method_name(settings.method))
        if key in self._structures:
            return self._structures[key]
        objective = self._objective(settings, clock)
        shared = Shared(objective, tuple(structure for structure, _ in self._structures.values()))
        if settings.method == LocalSearch.name or (settings.method in ENGINES and not self._exact):
            settings = settings.with_learner(warm_starter(LocalSearch.name, _PATIENCE), start=None)
        elif (engine := engine_of(settings.method)) is not None and engine.shares_cuts:
            # Cuts of another penalty are valid, but cost more time than they save.
            pool = self._pools.setdefault((tables, self._penalty(settings.score)), Pool())
            shared = replace(shared, pool=pool)
        result = run_method(self._encoded.data, settings, clock=clock, shared=shared, checked=False)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self._structures[key] = result.structure, result.status is Status.TIME_LIMIT
        return self._structures[key]

    def _objective(self, settings: Settings, clock: Clock) -> Objective:
        """The objective with the tables that the first settings of its kind have built."""
        key = _tables_key(settings)
        if key not in self._objectives:
            # Families that are useless at a penalty are useless at every larger one.
            widest = self._least_penalty[key]
            self._objectives[key] = build_objective(
                self._encoded.data,
                widest.score,
                widest.space,
                clock=clock,
                options=settings.options,
                prune=not wants_whole_space(settings.method),
                most_families=max(clock.remaining, 1.0) * _FAMILIES_PER_SECOND,
            )
        return self._objectives[key].with_score(settings.score)

    def _penalty(self, score: Score) -> float:
        return score.cost_per_parameter(self._encoded.data.train_weight())


def _tables_key(settings: Settings) -> Key:
    """What the tables depend on."""
    return (str(settings.score.plain()), str(settings.space), wants_whole_space(settings.method))
