"""The bound L(y) of a node, and how far rounding can be from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from milpbn.check.space import Floats, Ints, Mask, Space, need
from milpbn.check.tables import UNIT, FamilyCosts, MarginTables, ScoreTables
from milpbn.errors import CertificateError

# Coefficients of rows that are kept.
_CACHE = 2**26


class Bounds:
    """Families, score and groups of rows of a certificate, and the bound L(y)."""

    def __init__(self, header: Mapping[str, Any], codes: Ints, weights: Floats | None):
        settings, self.tolerance = header["settings"], float(header["tolerance"])
        self.space = Space(header["variables"], settings)
        distinct, same = np.unique(codes, axis=0, return_inverse=True)
        weight = np.bincount(same.ravel(), weights).astype(np.float64)
        has_margins = {"sm": True, "sbm": True, "mdl": False, "bdeu": False}[settings["score"]]
        kind = MarginTables if has_margins else FamilyCosts
        self.score: ScoreTables = kind(self.space, self.space.codes(distinct), weight, settings)
        sizes = (self.score.reach, self.score.entry_error, self.score.cost_error)
        finite = np.isfinite(self.score.costs).all() and np.isfinite(sizes).all()
        need(bool(finite) and self.score.gamma < math.inf, "a table has an entry without a value")
        # Group g has the rows first_row[g]:first_row[g + 1]; without groups, all are in one.
        self.first_row = np.array(header["groups"] or [0, len(self.score.codes)], dtype=np.int64)
        rising = bool((np.diff(self.first_row) > 0).all()) or not len(self.score.codes)
        ends = self.first_row[0] == 0 and self.first_row[-1] == len(self.score.codes)
        need(rising and bool(ends), "the groups are not a partition of the rows")
        sums = np.concatenate([[0.0], np.cumsum(self.score.weight)])
        self.group_weight = np.diff(sums[self.first_row])
        self._weight, self._cost = float(sums[-1]), float(np.abs(self.score.costs).max())
        self._rows: dict[int, Mapping[str, Any]] = {}
        self._cache: dict[int, tuple[Floats, float, float]] = {}

    @property
    def n_rows(self) -> int:
        """Number of rows that were defined."""
        return len(self._rows)

    def define(self, number: int, row: Mapping[str, Any]) -> None:
        """Add a row; its coefficients are computed when they are needed."""
        need(number not in self._rows, f"there are two rows {number}")
        self._rows[number] = row

    def _row(self, number: int) -> tuple[Floats, float, float]:
        """``coefficients . eta (+ T[group]) <= rhs`` of a row, and the largest coefficient.

        The row of a pair has the right-hand side -1 where the pair is required, see `bound`.
        """
        if number not in self._cache:
            if len(self._cache) * len(self.space.families) > _CACHE:
                self._cache.pop(next(iter(self._cache)))
            row = self._rows[number]
            coefficients, rhs = getattr(self, f"_{row['kind']}_row")(row)
            self._cache[number] = coefficients, rhs, float(np.abs(coefficients).max())
        return self._cache[number]

    def _cut_row(self, row: Mapping[str, Any]) -> tuple[Floats, float]:
        """T[g] <= sum of the margins below the hinge + gamma w(beyond it)."""
        first, last = self.first_row[row["group"]], self.first_row[row["group"] + 1]
        against, rows = np.array(row["against"], dtype=np.int64), np.arange(first, last)
        score = self.score
        if not isinstance(score, MarginTables):
            raise CertificateError("a sum of costs has no cuts")
        need(row["group"] >= 0 and against.shape == rows.shape, "a cut has other rows")
        below = against >= 0
        own = -1 if score.binary else score.codes[rows, 0]
        known = (against < (1 if score.binary else score.n_classes)) & (against != own)
        need(bool((known | ~below).all()), "a row is compared with a class that is not another")
        beyond = score.gamma * float(score.weight[rows[~below]].sum())
        return -score.slopes(rows[below], against[below]), beyond

    def _cluster_row(self, row: Mapping[str, Any]) -> tuple[Floats, float]:
        """In a set K, k members have fewer than k parents inside."""
        members, k, space = sorted(set(row["members"])), int(row["k"]), self.space
        need(min(members) >= 0 and 1 <= k <= len(members), "this is not a cluster")
        inside = np.isin(space.child, members)
        counted = inside & (space.contains[:, members].sum(axis=1) >= k)
        return counted.astype(np.float64), float(len(members) - k)

    def _features_row(self, row: Mapping[str, Any]) -> tuple[Floats, float]:
        """A feature in use is used by its witness, or by others as well."""
        witness = np.array([-1, *row["witnesses"]])
        need(len(witness) == self.space.n, "a feature has no witness")
        counted = self.space.touches & (witness[None, :] == self.space.child[:, None])
        return counted.sum(axis=1).astype(np.float64), float(self.space.limits["features"])

    def _budget_row(self, row: Mapping[str, Any]) -> tuple[Floats, float]:
        return self.space.use[row["of"]], float(self.space.limits[row["of"]])

    def _pair_row(self, row: Mapping[str, Any]) -> tuple[Floats, float]:
        return -self.joining(row["pair"]).astype(np.float64), 0.0

    def joining(self, pair: Sequence[int]) -> Mask:
        """The families with an arc between two variables, in either direction."""
        i, j = pair
        need(0 <= i < j < self.space.n, "this is not a pair of variables")
        child, contains = self.space.child, self.space.contains
        out: Mask = ((child == i) & contains[:, j]) | ((child == j) & contains[:, i])
        return out

    def bound(self, node: Part, y: Sequence[Sequence[Any]], costs: float) -> NodeBound:
        """L(y) for the families of a node, with the costs of the score or with all costs 0."""
        score, n_groups = self.score, len(self.first_row) - 1
        need(all(0 <= float(t) < math.inf for _, t in y), "a multiplier is negative")
        group = {r: self._rows[r]["group"] for r, _ in y if self._rows[r]["kind"] == "cut"}
        sums = np.zeros(n_groups)
        for r, t in y:
            if r in group:
                sums[group[r]] += t
        # T[g] has no lower bound: its cuts must not weigh more than its cost, after rounding.
        scale = costs / np.maximum(sums * (1 + 8 * UNIT * (len(y) + 8)), 1.0)
        reduced, constant, size = costs * score.costs, 0.0, 0.0
        for r, t in y:
            row, rhs, top = self._row(r)
            if r in group:
                t = t * scale[group[r]]
            elif self._rows[r]["kind"] == "pair" and tuple(self._rows[r]["pair"]) in node.pairs:
                rhs = -1.0
            reduced = reduced - t * row
            constant += t * rhs
            size += 0.0 if r in group else t * (abs(rhs) + self.space.n * top)
        free = costs - np.minimum(sums * scale, costs)
        constant += score.gamma * float(free @ self.group_weight)
        reduced = np.where(node.allowed, reduced, -np.inf)
        best = np.maximum.reduceat(reduced, self.space.first)
        error = self.error(len(y), costs, size)
        return NodeBound(constant + float(best.sum()), reduced, best, error)

    def error(self, n_multipliers: int, costs: float, size: float) -> float:
        """What rounding can change in L(y), or in L(y) with one family exchanged.

        Each of at most k operations on the way to a number adds at most UNIT times the sum of the
        absolute values of what is added up: k UNIT / (1 - k UNIT) in all, hence the factor 2.
        `size` is this sum for the rows without T.
        """
        score, n = self.score, self.space.n
        k = n_multipliers + len(score.codes) + n + len(self.first_row) + 64
        weight, cost = costs * self._weight, costs * self._cost
        total = n * (weight * score.reach + cost) + 3 * score.gamma * weight + size
        entries = n * (weight * score.entry_error + costs * score.cost_error)
        return 8.0 * (2.0 * k * UNIT * total + entries)

    def value(self, chosen: Sequence[int]) -> float:
        """An upper bound on the score of a structure, because of rounding."""
        return float(self.score.value(chosen)) + self.error(0, 1.0, 0.0)

    def gain(self, f: int, g: int) -> float:
        """An upper bound on what a family can score more than another."""
        return float(self.score.gain(f, g)) + self.error(0, 1.0, 0.0)


@dataclass
class Part:
    """Allowed families, required pairs, and a known bound; a probe is a part of another node."""

    allowed: Mask
    pairs: frozenset[tuple[int, int]] = frozenset()
    bound: float = math.inf
    of: Part | None = None
    families: Mask | None = None


@dataclass(frozen=True)
class NodeBound:
    """L(y), c - A'y of every family and its maximum of every variable, and their error."""

    value: float
    reduced: Floats
    best: Floats
    error: float

    @property
    def upper(self) -> float:
        """A bound on all structures of the node."""
        return self.value + self.error if self.value > -math.inf else -math.inf
