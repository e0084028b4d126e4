"""Cluster rows: in every set K of variables, k members have fewer than k parents inside K.

The first k members in a topological order are such members. In terms of families:

    sum_{i in K} sum_{S : |S and K| >= k} eta[i,S] <= |K| - k.

With k = 1 these rows cut off every cyclic choice and, unlike the order rows, tighten the linear
program. With k >= 2 they tighten it further if variables have several parents.

If features have at most one feature parent (max_parents = 2) and the class is a root, these
are the subtour rows of forests, and a most violated one is found exactly by minimum cuts with
symmetric weights x_ij + x_ji (:mod:`milpbn.engines.branch_and_cut.cuts.flow`).

Otherwise clusters are grown from pairs, and if none is found, an integer program decides
(:mod:`milpbn.engines.branch_and_cut.cuts.general`). Integer points are always checked for cycles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray
from milpbn.engines.branch_and_cut.cuts.flow import heavy_sets
from milpbn.engines.branch_and_cut.cuts.general import grow_clusters, most_violated_cluster
from milpbn.engines.branch_and_cut.cuts.source import Line, RowSource
from milpbn.families.candidates import CLASS, FamilySpace

if TYPE_CHECKING:
    from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle

# Families with less weight than this at a point are ignored.
_WEIGHT = 1e-9


@dataclass(frozen=True)
class Cluster(RowSource):
    """A set of variables, k of which have fewer than k parents inside."""

    members: frozenset[int]
    k: int = 1

    @property
    def limit(self) -> float:
        """How many members may have k or more parents inside."""
        return float(len(self.members) - self.k)

    def inequality(self, oracle: CutOracle) -> tuple[FloatArray, float]:
        """See :class:`RowSource`."""
        return oracle.clusters.inequality(self)

    def line(self, oracle: CutOracle) -> Line:
        """See :class:`RowSource`."""
        return {"kind": "cluster", "members": sorted(self.members), "k": self.k}


class ClusterOracle:
    """Separates cluster rows over the candidate families.

    Parameters
    ----------
    space
        The candidate families.
    tolerance
        A row is violated if it is exceeded by more than this.
    """

    def __init__(self, space: FamilySpace, tolerance: float = 1e-5) -> None:
        self.space = space
        self.tolerance = tolerance
        # For every arc of every family: the family, and parent * n + child.
        self._arc_family, parent = np.nonzero(space.contains)
        self._arc = parent * space.n_variables + space.child[self._arc_family]
        self._forest = self._forest_variables()

    def _forest_variables(self) -> range | None:
        """The variables that cycles can contain, if each has at most one parent among them.

        The class is on no cycle if it is a root, or a parent of every feature with parents.
        """
        sets = self.space.parent_sets
        features = [set(s) for f, s in enumerate(sets) if self.space.child[f] != CLASS]
        is_root = all(not sets[f] for f in self.space.of(CLASS))
        if (is_root or all(not s or CLASS in s for s in features)) and all(
            len(s - {CLASS}) <= 1 for s in features
        ):
            return range(1, self.space.n_variables)
        if all(len(s) <= 1 for s in sets):
            return range(self.space.n_variables)
        return None

    def row(self, cluster: Cluster) -> npt.NDArray[np.int64]:
        """The families whose sum must not exceed the cluster's limit."""
        members = sorted(cluster.members)
        inside = np.isin(self.space.child, members)
        parents_inside = self.space.contains[:, members].sum(axis=1)
        return np.flatnonzero(inside & (parents_inside >= cluster.k))

    def inequality(self, cluster: Cluster) -> tuple[FloatArray, float]:
        """``(F,)`` coefficients and the right-hand side of the row, with few families.

        Each member has exactly one family: if most of its families are in the row, the sum of these
        is 1 minus the sum of the others.
        """
        coefficients, rhs = np.zeros(len(self.space)), cluster.limit
        coefficients[self.row(cluster)] = 1.0
        for i in cluster.members:
            own = coefficients[self.space.offsets[i] : self.space.offsets[i + 1]]
            if 2.0 * own.sum() > len(own):
                own -= 1.0
                rhs -= 1.0
        return coefficients, rhs

    def arc_weights(self, eta: FloatArray) -> FloatArray:
        """``(n, n)``: the weight of every arc (parent, child) at a point."""
        n = self.space.n_variables
        of_arc = eta[self._arc_family]
        there = of_arc > _WEIGHT
        weights = np.bincount(self._arc[there], of_arc[there], minlength=n * n)
        return weights.astype(np.float64).reshape(n, n)

    def separate(self, eta: FloatArray) -> list[Cluster]:
        """Violated clusters at a fractional point, the most violated first."""
        arcs = self.arc_weights(eta)
        found = set(self._by_growth(eta, arcs) if self._forest is None else self._by_flow(arcs))
        violated = [(self.violation(eta, k), k) for k in found]
        violated = [(v, k) for v, k in violated if v > self.tolerance]
        violated.sort(key=lambda item: (-item[0], item[1].k, sorted(item[1].members)))
        return [k for _, k in violated]

    def violation(self, eta: FloatArray, cluster: Cluster) -> float:
        """By how much a point violates the cluster's row."""
        return float(eta[self.row(cluster)].sum()) - cluster.limit

    def cycle(self, families: npt.NDArray[np.integer]) -> Cluster | None:
        """A cycle of a choice of families; None if it is acyclic."""
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
                return Cluster(frozenset(walk[walk.index(step) :]))
            walk.append(step)

    def _by_flow(self, arcs: FloatArray) -> Iterable[Cluster]:
        """A most violated cluster through minimum cuts; exact for forests."""
        assert self._forest is not None
        first = self._forest.start
        between = arcs[first:, first:]
        for found in heavy_sets(between + between.T):
            yield Cluster(frozenset((first + np.flatnonzero(found)).tolist()))

    def _by_growth(self, eta: FloatArray, arcs: FloatArray) -> Iterable[Cluster]:
        """Clusters grown from the pairs joined by an arc, and for k > 1 from families."""
        support = self._support(eta)
        sets = [self.space.parent_sets[f] for f in support]
        child = self.space.child[support]
        pointer = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
        parent = np.array([p for s in sets for p in s], dtype=np.int64)
        families = self.space.contains[support]
        families[np.arange(len(support)), child] = True
        pairs = np.argwhere(np.triu(arcs + arcs.T, 1) > 0)
        seeds = np.zeros((len(pairs), self.space.n_variables), dtype=bool)
        np.put_along_axis(seeds, pairs, True, axis=1)
        for k in range(1, 1 + max(map(len, sets), default=0)):
            if k > 1:
                seeds = np.unique(families[families.sum(axis=1) > k], axis=0)
            grown, violation = grow_clusters(child, pointer, parent, eta[support], k, seeds)
            for found in grown[violation > self.tolerance]:
                yield Cluster(frozenset(np.flatnonzero(found).tolist()), k)

    def separate_exactly(self, eta: FloatArray, seconds: float) -> list[Cluster]:
        """A violated cluster by an integer program; none if `separate` is already exact."""
        if self._forest is not None:
            return []
        support = self._support(eta)
        sets = [self.space.parent_sets[f] for f in support]
        found = most_violated_cluster(
            self.space.child[support], sets, eta[support], self.space.n_variables, seconds
        )
        if found is None or self.violation(eta, Cluster(found)) <= self.tolerance:
            return []
        return [Cluster(found)]

    def _support(self, eta: FloatArray) -> npt.NDArray[np.intp]:
        """The families that have weight and parents."""
        return np.array(
            [f for f in np.flatnonzero(eta > _WEIGHT) if self.space.parent_sets[f]], dtype=np.intp
        )
