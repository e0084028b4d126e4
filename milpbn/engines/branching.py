"""Which family to branch on: strong branching at first, pseudo-costs once they are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from milpbn.engines.cuts.relaxation import Point, Relaxation
from milpbn.families.candidates import FamilySpace

if TYPE_CHECKING:
    from milpbn.engines.branch_and_cut import Node

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

# A family whose pseudo-costs rest on this many trials is trusted.
_RELIABLE = 4
# Candidates looked at, and simplex iterations of a trial.
_CANDIDATES = 12
_TRIAL_ITERATIONS = 60


class Brancher:
    """Chooses a family and makes the two children: with it, without it."""

    def __init__(self, space: FamilySpace, relaxation: Relaxation) -> None:
        self.space = space
        self.relaxation = relaxation
        # Fall of the bound per unit of eta, for the child with the family and without it.
        self.sum = np.zeros((2, len(space)))
        self.trials = np.zeros((2, len(space)))

    def children(
        self, node: Node, point: Point, cutoff: float
    ) -> Iterator[tuple[BoolArray, float]]:
        """The two children as (allowed families, bound)."""
        family, bounds = self.choose(node, point, cutoff)
        yield from zip(self.split(node.allowed, family), bounds, strict=True)

    def split(self, allowed: BoolArray, family: int) -> tuple[BoolArray, BoolArray]:
        """Allowed families with the family chosen, and with it forbidden."""
        own = self.space.of(int(self.space.child[family]))
        chosen, without = allowed.copy(), allowed.copy()
        chosen[own.start : own.stop] = False
        chosen[family] = True
        without[family] = False
        return chosen, without

    def choose(self, node: Node, point: Point, cutoff: float) -> tuple[int, tuple[float, float]]:
        """The family with the best product of falls, and the children's bounds."""
        eta = point.eta
        fractional = np.flatnonzero((eta > 1e-6) & (eta < 1 - 1e-6))
        if len(fractional) == 0:
            # An integer point that the cuts do not support yet: any free variable will do.
            fractional = self._undecided(node.allowed)
        guess = self._guess(fractional, eta)
        candidates = fractional[np.argsort(-guess, kind="stable")[:_CANDIDATES]]
        best, best_score, best_bounds = int(candidates[0]), -1.0, (point.bound, point.bound)
        for family in candidates.tolist():
            falls, bounds = self._falls(node, point, int(family), cutoff)
            score = max(falls[0], 1e-6) * max(falls[1], 1e-6)
            if score > best_score:
                best, best_score, best_bounds = int(family), score, bounds
            if min(bounds) <= cutoff:
                # One child is hopeless: the other is this node with less freedom.
                best, best_bounds = int(family), bounds
                break
        self.relaxation.restrict(node.allowed)
        return best, best_bounds

    def _undecided(self, allowed: BoolArray) -> npt.NDArray[np.intp]:
        for i in range(self.space.n_variables):
            own = self.space.of(i)
            open_families = own.start + np.flatnonzero(allowed[own.start : own.stop])
            if len(open_families) > 1:
                return open_families[:1]
        raise AssertionError("a node with one structure left must have been settled")

    def _guess(self, families: npt.NDArray[np.intp], eta: FloatArray) -> FloatArray:
        mean = self.sum / np.maximum(self.trials, 1)
        known = self.trials > 0
        typical = mean[known].mean() if known.any() else 1.0
        per_unit = np.where(known, mean, typical)[:, families]
        up, down = per_unit[0] * (1 - eta[families]), per_unit[1] * eta[families]
        out: FloatArray = np.maximum(up, 1e-6) * np.maximum(down, 1e-6)
        return out

    def _falls(
        self, node: Node, point: Point, family: int, cutoff: float
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        weight = float(point.eta[family])
        units = (max(1 - weight, 1e-6), max(weight, 1e-6))
        if self.trials[:, family].min() >= _RELIABLE:
            mean = self.sum[:, family] / self.trials[:, family]
            return (mean[0] * units[0], mean[1] * units[1]), (point.bound, point.bound)
        falls, bounds = [], []
        for side, allowed in enumerate(self.split(node.allowed, family)):
            self.relaxation.restrict(allowed)
            trial = self.relaxation.solve(_TRIAL_ITERATIONS)
            bound = -np.inf if trial is None else min(trial.bound, point.bound)
            # An impossible child counts as a fall to the cutoff, not without end.
            fall = point.bound - (cutoff if trial is None else bound)
            self.sum[side, family] += fall / units[side]
            self.trials[side, family] += 1
            falls.append(fall)
            bounds.append(bound)
        return (falls[0], falls[1]), (bounds[0], bounds[1])
