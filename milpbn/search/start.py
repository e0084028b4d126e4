"""A structure to begin with, so that a run has an answer from its first moment."""

from __future__ import annotations

import numpy as np

from milpbn.families.candidates import CLASS, FamilySpace
from milpbn.search.progress import Families, Progress


def simple_starts(space: FamilySpace) -> dict[str, Families]:
    """Naive Bayes and the empty structure where they are candidates, else any structure."""
    starts = {}
    for name, parents in (("naive-bayes", (CLASS,)), ("empty", ())):
        found = [space.find(i, () if i == CLASS else parents) for i in range(space.n_variables)]
        if None not in found:
            starts[name] = np.array(found, dtype=np.int64)
    return starts or {"any-feasible": space.feasible_families()}


def offer_simple_starts(progress: Progress) -> None:
    """Give the simple structures and the free bound to `progress`."""
    progress.improve_bound(progress.objective.quick_bound(), 0, "quick bound")
    for name, families in simple_starts(progress.objective.space).items():
        progress.incumbent(families, name)


def complete_quietly(progress: Progress) -> None:
    """A structure and a bound for a run that was interrupted before it had both."""
    objective = progress.objective
    if progress.families is None:
        source, families = next(iter(simple_starts(objective.space).items()))
        progress.families, progress.source = families, source
        progress.value = objective.value(families)
    progress.bound = min(progress.bound, objective.quick_bound())
