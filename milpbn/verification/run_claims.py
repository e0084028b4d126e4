"""Verification of what a model file says about its run: redundant entries must agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from milpbn.anytime import TOLERANCE, allowed_gap
from milpbn.errors import ModelFileError
from milpbn.families.constraints import BUDGETS
from milpbn.learning.methods import ENGINES
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings
from milpbn.result import Result, Status, TracePoint
from milpbn.scores import Score, make_score
from milpbn.settings import StateNames, declared
from milpbn.verification.entries import differences

# Settings that the file does not have in the form that the run was given.
_NOT_REBUILT = ("start", "method", "constraints")


def stated_score(result: Result) -> Score:
    """The score of a result; its settings must not contradict each other."""
    told = result.score_parameters
    free = {k: v for k, v in told.items() if not (k == "gamma" and told.get("p") is not None)}
    score = make_score(result.score, **free)
    if errors := list(differences(told, score.settings(), "result.score_parameters")):
        raise ModelFileError("; ".join(errors))
    return score


def settings_errors(told: Mapping[str, Any], settings: Settings, score: Score) -> Iterator[str]:
    """Where settings contradict each other, or the score of the result."""
    again = {k: v for k, v in settings.to_dict().items() if k not in _NOT_REBUILT}
    for error in differences(told, again):
        yield f"settings.{error}"
    of_result = {"score": score.name, **score.settings()}
    of_settings = {"score": settings.score.name, **settings.score.settings()}
    if of_result.keys() != of_settings.keys():
        odd = ", ".join(sorted(of_result.keys() ^ of_settings.keys()))
        yield f"settings and result have different settings of the score: {odd}"
    for error in differences(of_settings, of_result):
        yield f"settings.{error} as in the result"


def result_errors(
    result: Result, told: Mapping[str, Any], n_rows: int, weight: float, scale: float
) -> Iterator[str]:
    """Where a result contradicts itself, the settings, the rows or the scale of the score."""
    if result.tolerance != TOLERANCE:
        yield f"tolerance is {result.tolerance:g}, not {TOLERANCE:g}"
    if result.n_rows != n_rows:
        yield f"n_rows is {result.n_rows}, not {n_rows}"
    if result.weight != weight:
        yield f"weight is {result.weight:g}, not {weight:g}"
    if result.scale != scale:
        yield f"scale is {result.scale:g}, not {scale:g}"
    method = told.get("method", told.get("engine"))
    if result.engine != method:
        yield f"the engine is {result.engine!r}, the method of the settings {method!r}"
    if result.bound is None and result.status is Status.OPTIMAL:
        yield "the status is optimal, but there is no bound"
    if result.bound is not None and result.engine not in ENGINES:
        yield f"{result.engine} proves no bound, but one is stated"
    if result.bound is None and result.bound_is_trivial:
        yield "a bound that does not exist cannot be trivial"
    if any(seconds < 0 for seconds in result.seconds.values()):
        yield "a phase has a negative duration"
    yield from _start_errors(result, told)
    yield from trace_errors(result)


def _start_errors(result: Result, told: Mapping[str, Any]) -> Iterator[str]:
    start = result.warm_start
    if start is None:
        return
    named = told.get("start", told.get("warm_start"))
    if start.source != named:
        yield f"the warm start is {start.source!r}, that of the settings {named!r}"
    if start.objective > result.objective + allowed_gap(result.objective):
        yield "the warm start scores more than the result"
    gain = result.objective - start.objective
    if start.improvement is not None and abs(start.improvement - gain) > allowed_gap(gain):
        yield f"the warm start was improved by {gain:g}, not by {start.improvement:g}"


def trace_errors(result: Result) -> Iterator[str]:
    """Where the trace of a result is not monotone, or does not end at the result."""
    if not result.trace:
        yield "the trace is empty"
        return
    for k, (before, after) in enumerate(pairwise(result.trace)):
        if _goes_back(before, after):
            yield f"point {k + 2} of the trace is worse than the one before"
    end = result.trace[-1]
    reached = (("objective", end.objective), ("bound", end.bound), ("nodes", end.nodes))
    for name, value in reached:
        if value is None and name == "bound":
            continue  # heuristics, and infinite bounds
        yield from differences({name: value}, {name: getattr(result, name)}, "the end of the trace")
    if end.source != "end":
        yield "the trace does not say where it ends"


def _goes_back(before: TracePoint, after: TracePoint) -> bool:
    lower = before.objective is not None and (
        after.objective is None
        or after.objective < before.objective - allowed_gap(before.objective)
    )
    higher = before.bound is not None and (
        after.bound is None or after.bound > before.bound + allowed_gap(before.bound)
    )
    return lower or higher or after.time < before.time or after.nodes < before.nodes


def selection_errors(model: Model, settings: Settings) -> Iterator[str]:
    """Where the settings are not those that the selection chose."""
    if model.selection is None:
        return
    of_columns = declared(StateNames)
    chosen = {k: v for k, v in model.selection.plain_values.items() if k not in of_columns}
    if chosen.get("gamma") is not None:
        chosen["p"] = None
    if model.selection.interrupted:
        chosen.pop("method", None)  # the rest of the time went to local search
    budgets = {name: chosen.pop(name) for name in BUDGETS if name in chosen}
    constraints = {**model.settings.get("constraints", {}), **budgets}
    again = Settings.from_dict({**model.settings, **chosen, "constraints": constraints})
    for error in differences(settings.to_dict(), again.to_dict()):
        yield f"settings.{error} as selected"


def stability_errors(model: Model) -> Iterator[str]:
    """Where the numbers of structures from resampled rows contradict each other."""
    found = model.stability
    if found is None:
        return
    if not max(found.optimal, *found.counts.values(), 0) <= found.resamples <= found.wanted:
        yield "more structures are counted than there are samples"
    if unknown := {v for arc in found.counts for v in arc} - set(model.network.structure.variables):
        yield f"{min(unknown)} is not a variable of the model"
