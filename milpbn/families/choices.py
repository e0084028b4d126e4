"""What the constraints allow as parents of one variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from math import comb

import numpy as np
import numpy.typing as npt

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
    allowed = set(range(len(names))) - {i}
    if constraints.forbidden or constraints.tiers:
        allowed = {j for j in allowed if constraints.allows(names[j], name)}
    if i == CLASS and not class_parents:
        allowed = set()
    forced = set(required)
    if i != CLASS and not generative:
        if CLASS in allowed:
            forced.add(CLASS)
        else:
            allowed = set()
    choice = AllowedParents(
        forced=tuple(sorted(forced)),
        free=tuple(sorted(allowed - forced)),
        limit=limit,
        may_be_empty=not required,
    )
    if not required <= allowed or choice.n_sets == 0:
        with_class = i != CLASS and not generative
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
