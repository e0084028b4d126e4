"""Choose settings by how well they predict rows that they did not learn from.

Every candidate learns from some of the training rows and predicts the others, fold by fold.
Inside the folds local search takes the place of an exact engine, because a proof there is
lost anyway; the engine runs once, with the chosen settings and all training rows. Candidates
share what they can: the encoding of a fold, the tables of a score for all p and penalties,
structures as starts, and parameters for structures that several of them find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import BaseCrossValidator, ParameterGrid

from milpbn._types import FloatArray
from milpbn.clock import Clock
from milpbn.datasets.table import Table
from milpbn.errors import MilpbnError, OptionError
from milpbn.learning.auto import AUTO, AUTO_GRID
from milpbn.learning.candidates import Candidate, Selection, show_values
from milpbn.learning.classifier import encode, learn_classifier
from milpbn.learning.criteria import CRITERIA, LOG_LOSS, measure_all
from milpbn.learning.held_out import FoldLearner
from milpbn.learning.maximise import warm_starter
from milpbn.learning.methods import ENGINES, Method
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings, make_settings
from milpbn.learning.validation import ValidationSplit, part
from milpbn.result import Listener, Status
from milpbn.scores import SoftMargin, score_class
from milpbn.search.local_search import LocalSearch

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
"""Settings and their candidate values, or a list of such grids."""

Watch = Callable[[int, int, str], None]
"""Called with the number of finished runs, of all runs, and what was run."""

# The share of the time limit for the selection; the final run has the rest.
_SELECTION_SHARE = 0.6


@dataclass(frozen=True)
class SelectionPlan:
    """What is tried, and how it is judged.

    Parameters
    ----------
    grid
        Settings and their candidate values, such as ``{"p": [0.6, 0.9], "parameters": ["ml",
        "cl"]}``; a list of such grids; or ``"auto"`` for
        :data:`~milpbn.learning.auto.AUTO_GRID`.
    by
        The measure that decides: ``"log-loss"``, ``"accuracy"``, ``"balanced-accuracy"`` or
        ``"auc"``.
    splitter
        How rows are held out, as in scikit-learn; by default :class:`ValidationSplit`.
    exact_folds
        Run exact engines inside the folds, too.
    """

    grid: Grid | str = AUTO
    by: str = LOG_LOSS
    splitter: BaseCrossValidator | None = None
    exact_folds: bool = False

    def __post_init__(self) -> None:
        if self.by not in CRITERIA:
            raise OptionError(f"cannot select by {self.by!r}; choose one of {', '.join(CRITERIA)}")
        if isinstance(self.grid, str) and self.grid != AUTO:
            raise OptionError(
                f"the grid is a dictionary, a list of them or {AUTO!r}, not {self.grid!r}"
            )
        for one in self.grids:
            for name, values in one.items():
                if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                    raise OptionError(f"select {name}: expected a list of values, not {values!r}")

    @property
    def grids(self) -> list[Mapping[str, Sequence[Any]]]:
        """The grids, one after the other."""
        if isinstance(self.grid, str):
            return list(AUTO_GRID)
        return [self.grid] if isinstance(self.grid, Mapping) else list(self.grid)


def learn_selected(
    table: Table,
    names: Mapping[str, Any],
    plan: SelectionPlan | None = None,
    *,
    clock: Clock | None = None,
    listener: Listener | None = None,
    watch: Watch | None = None,
) -> Model:
    """Select settings, then learn a classifier with them from all training rows.

    Parameters
    ----------
    table
        The rows; held-out rows are not used.
    names
        The other settings, see :func:`~milpbn.learning.settings.make_settings`. Their time
        limit is for everything.
    plan
        The candidates, and how they are judged.
    clock
        A running clock; by default a new one with the time limit of the settings.
    listener
        Called with every any-time event of the final run.
    watch
        Called after every run of the selection.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> plan = SelectionPlan({"max_parents": [1, 2], "parameters": ["ml", "cl"]})
    >>> model = learn_selected(load_dataset("synthetic-3"), {}, plan)
    >>> str(model.result.status), model.selection.values["max_parents"]
    ('optimal', 2)
    """
    clock = clock or Clock(names.get("time_limit"))
    share = clock.until(clock.elapsed + _SELECTION_SHARE * clock.remaining, phase="selecting")
    selection = select_settings(table, names, plan, clock=share, watch=watch)
    share.close_phase("selecting")
    settings = candidate_settings(names, selection.values)
    if selection.interrupted and settings.method in ENGINES:
        settings = replace(settings, method=warm_starter(LocalSearch.name))
    model = learn_classifier(table, settings, clock=clock, listener=listener)
    if selection.interrupted:
        model = replace(model, result=replace(model.result, status=Status.INTERRUPTED))
    return replace(model, selection=selection)


def select_settings(
    table: Table,
    names: Mapping[str, Any],
    plan: SelectionPlan | None = None,
    *,
    clock: Clock | None = None,
    watch: Watch | None = None,
) -> Selection:
    """Choose settings for a table by cross-validation within its training rows.

    The arguments are those of :func:`learn_selected`.
    """
    plan = plan or SelectionPlan()
    rows = table.train()
    if table.missing == "drop":
        rows = rows.rows(rows.features.notna().all(axis=1).to_numpy())
    tallies = [_Tally(candidate_settings(names, v), dict(v)) for v in ParameterGrid(plan.grids)]
    splitter = plan.splitter or ValidationSplit(int(names.get("seed", 0)))
    classes = sorted(set(rows.target))
    labels = pd.Categorical(rows.target, categories=classes).codes.astype(np.int64)
    held_out, interrupted = [], False
    splits = list(splitter.split(rows.features, rows.target))
    runs = _Runs(clock or Clock(), len(tallies) * len(splits), watch)
    for train, test in splits:
        learner = FoldLearner(
            encode(part(rows, train)),
            [tally.settings for tally in tallies],
            part(rows, test).features,
            classes,
            exact=plan.exact_folds,
        )
        try:
            for tally in tallies:
                tally.add(learner, runs)
        except KeyboardInterrupt:
            interrupted = True
            break
        held_out.append(labels[np.sort(test)])
    return _choose(plan.by, tallies, held_out, interrupted)


def candidate_settings(names: Mapping[str, Any], values: Mapping[str, Any]) -> Settings:
    """The settings of a candidate; local search if the engine cannot maximise its score."""
    own = {**names, **values}
    method: Method = own.get("method", Settings.method)
    exact = score_class(own.get("structure_score", SoftMargin.name)).exact
    if isinstance(method, str) and method in ENGINES and not exact:
        own["method"] = LocalSearch.name
    return make_settings(**own)


@dataclass
class _Runs:
    """Counts the runs and shares out the time that is left."""

    clock: Clock
    total: int
    watch: Watch | None
    done: int = 0

    def share(self) -> Clock:
        """The clock for the next run."""
        return Clock(self.clock.remaining / max(1, self.total - self.done))

    def finish(self, what: str) -> None:
        """Note that a run has ended."""
        self.done += 1
        if self.watch is not None:
            self.watch(self.done, self.total, what)


@dataclass
class _Tally:
    """The predictions of a candidate, collected over the folds."""

    settings: Settings
    values: dict[str, Any]
    log_proba: list[FloatArray] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    seconds: float = 0.0
    stopped_early: bool = False
    error: str = ""

    def add(self, learner: FoldLearner, runs: _Runs) -> None:
        """Learn and predict in one fold; a failure is recorded, and later folds are skipped."""
        clock = runs.share()
        if not self.error:
            try:
                predicted = learner.predict(self.settings, clock)
            except MilpbnError as error:
                self.error = str(error)
            else:
                self.log_proba.append(predicted.log_proba)
                self.sizes.append(predicted.n_parameters)
                self.stopped_early |= predicted.stopped_early
        self.seconds += clock.elapsed
        runs.finish(show_values(self.values))

    def candidate(self, labels: Sequence[Any]) -> Candidate:
        """The result over the finished folds, whose held-out labels are given."""
        scores = {}
        if labels and not self.error:
            log_proba = np.concatenate(self.log_proba[: len(labels)])
            scores = measure_all(np.concatenate(labels), log_proba)
        return Candidate(
            values=self.values,
            scores=scores,
            n_parameters=float(np.mean(self.sizes)) if self.sizes else 0.0,
            seconds=self.seconds,
            stopped_early=self.stopped_early,
            error=self.error,
        )


def _choose(by: str, tallies: list[_Tally], labels: list[Any], interrupted: bool) -> Selection:
    candidates = tuple(tally.candidate(labels) for tally in tallies)
    if all(c.error for c in candidates):
        raise MilpbnError(f"every candidate failed; the first one: {candidates[0].error}")
    ranks = [CRITERIA[by].rank(c.scores.get(by)) for c in candidates]
    return Selection(by, len(labels), candidates, int(np.argmax(ranks)), interrupted)
