"""Structures to start from, so that a run has an answer from the beginning."""

from __future__ import annotations

import numpy as np

from milpbn._types import Families
from milpbn.anytime.progress import Progress
from milpbn.families.candidates import CLASS, FamilySpace


def simple_starts(space: FamilySpace) -> dict[str, Families]:
    """Naive Bayes and the empty structure if they are candidates, and one that fits the budgets."""
    starts = {}
    for name, parents in (("naive-bayes", (CLASS,)), ("empty", ())):
        found = [space.find(i, () if i == CLASS else parents) for i in range(space.n_variables)]
        if None not in found:
            starts[name] = np.array(found, dtype=np.int64)
    if not any(map(space.fits, starts.values())):
        starts["any-feasible"] = space.feasible_families()
    return starts


def simplest_start(space: FamilySpace) -> tuple[str, Families]:
    """The first of the simple structures that fits the budgets, and its name."""
    return next((name, f) for name, f in simple_starts(space).items() if space.fits(f))


def offer_simple_starts(progress: Progress) -> None:
    """Offer the simple structures to `progress`."""
    for name, families in simple_starts(progress.objective.space).items():
        progress.incumbent(families, name)


def complete_quietly(progress: Progress) -> None:
    """Set a structure, without an event, if a run was interrupted before it had one."""
    objective = progress.objective
    if progress.families is None:
        progress.source, progress.families = simplest_start(objective.space)
        progress.value = objective.value(progress.families)
