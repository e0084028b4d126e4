"""Verification of arc margins and of sets of structures: every stated score has a structure."""

from __future__ import annotations

from collections.abc import Iterator

from milpbn.anytime import allowed_gap
from milpbn.encoding import EncodedData
from milpbn.learning.alternative_records import equivalence_key
from milpbn.learning.arc_records import ArcAnswer
from milpbn.learning.model import Model
from milpbn.scores import Score
from milpbn.scores.rescore import rescore
from milpbn.structure import Structure

# How many structures of each kind are scored again.
_CHECKED = 100


def arc_errors(model: Model, score: Score, data: EncodedData) -> Iterator[str]:
    """What is wrong with the arc margins of a model."""
    structure = model.result.structure
    assert isinstance(structure, Structure)
    assert model.arcs is not None
    if abs(model.arcs.objective - model.result.objective) > allowed_gap(model.result.objective):
        yield "the margins are those of a structure with another score"
    pairs = {frozenset((a.parent, a.child)) for a in model.arcs.answers}
    if any(len(pair) < 2 or not pair <= set(structure.variables) for pair in pairs):
        yield "an arc does not join two variables of the model"
    for answer in model.arcs.answers[:_CHECKED]:
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


def alternative_errors(model: Model, score: Score, data: EncodedData) -> Iterator[str]:
    """What is wrong with the set of structures of a model."""
    found = model.alternatives
    assert found is not None
    if len({s.structure for s in found.structures}) < len(found.structures):
        yield "a structure is listed twice"
    groups = {(equivalence_key(s.structure), s.group) for s in found.structures}
    if not len(groups) == len({key for key, _ in groups}) == len({group for _, group in groups}):
        yield "the groups are not the equivalence classes"
    scores = [s.score for s in found.structures]
    if scores != sorted(scores, reverse=True) or len(scores) > found.most:
        yield "the structures are not in order, or more than wanted"
    for k, one in enumerate(found.structures[:_CHECKED], 1):
        if not _scores(one.structure, one.score, score, data):
            yield f"structure {k} has another score"


def _satisfies(structure: Structure, answer: ArcAnswer) -> bool:
    arcs = set(structure.arcs)
    there = (answer.parent, answer.child) in arcs
    if answer.present:
        return there
    return not there and (answer.child, answer.parent) not in arcs


def _scores(structure: Structure, value: float, score: Score, data: EncodedData) -> bool:
    again = rescore(score, structure, data.variables, data.train(), data.train_weights())
    return abs(again - value) <= allowed_gap(value)
