"""From encoded rows to an objective over candidate families."""

from __future__ import annotations

from dataclasses import replace

from milpbn.clock import Clock, OutOfTime
from milpbn.encoding.data import EncodedData
from milpbn.errors import TimeLimitError
from milpbn.families import FamilySpace, MergedRows, candidate_families
from milpbn.families.candidates import DEFAULT_MEMORY
from milpbn.learning.settings import SearchSpace
from milpbn.scores import LinearObjective, MarginObjective, MarginScore, Objective, Score
from milpbn.scores.pruning import prune_dominated, prune_penalised


def build_objective(
    data: EncodedData,
    score: Score,
    space: SearchSpace,
    *,
    clock: Clock | None = None,
    memory_limit: int = DEFAULT_MEMORY,
    prune: bool = True,
) -> Objective:
    """The objective of a score over a search space, from the training rows of `data`.

    With `prune`, families that no optimum needs are left out, if the score is decomposable or has
    a penalty.

    Raises
    ------
    TimeLimitError
        If the score is decomposable, so that all families are scored now, and there is no time.
    """
    clock = clock or Clock()
    families = family_space(data, score, space, memory_limit)
    rows = MergedRows.from_codes(data.train(), data.train_weights())
    pruned = prune and isinstance(score, MarginScore) and bool(score.penalty)
    if pruned:
        assert isinstance(score, MarginScore)
        try:
            families = prune_penalised(score, families, rows, clock.checkpoint)
        except OutOfTime:
            pruned = False  # pruning saves time later; without it nothing is wrong
    try:
        objective = score.objective(families, rows, clock.checkpoint)
        if prune and isinstance(objective, LinearObjective):
            objective = prune_dominated(objective, clock.checkpoint)
    except OutOfTime:
        raise TimeLimitError(
            f"the time limit of {clock.limit:g} s was reached while {len(families):,} families "
            "were being scored; allow more time or lower max_parents"
        ) from None
    if pruned and isinstance(objective, MarginObjective):
        objective = replace(objective, least_penalty=objective.penalty)
    return objective


def family_space(
    data: EncodedData, score: Score, space: SearchSpace, memory_limit: int = DEFAULT_MEMORY
) -> FamilySpace:
    """The candidate families of a search space."""
    return candidate_families(
        [v.name for v in data.variables],
        [v.card for v in data.variables],
        max_parents=space.max_parents,
        class_parents=space.class_parents,
        generative=score.generative and not space.augmented,
        constraints=space.constraints,
        memory_limit=memory_limit,
    )
