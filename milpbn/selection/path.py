"""The path of a penalty: proven optima from the smallest network to one without a penalty.

Every point has its own optimum and bound. They are solved from the largest penalty down, and
share tables and starts (see :mod:`milpbn.selection.grid`). How well each penalty predicts
rows that it has not seen is estimated by cross-validation, with local search inside the folds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import pandas as pd

from milpbn.clock import Clock
from milpbn.datasets.table import Table, with_states
from milpbn.encoding import EncodedData
from milpbn.errors import MilpbnError, OptionError
from milpbn.learning.classifier import Encoded, encode, fit_model, structure_clock
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings, make_settings
from milpbn.network.inference import accuracy
from milpbn.result import Listener, Status
from milpbn.scores import Objective
from milpbn.scores.concave import parse_penalty
from milpbn.selection.candidates import Candidate
from milpbn.selection.choose import Watch, validate
from milpbn.selection.criteria import CRITERIA, LOG_LOSS
from milpbn.selection.grid import (
    grid_objective,
    penalised_score,
    run_grid,
    settings_by_p,
    settings_by_penalty,
)
from milpbn.selection.penalties import penalty_grid
from milpbn.selection.plan import SelectionPlan
from milpbn.settings import SettingNames, chosen_states
from milpbn.structure import Structure

# The share of the time for choosing the penalties.
_GRID_SHARE = 0.1
# The share of the time for the engine, if rows are held out afterwards.
_ENGINE_SHARE = 0.7


@dataclass(frozen=True)
class PathPlan:
    """The penalties of a path and the number of folds.

    Parameters
    ----------
    penalties
        Costs of one free parameter, or ``"bic"``; None for an automatic grid, which has a
        penalty for every network that local search finds on the path, and 0.
    n_penalties
        Maximum number of automatic values above 0.
    folds
        Number of folds, or None to hold no rows out.
    ps
        Desired class probabilities, for a path each; empty for the one of the score.
    """

    penalties: Sequence[float | str] | None = None
    n_penalties: int = 20
    folds: int | None = 5
    ps: Sequence[float] = ()

    def __post_init__(self) -> None:
        if self.penalties is not None:
            if isinstance(self.penalties, str) or not len(self.penalties):
                raise OptionError(f"penalties must be a list of numbers, not {self.penalties!r}")
            object.__setattr__(self, "penalties", tuple(map(parse_penalty, self.penalties)))
        if self.n_penalties < 2:
            raise OptionError(f"a path needs at least 2 penalties, not {self.n_penalties}")
        if self.folds is not None and self.folds < 2:
            raise OptionError(f"a path needs at least 2 folds, or none, not {self.folds}")


@dataclass(frozen=True)
class PathPoint:
    """The optimum for one penalty.

    Attributes
    ----------
    penalty
        Cost of one free parameter.
    p
        Desired class probability; None if gamma was given instead.
    model
        The classifier; its result has status, objective, bound and gap.
    training_accuracy
        Share of the training rows that it classifies correctly.
    test_accuracy
        The same for the test rows, if there are any.
    held_out
        The result of cross-validation for this penalty: a :class:`Candidate`, or None.
    """

    penalty: float
    p: float | None
    model: Model
    training_accuracy: float
    test_accuracy: float | None = None
    held_out: Candidate | None = None

    @property
    def structure(self) -> Structure:
        """The optimal structure."""
        found = self.model.result.structure
        assert isinstance(found, Structure)
        return found

    @property
    def n_features(self) -> int:
        """Number of features that have an arc."""
        arcs = self.structure.arcs
        return len({name for arc in arcs for name in arc} - {self.structure.variables[0]})

    def to_dict(self) -> dict[str, Any]:
        """The figures of the point as plain data."""
        result, held_out = self.model.result, self.held_out or Candidate({})
        return {
            "penalty": self.penalty,
            "p": self.p,
            "status": str(result.status),
            "objective": result.objective,
            "bound": result.bound,
            "gap": result.gap_rel,
            "nodes": result.nodes,
            "seconds": sum(result.seconds.values()),
            "parameters": self.model.network.n_parameters,
            "arcs": len(self.structure.arcs),
            "features": self.n_features,
            "training_accuracy": self.training_accuracy,
            "test_accuracy": self.test_accuracy,
            "log_loss": held_out.scores.get(LOG_LOSS),
            "log_loss_error": held_out.standard_errors.get(LOG_LOSS),
            "accuracy": held_out.scores.get("accuracy"),
            "accuracy_error": held_out.standard_errors.get("accuracy"),
        }


@dataclass(frozen=True)
class PenaltyPath:
    """The points of a path, from the largest penalty down; with several p, one after the other.

    Attributes
    ----------
    points
        The finished points.
    folds
        Number of finished folds of the cross-validation.
    complete
        Whether all points and folds were finished.
    note
        Why held-out measures are missing, or empty.
    """

    points: tuple[PathPoint, ...]
    folds: int = 0
    complete: bool = True
    note: str = ""

    def to_frame(self) -> pd.DataFrame:
        """One line per point; log-loss and accuracy with standard errors are for held-out rows."""
        return pd.DataFrame([point.to_dict() for point in self.points])

    @property
    def best(self) -> PathPoint | None:
        """The point with the smallest held-out log-loss: the sparsest of equals."""
        tried = [p for p in self.points if p.held_out and LOG_LOSS in p.held_out.scores]
        rank = CRITERIA[LOG_LOSS].rank
        return max(tried, key=lambda p: rank(p.to_dict()["log_loss"]), default=None)


@dataclass(frozen=True)
class PathWatch:
    """Callbacks for the progress of a path.

    Attributes
    ----------
    listener
        Returns the listener for the any-time events of a penalty.
    point
        Called with every finished point and the number of all points.
    folds
        Called after every run of the cross-validation.
    """

    listener: Callable[[float], Listener] | None = None
    point: Callable[[PathPoint, int], None] = field(default=lambda _point, _total: None)
    folds: Watch | None = None


def learn_path(
    table: Table,
    penalties: Sequence[float | str] | None = None,
    *,
    n_penalties: int = 20,
    folds: int | None = 5,
    ps: Sequence[float] = (),
    watch: PathWatch | None = None,
    **settings: Unpack[SettingNames],
) -> PenaltyPath:
    """Learn an optimal classifier for every penalty of a grid, and for every p if several.

    Parameters
    ----------
    table
        The rows. Test rows are used for the test accuracy only.
    penalties, n_penalties, folds, ps
        See :class:`PathPlan`.
    watch
        Callbacks.
    settings
        As for :func:`milpbn.learn_structure`, with a margin score and an exact engine, and
        `parameters`. The time limit covers everything: the folds get at least 30 % of it, and
        every penalty gets an equal share of the remaining time.

    Returns
    -------
    PenaltyPath
        The points. After Ctrl-C, those that were finished.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> path = learn_path(load_dataset("iris"), [0, 0.1, 10], folds=None, class_parents=False)
    >>> path.to_frame()[["penalty", "status", "parameters", "arcs", "features"]]
       penalty   status  parameters  arcs  features
    0     10.0  optimal          14     1         1
    1      0.1  optimal          30     3         2
    2      0.0  optimal          58     6         4
    """
    plan = PathPlan(penalties, n_penalties, folds, ps)
    clock = Clock(settings.get("time_limit"))
    table = with_states(table, **chosen_states(settings))
    return run_path(table, encode(table, clock), settings, plan, clock=clock, watch=watch)


def run_path(
    table: Table,
    encoded: Encoded,
    names: SettingNames,
    plan: PathPlan,
    *,
    clock: Clock,
    watch: PathWatch | None = None,
) -> PenaltyPath:
    """Learn a path from encoded rows with a running clock; `table` is for the folds."""
    watch, settings = watch or PathWatch(), make_settings(**names)
    settings = settings.for_variables(encoded.data.variables)
    penalised_score(settings)
    engine = clock
    if plan.folds is not None and math.isfinite(clock.limit):
        engine = clock.until(clock.elapsed + _ENGINE_SHARE * clock.remaining)
    points = list[PathPoint]()
    by_p = list(settings_by_p(settings, plan.ps).values()) if plan.ps else [settings]
    try:
        objective = grid_objective(encoded.data, _with_penalty(settings, 0.0), engine)
        for k, own in enumerate(by_p):
            share = engine.until(engine.elapsed + engine.remaining / (len(by_p) - k))
            for point, total in _points(encoded, own, plan, objective, share, watch):
                points.append(point)
                watch.point(point, total)
            if points[-1].model.result.status is Status.INTERRUPTED:
                break
    except KeyboardInterrupt:
        if not points:
            raise
        return PenaltyPath(tuple(points), complete=False)
    stopped = any(p.model.result.status is Status.INTERRUPTED for p in points)
    path = PenaltyPath(tuple(points), complete=not stopped)
    if plan.folds is None or stopped:
        return path
    return _validated(path, table, names, plan, clock, watch)


def _points(
    encoded: Encoded,
    settings: Settings,
    plan: PathPlan,
    tables: Objective,
    clock: Clock,
    watch: PathWatch,
) -> Iterator[tuple[PathPoint, int]]:
    """The points for one p as they come, and how many there will be."""
    score = penalised_score(settings).with_settings(penalty=0.0)
    objective = tables.with_score(score)
    runs = settings_by_penalty(settings, _penalties(plan, objective, settings, clock))
    results = run_grid(
        encoded.data,
        runs,
        clock=structure_clock(clock, settings.parameters, encoded.data.codes.size),
        listener=watch.listener,
        objective=objective,
        share_cuts=False,
    )
    for penalty, result in results:
        model = fit_model(encoded, runs[penalty], result, clock=clock)
        yield _point(penalty, score.p, model, encoded.data), len(runs)


def _with_penalty(settings: Settings, penalty: float | str) -> Settings:
    score = penalised_score(settings).with_settings(penalty=penalty)
    return replace(settings, score=score)


def _point(penalty: float, p: float | None, model: Model, data: EncodedData) -> PathPoint:
    test = accuracy(model.network, data.test()) if len(data.test()) else None
    return PathPoint(penalty, p, model, accuracy(model.network, data.train()), test)


def _validated(
    path: PenaltyPath,
    table: Table,
    names: SettingNames,
    plan: PathPlan,
    clock: Clock,
    watch: PathWatch,
) -> PenaltyPath:
    """The path with what cross-validation finds for its penalties."""
    grids: dict[float | None, list[float]] = {}
    for point in path.points:
        grids.setdefault(point.p, []).append(point.penalty)
    selection_plan = SelectionPlan(
        [{"penalty": own} | ({"p": [p]} if plan.ps else {}) for p, own in grids.items()],
        cv=plan.folds,
    )
    candidates = selection_plan.candidates(names)
    try:
        found, _ = validate(table, names, selection_plan, candidates, clock, watch.folds)
    except MilpbnError as error:
        return replace(path, note=f"cross-validation failed: {error}")
    points = (
        replace(point, held_out=candidate)
        for point, candidate in zip(path.points, found.candidates, strict=True)
    )
    failed = [c.error for c in found.candidates if c.error]
    return replace(
        path,
        points=tuple(points),
        folds=found.folds if any(c.scores for c in found.candidates) else 0,
        complete=path.complete and not found.interrupted,
        note=f"cross-validation failed: {failed[0]}" if failed else "",
    )


def _penalties(
    plan: PathPlan, objective: Objective, settings: Settings, clock: Clock
) -> list[float]:
    if plan.penalties is not None:
        assert objective.rows is not None  # penalised scores are sums over rows
        total = objective.rows.total
        given = (_with_penalty(settings, x).score for x in plan.penalties)
        return [score.cost_per_parameter(total) for score in given]
    share = clock.until(clock.elapsed + min(_GRID_SHARE * clock.remaining, 1e9), phase="grid")
    return penalty_grid(objective, plan.n_penalties, share, settings.options.seed)
