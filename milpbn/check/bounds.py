"""The bound L(y) of a node, and how far rounding can be from it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from milpbn.check.rows import Row, read_row
from milpbn.check.schema import COUNT, finite, need
from milpbn.check.space import Floats, Ints, Mask, Pair, Space
from milpbn.check.tables import UNIT, FamilyCosts, MarginTables, ScoreTables

ONE = 2**40
"""Multipliers are whole numbers of units: this many are 1. So they are exact, and so are sums."""

MULTIPLIERS = [(COUNT, range(1, 2**100 + 1))]
"""The shape of a list of rows with their multipliers."""

# Shares of the memory limit: what is kept of a certificate, and coefficients that are kept.
_FOR_STEPS, _FOR_COEFFICIENTS = 1 / 8, 1 / 16

Multipliers = Sequence[tuple[int, int]]


class Bounds:
    """Families, score and groups of rows of a problem, the rows of its proof, and the bound L(y).

    Nothing is taken from the certificate but the groups, which may be any partition of the rows.
    """

    def __init__(
        self,
        problem: Mapping[str, Any],
        groups: Sequence[int],
        codes: Ints,
        weights: Floats | None,
        memory_limit: int,
        end: float = math.inf,
    ):
        self._end = end
        settings = problem["settings"]
        self.tolerance = finite(problem["tolerance"], "the tolerance")
        self.scale = finite(problem["scale"], "the scale of the tolerance")
        self.space = Space(problem["variables"], settings, memory_limit)
        self.memory = Memory(int(memory_limit * _FOR_STEPS))
        distinct, same = np.unique(codes, axis=0, return_inverse=True)
        if weights is not None:
            need(np.shape(weights) == (len(codes),), "there is not one weight for each row")
            right = np.isfinite(weights) & (np.asarray(weights) >= 0)
            need(bool(right.all()) and sum(weights) < 2.0**80, "a weight is out of range")
        weight = np.bincount(same.ravel(), weights).astype(np.float64)
        kind = MarginTables if settings["score"] in ("sm", "sbm", "cll") else FamilyCosts
        self.score: ScoreTables = kind(self.space, self.space.codes(distinct), weight, settings)
        sizes = (self.score.reach, self.score.entry_error, self.score.cost_error, self.score.gamma)
        finite_tables = np.isfinite(self.score.costs).all() and np.isfinite(sizes).all()
        need(bool(finite_tables), "a table has an entry without a value")
        # Group g has the rows first_row[g]:first_row[g + 1]; without groups, all are in one.
        self.first_row = np.array(groups or [0, len(self.score.codes)], dtype=np.int64)
        rising = bool((np.diff(self.first_row) > 0).all()) or not len(self.score.codes)
        ends = self.first_row[0] == 0 and self.first_row[-1] == len(self.score.codes)
        need(
            len(self.first_row) > 1 and rising and bool(ends),
            "the groups are not a partition of the rows",
        )
        sums = np.concatenate([[0.0], np.cumsum(self.score.weight)])
        self.group_weight = np.diff(sums[self.first_row])
        self._weight, self._cost = float(sums[-1]), float(np.abs(self.score.costs).max())
        self._rows: list[Row] = []
        self._coefficients: dict[int, tuple[Floats, float]] = {}
        families = len(self.space.families)
        self._most_kept = max(1, int(memory_limit * _FOR_COEFFICIENTS) // (8 * families))

    def hurry(self) -> None:
        """Give up after the time limit."""
        need(time.monotonic() <= self._end, "the time limit was reached before the end")

    @property
    def n_rows(self) -> int:
        """Number of rows that were defined."""
        return len(self._rows)

    def define(self, line: Mapping[str, Any]) -> None:
        """Add a row; its coefficients are computed when they are needed."""
        row = read_row(line, self)
        need(line["row"] == self.n_rows, f"the next row is {self.n_rows}, not {line['row']}")
        self.memory.take(row.size)
        self._rows.append(row)

    def _row(self, number: int) -> tuple[Floats, float]:
        """The coefficients of a row, and the largest absolute value of them."""
        if number not in self._coefficients:
            if len(self._coefficients) >= self._most_kept:
                self._coefficients.pop(next(iter(self._coefficients)))
            self.hurry()
            found = self._rows[number].coefficients(self)
            self._coefficients[number] = found, finite(np.abs(found).max(), "a coefficient")
        return self._coefficients[number]

    def bound(self, node: Part, y: Multipliers, *, costs: bool = True) -> NodeBound:
        """L(y) for the families of a node, with the costs of the score or with all costs 0.

        T[g] has no lower bound: the cuts of a group must not weigh more than its cost.
        """
        need(len({r for r, _ in y}) == len(y), "a row has two multipliers")
        need(all(r < self.n_rows for r, _ in y), "a row has not been defined")
        weighs = dict.fromkeys(range(len(self.group_weight)), 0)
        for r, k in y:
            if (g := self._rows[r].group) is not None:
                weighs[g] += k
        need(costs or not any(weighs.values()), "a cut cannot show that a node is empty")
        need(max(weighs.values()) <= ONE, "the cuts of a group weigh more than 1")
        reduced = self.score.costs.copy() if costs else np.zeros(len(self.space.families))
        constant = size = 0.0
        for r, k in y:
            t, row = float(k) / ONE, self._rows[r]
            coefficients, top = self._row(r)
            rhs = row.rhs(self, node.pairs)
            reduced -= t * coefficients
            constant += t * rhs
            size += 0.0 if row.group is not None else t * (abs(rhs) + self.space.n * top)
        if costs:
            free = np.array([(ONE - k) / ONE for k in weighs.values()])
            constant += self.score.gamma * float(free @ self.group_weight)
        if not np.logical_or.reduceat(node.allowed, self.space.first).all():
            return NodeBound(-math.inf, reduced, reduced)
        best = np.maximum.reduceat(np.where(node.allowed, reduced, -np.inf), self.space.first)
        error = finite(self.error(len(y), size, costs=costs), "the error of a bound")
        return NodeBound(finite(constant + best.sum() + error, "a bound"), reduced, best)

    def error(self, n_multipliers: int, size: float, *, costs: bool = True) -> float:
        """What rounding can change in L(y), or in L(y) with one family exchanged.

        Each of at most k operations on the way to a number adds at most UNIT times the sum of the
        absolute values of what is added up: k UNIT / (1 - k UNIT) in all, hence the factor 2.
        `size` is this sum for the rows without T.
        """
        score, n = self.score, self.space.n
        k = n_multipliers + len(score.codes) + n + len(self.first_row) + score.row_terms + 64
        weight, cost = costs * self._weight, costs * self._cost
        total = n * (weight * score.reach + cost) + 3 * score.row_size * weight + size
        entries = n * (weight * score.entry_error + costs * score.cost_error)
        return 8.0 * (2.0 * k * UNIT * total + entries)

    def value(self, chosen: Sequence[int]) -> tuple[float, float]:
        """A lower and an upper bound on the score of a structure: they differ by rounding."""
        value, error = finite(self.score.value(chosen), "a score"), self.error(0, 0.0)
        return value - error, value + error

    def gain(self, f: int, g: int) -> float:
        """An upper bound on what a family can score more than another."""
        self.hurry()
        return finite(self.score.gain(f, g), "a gain") + self.error(0, 0.0)

    def chosen(self, structure: Iterable[Any]) -> list[int]:
        """The families of a structure, which must be one of the search space."""
        families = [self.space.family(named) for named in structure]
        children = self.space.child[families].tolist()
        need(children == list(range(self.space.n)), "a variable has no family, or two")
        need(
            self.space.is_structure(families, ()),
            "the structure of the model has a cycle, or exceeds a budget",
        )
        return families


class Memory:
    """Counts the bytes that rows and open nodes take, up to a limit."""

    def __init__(self, most: int):
        self.most, self.used = most, 0

    def take(self, size: int) -> None:
        """Count some bytes; with a negative size, they are free again."""
        self.used += size
        need(
            self.used <= self.most,
            f"its rows and open nodes need more than {self.most / 2**20:.0f} MiB, an eighth of the "
            "memory limit",
        )


@dataclass
class Part:
    """Allowed families, required pairs, and a known bound; a probe is a part of another node."""

    allowed: Mask
    pairs: frozenset[Pair] = frozenset()
    bound: float = math.inf
    of: Part | None = None
    families: Mask | None = None
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = 1000 + len(self.allowed) * (1 + (self.families is not None))
        self.size += 100 * len(self.pairs)


@dataclass(frozen=True)
class NodeBound:
    """An upper bound on L(y), c - A'y of every family, and its maximum of every variable.

    The bound of a node without a family for one of its variables is minus infinity.
    """

    upper: float
    reduced: Floats
    best: Floats
