"""Verification of arc margins and of sets of structures: every stated score has a structure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from milpbn.anytime import allowed_gap
from milpbn.certainty.alternative_records import equivalence_key
from milpbn.certainty.arc_records import ArcAnswer
from milpbn.clock import Checkpoint
from milpbn.encoding import EncodedData
from milpbn.engines.enumeration import structures_near
from milpbn.learning.model import Model
from milpbn.scores import Objective, Score
from milpbn.scores.rescore import rescore
from milpbn.structure import Structure

CHECKED = 100
"""How many structures of each kind are scored again."""

Scored = tuple[Structure, float]


def arc_errors(
    model: Model, score: Score, data: EncodedData, near: Iterable[Scored] = ()
) -> Iterator[str]:
    """What is wrong with the arc margins of a model; other structures are near its own."""
    structure = model.result.structure
    assert isinstance(structure, Structure)
    assert model.arcs is not None
    if abs(model.arcs.objective - model.result.objective) > allowed_gap(model.result.objective):
        yield "the margins are those of a structure with another score"
    if model.arcs.scale != model.result.scale:
        yield f"the scale is {model.arcs.scale:g}, not {model.result.scale:g}"
    pairs = {frozenset((a.parent, a.child)) for a in model.arcs.answers}
    if any(len(pair) < 2 or not pair <= set(structure.variables) for pair in pairs):
        yield "an arc does not join two variables of the model"
    for answer in model.arcs.answers[:CHECKED]:
        if answer.value is None:
            continue
        name = f"{answer.parent} -> {answer.child}"
        own = structure.changed(answer.changes, answer.resolutions)
        if not _satisfies(own, answer):
            yield f"{name}: the structure does not satisfy the condition"
        if not _scores(own, answer.value, score, data):
            yield f"{name}: the structure has another score"
        if answer.bound is None or answer.value > answer.bound + allowed_gap(answer.value):
            yield f"{name}: the bound lies below the score"
    yield from _bound_errors(model, near)


def _bound_errors(model: Model, near: Iterable[Scored]) -> Iterator[str]:
    """Where a structure that is known scores more than a bound for structures like it."""
    structure = model.result.structure
    assert isinstance(structure, Structure)
    assert model.arcs is not None
    known = [(structure, model.result.objective), *near]
    for answer in model.arcs.answers:
        if answer.value is not None:
            known.append((structure.changed(answer.changes, answer.resolutions), answer.value))
    if model.alternatives is not None:
        known += [(s.structure, s.score) for s in model.alternatives.structures]
    for answer in model.arcs.answers:
        values = [value for own, value in known if _satisfies(own, answer)]
        bound = -math.inf if answer.bound is None else answer.bound
        if values and max(values) > bound + allowed_gap(max(values)):
            yield f"{answer.parent} -> {answer.child}: a structure exceeds the bound"


def alternative_errors(model: Model, score: Score, data: EncodedData) -> Iterator[str]:
    """What is wrong with the set of structures of a model."""
    found = model.alternatives
    assert found is not None
    if len({s.structure for s in found.structures}) < len(found.structures):
        yield "a structure is listed twice"
    groups = {(equivalence_key(s.structure), s.group) for s in found.structures}
    if not len(groups) == len({key for key, _ in groups}) == len({group for _, group in groups}):
        yield "the groups are not the equivalence classes"
    if list(dict.fromkeys(s.group for s in found.structures)) != list(range(1, len(groups) + 1)):
        yield "the groups are not numbered in their order"
    full = len(found.structures) == found.most or found.within is not None
    if found.complete and found.rest is not None and not full:
        yield f"{len(found.structures)} structures are listed, {found.most} were wanted"
    scores = [s.score for s in found.structures]
    if scores != sorted(scores, reverse=True) or len(scores) > found.most:
        yield "the structures are not in order, or more than wanted"
    for k, one in enumerate(found.structures[:CHECKED], 1):
        if not _scores(one.structure, one.score, score, data):
            yield f"structure {k} has another score"


def scored_near(
    structure: Structure, objective: Objective, checkpoint: Checkpoint
) -> Iterator[Scored]:
    """The structures that differ from one in one family, and their scores."""
    space = objective.space
    for families, value in structures_near(objective, space.families(structure), checkpoint):
        yield space.structure(families), value


def _satisfies(structure: Structure, answer: ArcAnswer) -> bool:
    arcs = set(structure.arcs)
    there = (answer.parent, answer.child) in arcs
    if answer.present:
        return there
    return not there and (answer.child, answer.parent) not in arcs


def _scores(structure: Structure, value: float, score: Score, data: EncodedData) -> bool:
    again = rescore(score, structure, data.variables, data.train(), data.train_weights())
    return abs(again - value) <= allowed_gap(value)
