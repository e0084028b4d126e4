"""What to branch on: strong branching at first, pseudo-costs once they are reliable.

Trees that differ only in the direction of their arcs have almost the same score, so a
forbidden arc comes back reversed. Hence the two kinds of candidates: whether two variables
are joined, in either direction, and whether a variable has a given family.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from milpbn._types import BoolArray, FloatArray
from milpbn.engines.cuts.oracle import CutOracle
from milpbn.engines.relaxation import Relaxation, RelaxationPoint
from milpbn.engines.rows import Edge, joining
from milpbn.engines.tree import Candidate, Node, Origin

Child = tuple[BoolArray, frozenset[Edge]]

# Pseudo-costs are reliable after this many trials.
_RELIABLE = 8
# Candidates per node, and simplex iterations per trial.
_CANDIDATES = 12
_TRIAL_ITERATIONS = 40
# Candidates tried without success after the best one.
_LOOK_AHEAD = 8
# Trials allowed per solve, plus some at the start. Beyond that, one trial per candidate is enough.
_TRIALS_PER_SOLVE = 2.0
_FREE_TRIALS = 100
# Values this close to 0 or 1 are decided.
_DECIDED = 1e-6


@dataclass
class _PseudoCosts:
    """Mean fall of the bound per unit, in the child with the candidate and in the one without."""

    falls: list[float] = field(default_factory=lambda: [0.0, 0.0])
    counts: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, side: int, fall: float) -> None:
        self.falls[side] += fall
        self.counts[side] += 1

    def mean(self, side: int, default: float) -> float:
        return self.falls[side] / self.counts[side] if self.counts[side] else default


class Brancher:
    """Chooses a pair of variables or a family, and makes the children: with it, without it."""

    def __init__(self, oracle: CutOracle) -> None:
        self.space = oracle.space
        self.clusters = oracle.clusters
        self.costs: dict[Candidate, _PseudoCosts] = defaultdict(_PseudoCosts)

    def children(
        self, relaxation: Relaxation, node: Node, point: RelaxationPoint, cutoff: float
    ) -> list[Node]:
        """The two children of a node."""
        candidate, weight, bounds = self.choose(relaxation, node, point, cutoff)
        distance = _distances(weight)
        children = zip(self.split(node, candidate), bounds, strict=True)
        return [
            Node(bound, 0, allowed, edges, Origin(candidate, side, distance[side], node.bound))
            for side, ((allowed, edges), bound) in enumerate(children)
        ]

    def split(self, node: Node, candidate: Candidate) -> tuple[Child, Child]:
        """What the node becomes with the candidate, and without it."""
        without = node.allowed.copy()
        if isinstance(candidate, tuple):
            without[joining(self.space, candidate)] = False
            return (node.allowed, node.edges | {candidate}), (without, node.edges)
        own = self.space.of(int(self.space.child[candidate]))
        chosen = node.allowed.copy()
        chosen[own.start : own.stop] = False
        chosen[candidate] = True
        without[candidate] = False
        return (chosen, node.edges), (without, node.edges)

    def learn(self, node: Node) -> None:
        """Update the pseudo-costs behind a node once its own cuts have been added."""
        if node.origin is not None and node.fall is not None:
            origin = node.origin
            self.costs[origin.candidate].add(origin.side, node.fall / origin.distance)

    def choose(
        self, relaxation: Relaxation, node: Node, point: RelaxationPoint, cutoff: float
    ) -> tuple[Candidate, float, tuple[float, float]]:
        """The candidate with the largest product of falls, its weight, the children's bounds."""
        weight = {
            **self._undecided_edges(node, point.eta),
            **self._undecided_families(node, point.eta),
        }
        typical = self._typical()
        candidates = sorted(weight, key=lambda c: -self._guess(c, weight[c], typical))
        best, best_score = candidates[0], -1.0
        best_bounds = (point.bound, point.bound)
        failures = 0
        for candidate in candidates[:_CANDIDATES]:
            falls, bounds = self._falls(
                relaxation, node, point, candidate, weight[candidate], cutoff
            )
            score = max(falls[0], 1e-6) * max(falls[1], 1e-6)
            failures = 0 if score > best_score else failures + 1
            if score > best_score:
                best, best_score, best_bounds = candidate, score, bounds
            if failures > _LOOK_AHEAD:
                break
            if min(bounds) <= cutoff:
                # One child can be discarded: the other is this node with fewer choices.
                best, best_bounds = candidate, bounds
                break
        relaxation.restrict(node.allowed, node.edges)
        return best, weight[best], best_bounds

    def _undecided_edges(self, node: Node, eta: FloatArray) -> dict[Candidate, float]:
        arcs = self.clusters.arc_weights(eta)
        both = np.triu(arcs + arcs.T)
        pairs = np.argwhere((both > _DECIDED) & (both < 1 - _DECIDED))
        # A point that is no solution of the program may not join what must be joined.
        undecided = (pair for pair in map(tuple, pairs.tolist()) if pair not in node.edges)
        return {(i, j): float(both[i, j]) for i, j in undecided}

    def _undecided_families(self, node: Node, eta: FloatArray) -> dict[Candidate, float]:
        fractional = np.flatnonzero(node.allowed & (eta > _DECIDED) & (eta < 1 - _DECIDED))
        if len(fractional) == 0:
            # An integer point that the cuts do not support yet: take any undecided variable.
            fractional = self._any_open(node.allowed)
        return {int(f): float(eta[f]) for f in fractional}

    def _any_open(self, allowed: BoolArray) -> npt.NDArray[np.intp]:
        for i in range(self.space.n_variables):
            own = self.space.of(i)
            open_families = own.start + np.flatnonzero(allowed[own.start : own.stop])
            if len(open_families) > 1:
                return open_families[:1]
        raise AssertionError("a node with a single choice left is settled before branching")

    def _typical(self) -> tuple[float, float]:
        """Mean pseudo-costs of all candidates, for either child."""
        means = [
            [c.mean(side, 0.0) for c in self.costs.values() if c.counts[side]] for side in (0, 1)
        ]
        up, down = (float(np.mean(m)) if m else 1.0 for m in means)
        return up, down

    def _guess(self, candidate: Candidate, weight: float, typical: tuple[float, float]) -> float:
        costs = self.costs.get(candidate) or _PseudoCosts()
        up, down = costs.mean(0, typical[0]), costs.mean(1, typical[1])
        return max(up * (1 - weight), 1e-6) * max(down * weight, 1e-6)

    def _falls(
        self,
        relaxation: Relaxation,
        node: Node,
        point: RelaxationPoint,
        candidate: Candidate,
        weight: float,
        cutoff: float,
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Falls and bounds of the children, from pseudo-costs or from a trial."""
        distance = _distances(weight)
        costs = self.costs[candidate]
        may_try = relaxation.trials < _TRIALS_PER_SOLVE * relaxation.solves + _FREE_TRIALS
        if min(costs.counts) >= (_RELIABLE if may_try else 1):
            known = [costs.mean(side, 0.0) * distance[side] for side in (0, 1)]
            return (known[0], known[1]), (point.bound, point.bound)
        falls, bounds = [], []
        for side, (allowed, edges) in enumerate(self.split(node, candidate)):
            relaxation.restrict(allowed, edges)
            trial = relaxation.solve(_TRIAL_ITERATIONS)
            bound = -np.inf if trial is None else min(trial.bound, point.bound)
            # An empty child counts as a fall to the cutoff, not as an infinite one.
            falls.append(point.bound - (cutoff if trial is None else min(trial.estimate, bound)))
            bounds.append(bound)
            costs.add(side, falls[side] / distance[side])
        return (falls[0], falls[1]), (bounds[0], bounds[1])


def _distances(weight: float) -> tuple[float, float]:
    """How far a candidate's weight is from 1, and from 0."""
    return max(1 - weight, 1e-6), max(weight, 1e-6)
