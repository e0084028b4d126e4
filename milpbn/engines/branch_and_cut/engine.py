"""Branch-and-cut on HiGHS linear programs.

The relaxation contains concave cuts instead of a row per sample, and cluster rows instead of
order rows (see :mod:`milpbn.engines.branch_and_cut.cuts`). The tree is in
:mod:`milpbn.engines.branch_and_cut.tree`, the processing of a node in
:mod:`milpbn.engines.branch_and_cut.node_processor`, and runs with several processes in
:mod:`milpbn.engines.distributed.supervisor`.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from math import inf

import numpy as np

from milpbn._types import Families
from milpbn.anytime import Progress, Run, SolveOptions, complete_quietly
from milpbn.clock import Clock, OutOfTime
from milpbn.cluster import ClusterLost
from milpbn.engines.branch_and_cut.branching import Brancher
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.node_processor import NodeProcessor
from milpbn.engines.branch_and_cut.primal import Primal
from milpbn.engines.branch_and_cut.proof import ProofLog
from milpbn.engines.branch_and_cut.relaxation import Relaxation
from milpbn.engines.branch_and_cut.rows import Pool
from milpbn.engines.branch_and_cut.scip_host import ScipHost, scip_version
from milpbn.engines.branch_and_cut.tree import Node, Tree
from milpbn.engines.distributed.checkpoint import Checkpoints
from milpbn.engines.report import EngineRecord
from milpbn.errors import BudgetError, ClusterWarning, ProofWarning
from milpbn.result import Result, Status
from milpbn.scores import Objective, ScoreReport
from milpbn.words import memory

# If there is no tree, local search ends after this many consecutive failures.
_LONE_SEARCH_PATIENCE = 2000
# Rows of a typical program.
_ROWS = 300

# The program is built again after the root if this share of the families or less is left.
_SHRINK = 0.5


def solve_branch_and_cut(
    objective: Objective,
    score: ScoreReport,
    run: Run | None = None,
    pool: Pool | None = None,
    log: ProofLog | None = None,
) -> Result:
    """Solve by branch-and-cut; always returns a structure, a bound and a gap.

    Parameters
    ----------
    objective, score
        The objective to maximise, and its score (for the report).
    run
        Time, start, options and listener.
    pool
        Cuts of an earlier run on the same rows and families; replaced by those of this run's root.
    log
        Receives everything that the bound rests on; not with the host SCIP.
    """
    run, log = run or Run(), log or ProofLog()
    solver = scip_version() if run.options.host == "scip" else None
    options = run.options
    checkpoints = Checkpoints(options.checkpoint, options.resume, objective, score, log)
    record = EngineRecord(objective, run)
    status = Status.TIME_LIMIT
    try:
        checkpoints.resume(record.progress)
        record.begin()
        if not record.is_closed:
            _search(objective, record.progress, run, pool, log, checkpoints)
        status = Status.FEASIBLE
    except ClusterLost as error:
        status = Status.INTERRUPTED
        warnings.warn(
            f"the connection to the Dask scheduler was lost ({error}); the result so far is kept",
            ClusterWarning,
            stacklevel=2,
        )
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        complete_quietly(record.progress)
    # The checkpoint first: a run that continues it needs the proof with its open nodes.
    checkpoints.finish(record.progress, closed=record.is_closed)
    log.end(record.progress)
    run.clock.close_phase("solving")
    return record.result("branch-and-cut", score, status, start_accepted=True, solver=solver)


def _search(
    objective: Objective,
    progress: Progress,
    run: Run,
    pool: Pool | None,
    log: ProofLog,
    checkpoints: Checkpoints,
) -> None:
    """Search the tree, or without it if it does not fit into memory."""
    options = run.options
    if too_large := _too_large(objective, options.memory_limit):
        if options.checkpoint or options.resume:
            raise BudgetError(
                f"{too_large} not fit into the memory limit, so there is no tree to save or to "
                "continue; raise the memory limit or lower max_parents"
            )
        warnings.warn(
            f"{too_large} not fit into the memory limit of {memory(options.memory_limit)}: "
            "local search goes on without a proof; raise the memory limit or lower max_parents",
            ProofWarning,
            stacklevel=2,
        )
        primal = Primal(objective, progress, options.seed, run.clock.checkpoint)
        primal.search_widely(inf, _LONE_SEARCH_PATIENCE)
        return
    search: BranchAndCut | ScipHost
    if options.host == "scip":
        search = ScipHost(objective, progress, options.gap, options.seed)
    else:
        search = BranchAndCut(objective, progress, options, pool, log, checkpoints)
    run.clock.close_phase("building")
    search.run()


def _too_large(objective: Objective, memory_limit: int) -> str:
    """What the memory limit has no room for; empty if there is nothing.

    A tree needs the families by parent, rows with a number for each, and all tables at once.
    """
    space = objective.space
    if len(space) * (space.n_variables + 8 * _ROWS) > memory_limit:
        return "the tree does"
    if not objective.fits():
        return f"the tables of {len(space):,} candidate families do"
    return ""


def root_bound(objective: Objective, families: Families, clock: Clock | None = None) -> float:
    """An upper bound on the score of every structure, from the cuts of the root alone.

    Families that no structure better than `families` can contain are removed on the way.
    """
    progress = Progress(objective, clock or Clock(), bound=objective.quick_bound())
    progress.incumbent(np.array(families, dtype=np.int64), "given")
    with suppress(OutOfTime):
        BranchAndCut(objective, progress, SolveOptions()).start()
    return progress.bound


class BranchAndCut:
    """One solve: an oracle, a tree and a node processor."""

    tree_type: type[Tree] = Tree
    processor_type: type[NodeProcessor] = NodeProcessor

    def __init__(
        self,
        objective: Objective,
        progress: Progress,
        options: SolveOptions,
        pool: Pool | None = None,
        log: ProofLog | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self.objective = objective
        self.progress = progress
        self.options = options
        self.pool = pool
        self.oracle = CutOracle(objective, progress.clock.checkpoint)
        self.tree = self.tree_type(progress, options.gap, len(objective.space), log)
        self.brancher = Brancher(self.oracle)
        primal = Primal(objective, progress, options.seed, self.tree.checkpoint)
        self.processor = self.processor_type(
            self.tree, self.oracle, self._relaxation(), self.brancher, primal
        )
        nodes = [self.tree.root] if checkpoints is None else checkpoints.attach(self)
        self.tree.log.begin(self.oracle, nodes)

    def _relaxation(self) -> Relaxation:
        return Relaxation(self.oracle, self.progress.clock, self.tree.log.recording)

    def run(self) -> None:
        """Branch until no node is open or the requested gap is reached."""
        if self.options.workers or self.options.scheduler:
            from milpbn.engines.distributed.supervisor import supervise

            supervise(self)
        else:
            self.processor.work(self.tree.next(self.start()))

    def _fill_pool(self) -> None:
        """Keep the cuts for other runs, unless they are valid for some of the families only."""
        if self.pool is not None and len(self.oracle.families) == len(self.objective.space):
            self.pool.replace(self.processor.relaxation.pool())

    def start(self) -> Node | None:
        """Process the root; returns the node to continue with, if it is not the best open one."""
        if not self.tree.root_is_open:
            return None  # the run continues an earlier one
        if self.pool is not None:
            self.processor.relaxation.fill(self.pool)
        root = self.tree.root
        try:
            point = self.processor.close_root(root)
        finally:
            self._fill_pool()
        if point is not None and self._can_shrink():
            self._shrink()
            point = self.processor.process(root)
        self.processor.relaxation.begin_here()
        first = self.tree.close(root, self.processor.children_of_root(root, point))
        self.tree.report()
        return first

    def _can_shrink(self) -> bool:
        """Whether the root is open, but most families have been removed from it."""
        root = self.tree.root
        return root.bound > self.tree.cutoff and root.allowed.mean() <= _SHRINK

    def _shrink(self) -> None:
        """Continue with a program that has columns only for the families that are left."""
        cuts = self.processor.relaxation.pool()
        self.oracle.keep(np.flatnonzero(self.tree.root.allowed))
        self.replace_program(cuts)

    def replace_program(self, cuts: Pool) -> None:
        """Continue with a new program for the families of the oracle."""
        self.processor.relaxation = self._relaxation()
        self.processor.relaxation.fill(cuts)
