"""What to branch on: strong branching at first, pseudo-costs once they are known.

Trees that differ only in where their arcs point score almost alike, so a family that is
forbidden comes back turned round. Branching therefore decides first which variables are
joined at all, and then, where that is decided, on single families.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from milpbn.engines.cuts.clusters import ClusterOracle
from milpbn.engines.cuts.relaxation import Edge, Point, Relaxation
from milpbn.families.candidates import FamilySpace

if TYPE_CHECKING:
    from milpbn.engines.branch_and_cut import Node

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Child = tuple[BoolArray, frozenset[Edge]]
Origin = tuple[Edge | int, int, float, float]

# Something whose pseudo-costs rest on this many trials is trusted.
_RELIABLE = 8
# Candidates looked at, and simplex iterations of a trial.
_CANDIDATES = 12
_TRIAL_ITERATIONS = 60
# Values this close to 0 or 1 are decided.
_DECIDED = 1e-6


@dataclass
class _Costs:
    """Falls of the bound per unit: in the child with the candidate, and in the one without."""

    falls: list[float] = field(default_factory=lambda: [0.0, 0.0])
    counts: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, side: int, fall: float) -> None:
        self.falls[side] += fall
        self.counts[side] += 1

    def mean(self, side: int, otherwise: float) -> float:
        return self.falls[side] / self.counts[side] if self.counts[side] else otherwise


class Brancher:
    """Chooses a pair of variables or a family, and makes the children: with it, without it."""

    def __init__(self, space: FamilySpace, relaxation: Relaxation, clusters: ClusterOracle) -> None:
        self.space = space
        self.relaxation = relaxation
        self.clusters = clusters
        self.costs: dict[Edge | int, _Costs] = defaultdict(_Costs)

    def children(
        self, node: Node, point: Point, cutoff: float
    ) -> Iterator[tuple[BoolArray, frozenset[Edge], float, Origin]]:
        """The two children as (allowed families, required edges, bound, origin)."""
        candidate, weight, bounds = self.choose(node, point, cutoff)
        units = (max(1 - weight, 1e-6), max(weight, 1e-6))
        children = zip(self.split(node, candidate), bounds, strict=True)
        for side, ((allowed, edges), bound) in enumerate(children):
            yield allowed, edges, bound, (candidate, side, units[side], node.bound)

    def split(self, node: Node, candidate: Edge | int) -> tuple[Child, Child]:
        """What the node becomes with the candidate, and without it."""
        without = node.allowed.copy()
        if isinstance(candidate, tuple):
            without[self.clusters.joining(*candidate)] = False
            return (node.allowed, node.edges | {candidate}), (without, node.edges)
        own = self.space.of(int(self.space.child[candidate]))
        chosen = node.allowed.copy()
        chosen[own.start : own.stop] = False
        chosen[candidate] = True
        without[candidate] = False
        return (chosen, node.edges), (without, node.edges)

    def choose(
        self, node: Node, point: Point, cutoff: float
    ) -> tuple[Edge | int, float, tuple[float, float]]:
        """The candidate with the best product of falls, and the children's bounds."""
        weight = {**self._undecided_edges(point.eta), **self._undecided_families(node, point.eta)}
        typical = self._typical()
        candidates = sorted(weight, key=lambda c: -self._guess(c, weight[c], typical))
        best, best_score = candidates[0], -1.0
        best_bounds = (point.bound, point.bound)
        for candidate in candidates[:_CANDIDATES]:
            falls, bounds = self._falls(node, point, candidate, weight[candidate], cutoff)
            score = max(falls[0], 1e-6) * max(falls[1], 1e-6)
            if score > best_score:
                best, best_score, best_bounds = candidate, score, bounds
            if min(bounds) <= cutoff:
                # One child is hopeless: the other is this node with less freedom.
                best, best_bounds = candidate, bounds
                break
        self.relaxation.restrict(node.allowed)
        self.relaxation.require(node.edges)
        return best, weight[best], best_bounds

    def _undecided_edges(self, eta: FloatArray) -> dict[Edge | int, float]:
        arcs = self.clusters.arc_weights(eta)
        both = np.triu(arcs + arcs.T)
        pairs = np.argwhere((both > _DECIDED) & (both < 1 - _DECIDED))
        return {(i, j): float(both[i, j]) for i, j in pairs.tolist()}

    def _undecided_families(self, node: Node, eta: FloatArray) -> dict[Edge | int, float]:
        fractional = np.flatnonzero((eta > _DECIDED) & (eta < 1 - _DECIDED))
        if len(fractional) == 0:
            # An integer point that the cuts do not support yet: any free variable will do.
            fractional = self._any_open(node.allowed)
        return {int(f): float(eta[f]) for f in fractional}

    def _any_open(self, allowed: BoolArray) -> npt.NDArray[np.intp]:
        for i in range(self.space.n_variables):
            own = self.space.of(i)
            open_families = own.start + np.flatnonzero(allowed[own.start : own.stop])
            if len(open_families) > 1:
                return open_families[:1]
        raise AssertionError("a node with one structure left must have been settled")

    def _typical(self) -> tuple[float, float]:
        """The mean fall over everything that was tried."""
        means = [
            [c.mean(side, 0.0) for c in self.costs.values() if c.counts[side]] for side in (0, 1)
        ]
        up, down = (float(np.mean(m)) if m else 1.0 for m in means)
        return up, down

    def learn(self, node: Node) -> None:
        """Note what a branching has brought once the child's own cuts are in."""
        if node.origin is not None and np.isfinite(node.bound):
            candidate, side, units, before = node.origin
            self.costs[candidate].add(side, max(before - node.bound, 0.0) / units)

    def _guess(self, candidate: Edge | int, weight: float, typical: tuple[float, float]) -> float:
        costs = self.costs.get(candidate) or _Costs()
        up, down = costs.mean(0, typical[0]), costs.mean(1, typical[1])
        return max(up * (1 - weight), 1e-6) * max(down * weight, 1e-6)

    def _falls(
        self, node: Node, point: Point, candidate: Edge | int, weight: float, cutoff: float
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        units = (max(1 - weight, 1e-6), max(weight, 1e-6))
        costs = self.costs[candidate]
        if min(costs.counts) >= _RELIABLE:
            falls = [costs.mean(side, 0.0) * units[side] for side in (0, 1)]
            return (falls[0], falls[1]), (point.bound, point.bound)
        falls, bounds = [], []
        for side, (allowed, edges) in enumerate(self.split(node, candidate)):
            self.relaxation.restrict(allowed)
            self.relaxation.require(edges)
            trial = self.relaxation.solve(_TRIAL_ITERATIONS)
            bound = -np.inf if trial is None else min(trial.bound, point.bound)
            # An impossible child counts as a fall to the cutoff, not without end.
            falls.append(point.bound - (cutoff if trial is None else bound))
            bounds.append(bound)
            costs.add(side, falls[side] / units[side])
        return (falls[0], falls[1]), (bounds[0], bounds[1])
