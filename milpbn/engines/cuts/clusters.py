"""Cluster rows: in every set K of variables, some member has no parent inside K.

In terms of families: ``sum_{i in K} sum_{S meets K} eta[i,S] <= |K| - 1``. They cut off
every cyclic choice, and, unlike the order rows, tighten the linear program.

With at most one feature parent a feature (max_parents = 2) and the class a root, these are
the subtour rows of forests, and a most violated one is found exactly by minimum cuts: for
the symmetric weights x_ij + x_ji a set K through a given feature minimises

    cut(K) / 2 + sum_{i in K} (1 - degree(i) / 2) = |K| - x(arcs inside K).

Otherwise clusters are grown from pairs, and an integer program decides where that finds
nothing (:mod:`milpbn.engines.cuts.general`). Integer points are always checked for cycles.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from milpbn.engines.cuts.flow import minimum_cut
from milpbn.engines.cuts.general import grow_clusters, most_violated_cluster
from milpbn.families.candidates import CLASS, FamilySpace

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Cluster = frozenset[int]

Edge = tuple[int, int]
"""Two variables, the smaller first."""

# Families with less weight than this at a point are not there.
_WEIGHT = 1e-9


class ClusterOracle:
    """Separates cluster rows over the candidate families.

    Parameters
    ----------
    space
        The candidate families.
    tolerance
        A row is violated when it is exceeded by more than this.
    """

    def __init__(self, space: FamilySpace, tolerance: float = 1e-5) -> None:
        self.space = space
        self.tolerance = tolerance
        self.contains = space.contains
        # Largest number of feature parents: 1 makes the exact separation possible.
        self.one_feature_parent = all(
            len(set(s) - {CLASS}) <= 1
            for f, s in enumerate(space.parent_sets)
            if space.child[f] != CLASS
        )

    def row(self, cluster: Cluster) -> npt.NDArray[np.int64]:
        """The families whose sum must not exceed ``len(cluster) - 1``."""
        members = sorted(cluster)
        inside = np.isin(self.space.child, members)
        meets = self.contains[:, members].any(axis=1)
        return np.flatnonzero(inside & meets)

    def joining(self, i: int, j: int) -> npt.NDArray[np.int64]:
        """The families that join i and j by an arc."""
        child = self.space.child
        one = (child == i) & self.contains[:, j]
        other = (child == j) & self.contains[:, i]
        return np.flatnonzero(one | other)

    def arc_weights(self, eta: FloatArray) -> FloatArray:
        """``(n, n)``: the weight of every arc (parent, child) at a point."""
        n = self.space.n_variables
        weights = np.zeros((n, n))
        for f in np.flatnonzero(eta > _WEIGHT):
            for p in self.space.parent_sets[f]:
                weights[p, self.space.child[f]] += eta[f]
        return weights

    def separate(self, eta: FloatArray) -> list[Cluster]:
        """Violated clusters at a fractional point, most violated first."""
        arcs = self.arc_weights(eta)
        exact = self.one_feature_parent
        found = set(self._by_flow(arcs) if exact else self._by_growth(eta, arcs))
        violated = [(self.violation(eta, k), k) for k in found]
        violated = [(v, k) for v, k in violated if v > self.tolerance]
        return [k for _, k in sorted(violated, key=lambda item: (-item[0], sorted(item[1])))]

    def violation(self, eta: FloatArray, cluster: Cluster) -> float:
        """By how much a point exceeds the cluster's row."""
        return float(eta[self.row(cluster)].sum()) - (len(cluster) - 1)

    def cycle(self, families: npt.NDArray[np.integer]) -> Cluster | None:
        """The variables left when all that can be ordered are taken away; None if acyclic."""
        left = set(range(self.space.n_variables))
        while True:
            free = [i for i in left if left.isdisjoint(self.space.parent_sets[int(families[i])])]
            if not free:
                break
            left.difference_update(free)
        return self._one_cycle(families, left) if left else None

    def _one_cycle(self, families: npt.NDArray[np.integer], left: set[int]) -> Cluster:
        walk = [min(left)]
        while True:
            parents = self.space.parent_sets[int(families[walk[-1]])]
            step = min(p for p in parents if p in left)
            if step in walk:
                return frozenset(walk[walk.index(step) :])
            walk.append(step)

    def _by_flow(self, arcs: FloatArray) -> Iterable[Cluster]:
        """Exact for forests of features: one minimum cut a feature, by component."""
        between = arcs[1:, 1:]
        symmetric = between + between.T
        _, label = connected_components(csr_array(symmetric), directed=False)
        for component in np.unique(label):
            members = np.flatnonzero(label == component)
            if len(members) > 1:
                yield from _violated_sets(symmetric[np.ix_(members, members)], members + 1)

    def _by_growth(self, eta: FloatArray, arcs: FloatArray) -> Iterable[Cluster]:
        """Clusters grown from every pair that an arc joins."""
        support = self._support(eta)
        joined = np.triu(arcs + arcs.T, 1) > 0
        seeds = np.argwhere(joined).astype(np.int64)
        if len(seeds) == 0:
            return
        n = self.space.n_variables
        sets = [self.space.parent_sets[f] for f in support]
        pointer = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
        parent = np.array([p for s in sets for p in s], dtype=np.int64)
        clusters = np.zeros((len(seeds), n), dtype=bool)
        violation = np.empty(len(seeds))
        child = self.space.child[support]
        grow_clusters(child, pointer, parent, eta[support], n, seeds, clusters, violation)
        for k in np.flatnonzero(violation > self.tolerance):
            yield frozenset(np.flatnonzero(clusters[k]).tolist())

    def separate_exactly(self, eta: FloatArray, seconds: float) -> list[Cluster]:
        """A violated cluster where growth found none, by an integer program."""
        if self.one_feature_parent:
            return []
        support = self._support(eta)
        sets = [self.space.parent_sets[f] for f in support]
        found = most_violated_cluster(
            self.space.child[support], sets, eta[support], self.space.n_variables, seconds
        )
        if found is None or self.violation(eta, found) <= self.tolerance:
            return []
        return [found]

    def _support(self, eta: FloatArray) -> npt.NDArray[np.intp]:
        """The families with weight and parents."""
        return np.array(
            [f for f in np.flatnonzero(eta > _WEIGHT) if self.space.parent_sets[f]], dtype=np.intp
        )


def _violated_sets(weights: FloatArray, names: npt.NDArray[np.intp]) -> Iterable[Cluster]:
    """Sets with ``x(inside) > size - 1``, one minimum cut for each member as the root."""
    core = _core(weights)
    weights, names = weights[np.ix_(core, core)], names[core]
    covered: set[int] = set()
    for root in range(len(weights)):
        # A set found for another root holds this one already: it serves for now.
        if root in covered:
            continue
        inside = np.flatnonzero(_most_violated(weights, root))
        if len(inside) > 1 and weights[np.ix_(inside, inside)].sum() / 2 > len(inside) - 1 + 1e-6:
            covered.update(inside.tolist())
            yield frozenset(names[inside].tolist())


def _core(weights: FloatArray) -> npt.NDArray[np.intp]:
    """Members that can belong to a smallest violated set.

    Taking a member out of such a set must end the violation, so more than weight one
    connects it to the others: lighter ones are removed until none is left.
    """
    alive = np.ones(len(weights), dtype=bool)
    while True:
        light = alive & (weights[:, alive].sum(axis=1) <= 1.0 + 1e-9)
        if not light.any():
            return np.flatnonzero(alive)
        alive &= ~light


def _most_violated(weights: FloatArray, root: int) -> BoolArray:
    n = len(weights)
    capacity = np.zeros((n + 2, n + 2))
    capacity[:n, :n] = weights / 2
    price = 1.0 - weights.sum(axis=1) / 2
    capacity[n, :n] = np.maximum(-price, 0.0)
    capacity[:n, n + 1] = np.maximum(price, 0.0)
    capacity[n, root] = n + 1.0
    side: BoolArray = minimum_cut(capacity, n, n + 1)[:n]
    return side
