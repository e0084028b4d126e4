"""The linear relaxation with its cuts, and bounds that do not depend on the solver's tolerances.

Columns are eta[f] per family and, for margin scores, T[g] per group. For multipliers
y >= 0 of the rows (:mod:`milpbn.engines.rows`)

    L(y) = y . rhs + sum_i max_{f of i, allowed} (c - A'y)[f] + sum_g (1 - y(g)) high[g]

is an upper bound on the score of every structure, because each variable has exactly one
family and T[g] <= high[g]. It needs y(g) <= 1, where y(g) is the sum of the multipliers of
the cuts of group g, since T[g] has no lower bound. The multipliers are the solver's duals,
clipped to y >= 0 and scaled down in groups with a larger sum: the solver's tolerances can
weaken this bound, but cannot make it wrong. The same sums give the loss of every family, by
which families are removed that no better structure can contain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import highspy
import numpy as np

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.clock import Clock, OutOfTime
from milpbn.engines.cuts.clusters import Cluster
from milpbn.engines.cuts.concave import ConcaveCut
from milpbn.engines.cuts.oracle import CutOracle, StructureRow
from milpbn.engines.rows import Edge, Hinge, RelaxationRows, Source, joining
from milpbn.families.candidates import CLASS
from milpbn.formulation.emit_highs import check_highs, new_highs, pass_arrays, set_options

# Seconds that mean no limit.
_FOREVER = 1e9

_SOLVED = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kIterationLimit)

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
    loss
        ``(F,)``: by how much L(y) decreases if a family is chosen; inf if it is not allowed.
    """

    eta: FloatArray
    heights: FloatArray
    bound: float
    loss: FloatArray


@dataclass
class Pool:
    """Cuts that are valid for every gamma, for the same rows and families."""

    cuts: list[ConcaveCut] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)

    def replace(self, relaxation: Relaxation) -> None:
        """Replace all cuts by those of a relaxation."""
        now = relaxation.pool()
        self.cuts, self.clusters = now.cuts, now.clusters


class Relaxation:
    """A HiGHS linear program to which cuts are added, solved from its last basis.

    Parameters
    ----------
    oracle
        The objective's costs, groups and clusters.
    clock
        Limits the time of a solve.
    while_solving
        A context manager for the time in which HiGHS runs.
    """

    def __init__(
        self,
        oracle: CutOracle,
        clock: Clock,
        while_solving: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.space = oracle.space
        self.gamma = oracle.gamma
        self._clock = clock
        self._while_solving = while_solving
        self._oracle = oracle
        # Column k is family columns[k]; variable i owns columns offsets[i]:offsets[i + 1].
        self._columns = oracle.families
        self._offsets = np.searchsorted(self._columns, self.space.offsets)
        self._costs = oracle.costs[self._columns]
        self._high = oracle.height_limits
        self._n_eta = len(self._columns)
        self.allowed = np.ones(self._n_eta, dtype=bool)
        self.solves = 0
        self.trials = 0
        self._rows = RelaxationRows(self._n_eta, len(self._high))
        self._required: frozenset[Edge] = frozenset()
        self._highs = self._new_program()
        self._add_class_rows()
        for coefficients, limit in oracle.budget_rows():
            self._add(coefficients, limit, None)

    def _new_program(self) -> Any:
        """A program with all columns, T first, and a row per variable: it has one family."""
        n_eta, n_heights = self._n_eta, len(self._high)
        highs = new_highs(threads=1)
        pass_arrays(
            highs,
            [
                np.concatenate([np.ones(n_heights), self._costs]),
                np.concatenate([np.full(n_heights, -highspy.kHighsInf), np.zeros(n_eta)]),
                np.concatenate([self._high, np.ones(n_eta)]),
                np.zeros(n_heights + n_eta),
            ],
            [np.ones(self.space.n_variables)] * 2,
            [self._offsets, n_heights + np.arange(n_eta), np.ones(n_eta)],
        )
        return highs

    def restrict(self, allowed: BoolArray, edges: frozenset[Edge] = frozenset()) -> None:
        """Set the allowed families, and the pairs of variables that must be joined."""
        self._require(edges)
        allowed = allowed[self._columns]
        changed = np.flatnonzero(allowed != self.allowed)
        if len(changed):
            columns = (len(self._high) + changed).astype(np.int32)
            upper = allowed[changed].astype(np.float64)
            lower = np.zeros(len(changed))
            status = self._highs.changeColsBounds(len(columns), columns, lower, upper)
            check_highs(status, "change bounds")
            self.allowed = allowed

    def add_cuts(self, cuts: Sequence[ConcaveCut]) -> None:
        """Add rows ``T[g] - coefficients . eta <= constant``."""
        for cut in cuts:
            source = Hinge(cut.group, cut.beyond)
            self._add(-cut.coefficients, cut.constant(self.gamma), source)

    def add_rows(self, rows: Sequence[StructureRow]) -> int:
        """Add rows on the structure; returns how many were new."""
        new = [row for row in rows if row not in self._rows]
        for row in new:
            self._add(*self._oracle.inequality(row), row)
        return len(new)

    def _add_class_rows(self) -> None:
        # A feature with any parent has the class as parent, so a parent of the class has none:
        #   sum_{S contains a} eta[C,S] <= eta[a, no parents]
        of_class = np.array(self.space.of(CLASS))
        for a in range(1, self.space.n_variables):
            own = self.space.of(a)
            containing = of_class[self.space.contains[of_class, a]]
            parent_sets = self.space.parent_sets[own.start : own.stop]
            if len(containing) and all(not s or CLASS in s for s in parent_sets):
                row = self._indicator(containing, 1.0)
                bare = self.space.find(a, ())
                if bare is not None:
                    row[bare] = -1.0
                self._add(row, 0.0, None)

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
                self._add(self._indicator(joining(self.space, edge), -1.0), -1.0, edge)
        self._required = edges

    def _indicator(self, families: IntArray, value: float) -> FloatArray:
        row = np.zeros(len(self.space))
        row[families] = value
        return row

    def _of_all(self, of_columns: FloatArray, others: float) -> FloatArray:
        """``(F,)``: a value per column, and `others` for the families without a column."""
        out = np.full(len(self.space), others)
        out[self._columns] = of_columns
        return out

    def _add(self, coefficients: FloatArray, rhs: float, source: Source) -> None:
        """Add a row, given by a coefficient per family; those without a column are always 0."""
        coefficients = coefficients[self._columns]
        used = np.flatnonzero(coefficients)
        index, value = (len(self._high) + used).astype(np.int32), coefficients[used]
        if isinstance(source, Hinge):
            index = np.append(index, np.int32(source.group))
            value = np.append(value, 1.0)
        status = self._highs.addRow(-highspy.kHighsInf, rhs, len(index), index, value)
        check_highs(status, "add a row")
        self._rows.append(coefficients, rhs, source)

    def _change_rhs(self, edge: Edge, rhs: float) -> None:
        row = self._rows.index(edge)
        status = self._highs.changeRowBounds(self.space.n_variables + row, -highspy.kHighsInf, rhs)
        check_highs(status, "change a row")
        self._rows.change_rhs(row, rhs)

    def purge(self, patience: int) -> None:
        """Remove rows that were slack in more than `patience` consecutive solves."""
        stale = self._rows.stale(patience, self._required)
        if len(stale):
            index = (stale + self.space.n_variables).astype(np.int32)
            check_highs(self._highs.deleteRows(len(index), index), "delete rows")
            self._rows.delete(stale)

    def pool(self) -> Pool:
        """The cuts of the program."""
        cuts = [
            replace(c, coefficients=self._of_all(c.coefficients, 0.0)) for c in self._rows.cuts()
        ]
        return Pool(cuts, self._rows.clusters())

    def fill(self, pool: Pool) -> None:
        """Add the cuts of a pool."""
        self.add_cuts(pool.cuts)
        self.add_rows(pool.clusters)

    def solve(self, iteration_limit: int | None = None) -> RelaxationPoint | None:
        """Solve from the last basis; None if there is no solution."""
        limit = 2**31 - 1 if iteration_limit is None else iteration_limit
        set_options(self._highs, simplex_iteration_limit=limit)
        self.solves += iteration_limit is None
        self.trials += iteration_limit is not None
        status = self._run()
        if status not in (*_SOLVED, highspy.HighsModelStatus.kInfeasible):
            # HiGHS occasionally fails from the last basis, and succeeds from the beginning.
            check_highs(self._highs.clearSolver(), "clear the solver")
            status = self._run()
        if status == highspy.HighsModelStatus.kInfeasible and self._is_certainly_empty():
            return None
        if status not in _SOLVED:
            return self._without_solution()
        solution = self._highs.getSolution()
        x = np.array(solution.col_value)
        duals = np.array(solution.row_dual)[self.space.n_variables :]
        bound, loss = self._lagrangian(duals)
        self._rows.note_slack(np.array(solution.row_value)[self.space.n_variables :])
        heights, eta = np.split(x, [len(self._high)])
        return RelaxationPoint(self._of_all(eta, 0.0), heights, bound, loss)

    def _run(self) -> Any:
        # HiGHS counts the time of all solves together.
        end = self._highs.getRunTime() + min(self._clock.remaining, _FOREVER)
        set_options(self._highs, time_limit=end)
        with self._while_solving():
            outcome = self._highs.run()
        check_highs(outcome, "solve the relaxation")
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTime
        return status

    def _is_certainly_empty(self) -> bool:
        """Whether multipliers prove that the program is empty; HiGHS's status is no proof.

        With all costs 0, a feasible point would imply L(y) >= 0 for every y >= 0.
        """
        _, has_ray, ray = self._highs.getDualRay()
        rays = [np.zeros(len(self._rows))]
        if has_ray:
            own = np.array(ray)[self.space.n_variables :]
            rays += [own / max(np.abs(own).max(initial=0.0), 1e-300) * sign for sign in (1.0, -1.0)]
        return any(self._lagrangian(y, 0.0)[0] < -_CERTAIN for y in rays)

    def _without_solution(self) -> RelaxationPoint:
        """A point if HiGHS finds none: equal weights, and the bound without any row."""
        counts = np.add.reduceat(self.allowed.astype(float), self._offsets[:-1])
        eta = self.allowed / np.repeat(np.maximum(counts, 1.0), np.diff(self._offsets))
        bound, loss = self._lagrangian(np.zeros(len(self._rows)))
        return RelaxationPoint(self._of_all(eta, 0.0), self._high.copy(), bound, loss)

    def _lagrangian(self, duals: FloatArray, costs: float = 1.0) -> tuple[float, FloatArray]:
        """L(y) and the loss of each family, for `costs` times the objective."""
        y = np.where((duals > 0.0) & (duals < np.inf), duals, 0.0)
        on_eta, on_heights, rhs = self._rows.combine(y, costs)
        reduced = costs * self._costs - on_eta
        reduced[~self.allowed] = -np.inf
        best = np.maximum.reduceat(reduced, self._offsets[:-1])
        bound = rhs + float(best.sum()) + float((costs - on_heights) @ self._high)
        with np.errstate(invalid="ignore"):  # a variable without any family has no losses
            loss = np.repeat(best, np.diff(self._offsets)) - reduced
        return bound, self._of_all(loss, np.inf)
