"""What to branch on: strong branching at first, pseudo-costs once they are reliable.

Trees that differ only in the direction of their arcs have almost the same score, so a
forbidden arc comes back reversed. Hence the two kinds of candidates: whether two variables
are joined, in either direction, and whether a variable has a given family. If variables have
several resolutions, a forbidden family comes back in another one. Then there is a third kind:
whether the family of a variable sees one of its parents, or itself, in a given resolution.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.proof import Proof
from milpbn.engines.branch_and_cut.pseudo_costs import LEAST, PseudoCosts
from milpbn.engines.branch_and_cut.relaxation import Relaxation, RelaxationPoint
from milpbn.engines.branch_and_cut.rows import joining
from milpbn.engines.branch_and_cut.starts import Restriction
from milpbn.engines.branch_and_cut.tree import Candidate, Node, Origin, Sight

Bounds = tuple[tuple[float, Proof], tuple[float, Proof]]
"""The bounds of two children, with their proofs."""

# Pseudo-costs are reliable after this many trials.
_RELIABLE = 4
# Candidates per node, and simplex iterations per trial.
_CANDIDATES = 12
_TRIAL_ITERATIONS = 20
# Candidates tried without success after the best one.
_LOOK_AHEAD = 8
# Trials allowed per solve, plus some at the start. Beyond that, one trial per candidate is enough.
_TRIALS_PER_SOLVE = 2.0
_FREE_TRIALS = 100
# Values this close to 0 or 1 are decided.
_DECIDED = 1e-6


class Brancher:
    """Chooses a pair of variables or a family, and makes the children: with it, without it."""

    def __init__(self, oracle: CutOracle) -> None:
        self.space = oracle.space
        self.clusters = oracle.clusters
        self.costs = PseudoCosts(oracle.space)

    def children(
        self, relaxation: Relaxation, node: Node, point: RelaxationPoint, cutoff: float
    ) -> list[Node]:
        """The two children of a node."""
        start = relaxation.start()
        candidate, weight, bounds = self.choose(relaxation, node, point, cutoff)
        distance = _distances(weight)
        parts = self.split(node, candidate)
        children = list(zip(parts, bounds, strict=True))
        relaxation.remember(start, [part for part, (bound, _) in children if bound > cutoff])
        return [
            Node(
                bound, 0, allowed, edges, Origin(candidate, side, distance[side], node.bound), proof
            )
            for side, ((allowed, edges), (bound, proof)) in enumerate(children)
        ]

    def split(self, node: Node, candidate: Candidate) -> tuple[Restriction, Restriction]:
        """What the node becomes with the candidate, and without it."""
        without = node.allowed.copy()
        if isinstance(candidate, tuple):
            without[joining(self.space, candidate)] = False
            return (node.allowed, node.edges | {candidate}), (without, node.edges)
        if isinstance(candidate, Sight):
            own, with_it = self.space.of(candidate.variable), self._seeing(candidate)
        else:
            own, with_it = self.space.of(int(self.space.child[candidate])), np.array([candidate])
        chosen = node.allowed.copy()
        chosen[own.start : own.stop] = False
        chosen[with_it] = node.allowed[with_it]
        without[with_it] = False
        return (chosen, node.edges), (without, node.edges)

    def _seeing(self, sight: Sight) -> IntArray:
        """The families of a variable that see a view."""
        own = self.space.of(sight.variable)
        seen = self.space.parent_views[own.start : own.stop] == sight.view
        itself = self.space.child_view[own.start : own.stop] == sight.view
        return own.start + np.flatnonzero(seen.any(axis=1) | itself)

    def learn(self, node: Node) -> None:
        """Update the pseudo-costs behind a node once its own cuts have been added."""
        if node.origin is not None and node.fall is not None:
            origin = node.origin
            number = self.costs.number(origin.candidate)
            self.costs.add(number, origin.side, node.fall / origin.distance)

    def choose(
        self, relaxation: Relaxation, node: Node, point: RelaxationPoint, cutoff: float
    ) -> tuple[Candidate, float, Bounds]:
        """The candidate with the largest product of falls, its weight, the children's bounds."""
        numbers, weights = self._most_promising(node, point.eta)
        pairs = [c for c in map(self.costs.candidate, numbers.tolist()) if isinstance(c, tuple)]
        relaxation.add_optional([c for c in pairs if self._is_tried(relaxation, c)])
        best, best_score = 0, -1.0
        best_bounds: Bounds = ((point.bound, point.proof), (point.bound, point.proof))
        failures = 0
        for k, (number, weight) in enumerate(zip(numbers.tolist(), weights.tolist(), strict=True)):
            falls, bounds = self._falls(relaxation, node, point, number, weight, cutoff)
            score = max(falls[0], LEAST) * max(falls[1], LEAST)
            failures = 0 if score > best_score else failures + 1
            if score > best_score:
                best, best_score, best_bounds = k, score, bounds
            if failures > _LOOK_AHEAD:
                break
            if min(bound for bound, _ in bounds) <= cutoff:
                # One child can be discarded: the other is this node with fewer choices.
                best, best_bounds = k, bounds
                break
        relaxation.restrict(node.allowed, node.edges)
        return self.costs.candidate(int(numbers[best])), float(weights[best]), best_bounds

    def _most_promising(self, node: Node, eta: FloatArray) -> tuple[IntArray, FloatArray]:
        """The numbers and weights of the candidates to be compared, the most promising first."""
        kinds = (
            self._undecided_edges(node, eta),
            self._undecided_families(node, eta),
            self._undecided_sights(node, eta),
        )
        numbers = np.concatenate([number for number, _ in kinds])
        weights = np.concatenate([weight for _, weight in kinds])
        up, down = self.costs.means(numbers)
        guesses = np.maximum(up * (1 - weights), LEAST) * np.maximum(down * weights, LEAST)
        order = np.argsort(-guesses, kind="stable")[:_CANDIDATES]
        return numbers[order], weights[order]

    def _undecided_edges(self, node: Node, eta: FloatArray) -> tuple[IntArray, FloatArray]:
        arcs = self.clusters.arc_weights(eta)
        both = np.triu(arcs + arcs.T).ravel()
        # A point that is no solution of the program may not join what must be joined.
        both[[self.costs.number(edge) for edge in node.edges]] = 0.0
        numbers = np.flatnonzero((both > _DECIDED) & (both < 1 - _DECIDED))
        return numbers, both[numbers]

    def _undecided_families(self, node: Node, eta: FloatArray) -> tuple[IntArray, FloatArray]:
        fractional = np.flatnonzero(node.allowed & (eta > _DECIDED) & (eta < 1 - _DECIDED))
        if len(fractional) == 0:
            # An integer point that the cuts do not support yet: take any undecided variable.
            fractional = self._any_open(node.allowed)
        return self.costs.numbers_of_families(fractional), eta[fractional]

    def _undecided_sights(self, node: Node, eta: FloatArray) -> tuple[IntArray, FloatArray]:
        space = self.space
        weights: dict[int, float] = defaultdict(float)
        if space.resolutions is not None:
            support = np.flatnonzero(node.allowed & (eta > _DECIDED))
            seen = np.column_stack([space.parent_views[support], space.child_view[support]])
            for f, views in zip(support.tolist(), seen.tolist(), strict=True):
                for view in views:
                    if view >= 0 and space.views.counts[space.views.variable[view]] > 1:
                        sight = Sight(int(space.child[f]), view)
                        weights[self.costs.number(sight)] += float(eta[f])
        undecided = {c: w for c, w in weights.items() if w < 1 - _DECIDED}
        return np.array([*undecided], dtype=np.int64), np.array([*undecided.values()])

    def _any_open(self, allowed: BoolArray) -> npt.NDArray[np.intp]:
        for i in range(self.space.n_variables):
            own = self.space.of(i)
            open_families = own.start + np.flatnonzero(allowed[own.start : own.stop])
            if len(open_families) > 1:
                return open_families[:1]
        raise AssertionError("a node with a single choice left is settled before branching")

    def _is_tried(self, relaxation: Relaxation, candidate: Candidate) -> bool:
        """Whether there is a trial for a candidate, or its pseudo-costs are reliable."""
        may_try = relaxation.trials < _TRIALS_PER_SOLVE * relaxation.solves + _FREE_TRIALS
        known = self.costs.counts[:, self.costs.number(candidate)].min()
        return bool(known < (_RELIABLE if may_try else 1))

    def _falls(
        self,
        relaxation: Relaxation,
        node: Node,
        point: RelaxationPoint,
        number: int,
        weight: float,
        cutoff: float,
    ) -> tuple[tuple[float, float], Bounds]:
        """Falls and bounds of the children, from pseudo-costs or from a trial."""
        distance, candidate = _distances(weight), self.costs.candidate(number)
        if not self._is_tried(relaxation, candidate):
            means = self.costs.falls[:, number] / self.costs.counts[:, number]
            same = point.bound, point.proof
            return (float(means[0] * distance[0]), float(means[1] * distance[1])), (same, same)
        falls, bounds = [], []
        for side, (allowed, edges) in enumerate(self.split(node, candidate)):
            relaxation.restrict(allowed, edges)
            trial = relaxation.solve(_TRIAL_ITERATIONS)
            bound, proof = point.bound, point.proof
            if trial is None:
                bound, proof = -np.inf, relaxation.emptiness
            elif trial.bound < bound:
                bound, proof = trial.bound, trial.proof
            # An empty child counts as a fall to the cutoff, not as an infinite one.
            falls.append(point.bound - (cutoff if trial is None else min(trial.estimate, bound)))
            bounds.append((bound, proof))
            self.costs.add(number, side, falls[side] / distance[side])
        return (falls[0], falls[1]), (bounds[0], bounds[1])


def _distances(weight: float) -> tuple[float, float]:
    """How far a candidate's weight is from 1, and from 0."""
    return max(1 - weight, LEAST), max(weight, LEAST)
