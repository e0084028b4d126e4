"""The rows of all programs: each has a number in one store.

The safe bound needs the coefficients of the rows, so they are kept beside the solver's copy. A
program, and the start of an open node, are arrays of row numbers. A row that
nobody uses any more leaves the store, and its number becomes free for another row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.compiled import jit
from milpbn.engines.branch_and_cut.cuts.clusters import Cluster
from milpbn.engines.branch_and_cut.cuts.concave import ConcaveCut
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.cuts.source import OPTIONAL, Line, RowSource
from milpbn.families.candidates import FamilySpace

Edge = tuple[int, int]
"""Two variables, the smaller first."""

# Number of rows that fit at first; doubled when needed.
_CAPACITY = 64
# Columns whose sums stay in the cache.
_BLOCK = 2048
# Sums are divided by at least this.
_TINY = 1e-300


def joining(space: FamilySpace, edge: Edge) -> IntArray:
    """The families that contain an arc between two variables, in either direction."""
    i, j = edge
    one, other = space.offsets[i : i + 2], space.offsets[j : j + 2]
    forward = one[0] + np.flatnonzero(space.contains[one[0] : one[1], j])
    backward = other[0] + np.flatnonzero(space.contains[other[0] : other[1], i])
    return np.concatenate([forward, backward])


@dataclass(frozen=True)
class Pair(RowSource):
    """The row of a pair that must be joined, by an arc in either direction.

    It is ``-sum_{S contains j} eta[i,S] - sum_{S contains i} eta[j,S] <= -1``. Where the pair is
    not required, the right-hand side is 0, which excludes nothing.
    """

    edge: Edge

    @property
    def height(self) -> int:
        """See :class:`RowSource`."""
        return OPTIONAL

    def inequality(self, oracle: CutOracle) -> tuple[FloatArray, float]:
        """See :class:`RowSource`."""
        row = np.zeros(len(oracle.space))
        row[joining(oracle.space, self.edge)] = -1.0
        return row, -1.0

    def line(self, oracle: CutOracle) -> Line:
        """See :class:`RowSource`."""
        return {"kind": "pair", "pair": self.edge}


class RowStore:
    """Rows ``(T[group] +) coefficients . eta <= rhs``, by number.

    Parameters
    ----------
    oracle
        Its families are the columns.

    Attributes
    ----------
    coefficients, rhs, group
        By number; the group is negative if a row has no T.
    """

    def __init__(self, oracle: CutOracle) -> None:
        self._oracle = oracle
        self._columns = oracle.families
        self.coefficients = np.zeros((_CAPACITY, len(self._columns)))
        self.rhs = np.zeros(_CAPACITY)
        self.group = np.zeros(_CAPACITY, dtype=np.int64)
        self._uses = np.zeros(_CAPACITY, dtype=np.int64)
        self._sources: list[RowSource | None] = []
        self._number: dict[RowSource, int] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._number)

    def number(self, source: RowSource) -> int:
        """The number of the row made from a source, -1 if it is not there."""
        return self._number.get(source, -1)

    def numbers(self, sources: Sequence[RowSource]) -> IntArray:
        """The numbers of the rows made from some sources, which join the store if necessary.

        They leave it again unless they are used.
        """
        new = [s for s in dict.fromkeys(sources) if s not in self._number]
        cuts = [s for s in new if isinstance(s, ConcaveCut)]
        if cuts:
            coefficients, constants = self._oracle.concave_oracle.linear(cuts)
            for cut, row, constant in zip(cuts, coefficients, constants.tolist(), strict=True):
                self._put(cut, -row, constant)
        for source in new:
            if source not in self._number:
                row, rhs = source.inequality(self._oracle)
                self._put(source, row[self._columns], rhs)
        return np.array([self._number[s] for s in sources], dtype=np.int64)

    def sources(self, rows: IntArray) -> list[RowSource]:
        """What some rows were made from."""
        return [s for r in rows.tolist() if (s := self._sources[r]) is not None]

    def use(self, rows: IntArray) -> None:
        """Count one more use of different rows."""
        self._uses[rows] += 1

    def release(self, rows: IntArray) -> int:
        """Count one use less of different rows; returns how many have left the store."""
        self._uses[rows] -= 1
        unused = rows[self._uses[rows] <= 0].tolist()
        for r in unused:
            source = self._sources[r]
            assert source is not None
            del self._number[source]
            self._sources[r] = None
            self._free.append(r)
        return len(unused)

    def _put(self, source: RowSource, coefficients: FloatArray, rhs: float) -> None:
        if not self._free:
            self._grow()
        r = self._free.pop()
        self.coefficients[r], self.rhs[r], self.group[r] = coefficients, rhs, source.height
        self._sources[r] = source
        self._number[source] = r

    def _grow(self) -> None:
        """Make room for twice as many rows; what is not used takes no memory."""
        n = len(self._sources)
        if n == len(self.rhs):
            for name in ("coefficients", "rhs", "group", "_uses"):
                old = getattr(self, name)
                new = np.zeros((2 * n, *old.shape[1:]), dtype=old.dtype)
                new[:n] = old
                setattr(self, name, new)
        self._sources.append(None)
        self._free.append(n)


class Prices:
    """L(y) for some multipliers of rows, and its parts: see the module `relaxation`.

    Parameters
    ----------
    store, rows, rhs
        The rows, and their right-hand sides.
    duals
        Multipliers. Those below 0 count as 0, and those of a group's cuts are scaled down if they
        sum to more than `weight`.
    costs, high, offsets
        Costs of the columns, limits of T, and the columns of each variable.
    allowed, working
        Which columns may be used, and which are in the working set.
    weight
        What the objective is multiplied with: 0 for a proof that there is no point.

    Attributes
    ----------
    y
        The multipliers that were used.
    bound, within
        L(y), and the same with the best families of the working set only.
    reduced, best
        c - A'y per column, -inf if it is not allowed, and the largest of each variable.
    """

    def __init__(
        self,
        store: RowStore,
        rows: IntArray,
        rhs: FloatArray,
        duals: FloatArray,
        costs: FloatArray,
        high: FloatArray,
        offsets: IntArray,
        allowed: BoolArray,
        working: BoolArray,
        weight: float = 1.0,
    ) -> None:
        self.y = np.where((duals > 0.0) & (duals < np.inf), duals, 0.0)
        self.reduced, self.best = np.empty(len(costs)), np.empty(len(offsets) - 1)
        self.bound, self.within = _lagrangian(
            store.coefficients, store.group, rows, rhs, costs, high, offsets, allowed, working,
            weight, self.y, self.reduced, self.best,
        )  # fmt: skip


@jit()
def _lagrangian(  # type: ignore[no-untyped-def]
    coefficients, group, rows, rhs, costs, high, offsets, allowed, working, weight, y, reduced, best
):
    """Fill in the last two and scale y; returns L(y), in all families and in the working set."""
    heights, constant = np.zeros(len(high)), 0.0
    for r in range(len(rows)):
        if group[rows[r]] >= 0:
            heights[group[rows[r]]] += y[r]
    for r in range(len(rows)):
        g = group[rows[r]]
        if g >= 0 and heights[g] > weight:
            y[r] *= weight / max(heights[g], _TINY)
        constant += y[r] * rhs[r]
    for first in range(0, len(costs), _BLOCK):
        last = min(first + _BLOCK, len(costs))
        for k in range(first, last):
            reduced[k] = weight * costs[k]
        for r in range(len(rows)):
            if y[r] != 0.0:
                for k in range(first, last):
                    reduced[k] -= y[r] * coefficients[rows[r], k]
    for g in range(len(high)):
        constant += (weight - min(heights[g], weight)) * high[g]
    bound, within = constant, constant
    for i in range(len(best)):
        top, inside = -np.inf, -np.inf
        for k in range(offsets[i], offsets[i + 1]):
            if not allowed[k]:
                reduced[k] = -np.inf
            elif reduced[k] > top:
                top = reduced[k]
            if working[k] and reduced[k] > inside:
                inside = reduced[k]
        best[i] = top
        bound += top
        within += inside
    return bound, within


@dataclass
class Pool:
    """Cuts that are valid for every gamma and penalty, for the same rows and families."""

    cuts: list[ConcaveCut] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    families: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The working set of families that goes with the cuts."""

    def replace(self, other: Pool) -> None:
        """Replace all cuts by those of another pool."""
        self.cuts, self.clusters, self.families = other.cuts, other.clusters, other.families

    @classmethod
    def of(cls, sources: Iterable[RowSource], families: IntArray) -> Pool:
        """The cuts and clusters among the sources of rows."""
        different = dict.fromkeys(sources)
        cuts = [s for s in different if isinstance(s, ConcaveCut)]
        return cls(cuts, [s for s in different if isinstance(s, Cluster)], families)
