"""The search space of a certificate: every family (variable, parent set) that is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.errors import CertificateError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
ParentSet = tuple[int, ...]
Family = tuple[int, ParentSet]


def need(holds: bool, otherwise: str) -> None:
    """Reject the certificate unless something holds."""
    if not holds:
        raise CertificateError(otherwise)


def _parent_sets(i: int, names: Sequence[str], settings: Mapping[str, Any]) -> list[ParentSet]:
    """The candidate parent sets of variable i; variable 0 is the class."""
    limits, n = settings["constraints"], len(names)
    tier = {v: k for k, group in enumerate(limits["tiers"]) for v in group}
    required = {names.index(p) for p, child in limits["required"] if child == names[i]}
    allowed = {
        j
        for j, name in enumerate(names)
        if j != i
        and [name, names[i]] not in limits["forbidden"]
        and not (name in tier and names[i] in tier and tier[name] > tier[names[i]])
        and (i > 0 or settings["class_parents"])
    }
    most = min(settings["max_parents"], limits["max_parents"].get(names[i], n), n - 1)
    generative = settings["score"] in ("mdl", "bdeu") and not settings["augmented"]
    # A feature of a discriminative network has no parents, or the class among them.
    forced = required if i == 0 or generative else required | {0}
    found: list[ParentSet] = [] if required or not forced else [()]
    if forced <= allowed:
        free = sorted(allowed - forced)
        extra = (s for k in range(most - len(forced) + 1) for s in combinations(free, k))
        found += [tuple(sorted({*s, *forced})) for s in extra]
    return found


class Space:
    """The candidate families, in the order of their variables."""

    def __init__(self, names: Sequence[str], cards: Sequence[int], settings: Mapping[str, Any]):
        self.n, self.cards = len(names), list(cards)
        limits = settings["constraints"]
        self.limits = {k: limits.get(f"max_{k}") for k in ("arcs", "features", "parameters")}
        self._list([(i, s) for i in range(self.n) for s in _parent_sets(i, names, settings)])
        fits = self._fits_with_the_least()
        self._list([f for f, fit in zip(self.families, fits, strict=True) if fit])

    def _list(self, families: list[Family]) -> None:
        self.families = families
        self.index = {family: f for f, family in enumerate(families)}
        self.child = np.array([i for i, _ in families], dtype=np.int64)
        self.contains = np.zeros((len(families), self.n), dtype=bool)
        for f, (_, parents) in enumerate(families):
            self.contains[f, list(parents)] = True
        self.first = np.searchsorted(self.child, np.arange(self.n))
        need(len(np.unique(self.child)) == self.n, "a variable has no candidate parent set")
        free = [(self.cards[i] - 1) * math.prod(self.cards[p] for p in s) for i, s in families]
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
            for f, i in enumerate(self.child):
                used = self.touches[f] | np.delete(always, i, axis=0).any(axis=0)
                fits[f] &= used.sum() <= self.limits["features"]
        return fits

    def is_structure(self, chosen: Sequence[int], pairs: Iterable[tuple[int, int]]) -> bool:
        """Whether families, one per variable, are acyclic, within budgets, and join the pairs."""
        left = set(range(self.n))
        while free := {i for i in left if not left & set(self.families[chosen[i]][1])}:
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
