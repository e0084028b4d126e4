"""Pruning of families that no optimal structure needs.

A family can go if another one of the same variable, with the same parents or a subset of them and
with no more parameters, scores at least as well in every structure. The replacement adds no arc: it
closes no cycle, breaks no budget, and the other constraints still hold. So the optimum over the
remaining families is the optimum over all families.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np

from milpbn._types import FloatArray, IntArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import CLASS, FamilySpace, ParentSet
from milpbn.families.rows import MergedRows
from milpbn.families.tables import FamilyTables

if TYPE_CHECKING:
    from milpbn.scores.base import LinearObjective
    from milpbn.scores.rows import RowScore

Scored = tuple[float, int]
"""A score, and the family that has it."""


def drop_equal_views(space: FamilySpace, rows: MergedRows) -> FamilySpace:
    """Drop families that see a variable just as another family does.

    Two resolutions of a parent that divide the rows in the same way give the same tables, apart
    from states that never occur; the one with fewer states needs fewer parameters. For the child
    they must also have the same number of states, because smoothing depends on it.
    """
    if space.resolutions is None:
        return space
    as_parent, as_child = _equal_views(space, rows)
    seen = space.parent_views.astype(np.int64)
    wanted = np.where(seen < 0, seen, as_parent[seen])
    own = as_child[space.child_view]
    changed = (wanted != seen).any(axis=1) | (own != space.child_view)
    replaced: dict[int, int] = {}
    for f in np.flatnonzero(changed & (space.parent_sets.sizes > 0)).tolist():
        same = space.find_all(int(space.child[f]), space.parent_sets[f])
        equal = (seen[same] == wanted[f]).all(axis=1) & (space.child_view[same] == own[f])
        if equal.any():
            replaced[f] = int(same[equal.argmax()])
    kept = np.setdiff1d(np.arange(len(space)), list(replaced))
    return space.select(kept, replaced) if replaced else space


def _equal_views(space: FamilySpace, rows: MergedRows) -> tuple[IntArray, IntArray]:
    """For each view, one that shows the same: to the children of its variable, and to itself."""
    cards, codes = space.views.cards, space.views.columns(rows.columns)
    as_parent, as_child = np.arange(len(cards)), np.arange(len(cards))
    found: dict[tuple[int, bytes, int], int] = {}
    for view in np.lexsort((as_parent, cards)).tolist():
        # The same codes after numbering the states in the order in which they occur.
        _, first, code = np.unique(codes[view], return_index=True, return_inverse=True)
        part = np.argsort(np.argsort(first))[code].astype(np.int32).tobytes()
        variable = int(space.views.variable[view])
        as_parent[view] = found.setdefault((variable, part, 0), view)
        as_child[view] = found.setdefault((variable, part, int(cards[view])), view)
    return as_parent, as_child


def prune_dominated(
    objective: LinearObjective, checkpoint: Checkpoint = no_checkpoint
) -> LinearObjective:
    """Drop every family if one with the same parents or a subset scores at least as well."""
    space, weights = objective.space, objective.weights
    keep: list[int] = []
    better: dict[int, int] = {}
    # What counts against a replacement: nothing, if parameters are not limited.
    limited = space.budgets.max_parameters is not None
    size = space.free_parameters if limited else np.zeros(len(space))
    for i in range(space.n_variables):
        checkpoint()
        families = sorted(space.of(i), key=lambda f: len(space.parent_sets[f]))
        # The best families over a set and its candidate subsets, with their scores. Sizes ascend,
        # so subsets with one parent less are known. If such a subset is not a candidate, smaller
        # subsets are looked up directly.
        best: dict[ParentSet, list[Scored]] = {}
        for parents, group in groupby(families, key=lambda f: space.parent_sets[f]):
            known = _best_below(best, parents)
            for f in sorted(group, key=lambda f: -weights[f]):
                top = max((k for k in known if size[k[1]] <= size[f]), default=(-math.inf, -1))
                if weights[f] > top[0]:
                    keep.append(f)
                    known.append((float(weights[f]), f))
                else:
                    better[f] = top[1]
            best[parents] = _undominated(known, size)
    keep.sort()
    return replace(objective, space=space.select(keep, better), weights=weights[keep])


def _best_below(best: dict[ParentSet, list[Scored]], parents: ParentSet) -> list[Scored]:
    found: list[Scored] = []
    for size in range(len(parents) - 1, -1, -1):
        subsets = list(combinations(parents, size))
        known = [best[s] for s in subsets if s in best]
        found += [one for own in known for one in own]
        # Every subset of this size is a candidate, and they cover all smaller ones.
        if len(known) == len(subsets):
            break
    return found


def _undominated(known: list[Scored], size: FloatArray) -> list[Scored]:
    """Those without another one that scores at least as well and is no larger."""
    out: list[Scored] = []
    for one in sorted(known, reverse=True):
        if not out or size[one[1]] < size[out[-1][1]]:
            out.append(one)
    return out


def prune_penalised(
    score: RowScore,
    space: FamilySpace,
    rows: MergedRows,
    checkpoint: Checkpoint = no_checkpoint,
) -> FamilySpace:
    """Drop every family whose additional parents, or finer states, cannot earn their penalty.

    The hinge ``min(gamma, min_c d(c))`` and the log-posterior ``-log(1 + sum_c exp(-d(c)))`` are
    monotone, and 1-Lipschitz in the largest difference of the margins. So for a subset S' of S,
    whatever the other families are, S scores at most

        sum_u w_u max(0, max_c [alpha(i,S,u,c) - alpha(i,S',u,c)])

    more than S' before costs. S is dropped if this is not more than the difference of the costs.
    It does not depend on gamma, and what is dropped at a penalty is dropped at every larger one.
    S' may also be S itself in resolutions with fewer parameters. The families of naive Bayes, in
    some resolution, and of the empty structure stay, because learners start there. Only one
    variable's tables are held at a time.
    """
    costs = score.cost_per_parameter(rows.total) * space.free_parameters
    keep: list[int] = []
    replaced: dict[int, int] = {}
    for i in range(space.n_variables):
        checkpoint()
        own = space.of(i)
        subsets = [_smaller(space, f) for f in own]
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


def _smaller(space: FamilySpace, family: int) -> list[int]:
    """The families that may replace one: no more parameters, and a subset of the parents.

    Finer states of fewer parents may have more parameters, which a budget may forbid. Among
    families with equally many parameters the first stays, so that no two replace each other.
    """
    parents, size = space.parent_sets[family], space.free_parameters
    if space.resolutions is None:
        return [] if parents in ((), (CLASS,)) else space.subsets(family)

    def may(other: int) -> bool:
        if len(space.parent_sets[other]) < len(parents):
            return parents != (CLASS,) and size[other] <= size[family]
        return (size[other], other) < (size[family], family)

    return list(filter(may, space.subsets(family)))


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
