"""Choose settings by how well they predict held-out rows.

Every candidate learns from some of the training rows and predicts the others, fold by fold.
Inside the folds local search replaces an exact engine, because no proof is needed there; the
engine runs once, with the chosen settings and all training rows. Candidates
share what they can: the encoding of a fold, for each way to cut columns; the tables of a score for
all p and penalties; structures as starts; and parameters for structures that several of them find.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Clock
from milpbn.datasets.bins import AUTO
from milpbn.datasets.table import Table, with_states
from milpbn.errors import BudgetError, MilpbnError, ProofWarning
from milpbn.learning.classifier import encode, learn_classifier
from milpbn.learning.maximise import Shared, warm_starter
from milpbn.learning.methods import ENGINES
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings
from milpbn.result import Listener, Status
from milpbn.search.local_search import LocalSearch
from milpbn.selection.candidates import Candidate, Selection, show_values
from milpbn.selection.criteria import CRITERIA, mean_and_error, measure_all, standard_errors
from milpbn.selection.held_out import FoldLearner, Predicted
from milpbn.selection.plan import Planned, SelectionPlan
from milpbn.selection.validation import RowNumbers, part
from milpbn.settings import StateNames
from milpbn.structure import AnyStructure

Watch = Callable[[int, int, str], None]
"""Called with the number of finished runs, of all runs, and what was run."""

# The share of the time limit for the selection; the final run has the rest.
_SELECTION_SHARE = 0.6
# The first of several folds takes this share of the selection, and there the first candidate this.
_FIRST_FOLD = 0.5
_FIRST_CANDIDATE = 0.5
# A run in a later fold may take so many times as long as in the first one.
_LATER = 1.5
# A candidate that is worse by more standard errors of the difference is not continued.
_CLEARLY = 2.0


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
        The rows. Test rows are not used.
    names
        The other settings, see :func:`~milpbn.learning.settings.make_settings`. Their time
        limit covers the selection and the final run.
    plan
        The candidates, and how they are compared.
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
    found = select_settings(table, names, plan, clock=clock, watch=watch)

    def learn(own: Settings) -> Model:
        return learn_classifier(table, own, clock=clock, listener=listener, shared=found.shared)

    return selected_model(learn_final(learn, found.settings), found.selection)


def learn_final(learn: Callable[[Settings], Model], settings: Settings) -> Model:
    """Learn with the chosen settings; by local search if an engine needs too much memory.

    What the folds have learned must not be lost: local search has had room there.
    """
    try:
        return learn(settings)
    except BudgetError as error:
        if settings.method not in ENGINES:
            raise
        told = f"{error}. Local search takes the place of {settings.method}"
        warnings.warn(told, ProofWarning, stacklevel=3)
    return learn(settings.with_learner(warm_starter(LocalSearch.name)))


def selected_model(model: Model, selection: Selection) -> Model:
    """The model of the final run, with the selection that came before it."""
    if selection.interrupted:
        model = replace(model, result=replace(model.result, status=Status.INTERRUPTED))
    return replace(model, selection=selection)


class Selected(NamedTuple):
    """The result of a selection.

    Attributes
    ----------
    selection
        The candidates and the chosen one.
    settings
        The settings for the final run: local search with the best candidate so far if Ctrl-C ended
        the selection.
    shared
        What the final run begins with: the structures of the folds with the same bins, and what
        the search for parameters chose there.
    """

    selection: Selection
    settings: Settings
    shared: Shared


def select_settings(
    table: Table,
    names: Mapping[str, Any],
    plan: SelectionPlan | None = None,
    *,
    clock: Clock | None = None,
    watch: Watch | None = None,
) -> Selected:
    """Choose settings for a table by cross-validation within its training rows.

    The arguments are those of :func:`learn_selected`. The selection takes at most a share of the
    time that the clock has left.
    """
    plan = (plan or SelectionPlan()).for_table(table)
    clock = clock or Clock(names.get("time_limit"))
    candidates = plan.candidates(names, len(table.features.columns))
    share = clock.until(clock.elapsed + _SELECTION_SHARE * clock.remaining, phase="selecting")
    selection, tallies = validate(table, names, plan, candidates, share, watch)
    share.close_phase("selecting")
    chosen = tallies[selection.chosen]
    settings = chosen.planned.settings
    if selection.interrupted and settings.method in ENGINES:
        settings = settings.with_learner(warm_starter(LocalSearch.name))
    own = [tally for tally in tallies if tally.planned.settings.states == settings.states]
    begin = tuple(structure for tally in own for structure in tally.structures)
    return Selected(selection, settings, Shared(begin=begin, chosen=chosen.chosen))


def validate(
    table: Table,
    names: Mapping[str, Any],
    plan: SelectionPlan,
    candidates: Sequence[Planned],
    clock: Clock,
    watch: Watch | None,
) -> tuple[Selection, list[Tally]]:
    """Learn and predict with every candidate in every fold; choose the best one.

    `candidates` are those of the plan. Ctrl-C and the time limit keep the finished folds.
    """
    rows = table.train()
    tallies = [Tally(planned) for planned in candidates]
    # A declared class is a state of every fold, even if no complete row has it.
    classes = sorted({*rows.target, *rows.states.get(str(rows.target.name), ())})
    labels = pd.Categorical(rows.target, categories=classes).codes.astype(np.int64)
    weights = rows.row_weights()
    held_out, interrupted = list[RowNumbers](), False

    def cut(tally: Tally) -> StateNames:
        states = tally.planned.settings.states
        own = states.get("bins", rows.bins)
        return states if rows.numeric or AUTO in (own, rows.bins) else {**states, "bins": rows.bins}

    def known() -> _HeldOut:
        numbers = np.concatenate([np.empty(0, dtype=np.intp), *held_out])
        own = None if weights is None else weights[numbers]
        return _HeldOut(len(held_out), labels[numbers], own)

    splits = list(plan.splitter(int(names.get("seed", 0))).split(rows.features, rows.target))
    runs = _Runs(clock, len(tallies), len(splits), watch, isinstance(plan.grid, str))
    try:
        for train, test in splits:
            if not runs.begin_fold():
                break
            for states in _distinct(map(cut, tallies)):
                own = [tally for tally in tallies if cut(tally) == states]
                if all(tally.error for tally in own):
                    runs.skip(len(own))
                    continue
                learner = FoldLearner(
                    encode(with_states(part(rows, train), **states)),
                    [tally.planned.settings for tally in own],
                    part(rows, test).features,
                    classes,
                    exact=plan.exact_folds,
                )
                for tally in own:
                    tally.add(learner, runs)
            if runs.fold and runs.late:
                break  # some candidates had too little time
            held_out.append(np.sort(test))
            if plan.races:
                leave_out(plan.by, tallies, known(), len(splits))
    except KeyboardInterrupt:
        interrupted = True
        if not held_out:  # the candidates that have finished the first fold can be compared
            held_out.append(np.sort(splits[0][1]))
    return _choose(plan, tallies, known(), interrupted), tallies


def _distinct(items: Iterable[StateNames]) -> list[StateNames]:
    """Each of some dictionaries once, in their order."""
    found: list[StateNames] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found


@dataclass(frozen=True)
class _HeldOut:
    """The held-out rows of all finished folds: their labels, and their weights if there are any."""

    folds: int
    labels: IntArray
    weights: FloatArray | None


@dataclass
class _Runs:
    """Counts the runs and shares out the time that is left.

    With several folds, the first one takes half of the time at most. There the first candidate may
    take half of this; so may each other one of what is left, if candidates go from cheap to
    expensive. Every later run may take somewhat longer than that of the same candidate in the first
    fold.
    """

    clock: Clock
    candidates: int
    folds: int
    watch: Watch | None
    cheap_first: bool = False
    done: int = 0
    fold: int = -1
    _end: float = math.inf

    def begin_fold(self) -> bool:
        """Begin the next fold, if there is time for another one."""
        if self.fold >= 0 and self.late:
            return False
        self.fold += 1
        share = _FIRST_FOLD if self.fold == 0 and self.folds > 1 else 1.0
        self._end = self.clock.elapsed + share * self.clock.remaining
        return True

    @property
    def late(self) -> bool:
        """Whether all the time is used."""
        return self.clock.remaining == 0

    def share(self, seconds: float) -> Clock:
        """The clock for the next run of a candidate, which has taken so many seconds before."""
        left = max(0.0, self._end - self.clock.elapsed)
        if self.fold == 0:
            least = _FIRST_CANDIDATE if self.cheap_first or self.done == 0 else 0.0
            share = left * max(least, 1 / (self.candidates - self.done))
        else:
            share = max(_LATER * seconds, left / (self.candidates * self.folds - self.done))
        return Clock(min(left, share))

    def finish(self, what: str) -> None:
        """Note that a run has ended."""
        self.done += 1
        if self.watch is not None:
            self.watch(self.done, self.candidates * self.folds, what)

    def skip(self, number: int) -> None:
        """Note runs that nobody needs."""
        self.done += number


@dataclass
class Tally:
    """The predictions of a candidate, collected over the folds.

    Attributes
    ----------
    structures
        What was learned in the folds.
    chosen
        What the search for parameters chose in the first fold; the others take it over.
    """

    planned: Planned
    log_proba: list[FloatArray] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    structures: list[AnyStructure] = field(default_factory=list)
    chosen: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    stopped_early: bool = False
    error: str = ""

    def add(self, learner: FoldLearner, runs: _Runs) -> None:
        """Learn and predict in one fold; a failure is recorded, and later folds are skipped."""
        if self.error:
            runs.skip(1)
            return
        clock, settings = runs.share(self.seconds / max(1, len(self.structures))), self._settings
        if runs.late and runs.fold == 0:
            self.error = "there was not enough time"
        elif not runs.late:
            try:
                predicted = learner.predict(settings, clock)
            except MilpbnError as error:
                self.error = str(error)
            else:
                self._note(predicted)
        self.seconds += clock.elapsed
        runs.finish(show_values(self.planned.values))

    @property
    def _settings(self) -> Settings:
        own = self.planned.settings
        return replace(own, parameters=own.parameters.settled(self.chosen))

    def _note(self, predicted: Predicted) -> None:
        self.log_proba.append(predicted.log_proba)
        self.sizes.append(predicted.n_parameters)
        self.structures.append(predicted.structure)
        self.chosen = self.chosen or predicted.chosen
        self.stopped_early |= predicted.stopped_early

    def predictions(self, folds: int) -> FloatArray | None:
        """For the first folds; None if one of them is missing."""
        if not folds or self.error or len(self.log_proba) < folds:
            return None
        return np.concatenate(self.log_proba[:folds])

    def candidate(self, rows: _HeldOut) -> Candidate:
        """The result over the held-out rows, if all are predicted."""
        predicted = self.predictions(rows.folds)
        scores, errors = {}, {}
        if predicted is not None:
            scores = measure_all(rows.labels, predicted, rows.weights)
            errors = standard_errors(rows.labels, predicted, rows.weights)
        return Candidate(
            values=self.planned.values,
            scores=scores,
            standard_errors=errors,
            n_parameters=float(np.mean(self.sizes)) if self.sizes else 0.0,
            seconds=self.seconds,
            stopped_early=self.stopped_early,
            error=self.error,
        )


def _choose(
    plan: SelectionPlan, tallies: list[Tally], rows: _HeldOut, interrupted: bool
) -> Selection:
    candidates = tuple(tally.candidate(rows) for tally in tallies)
    ranks = [CRITERIA[plan.by].rank(c.scores.get(plan.by)) for c in candidates]
    best_of = [
        max((k for k, t in enumerate(tallies) if t.planned.grid == grid), key=ranks.__getitem__)
        for grid in range(len(plan.grids))
    ]
    best = max(best_of, key=ranks.__getitem__)
    behind = {k: _behind(plan.by, tallies[k], tallies[best], rows) for k in best_of}
    near = (k for k, (mean, error) in behind.items() if mean <= error)
    return Selection(plan.by, rows.folds, candidates, next(near, best), interrupted)


def leave_out(by: str, tallies: Sequence[Tally], rows: _HeldOut, folds: int) -> None:
    """Mark the candidates that are clearly worse than the best one after some of the folds."""
    measured = {k: t.predictions(rows.folds) for k, t in enumerate(tallies) if not t.error}
    values = {
        k: measure_all(rows.labels, p, rows.weights).get(by)
        for k, p in measured.items()
        if p is not None
    }
    if rows.folds == folds or not values:
        return
    criterion = CRITERIA[by]
    best = max(values, key=lambda k: criterion.rank(values[k]))
    for k, value in values.items():
        mean, error = _behind(by, tallies[k], tallies[best], rows)
        if mean > _CLEARLY * error and value is not None:
            tallies[k].error = (
                f"clearly worse after {rows.folds} of {folds} folds: {by} "
                f"{criterion.show(value)}, {criterion.show(values[best] or 0.0)} is the best"
            )


def _behind(by: str, own: Tally, best: Tally, rows: _HeldOut) -> tuple[float, float]:
    """By how much a candidate is worse than the best one, and the standard error; NaN if unknown.

    Only measures that are means over rows have one.
    """
    by_row = CRITERIA[by].by_row
    ours, theirs = own.predictions(rows.folds), best.predictions(rows.folds)
    if by_row is None or ours is None or theirs is None:
        return math.nan, math.nan
    better = by_row(rows.labels, theirs) - by_row(rows.labels, ours)
    return mean_and_error(better, rows.weights)
