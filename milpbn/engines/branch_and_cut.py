"""Branch-and-cut on HiGHS linear programs.

The relaxation contains concave cuts instead of a row per sample, and cluster rows instead of
order rows (see :mod:`milpbn.engines.cuts`). The tree and its workers are in
:mod:`milpbn.engines.tree` and :mod:`milpbn.engines.worker`.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from functools import partial

import numpy as np

from milpbn._types import Families
from milpbn.anytime import Progress, Run, SolveOptions, complete_quietly
from milpbn.clock import Clock, OutOfTime
from milpbn.engines.branching import Brancher
from milpbn.engines.cuts.oracle import CutOracle
from milpbn.engines.primal import Primal
from milpbn.engines.relaxation import Pool, Relaxation
from milpbn.engines.report import EngineRecord
from milpbn.engines.scip_host import ScipHost, scip_version
from milpbn.engines.tree import Node, Tree
from milpbn.engines.worker import Worker
from milpbn.result import Result, Status
from milpbn.scores import Objective, ScoreReport

# Limits of a further worker's local search before it processes nodes.
_SEARCH_SECONDS = 20.0
_SEARCH_PATIENCE = 300


def solve_branch_and_cut(
    objective: Objective, score: ScoreReport, run: Run | None = None, pool: Pool | None = None
) -> Result:
    """Solve by branch-and-cut; always returns a structure, a bound and a gap.

    Parameters
    ----------
    objective, score
        The objective to maximise, and its score (for the report).
    run
        Time, start, options and listener.
    pool
        Cuts of an earlier run on the same rows and families; replaced by the cuts of this run.
    """
    run = run or Run()
    solver = scip_version() if run.options.host == "scip" else None
    record = EngineRecord(objective, run)
    status = Status.TIME_LIMIT
    try:
        record.begin()
        search: BranchAndCut | ScipHost
        if solver is not None:
            search = ScipHost(objective, record.progress, run.options.gap, run.options.seed)
        else:
            search = BranchAndCut(objective, record.progress, run.options, pool)
        run.clock.close_phase("building")
        search.run()
        status = Status.FEASIBLE
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        complete_quietly(record.progress)
    run.clock.close_phase("solving")
    return record.result("branch-and-cut", score, status, start_accepted=True, solver=solver)


def root_bound(objective: Objective, families: Families, clock: Clock | None = None) -> float:
    """An upper bound on the score of every structure, from the cuts of the root alone.

    Families that no structure better than `families` can contain are removed on the way.
    """
    progress = Progress(objective, clock or Clock(), bound=objective.quick_bound())
    progress.incumbent(np.array(families, dtype=np.int64), "given")
    with suppress(OutOfTime):
        BranchAndCut(objective, progress, SolveOptions()).close_root()
    return progress.bound


class BranchAndCut:
    """One solve: an oracle, a tree and workers."""

    def __init__(
        self,
        objective: Objective,
        progress: Progress,
        options: SolveOptions,
        pool: Pool | None = None,
    ) -> None:
        self.objective = objective
        self.progress = progress
        self.options = options
        self.pool = pool
        self.oracle = CutOracle(objective, progress.clock.checkpoint)
        progress.improve_bound(self.oracle.row_bound, 0, "row bound")
        self.tree = Tree(progress, options.gap, len(objective.space))
        self.brancher = Brancher(self.oracle)
        self.worker = self._worker(0)

    def _worker(self, number: int) -> Worker:
        alone = self.options.threads == 1
        unlocked = nullcontext if alone else self.tree.unlocked
        relaxation = Relaxation(self.oracle, self.progress.clock, unlocked)
        seed = self.options.seed + number
        primal = Primal(self.objective, self.progress, seed, self.tree.checkpoint)
        return Worker(self.tree, self.oracle, relaxation, self.brancher, primal)

    def run(self) -> None:
        """Branch until no node is open or the requested gap is reached."""
        others = [partial(self._assist, k) for k in range(1, self.options.threads)]
        try:
            self.tree.run(self._lead, others)
        finally:
            if self.pool is not None:
                self.pool.replace(self.worker.relaxation)

    def close_root(self) -> None:
        """Process the root only."""
        self.tree.run(self._start, [])

    def _start(self) -> Node | None:
        if self.pool is not None:
            self.worker.relaxation.fill(self.pool)
        first = self.worker.start()
        self.tree.report()
        return first

    def _lead(self) -> None:
        self.worker.work(self.tree.next(self._start()))

    def _assist(self, number: int) -> None:
        """Search for better structures while the root is processed, then process nodes."""
        worker = self._worker(number)
        with self.tree.unlocked():
            worker.primal.search_widely(_SEARCH_SECONDS, _SEARCH_PATIENCE)
        node = self.tree.next(None)
        worker.relaxation.fill(self.worker.relaxation.pool())
        worker.work(node)
