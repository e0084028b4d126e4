"""Choose settings by how well they predict held-out rows.

Every candidate learns from some of the training rows and predicts the others, fold by fold.
Inside the folds local search replaces an exact engine, because no proof is needed there; the
engine runs once, with the chosen settings and all training rows. Candidates
share what they can: the encoding of a fold, for each way to cut columns; the tables of a score for
all p and penalties; structures as starts; and parameters for structures that several of them find.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Clock
from milpbn.datasets.table import Table
from milpbn.errors import BudgetError, MilpbnError, ProofWarning
from milpbn.learning.candidates import Candidate, Selection, show_values
from milpbn.learning.classifier import encode, learn_classifier
from milpbn.learning.criteria import CRITERIA, mean_and_error, measure_all, standard_errors
from milpbn.learning.held_out import FoldLearner
from milpbn.learning.maximise import warm_starter
from milpbn.learning.methods import ENGINES
from milpbn.learning.model import Model
from milpbn.learning.plan import Planned, SelectionPlan
from milpbn.learning.settings import Settings
from milpbn.learning.validation import RowNumbers, part
from milpbn.result import Listener, Status
from milpbn.search.local_search import LocalSearch

Watch = Callable[[int, int, str], None]
"""Called with the number of finished runs, of all runs, and what was run."""

# The share of the time limit for the selection; the final run has the rest.
_SELECTION_SHARE = 0.6


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
    selection, settings = select_settings(table, names, plan, clock=clock, watch=watch)
    table = selected_table(table, selection)
    model = learn_final(
        lambda own: learn_classifier(table, own, clock=clock, listener=listener), settings
    )
    return selected_model(model, selection)


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


def selected_table(table: Table, selection: Selection) -> Table:
    """The table, cut as the chosen candidate cuts it."""
    return replace(table, bins=selection.values.get("bins", table.bins))


def selected_model(model: Model, selection: Selection) -> Model:
    """The model of the final run, with the selection that came before it."""
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
) -> tuple[Selection, Settings]:
    """Choose settings for a table by cross-validation within its training rows.

    The arguments are those of :func:`learn_selected`. The selection takes at most a share of the
    time that the clock has left. Returns the selection and the settings for the final run: local
    search with the best candidate so far if Ctrl-C ended the selection.
    """
    plan, clock = plan or SelectionPlan(), clock or Clock(names.get("time_limit"))
    candidates = plan.candidates(names)
    share = clock.until(clock.elapsed + _SELECTION_SHARE * clock.remaining, phase="selecting")
    selection = validate(table, names, plan, candidates, share, watch)
    share.close_phase("selecting")
    settings = candidates[selection.chosen].settings
    if selection.interrupted and settings.method in ENGINES:
        settings = settings.with_learner(warm_starter(LocalSearch.name))
    return selection, settings


def validate(
    table: Table,
    names: Mapping[str, Any],
    plan: SelectionPlan,
    candidates: Sequence[Planned],
    clock: Clock,
    watch: Watch | None,
) -> Selection:
    """Learn and predict with every candidate in every fold; choose the best one.

    `candidates` are those of the plan; Ctrl-C keeps the finished folds.
    """
    rows = table.train()
    if table.missing == "drop":
        rows = rows.rows(rows.features.notna().all(axis=1).to_numpy())
    tallies = [_Tally(planned) for planned in candidates]
    # A declared class is a state of every fold, even if no complete row has it.
    classes = sorted({*rows.target, *rows.states.get(str(rows.target.name), ())})
    labels = pd.Categorical(rows.target, categories=classes).codes.astype(np.int64)
    weights = rows.row_weights()
    held_out, interrupted = list[RowNumbers](), False
    splits = list(plan.splitter(int(names.get("seed", 0))).split(rows.features, rows.target))
    runs = _Runs(clock, len(tallies) * len(splits), watch)
    try:
        for train, test in splits:
            for bins in dict.fromkeys(planned.bins for planned in candidates):
                own = [tally for tally in tallies if tally.planned.bins == bins]
                learner = FoldLearner(
                    encode(replace(part(rows, train), bins=bins or rows.bins)),
                    [tally.planned.settings for tally in own],
                    part(rows, test).features,
                    classes,
                    exact=plan.exact_folds,
                )
                for tally in own:
                    tally.add(learner, runs)
            held_out.append(np.sort(test))
    except KeyboardInterrupt:
        interrupted = True
        if not held_out:  # the candidates that have finished the first fold can be compared
            held_out.append(np.sort(splits[0][1]))
    numbers = np.concatenate([np.empty(0, dtype=np.intp), *held_out])
    known = _HeldOut(len(held_out), labels[numbers], None if weights is None else weights[numbers])
    return _choose(plan, tallies, known, interrupted)


@dataclass(frozen=True)
class _HeldOut:
    """The held-out rows of all finished folds: their labels, and their weights if there are any."""

    folds: int
    labels: IntArray
    weights: FloatArray | None


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

    planned: Planned
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
                predicted = learner.predict(self.planned.settings, clock)
            except MilpbnError as error:
                self.error = str(error)
            else:
                self.log_proba.append(predicted.log_proba)
                self.sizes.append(predicted.n_parameters)
                self.stopped_early |= predicted.stopped_early
        self.seconds += clock.elapsed
        runs.finish(show_values(self.planned.values))

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
    plan: SelectionPlan, tallies: list[_Tally], rows: _HeldOut, interrupted: bool
) -> Selection:
    candidates = tuple(tally.candidate(rows) for tally in tallies)
    ranks = [CRITERIA[plan.by].rank(c.scores.get(plan.by)) for c in candidates]
    best_of = [
        max((k for k, t in enumerate(tallies) if t.planned.grid == grid), key=ranks.__getitem__)
        for grid in range(len(plan.grids))
    ]
    best = max(best_of, key=ranks.__getitem__)
    near = (k for k in best_of if _is_near(plan.by, tallies[k], tallies[best], rows))
    return Selection(plan.by, rows.folds, candidates, next(near, best), interrupted)


def _is_near(by: str, own: _Tally, best: _Tally, rows: _HeldOut) -> bool:
    """Whether a candidate is worse than the best by at most the standard error of the difference.

    Only measures that are means over rows have one.
    """
    by_row = CRITERIA[by].by_row
    ours, theirs = own.predictions(rows.folds), best.predictions(rows.folds)
    if by_row is None or ours is None or theirs is None:
        return False
    better = by_row(rows.labels, theirs) - by_row(rows.labels, ours)
    mean, error = mean_and_error(better, rows.weights)
    return mean <= error
