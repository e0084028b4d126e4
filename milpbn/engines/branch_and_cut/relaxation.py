"""The linear relaxation with its cuts, and bounds that do not depend on the solver's tolerances.

Columns are eta[f] per family and, for concave scores, T[g] per group. For multipliers
y >= 0 of the rows (:mod:`milpbn.engines.branch_and_cut.rows`)

    L(y) = y . rhs + sum_i max_{f of i, allowed} (c - A'y)[f] + sum_g (1 - y(g)) high[g]

is an upper bound on the score of every structure, because each variable has exactly one
family and T[g] <= high[g]. It needs y(g) <= 1, where y(g) is the sum of the multipliers of
the cuts of group g, since T[g] has no lower bound. The multipliers are the solver's duals,
clipped to y >= 0 and scaled down in groups with a larger sum: the solver's tolerances can
weaken this bound, but cannot make it wrong. The same sums give the loss of every family, by
which families are removed that no better structure can contain.

The program of the solver holds a working set of the families, if there are many. The bound is
always taken over all of them. Families that would raise the solver's value join the working
set, until this value and the bound are close to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.cuts.source import OPTIONAL, RowSource
from milpbn.engines.branch_and_cut.program import (
    INFEASIBLE,
    SOLVED,
    Program,
    ProgramColumns,
    ProgramPoint,
    ProgramRows,
)
from milpbn.engines.branch_and_cut.proof import BOUND, EMPTY, TRIVIAL, Proof
from milpbn.engines.branch_and_cut.rows import Edge, Pair, Pool, Prices, RowStore
from milpbn.engines.branch_and_cut.starts import Restriction, Start, Starts, node_key

# Up to this many families, all of them are in the working set.
_FEW_FAMILIES = 300
# Families per variable in the first working set, and how many may join it between two solves.
_FIRST_PER_VARIABLE = 3
_NEW_PER_VARIABLE = 3
# A family leaves it after it had no weight in this many solves, if these are at least this share.
_PATIENCE_WITH_FAMILIES = 50
_MANY_IDLE = 0.2
# The share of the memory limit that the rows of open nodes may take.
_SHARE_FOR_STARTS = 0.125
# A row is in use if it was slack in at most this many solves since it was last tight.
_RECENT = 2
# A family joins if it raises the solver's value by more than this, in its unit.
_PROFIT = 1e-9

# How far below 0 the proof must be that a program is empty, for multipliers up to 1.
_CERTAIN = 1e-7


@dataclass(frozen=True)
class RelaxationPoint:
    """A solution of the relaxation.

    Attributes
    ----------
    eta, heights
        The columns.
    bound
        The safe bound L(y).
    estimate
        The solver's value, if it is below L(y): about what L(y) would be after more families have
        joined the working set.
    loss
        ``(F,)``: by how much L(y) decreases if a family is chosen; inf if it is not allowed.
    proof
        The multipliers y, if they are recorded.
    """

    eta: FloatArray
    heights: FloatArray
    bound: float
    estimate: float
    loss: FloatArray
    proof: Proof = TRIVIAL


class Relaxation:
    """A linear program to which cuts and families are added, solved from the basis before.

    Parameters
    ----------
    oracle
        The objective's costs, groups and clusters.
    clock
        Limits the time of a solve.
    recording
        Whether points have the multipliers of their bounds.

    Attributes
    ----------
    emptiness
        Why the last program without a solution has none, if proofs are recorded.
    """

    def __init__(
        self,
        oracle: CutOracle,
        clock: Clock,
        recording: bool = False,
    ) -> None:
        self.space = oracle.space
        self.emptiness = TRIVIAL
        self._recording = recording
        # Column k is family columns[k]; variable i owns columns offsets[i]:offsets[i + 1].
        self._columns = oracle.families
        self._child = self.space.child[self._columns]
        self._offsets = np.searchsorted(self._columns, self.space.offsets)
        self._costs = oracle.costs[self._columns]
        self._high = oracle.height_limits
        n = len(self._columns)
        self._has_all = n == len(self.space)
        self.allowed = np.ones(n, dtype=bool)
        self._working = np.zeros(n, dtype=bool)
        # Solves since each column of the working set last had weight.
        self._idle = np.zeros(n, dtype=np.int64)
        self.solves = 0
        self.trials = 0
        # The rows of the program: their numbers, right-hand sides, and solves since each was tight.
        self.store = RowStore(oracle)
        self._rows: IntArray = np.empty(0, dtype=np.int64)
        self._rhs: FloatArray = np.empty(0)
        self._row_idle: IntArray = np.empty(0, dtype=np.int64)
        self._required: frozenset[Edge] = frozenset()
        largest = float(np.abs(self._costs).max(initial=0.0))
        self._program = Program(self.space.n_variables, self._high, clock, largest)
        self._all_at_once = n <= _FEW_FAMILIES
        if self._all_at_once:
            self._add_columns(np.arange(n))
        # The first rows are never dropped.
        self._permanent = self.add(oracle.first_rows())
        self._latest: Start | None = None
        # Whether the program has the rows, families and basis of the latest start.
        self._stands_there = False
        self._starts = Starts(int(_SHARE_FOR_STARTS * self.space.memory_limit), self.store)

    def restrict(self, allowed: BoolArray, edges: frozenset[Edge] = frozenset()) -> None:
        """Set the allowed families, and the pairs of variables that must be joined."""
        self._require(edges)
        allowed = allowed[self._columns]
        working = self._program.columns
        changed = np.flatnonzero(allowed[working] != self.allowed[working])
        if len(changed):
            self._program.allow(changed, allowed[working[changed]])
        self.allowed = allowed
        if self._all_at_once and (missing := np.flatnonzero(allowed & ~self._working)).size:
            self._add_columns(missing)

    def add(self, sources: Sequence[RowSource]) -> int:
        """Add the rows that are made from these; returns how many were not in the program."""
        if not sources:
            return 0
        numbers = self.store.numbers(list(dict.fromkeys(sources)))
        new = numbers[~np.isin(numbers, self._rows)]
        if len(new):
            self.store.use(new)
            self._rows = np.concatenate([self._rows, new])
            self._rhs = np.concatenate([self._rhs, self.store.rhs[new]])
            self._row_idle = np.concatenate([self._row_idle, np.zeros(len(new), dtype=np.int64)])
            self._program.add_rows(self._program_rows(len(self._rows) - len(new)))
        return len(new)

    def add_optional(self, edges: Sequence[Edge]) -> None:
        """Add the rows of pairs that are not required yet: all at once, which takes less time."""
        pairs = [Pair(edge) for edge in edges]
        if self.add(pairs):
            for edge in edges:
                if edge not in self._required:
                    self._change_rhs(edge, 0.0)

    def _require(self, edges: frozenset[Edge]) -> None:
        """Require an arc, in either direction, between exactly these pairs of variables."""
        if edges == self._required:
            return
        for edge in self._required - edges:
            self._change_rhs(edge, 0.0)
        new = sorted(edges - self._required)
        self.add([Pair(edge) for edge in new])
        for edge in new:
            self._change_rhs(edge, -1.0)
        self._required = edges

    def _change_rhs(self, edge: Edge, rhs: float) -> None:
        (place,) = np.flatnonzero(self._rows == self.store.number(Pair(edge)))
        if self._rhs[place] != rhs:
            self._program.change_rhs(int(place), rhs)
            self._rhs[place] = rhs

    def _of_all(self, of_columns: FloatArray, others: float) -> FloatArray:
        """``(F,)``: a value per column, and `others` for the families without a column."""
        if self._has_all:
            return of_columns
        out = np.full(len(self.space), others)
        out[self._columns] = of_columns
        return out

    def _add_columns(self, columns: IntArray) -> None:
        """Let families join the working set."""
        self._program.add_columns(self._program_columns(columns), self._program_rows())
        self._working[columns] = True
        self._idle[columns] = 0

    def _program_columns(self, columns: IntArray) -> ProgramColumns:
        return ProgramColumns(
            columns,
            self._child[columns],
            self._costs[columns],
            self.allowed[columns].astype(np.float64),
        )

    def _program_rows(self, first: int = 0) -> ProgramRows:
        rows = self._rows[first:]
        return ProgramRows(self.store.coefficients, rows, self._rhs[first:], self.store.group[rows])

    def purge(self, patience: int) -> None:
        """Remove rows that were slack in more than `patience` consecutive solves, idle families."""
        families = self._idle[self._program.columns] > _PATIENCE_WITH_FAMILIES
        if self._all_at_once or families.mean() <= _MANY_IDLE:
            families[:] = False
        self._delete(self._row_idle > patience, families)

    def _delete(self, rows: BoolArray, columns: BoolArray) -> None:
        """Remove rows and families from the program, except those that the basis needs."""
        needed = self.store.group[self._rows] == OPTIONAL
        needed &= self._rhs < 0.0
        needed[: self._permanent] = True
        rows &= ~needed
        basic = self._program.basic() if rows.any() or columns.any() else None
        if basic is None:
            return
        self._stands_there = False
        gone = np.flatnonzero(rows & basic[1])
        families = np.flatnonzero(columns & ~basic[0])
        self._working[self._program.columns[families]] = False
        self._program.delete(gone, families)
        numbers, self._rows = self._rows[gone], np.delete(self._rows, gone)
        self._rhs, self._row_idle = np.delete(self._rhs, gone), np.delete(self._row_idle, gone)
        self.store.release(numbers)

    def start(self) -> Start | None:
        """Where the program stands, after everything that is not in use has been removed from it.

        None if there is no basis. It can be remembered until the next one is made.
        """
        optional = (self.store.group[self._rows] == OPTIONAL) & (self._rhs == 0.0)
        idle = (self._row_idle > _RECENT) | optional
        self._delete(idle, ~self.allowed[self._program.columns])
        before, self._latest = self._latest, self._start_here()
        if self._latest is not None:
            self.store.use(self._latest.rows)
        if before is not None:
            self.store.release(before.rows)
        self._stands_there = True
        return self._latest

    def _start_here(self) -> Start | None:
        basis = self._program.basis()
        if basis is None:
            return None
        columns = self._program.columns
        return Start(basis, self._rows, self._row_idle.copy(), columns, self._idle[columns])

    def begin_here(self) -> None:
        """Let nodes without a start of their own begin where the program stands, with all rows."""
        if (start := self._start_here()) is not None:
            self._starts.set_root(start)

    def remember(self, start: Start | None, nodes: Sequence[Restriction]) -> None:
        """Let some nodes begin at a start."""
        if start is not None:
            assert start is self._latest
            self._starts.add([node_key(*node) for node in nodes], start)

    def resume(self, allowed: BoolArray, edges: frozenset[Edge]) -> None:
        """Restrict the program to a node, and return to its start, if it has one."""
        key = node_key(allowed, edges)
        start, stands_there = self._starts.find(key), self._stands_there
        self._stands_there = False
        if start is None or (start is self._latest and stands_there):
            self._starts.drop(key)
            self.restrict(allowed, edges)
            return
        store = self.store
        store.use(start.rows)
        before, self._rows = self._rows, start.rows
        store.release(before)
        self._starts.drop(key)
        self._row_idle, self._rhs = start.row_idle.copy(), store.rhs[start.rows]
        there = {e: n for e in edges if (n := store.number(Pair(e))) in self._rows}
        optional = store.group[self._rows] == OPTIONAL
        self._rhs[optional & ~np.isin(self._rows, list(there.values()))] = 0.0
        self._required = frozenset(there)
        self.allowed = allowed[self._columns]
        self._working[:] = False
        self._working[start.columns] = True
        self._idle[start.columns] = start.column_idle
        self._program.replace(
            self._program_columns(start.columns), self._program_rows(), start.basis
        )
        self.restrict(allowed, edges)

    def pool(self) -> Pool:
        """The cuts of the program, and of the root if nodes can begin there."""
        rows = np.concatenate([self._rows, self._starts.root_rows()])
        return Pool.of(self.store.sources(rows), self._columns[self._working])

    def fill(self, pool: Pool) -> None:
        """Add the cuts of a pool, and its working set."""
        self.add([*pool.cuts, *pool.clusters])
        columns = np.flatnonzero(np.isin(self._columns, pool.families) & ~self._working)
        if len(columns):
            self._add_columns(columns)

    def solve(
        self, iteration_limit: int | None = None, tolerance: float = 0.0
    ) -> RelaxationPoint | None:
        """Solve from the last basis; None if there is no solution.

        Families join the working set until the bound is within `tolerance` of the solver's
        value; none does in a trial, whose iterations are limited.
        """
        trial = iteration_limit is not None
        self.solves += not trial
        self.trials += trial
        self._complete_working_set()
        best, point = None, None
        while True:
            # New columns leave a solution feasible, so that the primal simplex method can go on.
            status = self._program.solve(iteration_limit, primal=point is not None)
            point = self._program.point() if status in SOLVED else None
            if point is not None:
                now = self._prices(point.duals)
                best = now if best is None or now.bound < best.bound else best
                if best.bound - point.value <= tolerance:
                    break
            elif status == INFEASIBLE:
                now = self._farkas()
                if now.bound < -_CERTAIN:
                    self.emptiness = self._proof(now, EMPTY)
                    return None
            else:
                break
            if trial or not self._extend(now, _NEW_PER_VARIABLE):
                break
        if point is not None and not trial:
            # A trial ends at a point that violates rows, so it says nothing about their use.
            self._row_idle = np.where(self._program.is_slack(self._rhs), self._row_idle + 1, 0)
            self._idle += 1
            self._idle[self._program.columns[point.eta > 0.0]] = 0
        return self._relaxation_point(point, best or self._prices(np.zeros(len(self._rows))))

    def _complete_working_set(self) -> None:
        """Give every variable without an allowed family in the working set some good ones.

        They are the best for equal multipliers of the cuts.
        """
        if self._all_at_once:
            return
        possible = np.logical_or.reduceat(self.allowed, self._offsets[:-1])
        present = np.logical_or.reduceat(self.allowed & self._working, self._offsets[:-1])
        if (possible & ~present).any():
            prices = self._prices(self._equal_weights())
            prices.reduced[present[self._child]] = -np.inf
            self._extend(prices, _FIRST_PER_VARIABLE)

    def _equal_weights(self) -> FloatArray:
        """Multipliers of the concave cuts: equal within a group, and 1 in total."""
        out, group = np.zeros(len(self._rows)), self.store.group[self._rows]
        with_height = group >= 0
        group = group[with_height]
        out[with_height] = 1.0 / np.bincount(group, minlength=len(self._high))[group]
        return out

    def _extend(self, prices: Prices, per_variable: int) -> bool:
        """Let the most profitable families of each variable join; returns whether there were any.

        A family is profitable if its reduced cost is above that of the working set.
        """
        reduced, profit = prices.reduced, _PROFIT * self._program.unit
        best = self._best(np.where(self._working, reduced, -np.inf))
        better = np.flatnonzero(~self._working & (reduced > best[self._child] + profit))
        order = better[np.lexsort((-reduced[better], self._child[better]))]
        first = np.searchsorted(self._child[order], np.arange(self.space.n_variables))
        rank = np.arange(len(order)) - first[self._child[order]]
        chosen = order[rank < per_variable]
        if len(chosen):
            self._add_columns(chosen)
        return len(chosen) > 0

    def _farkas(self) -> Prices:
        """The prices with all costs 0, for multipliers that prove the working set infeasible.

        If a feasible point exists, L(y) >= 0 for every y >= 0.
        """
        ray = self._program.dual_ray()
        rays = [np.zeros(len(self._rows))] + ([] if ray is None else [ray, -ray])
        return min((self._prices(y, 0.0) for y in rays), key=lambda prices: prices.within)

    def _relaxation_point(self, point: ProgramPoint | None, prices: Prices) -> RelaxationPoint:
        """The point with the loss of each family; equal weights if HiGHS found no solution."""
        if point is None:
            inside = self._working & self.allowed
            counts = np.add.reduceat(inside.astype(float), self._offsets[:-1])
            eta, heights = inside / np.maximum(counts, 1.0)[self._child], self._high.copy()
            estimate = prices.bound
        else:
            eta, heights = np.zeros(len(self._columns)), point.heights
            eta[self._program.columns] = point.eta
            estimate = min(point.value, prices.bound)
        with np.errstate(invalid="ignore"):  # a variable without any family has no losses
            loss = self._of_all(prices.best[self._child] - prices.reduced, np.inf)
        eta, proof = self._of_all(eta, 0.0), self._proof(prices)
        return RelaxationPoint(eta, heights, prices.bound, estimate, loss, proof)

    def _proof(self, prices: Prices, kind: str = BOUND) -> Proof:
        """The multipliers by what their rows are made from."""
        if not self._recording:
            return TRIVIAL
        used = np.flatnonzero(prices.y)
        sources = self.store.sources(self._rows[used])
        return Proof(tuple(zip(sources, prices.y[used].tolist(), strict=True)), kind)

    def _prices(self, duals: FloatArray, weight: float = 1.0) -> Prices:
        """L(y) and the reduced cost of each family, for `weight` times the objective."""
        return Prices(
            self.store, self._rows, self._rhs, duals, self._costs, self._high, self._offsets,
            self.allowed, self._working, weight,
        )  # fmt: skip

    def _best(self, reduced: FloatArray) -> FloatArray:
        """The best reduced cost of each variable."""
        out: FloatArray = np.maximum.reduceat(reduced, self._offsets[:-1])
        return out
