"""The linear relaxation over pooled cuts, with bounds that do not rest on the solver.

Columns are eta[f] per family and, for margin scores, T[g] per group. For multipliers
y >= 0 of the rows (cuts, clusters, class rows)

    L(y) = y . rhs + sum_i max_{f of i, allowed} (c - A'y)[f] + sum_g max_{T[g]} (1 - y(g)) T[g]

bounds every structure from above, because each variable takes exactly one family. The
solver's duals, clipped to y >= 0, are used as multipliers: a tolerance of the solver can
make this bound weaker, but not wrong. The same sums give the loss of every family, which
removes families that no better structure can contain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import highspy
import numpy as np

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.clock import Clock, OutOfTime
from milpbn.engines.cuts.clusters import Cluster
from milpbn.engines.cuts.concave import ConcaveCut
from milpbn.engines.cuts.oracle import CutOracle
from milpbn.engines.rows import Edge, Hinge, Rows, Source, joining
from milpbn.families.candidates import CLASS
from milpbn.formulation.emit_highs import check_highs, new_highs, pass_arrays, set_options

# Seconds that stand for no limit.
_FOREVER = 1e9

_SOLVED = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kIterationLimit)

# A proof by multipliers of size one that a program is empty must be this clear.
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
        ``(F,)``: how much L(y) falls when a family is forced; inf where not allowed.
    """

    eta: FloatArray
    heights: FloatArray
    bound: float
    loss: FloatArray


@dataclass
class Pool:
    """Cuts that serve every relaxation over the same rows and families, whatever its gamma."""

    cuts: list[ConcaveCut] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)

    def replace(self, relaxation: Relaxation) -> None:
        """Keep the cuts of a relaxation instead."""
        now = relaxation.pool()
        self.cuts, self.clusters = now.cuts, now.clusters


class Relaxation:
    """A HiGHS linear program that grows by cuts and is solved again from its last basis.

    Parameters
    ----------
    oracle
        The objective's costs, groups and clusters.
    clock
        Ends a solve in time.
    while_solving
        A context that is entered while HiGHS runs.
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
        self._clusters = oracle.clusters
        self._costs = oracle.costs
        self._low, self._high = oracle.height_bounds
        self._n_eta = len(self.space)
        self.allowed = np.ones(self._n_eta, dtype=bool)
        self.solves = 0
        self.trials = 0
        self._rows = Rows(self._n_eta, len(self._low))
        self._required: frozenset[Edge] = frozenset()
        self._highs = self._start()
        self._add_class_rows()

    def _start(self) -> Any:
        """The columns, and one row per variable: it takes exactly one family."""
        n_eta, n_heights = self._n_eta, len(self._low)
        highs = new_highs(threads=1)
        pass_arrays(
            highs,
            [
                np.concatenate([self._costs, np.ones(n_heights)]),
                np.concatenate([np.zeros(n_eta), self._low]),
                np.concatenate([np.ones(n_eta), self._high]),
                np.zeros(n_eta + n_heights),
            ],
            [np.ones(self.space.n_variables)] * 2,
            [self.space.offsets, np.arange(n_eta), np.ones(n_eta)],
        )
        return highs

    def restrict(self, allowed: BoolArray, edges: frozenset[Edge] = frozenset()) -> None:
        """Let only some families be chosen, and require that some pairs are joined."""
        self._require(edges)
        changed = np.flatnonzero(allowed != self.allowed).astype(np.int32)
        if len(changed):
            upper = allowed[changed].astype(np.float64)
            status = self._highs.changeColsBounds(
                len(changed), changed, np.zeros(len(changed)), upper
            )
            check_highs(status, "change bounds")
            self.allowed = allowed.copy()

    def add_cuts(self, cuts: Sequence[ConcaveCut]) -> None:
        """T[g] - coefficients . eta <= constant."""
        for cut in cuts:
            hinge = Hinge(cut.group, cut.beyond)
            self._add(-cut.coefficients, cut.constant(self.gamma), hinge)

    def add_clusters(self, clusters: Sequence[Cluster]) -> int:
        """Rows of clusters; returns how many were new."""
        new = [k for k in clusters if self._rows.find(k) is None]
        for cluster in new:
            families, sign, rhs = self._clusters.inequality(cluster)
            self._add(self._indicator(families, sign), rhs, cluster)
        return len(new)

    def _add_class_rows(self) -> None:
        # A feature with any parent has the class as parent, so a parent of the class has none:
        #   sum_{S contains a} eta[C,S] <= eta[a, no parents]
        of_class = np.array(self.space.of(CLASS))
        for a in range(1, self.space.n_variables):
            containing = of_class[self.space.contains[of_class, a]]
            needs_class = all(
                not s or CLASS in s
                for s in map(self.space.parent_sets.__getitem__, self.space.of(a))
            )
            if len(containing) == 0 or not needs_class:
                continue
            row = self._indicator(containing, 1.0)
            bare = self.space.find(a, ())
            if bare is not None:
                row[bare] = -1.0
            self._add(row, 0.0, None)

    def _require(self, edges: frozenset[Edge]) -> None:
        """Let exactly these pairs of variables be joined by an arc, whichever way it points.

        ``-sum_{S contains j} eta[i,S] - sum_{S contains i} eta[j,S] <= -1``; a row that is not
        required now waits with 0 on its right-hand side, where it says nothing.
        """
        for edge in self._required - edges:
            self._change_rhs(edge, 0.0)
        for edge in sorted(edges - self._required):
            if self._rows.find(edge) is None:
                self._add(self._indicator(joining(self.space, edge), -1.0), -1.0, edge)
            else:
                self._change_rhs(edge, -1.0)
        self._required = edges

    def _indicator(self, families: IntArray, value: float) -> FloatArray:
        row = np.zeros(self._n_eta)
        row[families] = value
        return row

    def _add(self, coefficients: FloatArray, rhs: float, source: Source) -> None:
        index = np.flatnonzero(coefficients).astype(np.int32)
        value = coefficients[index]
        if isinstance(source, Hinge):
            index = np.append(index, np.int32(self._n_eta + source.group))
            value = np.append(value, 1.0)
        status = self._highs.addRow(-highspy.kHighsInf, rhs, len(index), index, value)
        check_highs(status, "add a cut")
        self._rows.append(coefficients, rhs, source)

    def _change_rhs(self, edge: Edge, rhs: float) -> None:
        row = self._rows.find(edge)
        assert row is not None, "the row of a required edge is never removed"
        status = self._highs.changeRowBounds(self.space.n_variables + row, -highspy.kHighsInf, rhs)
        check_highs(status, "change a row")
        self._rows.change_rhs(row, rhs)

    def purge(self, patience: int) -> None:
        """Drop cuts that were slack in the last `patience` solves; class rows stay."""
        stale = self._rows.stale(patience, self._required)
        if len(stale):
            index = (stale + self.space.n_variables).astype(np.int32)
            check_highs(self._highs.deleteRows(len(index), index), "drop cuts")
            self._rows.delete(stale)

    def pool(self) -> Pool:
        """All cuts that are in the program now."""
        return Pool(self._rows.cuts(), self._rows.clusters())

    def fill(self, pool: Pool) -> None:
        """Add the cuts of a pool."""
        self.add_cuts(pool.cuts)
        self.add_clusters(pool.clusters)

    def solve(self, iteration_limit: int | None = None) -> RelaxationPoint | None:
        """Solve from the last basis; None where no structure is left."""
        limit = 2**31 - 1 if iteration_limit is None else iteration_limit
        set_options(self._highs, simplex_iteration_limit=limit)
        self.solves += iteration_limit is None
        self.trials += iteration_limit is not None
        status = self._run()
        if status not in (*_SOLVED, highspy.HighsModelStatus.kInfeasible):
            # Now and then a hot start leads HiGHS astray; from the beginning it finds its way.
            check_highs(self._highs.clearSolver(), "start again")
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
        return RelaxationPoint(x[: self._n_eta], x[self._n_eta :], bound, loss)

    def _run(self) -> Any:
        # HiGHS's own clock runs on over all solves.
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
        """Whether multipliers prove that no point meets all rows: HiGHS's word is not enough.

        Without any costs L(y) is 0 or more for every y >= 0 if there is a point.
        """
        _, has_ray, ray = self._highs.getDualRay()
        rays = [np.zeros(len(self._rows))]
        if has_ray:
            own = np.array(ray)[self.space.n_variables :]
            rays += [own / max(np.abs(own).max(initial=0.0), 1e-300) * sign for sign in (1.0, -1.0)]
        return any(self._lagrangian(y, 0.0)[0] < -_CERTAIN for y in rays)

    def _without_solution(self) -> RelaxationPoint:
        """Nothing is known: every allowed family alike, and the bound without any row."""
        counts = np.add.reduceat(self.allowed.astype(float), self.space.offsets[:-1])
        eta = self.allowed / np.repeat(np.maximum(counts, 1.0), np.diff(self.space.offsets))
        return RelaxationPoint(eta, self._high.copy(), *self._lagrangian(np.zeros(len(self._rows))))

    def _lagrangian(self, duals: FloatArray, costs: float = 1.0) -> tuple[float, FloatArray]:
        """L(y) and the families' losses, for `costs` times the objective."""
        y = np.where((duals > 0.0) & (duals < np.inf), duals, 0.0)
        on_eta, on_heights, rhs = self._rows.combine(y)
        reduced = costs * self._costs - on_eta
        reduced[~self.allowed] = -np.inf
        best = np.maximum.reduceat(reduced, self.space.offsets[:-1])
        slope = costs - on_heights
        heights = np.maximum(slope * self._low, slope * self._high).sum()
        bound = rhs + float(best.sum()) + float(heights)
        with np.errstate(invalid="ignore"):  # a variable without any family has no losses
            return bound, np.repeat(best, np.diff(self.space.offsets)) - reduced
