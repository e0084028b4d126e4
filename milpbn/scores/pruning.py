"""Pruning of families that no optimal structure needs.

Replacing a parent set by a candidate subset only removes arcs: it closes no cycle, breaks no
budget, and the other constraints still hold. So a family can go if one of its subsets scores at
least as well in every structure, and the optimum over the remaining families is the optimum over
all families.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import CLASS, FamilySpace, ParentSet
from milpbn.families.rows import MergedRows
from milpbn.families.tables import FamilyTables
from milpbn.scores.base import LinearObjective
from milpbn.scores.margin import MarginScore


def prune_dominated(
    objective: LinearObjective, checkpoint: Checkpoint = no_checkpoint
) -> LinearObjective:
    """Drop every parent set that has a candidate subset scoring at least as well."""
    space = objective.space
    keep: list[int] = []
    better: dict[int, int] = {}
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
                better[f] = below[1]
                best[parents] = below
    keep.sort()
    return LinearObjective(space.select(keep, better), objective.weights[keep], objective.rows)


def _best_below(best: dict[ParentSet, tuple[float, int]], parents: ParentSet) -> tuple[float, int]:
    found = (-math.inf, -1)
    for size in range(len(parents) - 1, -1, -1):
        known = [best[s] for s in combinations(parents, size) if s in best]
        found = max([found, *known])
        # Every subset of this size is a candidate, and they cover all smaller ones.
        if len(known) == len(list(combinations(parents, size))):
            break
    return found


def prune_penalised(
    score: MarginScore, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
) -> FamilySpace:
    """Drop every parent set whose additional parents cannot earn their penalty.

    The hinge ``min(gamma, min_c d(c))`` is monotone and 1-Lipschitz in the largest difference of
    the margins. So for a subset S' of S, whatever the other families are, S scores at most

        sum_u w_u max(0, max_c [alpha(i,S,u,c) - alpha(i,S',u,c)])

    more than S' before costs. S is dropped if this is not more than the difference of the costs.
    It does not depend on gamma, and what is dropped at a penalty is dropped at every larger one.
    The families of naive Bayes and of the empty structure stay, because learners start there.
    Only one variable's tables are held at a time.
    """
    costs = score.cost_per_parameter(rows.total) * space.free_parameters
    keep: list[int] = []
    replaced: dict[int, int] = {}
    for i in range(space.n_variables):
        checkpoint()
        own = space.of(i)
        subsets = [[] if space.parent_sets[f] in ((), (CLASS,)) else space.subsets(f) for f in own]
        savings = [costs[f] - costs[s] for f, s in zip(own, subsets, strict=True)]
        block = space.select(own)
        inside = [[g - own.start for g in s] for s in subsets]
        found = _replacements(score.tables(block, rows), inside, savings)
        for f, g in zip(own, found.tolist(), strict=True):
            if g < 0:
                keep.append(f)
            else:
                replaced[f] = own.start + g
    return space.select(keep, replaced)


def _replacements(
    tables: FamilyTables, subsets: Sequence[Sequence[int]], savings: Sequence[FloatArray]
) -> IntArray:
    """For every family, one of its subsets that loses no more margin than it saves; else -1."""
    from milpbn.families import kernels

    out = np.empty(len(subsets), dtype=np.int64)
    tables.ensure(np.arange(len(tables.space)))
    kernels.replacements(
        np.concatenate([[0], np.cumsum([len(s) for s in subsets])]),
        np.array([g for s in subsets for g in s], dtype=np.int64),
        np.concatenate(savings),
        tables.key,
        tables.cards,
        tables.base,
        tables.fold,
        tables.codes,
        tables.exact,
        tables.own,
        1 if tables.single else tables.space.n_classes,
        tables.rows.weights,
        out,
    )
    return out
