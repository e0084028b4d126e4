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
from dataclasses import dataclass, replace

import numpy as np

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.cuts.clusters import Cluster
from milpbn.engines.branch_and_cut.cuts.concave import ConcaveCut, CutSource
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle, StructureRow
from milpbn.engines.branch_and_cut.program import (
    INFEASIBLE,
    SOLVED,
    Program,
    ProgramColumns,
    ProgramPoint,
)
from milpbn.engines.branch_and_cut.proof import BOUND, EMPTY, TRIVIAL, Proof
from milpbn.engines.branch_and_cut.rows import Edge, Pool, RelaxationRows, Source, joining
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


@dataclass(frozen=True)
class _Prices:
    """L(y) for some multipliers, and its parts.

    `reduced` has c - A'y per column, -inf if it is not allowed. `within` is the sum of L(y) with
    the best families of the working set only.
    """

    y: FloatArray
    bound: float
    within: float
    reduced: FloatArray


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
        self.gamma = oracle.gamma
        self._oracle = oracle
        # Column k is family columns[k]; variable i owns columns offsets[i]:offsets[i + 1].
        self._columns = oracle.families
        self._child = self.space.child[self._columns]
        self._offsets = np.searchsorted(self._columns, self.space.offsets)
        self._costs = oracle.costs[self._columns]
        self._high = oracle.height_limits
        n = len(self._columns)
        self.allowed = np.ones(n, dtype=bool)
        self._working = np.zeros(n, dtype=bool)
        # Solves since each column of the working set last had weight.
        self._idle = np.zeros(n, dtype=np.int64)
        self.solves = 0
        self.trials = 0
        self._rows = RelaxationRows(n, len(self._high))
        self._required: frozenset[Edge] = frozenset()
        largest = float(np.abs(self._costs).max(initial=0.0))
        self._program = Program(self.space.n_variables, self._high, clock, largest)
        self._all_at_once = n <= _FEW_FAMILIES
        if self._all_at_once:
            self._add_columns(np.arange(n))
        self._add(oracle.class_rows())
        self._add([(row, limit, name) for name, (row, limit) in oracle.budget_rows().items()])
        self._rows.keep()
        self._starts = Starts(int(_SHARE_FOR_STARTS * self.space.memory_limit))

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

    def add_cuts(self, cuts: Sequence[ConcaveCut]) -> None:
        """Add rows ``T[g] - coefficients . eta <= constant``."""
        self._add([(-c.coefficients, c.constant(self.gamma), c.source) for c in cuts])

    def add_rows(self, rows: Sequence[StructureRow]) -> int:
        """Add rows on the structure; returns how many were new."""
        new = [row for row in rows if row not in self._rows]
        self._add([(*self._oracle.inequality(row), row) for row in new])
        return len(new)

    def _require(self, edges: frozenset[Edge]) -> None:
        """Require an arc, in either direction, between exactly these pairs of variables.

        The row is ``-sum_{S contains j} eta[i,S] - sum_{S contains i} eta[j,S] <= -1``. While it
        is not required, its right-hand side is 0, which excludes nothing.
        """
        for edge in self._required - edges:
            self._change_rhs(edge, 0.0)
        for edge in sorted(edges - self._required):
            if edge in self._rows:
                self._change_rhs(edge, -1.0)
            else:
                row = np.zeros(len(self.space))
                row[joining(self.space, edge)] = -1.0
                self._add([(row, -1.0, edge)])
        self._required = edges

    def _of_all(self, of_columns: FloatArray, others: float) -> FloatArray:
        """``(F,)``: a value per column, and `others` for the families without a column."""
        out = np.full(len(self.space), others)
        out[self._columns] = of_columns
        return out

    def _add(self, rows: Sequence[tuple[FloatArray, float, Source]]) -> None:
        """Add rows: a coefficient per family, right-hand side, and what it was made from.

        Families without a column are always 0.
        """
        first = len(self._rows)
        for coefficients, rhs, source in rows:
            self._rows.append(coefficients[self._columns], rhs, source)
        if rows:
            new = self._rows.of_columns(self._program.columns, first)
            self._program.add_rows(new, self._rows.rhs[first:], self._rows.groups[first:])

    def _change_rhs(self, edge: Edge, rhs: float) -> None:
        row = self._rows.index(edge)
        self._program.change_rhs(row, rhs)
        self._rows.change_rhs(row, rhs)

    def _add_columns(self, columns: IntArray) -> None:
        """Let families join the working set."""
        self._program.add_columns(self._program_columns(columns))
        self._working[columns] = True
        self._idle[columns] = 0

    def _program_columns(self, columns: IntArray) -> ProgramColumns:
        return ProgramColumns(
            columns,
            self._child[columns],
            self._costs[columns],
            self.allowed[columns].astype(np.float64),
            self._rows.of_columns(columns),
        )

    def _drop_columns(self) -> None:
        """Remove families that had no weight for long from the working set, if there are many."""
        idle = self._idle[self._program.columns] > _PATIENCE_WITH_FAMILIES
        if not self._all_at_once and idle.mean() > _MANY_IDLE:
            self._working[self._program.delete_columns(idle)] = False

    def purge(self, patience: int) -> None:
        """Remove rows that were slack in more than `patience` consecutive solves, idle families."""
        self._drop_columns()
        stale = self._rows.stale(patience, self._required)
        if len(stale):
            self._program.delete_rows(stale)
            self._rows.delete(stale)

    def start(self, all_rows: bool = False) -> Start | None:
        """Where the program stands: its basis and the rows in use; None if there is no basis."""
        basis = self._program.basis()
        if basis is None:
            return None
        tight, columns = self._rows.sources(basis.tight), self._program.columns
        rows = self._rows.idle() if all_rows else self._rows.in_use()
        sources = dict.fromkeys(tight, 0) | rows
        return Start(basis, tuple(tight), sources, columns, self._idle[columns])

    def begin_here(self) -> None:
        """Let nodes without a start of their own begin where the program stands, with all rows."""
        if (start := self.start(all_rows=True)) is not None:
            self._starts.set_root(start, self._rows)

    def remember(self, start: Start | None, nodes: Sequence[Restriction]) -> None:
        """Let some nodes begin at a start whose rows are still there, or kept for other nodes."""
        if start is not None:
            self._starts.add([node_key(*node) for node in nodes], start, self._rows)

    def resume(self, allowed: BoolArray, edges: frozenset[Edge]) -> None:
        """Restrict the program to a node, and return to its start, if it has one."""
        if (found := self._starts.take(node_key(allowed, edges))) is None:
            self.restrict(allowed, edges)
            return
        start, rows = found
        self._rows.replace(rows, start.sources)
        self._required = edges.intersection(rows)
        self.allowed = allowed[self._columns]
        self._working[:] = self._all_at_once
        self._working[start.columns] = True
        self._working &= self.allowed
        self._working[list(start.basis.columns)] = True  # the basis needs them, allowed or not
        self._idle[start.columns] = start.idle
        columns = np.flatnonzero(self._working)
        self._program.replace(self._program_columns(columns), self._rows.rhs, self._rows.groups)
        self._program.return_to(start.basis, [self._rows.index(s) for s in start.tight])
        self._require(edges)

    def pool(self) -> Pool:
        """The cuts of the program, and of the root if nodes can begin there."""
        root = {s: row for s, (row, _) in self._starts.root_rows().items() if s not in self._rows}
        cuts = self._rows.cuts()
        cuts += [ConcaveCut(s, -row) for s, row in root.items() if isinstance(s, CutSource)]
        clusters = self._rows.clusters() + [s for s in root if isinstance(s, Cluster)]
        cuts = [replace(c, coefficients=self._of_all(c.coefficients, 0.0)) for c in cuts]
        return Pool(cuts, clusters, self._columns[self._working])

    def fill(self, pool: Pool) -> None:
        """Add the cuts of a pool, and its working set."""
        self.add_cuts(pool.cuts)
        self.add_rows(pool.clusters)
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
                now = self._lagrangian(point.duals)
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
            self._rows.note_slack(point.activity, point.row_units)
            self._idle += 1
            self._idle[self._program.columns[point.eta > 0.0]] = 0
        return self._relaxation_point(point, best or self._lagrangian(np.zeros(len(self._rows))))

    def _complete_working_set(self) -> None:
        """Give every variable without an allowed family in the working set some good ones.

        They are the best for equal multipliers of the cuts.
        """
        possible = np.logical_or.reduceat(self.allowed, self._offsets[:-1])
        present = np.logical_or.reduceat(self.allowed & self._working, self._offsets[:-1])
        if (possible & ~present).any():
            prices = self._lagrangian(self._rows.equal_weights())
            prices.reduced[present[self._child]] = -np.inf
            self._extend(prices, _FIRST_PER_VARIABLE)

    def _extend(self, prices: _Prices, per_variable: int) -> bool:
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

    def _farkas(self) -> _Prices:
        """The prices with all costs 0, for multipliers that prove the working set infeasible.

        If a feasible point exists, L(y) >= 0 for every y >= 0.
        """
        ray = self._program.dual_ray()
        rays = [np.zeros(len(self._rows))] + ([] if ray is None else [ray, -ray])
        return min((self._lagrangian(y, 0.0) for y in rays), key=lambda prices: prices.within)

    def _relaxation_point(self, point: ProgramPoint | None, prices: _Prices) -> RelaxationPoint:
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
        best = self._best(prices.reduced)
        with np.errstate(invalid="ignore"):  # a variable without any family has no losses
            loss = self._of_all(best[self._child] - prices.reduced, np.inf)
        eta, proof = self._of_all(eta, 0.0), self._proof(prices)
        return RelaxationPoint(eta, heights, prices.bound, estimate, loss, proof)

    def _proof(self, prices: _Prices, kind: str = BOUND) -> Proof:
        """The multipliers by what their rows are made from."""
        if not self._recording:
            return TRIVIAL
        used = np.flatnonzero(prices.y)
        return Proof(
            tuple(zip(self._rows.sources(used), prices.y[used].tolist(), strict=True)), kind
        )

    def _lagrangian(self, duals: FloatArray, costs: float = 1.0) -> _Prices:
        """L(y) and the reduced cost of each family, for `costs` times the objective."""
        y = np.where((duals > 0.0) & (duals < np.inf), duals, 0.0)
        on_eta, on_heights, rhs = self._rows.combine(y, costs)
        reduced = costs * self._costs - on_eta
        reduced[~self.allowed] = -np.inf
        constant = rhs + float((costs - on_heights) @ self._high)
        within = self._best(np.where(self._working, reduced, -np.inf)).sum()
        bound = constant + float(self._best(reduced).sum())
        return _Prices(y, bound, constant + float(within), reduced)

    def _best(self, reduced: FloatArray) -> FloatArray:
        """The best reduced cost of each variable."""
        out: FloatArray = np.maximum.reduceat(reduced, self._offsets[:-1])
        return out
