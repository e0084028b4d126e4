"""The search space of a certificate: every family (variable, parent set) that is allowed.

A family sees its variables through views. A view is a variable in one of its resolutions. Views are
numbered in the order of the variables, each with its finest states first; if no variable has
coarser states, views are variables. View 0 is the class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.check.schema import COUNT, need, typed

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
ParentSet = tuple[int, ...]
Family = tuple[int, ParentSet]
"""The view of the child, and those of its parents in ascending order."""


Pair = tuple[int, int]
"""Two variables, the smaller first."""

_VIEW = range(2**31)
_NAMES = [(str, str)]
_CONSTRAINTS = {"required": _NAMES, "forbidden": _NAMES, "tiers": [[str]], "max_parents": dict}
_BUDGETS = ("arcs", "features", "parameters")
# Bytes of a family, besides its mask of parents.
_FAMILY = 600


def _read(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the search space, with the types that they must have."""
    limits = dict(typed(settings["constraints"], dict, "constraints"))
    budgets = {k: limits.pop(f"max_{k}", None) for k in _BUDGETS}
    for name, most in budgets.items():
        most is None or typed(most, COUNT, f"max_{name}")
    own = typed(limits, _CONSTRAINTS, "constraints")
    for name, most in own["max_parents"].items():
        typed(most, COUNT, f"max_parents of {name}")
    return {
        "budgets": budgets,
        "constraints": own,
        "max_parents": typed(settings["max_parents"], COUNT, "max_parents"),
        "class_parents": typed(settings["class_parents"], bool, "class_parents"),
        "augmented": typed(settings["augmented"], bool, "augmented"),
        "score": typed(settings["score"], frozenset({"sm", "sbm", "cll", "mdl", "bdeu"}), "score"),
    }


def _parent_sets(i: int, names: Sequence[str], settings: Mapping[str, Any]) -> Iterator[ParentSet]:
    """The candidate parent sets of variable i; variable 0 is the class."""
    limits, n = settings["constraints"], len(names)
    forbidden = set(limits["forbidden"])
    tier = {v: k for k, group in enumerate(limits["tiers"]) for v in group}
    required = {names.index(p) for p, child in limits["required"] if child == names[i]}
    allowed = {
        j
        for j, name in enumerate(names)
        if j != i
        and (name, names[i]) not in forbidden
        and not (name in tier and names[i] in tier and tier[name] > tier[names[i]])
        and (i > 0 or settings["class_parents"])
    }
    most = min(settings["max_parents"], limits["max_parents"].get(names[i], n), n - 1)
    generative = settings["score"] in ("mdl", "bdeu") and not settings["augmented"]
    # A feature of a discriminative network has no parents, or the class among them.
    forced = required if i == 0 or generative else required | {0}
    if not required and forced:
        yield ()
    if forced <= allowed:
        free = sorted(allowed - forced)
        for k in range(most - len(forced) + 1):
            for s in combinations(free, k):
                yield tuple(sorted({*s, *forced}))


class Space:
    """The candidate families, in the order of their variables.

    A variable is a list: its name, its number of states, and for each coarser resolution the coarse
    state of each of its states.
    """

    def __init__(
        self, variables: Sequence[Sequence[Any]], settings: Mapping[str, Any], memory_limit: int
    ):
        for name, states, *maps in variables:
            typed(name, str, "the name of a variable")
            typed([states, *maps], (range(1, 2**31), *([_VIEW] for _ in maps)), name)
            need(all(len(m) == states for m in maps), f"{name}: a resolution has other states")
        settings = _read(settings)
        names, self.n = [name for name, *_ in variables], len(variables)
        need(len(set(names)) == self.n, "two variables have the same name")
        self.variable = np.repeat(np.arange(self.n), [len(own) - 1 for own in variables])
        self.finest = np.searchsorted(self.variable, np.arange(self.n)).tolist()
        self.maps = [np.array(m) for _, r, *maps in variables for m in (range(r), *maps)]
        self.cards = [int(m.max()) + 1 for m in self.maps]
        need(len(variables[0]) == 2, "the class has several resolutions")
        self.limits: dict[str, int | None] = settings["budgets"]
        families: list[Family] = []
        for i in range(self.n):
            for parents in _parent_sets(i, names, settings):
                n = len(families) + math.prod(len(variables[v]) - 1 for v in (i, *parents))
                need(
                    n * (_FAMILY + 2 * self.n) <= memory_limit,
                    f"there are at least {n:,} candidate families, which need more than the "
                    f"memory limit of {memory_limit / 2**30:.1f} GiB",
                )
                families += self._seen(i, parents)
        self._list(families)
        fits = self._fits_with_the_least()
        self._list([f for f, fit in zip(self.families, fits, strict=True) if fit])
        self.memory_limit = memory_limit

    def _seen(self, i: int, parents: ParentSet) -> list[Family]:
        """A parent set in all resolutions; without parents, only in the one with fewest states."""
        views, *others = (np.flatnonzero(self.variable == v).tolist() for v in (i, *parents))
        if not parents:
            return [(min(views, key=lambda v: self.cards[v]), ())]
        return [(view, seen) for seen in product(*others) for view in views]

    def codes(self, codes: Ints) -> Ints:
        """The rows as codes of all views, from those of the variables."""
        need(codes.ndim == 2 and codes.shape[1] == self.n, "the rows have other variables")
        columns = [(m, codes[:, v]) for m, v in zip(self.maps, self.variable, strict=True)]
        within = all(((column >= 0) & (column < len(m))).all() for m, column in columns)
        need(within, "a code has no state")
        return np.stack([m[column] for m, column in columns], axis=1)

    def _list(self, families: list[Family]) -> None:
        self.families = families
        self.index = {family: f for f, family in enumerate(families)}
        self.child = self.variable[[view for view, _ in families]]
        self.contains = np.zeros((len(families), self.n), dtype=bool)
        for f, (_, parents) in enumerate(families):
            self.contains[f, self.variable[list(parents)]] = True
        self.first = np.searchsorted(self.child, np.arange(self.n))
        need(len(np.unique(self.child)) == self.n, "a variable has no candidate parent set")
        free = [(self.cards[i] - 1) * math.prod(self.cards[p] for p in s) for i, s in families]
        need(max(free) in COUNT, "a family has too many parameters")
        self.use = {
            "arcs": self.contains.sum(axis=1).astype(float),
            "parameters": np.array(free, float),
        }
        # A feature is used if it is a parent, or has one.
        self.touches = self.contains.copy()
        self.touches[np.arange(len(families)), self.child] = self.contains.any(axis=1)
        self.touches[:, 0] = False

    def _fits_with_the_least(self) -> Mask:
        """Families that are within the budgets if the others take as little as they can."""
        fits = np.ones(len(self.families), dtype=bool)
        for name, use in self.use.items():
            if self.limits[name] is not None:
                least = np.minimum.reduceat(use, self.first)
                fits &= use + least.sum() - least[self.child] <= self.limits[name]
        if self.limits["features"] is not None:
            always = np.logical_and.reduceat(self.touches, self.first, axis=0)
            of_others = always.sum(axis=0) > always
            used = self.touches | of_others[self.child]
            fits &= used.sum(axis=1) <= self.limits["features"]
        return fits

    def family(self, named: Any) -> int:
        """The number of a family from the view of its child and those of its parents."""
        child, parents = typed(named, (_VIEW, [_VIEW]), "a family")
        need((child, tuple(parents)) in self.index, f"{named} is not a candidate family")
        return self.index[child, tuple(parents)]

    def joining(self, pair: Pair) -> Mask:
        """The families with an arc between two variables, in either direction."""
        i, j = pair
        need(0 <= i < j < self.n, "this is not a pair of variables")
        child, contains = self.child, self.contains
        out: Mask = ((child == i) & contains[:, j]) | ((child == j) & contains[:, i])
        return out

    def is_structure(self, chosen: Sequence[int], pairs: Iterable[tuple[int, int]]) -> bool:
        """Whether families, one per variable, are acyclic, within budgets, and join the pairs."""
        left = set(range(self.n))
        while free := {i for i in left if not self.contains[chosen[i], list(left)].any()}:
            left -= free
        within = all(
            limit is None or self.use[name][list(chosen)].sum() <= limit
            for name, limit in self.limits.items()
            if name != "features"
        )
        used = self.touches[list(chosen)].any(axis=0).sum()
        joined = all(self.contains[chosen[i], j] or self.contains[chosen[j], i] for i, j in pairs)
        most = self.limits["features"]
        return not left and within and (most is None or used <= most) and joined
