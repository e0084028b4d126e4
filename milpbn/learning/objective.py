"""From encoded rows to an objective over candidate families."""

from __future__ import annotations

from contextlib import suppress
from math import inf

from milpbn.anytime import SolveOptions
from milpbn.clock import Checkpoint, Clock, OutOfTime, no_checkpoint
from milpbn.encoding.data import EncodedData
from milpbn.errors import BudgetError, ConstraintError, OptionError, TimeLimitError
from milpbn.families import FamilySpace, MergedRows, candidate_families
from milpbn.families.monotone import monotone_families
from milpbn.families.views import other_resolutions
from milpbn.learning.settings import SearchSpace
from milpbn.messages import Message, option
from milpbn.scores import Objective, Score
from milpbn.scores.pruning import drop_equal_views


def build_objective(
    data: EncodedData,
    score: Score,
    space: SearchSpace,
    *,
    clock: Clock | None = None,
    options: SolveOptions | None = None,
    prune: bool = True,
    most_families: float = inf,
) -> Objective:
    """The objective of a score over a search space, from the training rows of `data`.

    With `prune`, families that no optimum needs are left out, if the score is decomposable or has
    a penalty. More than `most_families` are a :class:`BudgetError`.

    Raises
    ------
    TimeLimitError
        If the score is decomposable, so that all families are scored now, and there is no time.
    """
    clock, data = clock or Clock(), data.searched()
    try:
        families = family_space(data, score, space, options, most_families, clock.checkpoint)
    except OutOfTime:
        raise TimeLimitError(
            f"the time limit of {clock.limit:g} s was reached before all families were counted; "
            "allow more time or lower max_parents"
        ) from None
    rows = MergedRows.from_codes(data.train(), data.train_weights())
    if prune:
        families = drop_equal_views(families, rows)
        # Pruning saves time later; without it nothing is wrong.
        with suppress(OutOfTime, BudgetError):
            families = score.prune(families, rows, clock.checkpoint)
    try:
        objective = score.objective(families, rows, clock.checkpoint)
        return objective.pruned(clock.checkpoint) if prune else objective
    except OutOfTime:
        raise TimeLimitError(
            f"the time limit of {clock.limit:g} s was reached while {len(families):,} families "
            "were being scored; allow more time or lower max_parents"
        ) from None


def family_space(
    data: EncodedData,
    score: Score,
    space: SearchSpace,
    options: SolveOptions | None = None,
    most_families: float = inf,
    checkpoint: Checkpoint = no_checkpoint,
) -> FamilySpace:
    """The candidate families of a search space, without those that break a monotone effect."""
    options = options or SolveOptions()
    coarsenings = other_resolutions(data.variables)
    if coarsenings and not score.resolutions:
        told = f"the score {score.name} cannot choose between several resolutions of a variable; "
        raise OptionError(Message(told, "choose another score, or ", option("bins", "mdlp")))
    families = candidate_families(
        [v.name for v in data.variables],
        [v.card for v in data.variables],
        max_parents=space.max_parents,
        class_parents=space.class_parents,
        generative=score.generative and not space.augmented,
        constraints=space.constraints,
        memory_limit=options.memory_limit,
        threads=options.threads,
        coarsenings=coarsenings,
        most_families=most_families,
    )
    if not any(v.monotone for v in data.variables):
        return families
    rows = MergedRows.from_codes(data.train(), data.train_weights())
    kept = monotone_families(families, rows, data.variables, space.smoothing, checkpoint)
    families = families.select(kept)
    try:
        families.feasible_families()
    except ConstraintError as error:
        raise ConstraintError(
            f"the required arcs have no monotone effects in the training rows: {error}"
        ) from None
    return families
