"""Structures to start from, so that a run has an answer from the beginning."""

from __future__ import annotations

import numpy as np

from milpbn._types import Families
from milpbn.anytime.progress import Progress
from milpbn.families.candidates import CLASS, FamilySpace


def simple_starts(space: FamilySpace) -> dict[str, Families]:
    """Naive Bayes and the empty structure if they are candidates, else any feasible structure."""
    starts = {}
    for name, parents in (("naive-bayes", (CLASS,)), ("empty", ())):
        found = [space.find(i, () if i == CLASS else parents) for i in range(space.n_variables)]
        if None not in found:
            starts[name] = np.array(found, dtype=np.int64)
    return starts or {"any-feasible": space.feasible_families()}


def offer_simple_starts(progress: Progress) -> None:
    """Offer the simple structures to `progress`."""
    for name, families in simple_starts(progress.objective.space).items():
        progress.incumbent(families, name)


def complete_quietly(progress: Progress) -> None:
    """Set a structure, without an event, if a run was interrupted before it had one."""
    objective = progress.objective
    if progress.families is None:
        source, families = next(iter(simple_starts(objective.space).items()))
        progress.families, progress.source = families, source
        progress.value = objective.value(families)
