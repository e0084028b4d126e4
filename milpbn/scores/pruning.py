"""Pruning of families that no optimal structure needs, for decomposable scores."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import FamilySpace, ParentSet
from milpbn.scores.base import LinearObjective


def prune_dominated(
    objective: LinearObjective, checkpoint: Checkpoint = no_checkpoint
) -> LinearObjective:
    """Drop every parent set that has a candidate subset scoring at least as well.

    Replacing a parent set by a subset only removes arcs: it closes no cycle and breaks no budget,
    so the optimum over the remaining families is the optimum over all families.
    """
    space = objective.space
    keep: list[int] = []
    better: dict[tuple[int, ParentSet], int] = {}
    for i in range(space.n_variables):
        checkpoint()
        families = sorted(space.of(i), key=lambda f: len(space.parent_sets[f]))
        # Best score over a set and its candidate subsets, with the family. Sizes ascend, so
        # subsets with one parent less are known. If such a subset is not a candidate, smaller
        # subsets are looked up directly.
        best: dict[ParentSet, tuple[float, int]] = {}
        for f in families:
            parents = space.parent_sets[f]
            weight, below = float(objective.weights[f]), _best_below(best, parents)
            if weight > below[0]:
                keep.append(f)
                best[parents] = weight, f
            else:
                better[i, parents] = below[1]
                best[parents] = below
    keep.sort()
    place = {f: k for k, f in enumerate(keep)}
    counts = np.bincount(space.child[keep], minlength=space.n_variables)
    reduced = FamilySpace(
        space.names,
        space.cards,
        tuple(space.parent_sets[f] for f in keep),
        np.concatenate([[0], np.cumsum(counts)]),
        {pruned: place[f] for pruned, f in better.items()},
        space.budgets,
    )
    return LinearObjective(reduced, objective.weights[keep], objective.rows)


def _best_below(best: dict[ParentSet, tuple[float, int]], parents: ParentSet) -> tuple[float, int]:
    found = (-math.inf, -1)
    for size in range(len(parents) - 1, -1, -1):
        known = [best[s] for s in combinations(parents, size) if s in best]
        found = max([found, *known])
        # Every subset of this size is a candidate, and they cover all smaller ones.
        if len(known) == len(list(combinations(parents, size))):
            break
    return found
