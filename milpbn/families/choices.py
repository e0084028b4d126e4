"""What the constraints allow as parents of one variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt

from milpbn._types import IntArray
from milpbn.errors import ConstraintError
from milpbn.families.constraints import Constraints
from milpbn.families.parent_sets import Members

CLASS = 0
"""Index of the class variable (X_1 = C in the publications)."""


@dataclass(frozen=True)
class AllowedParents:
    """What the constraints allow for one variable: forced and free parents, size limits."""

    forced: tuple[int, ...]
    free: tuple[int, ...]
    limit: int
    may_be_empty: bool

    @property
    def n_sets(self) -> int:
        """Number of parent sets."""
        spare = self.limit - len(self.forced)
        total = sum(comb(len(self.free), j) for j in range(spare + 1)) if spare >= 0 else 0
        return total + (self.may_be_empty and bool(self.forced))

    def n_families(self, child: int, resolutions: IntArray) -> int:
        """Number of parent sets, each with the resolutions that its family can choose.

        Without parents, there is nothing to choose.
        """
        if (resolutions == 1).all():
            return self.n_sets
        spare = self.limit - len(self.forced)
        # ways[j]: the sum over all sets of j free parents of the product of their resolutions.
        ways = [1] * (spare >= 0) + [0] * spare
        for r in resolutions[list(self.free)].tolist():
            for j in range(spare, 0, -1):
                ways[j] += r * ways[j - 1]
        forced: int = prod(resolutions[[child, *self.forced]].tolist())
        without = self.may_be_empty or not self.forced
        return forced * sum(ways[0 if self.forced else 1 :]) + without

    def members(self, width: int) -> Members:
        """All sets, the smaller first, then in lexicographic order."""
        blocks = [np.empty((1, 0), dtype=np.int16)] if self.may_be_empty and self.forced else []
        forced, free = np.array(self.forced, np.int16), np.array(self.free, np.int16)
        for j in range(self.limit - len(forced) + 1):
            extra = free[_subsets(len(free), j)]
            sets = np.hstack([np.broadcast_to(forced, (len(extra), len(forced))), extra])
            blocks.append(np.sort(sets, axis=1))
        out = np.full((sum(map(len, blocks)), width), -1, dtype=np.int16)
        at = 0
        for block in blocks:
            out[at : at + len(block), : block.shape[1]] = block
            at += len(block)
        return out


@lru_cache(maxsize=16)
def _subsets(n: int, size: int) -> npt.NDArray[np.int16]:
    """All subsets of ``range(n)`` of one size, in lexicographic order."""
    flat = chain.from_iterable(combinations(range(n), size))
    count = comb(n, size)
    return np.fromiter(flat, dtype=np.int16, count=size * count).reshape(count, size)


def choice_of(
    i: int,
    names: Sequence[str],
    max_parents: int,
    class_parents: bool,
    generative: bool,
    constraints: Constraints,
) -> AllowedParents:
    """The choice of variable i; raises if it has no parent set."""
    name = names[i]
    limit = min(max_parents, constraints.max_parents.get(name, max_parents), len(names) - 1)
    required = {names.index(p) for p in constraints.required_parents(name)}
    with_class = i != CLASS and not generative
    restricted = bool(constraints.forbidden or constraints.tiers)

    def may_be_parent(j: int) -> bool:
        return j != i and (not restricted or constraints.allows(names[j], name))

    has_parents = may_be_parent(CLASS) if with_class else i != CLASS or class_parents
    forced = required | {CLASS} if with_class and has_parents else required
    free: Sequence[int] = ()
    if has_parents and len(forced) < limit:  # a list of all variables for each is long
        free = [j for j in range(len(names)) if j not in forced and may_be_parent(j)]
    choice = AllowedParents(tuple(sorted(forced)), tuple(free), limit, not required)
    is_possible = all(has_parents and may_be_parent(p) for p in required)
    if not is_possible or choice.n_sets == 0:
        raise ConstraintError(_no_parent_set(i, names, required, limit, class_parents, with_class))
    return choice


def _no_parent_set(
    i: int,
    names: Sequence[str],
    required: set[int],
    limit: int,
    class_parents: bool,
    with_class: bool,
) -> str:
    name = names[i]
    arcs = ", ".join(f"{names[p]}->{name}" for p in sorted(required))
    if i == CLASS and not class_parents:
        return f"{arcs} is required, but the class is a root here; allow class parents"
    what = f"no candidate parent set of {name!r} fits the constraints: required {arcs}, at most "
    if not with_class:
        return f"{what}{limit} parents; raise max_parents"
    return (
        f"{what}{limit} parents. A feature's parent sets contain the class ({names[CLASS]}), which "
        "counts as a parent: raise max_parents, or allow the arc from the class"
    )
