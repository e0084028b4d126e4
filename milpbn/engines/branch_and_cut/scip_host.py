"""SCIP as a host for the cut oracle: SCIP's tree, branching and conflict analysis, milpbn's cuts.

It confirms optima independently: the two hosts have only the oracle and the local search in
common. A constraint handler separates concave cuts and rows on the structure, and checks integer
points by their true score and structure; a heuristic runs local search from the relaxation's
points.
Columns for joined pairs, which help the default host a lot in branching, did not help SCIP.

Requires the extra ``milpbn[scip]``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from milpbn._types import FloatArray
from milpbn.anytime.progress import Progress
from milpbn.clock import OutOfTime
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.cuts.source import RowSource
from milpbn.engines.branch_and_cut.primal import Primal
from milpbn.errors import OptionError
from milpbn.scores import Objective

# SCIP's tolerance on rows; its bound is raised by the error that this allows in the heights.
_FEASIBILITY = 1e-9
_NOT_INSTALLED = "the host scip requires PySCIPOpt: pip install 'milpbn[scip]'"


def scip_version() -> str:
    """The version of SCIP; raises if it is not installed."""
    try:
        from pyscipopt import Model
    except ImportError:
        raise OptionError(_NOT_INSTALLED) from None
    return f"SCIP {Model().version()}"


class ScipHost:
    """One solve by SCIP.

    Parameters
    ----------
    objective, progress
        The objective to maximise, and the record, which has a first structure.
    gap, seed
        The gap at which to stop, and SCIP's random seed.
    """

    def __init__(self, objective: Objective, progress: Progress, gap: float, seed: int) -> None:
        from pyscipopt import Model

        self.progress = progress
        self.oracle = CutOracle(objective, progress.clock.checkpoint)
        self.primal = Primal(objective, progress, seed, progress.clock.checkpoint)
        self.model: Any = Model("structure")
        self.failure: BaseException | None = None
        # About the sum of the right-hand sides of the cuts, to which SCIP's tolerance is relative.
        rows = objective.rows
        self._size = 0.0 if rows is None else objective.worth_of_a_row * rows.total
        self._set_parameters(gap, seed)
        self._add_columns_and_rows()
        self._include_plugins()

    def _set_parameters(self, gap: float, seed: int) -> None:
        model = self.model
        model.hideOutput()
        for name, value in {
            "limits/gap": max(gap, 1e-7),
            "numerics/feastol": _FEASIBILITY,
            "numerics/dualfeastol": _FEASIBILITY,
            "randomization/randomseedshift": seed,
            "misc/catchctrlc": False,
            "misc/usesymmetry": 0,
            "misc/allowstrongdualreds": False,
            "misc/allowweakdualreds": False,
            "timing/clocktype": 2,
        }.items():
            model.setParam(name, value)

    def _add_columns_and_rows(self) -> None:
        from pyscipopt import quicksum

        model, oracle = self.model, self.oracle
        self.eta = [
            model.addVar(f"eta{f}", vtype="B", obj=float(cost))
            for f, cost in enumerate(oracle.costs)
        ]
        self.heights = [
            model.addVar(f"T{g}", lb=None, ub=float(high), obj=1.0)
            for g, high in enumerate(oracle.height_limits)
        ]
        model.setMaximize()
        for i in range(oracle.space.n_variables):
            model.addCons(quicksum(self.eta[f] for f in oracle.space.of(i)) == 1)
        for row, limit in oracle.space.budget_use.linear.values():
            terms = (float(row[f]) * self.eta[f] for f in np.flatnonzero(row))
            model.addCons(quicksum(terms) <= limit)

    def _include_plugins(self) -> None:
        handler, heuristic, watcher = _plugins(self)
        model = self.model
        model.includeConshdlr(
            handler,
            "structure",
            "concave cuts, cycles and the number of features",
            sepapriority=1,
            enfopriority=-1,
            chckpriority=-1,
            sepafreq=1,
            needscons=True,
        )
        model.addPyCons(model.createCons(handler, "structure"))
        model.includeHeur(heuristic, "climb", "local search from the relaxation", "c", freq=1)
        model.includeEventhdlr(watcher, "bound", "reports the bound")

    def run(self) -> None:
        """Solve; report structures and bounds to the record."""
        progress, model = self.progress, self.model
        self.primal.search_at_root()
        remaining = progress.clock.remaining
        if remaining < 1e19:
            model.setParam("limits/time", max(remaining, 0.0))
        self._offer()
        model.optimize()
        if self.failure is not None:
            raise self.failure
        self.tell_bound()
        if model.getStatus() == "timelimit":
            raise OutOfTime

    def tell_bound(self) -> None:
        """Report SCIP's bound, raised by the error that its tolerance allows in the heights."""
        bound = self.model.getDualbound()
        if abs(bound) < 1e19:
            slack = _FEASIBILITY * (1.0 + self._size)
            nodes = int(self.model.getNTotalNodes())
            self.progress.improve_bound(bound + slack, nodes, "SCIP")

    def guarded(self, call: Callable[[], Any], otherwise: Any) -> Any:
        """Run a callback; an exception stops SCIP and is raised after the search."""
        if self.failure is not None:
            return otherwise
        try:
            return call()
        except BaseException as error:
            self.failure = error
            self.model.interruptSolve()
            return otherwise

    def point(self, solution: Any) -> tuple[FloatArray, FloatArray]:
        """(eta, heights) of a solution, or of the current linear program for None."""
        value = self.model.getSolVal
        eta = np.array([value(solution, v) for v in self.eta])
        return eta, np.array([value(solution, v) for v in self.heights])

    def is_feasible(self, solution: Any) -> bool:
        """Whether an integer solution is a structure and its heights do not exceed its score."""
        eta, heights = self.point(solution)
        families = self.oracle.structure_at(eta)
        if families is None:
            return False
        self.progress.incumbent(families, "SCIP")
        return not self._violated(eta, heights)

    def _violated(self, eta: FloatArray, heights: FloatArray) -> list[Any]:
        concave = self.oracle.concave
        if concave is None:
            return []
        # Above SCIP's own tolerance: a cut that SCIP regards as satisfied would be added for ever.
        slack = 1e-6 * np.maximum(1.0, np.abs(heights))
        cuts, _ = concave.violated_cuts(eta, eta, heights - slack)
        return cuts

    def separate(self, force: bool) -> bool:
        """Add violated rows at the linear program's point; returns whether there were any."""
        self.progress.clock.checkpoint()
        eta, heights = self.point(None)
        cuts = self._violated(eta, heights)
        rows: list[RowSource] = [*cuts, *self.oracle.violated_rows(eta)]
        for row in rows:
            coefficients, rhs = row.inequality(self.oracle)
            terms = [(self.eta[f], coefficients[f]) for f in np.flatnonzero(coefficients)]
            if row.height >= 0:
                terms.append((self.heights[row.height], 1.0))
            self._add_cut(terms, rhs, force)
        return bool(rows)

    def _add_cut(self, terms: list[tuple[Any, float]], rhs: float, force: bool) -> None:
        row = self.model.createEmptyRowUnspec(lhs=None, rhs=rhs, local=False)
        self.model.cacheRowExtensions(row)
        for variable, coefficient in terms:
            self.model.addVarToRow(row, variable, float(coefficient))
        self.model.flushRowExtensions(row)
        self.model.addCut(row, forcecut=force)
        self.model.releaseRow(row)

    def climb(self) -> bool:
        """Local search from the linear program's point; whether SCIP accepted a better solution."""
        before = self.progress.value
        self.primal.improve(self.point(None)[0])
        return self.progress.value > before and self._offer()

    def _offer(self) -> bool:
        """Pass the best structure so far to SCIP."""
        assert self.progress.families is not None
        eta = self.oracle.vertex(self.progress.families)
        solution = self.model.createSol()
        for v, x in zip(self.eta, eta, strict=True):
            self.model.setSolVal(solution, v, float(x))
        if self.oracle.concave is not None:
            for v, x in zip(self.heights, self.oracle.concave.group_values(eta), strict=True):
                self.model.setSolVal(solution, v, float(x))
        return bool(self.model.addSol(solution))


def _plugins(host: ScipHost) -> tuple[Any, Any, Any]:
    """The three plug-ins; defined in a function because their base classes come with the extra."""
    import pyscipopt

    scip: Any = pyscipopt
    outcome = scip.SCIP_RESULT

    class Handler(scip.Conshdlr):  # type: ignore[misc]
        def conssepalp(self, *args: Any) -> dict[str, Any]:
            found = host.guarded(lambda: host.separate(force=False), False)
            return {"result": outcome.SEPARATED if found else outcome.DIDNOTFIND}

        def consenfolp(self, *args: Any) -> dict[str, Any]:
            found = host.guarded(lambda: host.separate(force=True), False)
            return {"result": outcome.SEPARATED if found else outcome.FEASIBLE}

        def consenfops(self, *args: Any) -> dict[str, Any]:
            return self._verdict(None)

        def conscheck(self, constraints: Any, solution: Any, *args: Any) -> dict[str, Any]:
            return self._verdict(solution)

        def _verdict(self, solution: Any) -> dict[str, Any]:
            feasible = host.guarded(lambda: host.is_feasible(solution), False)
            return {"result": outcome.FEASIBLE if feasible else outcome.INFEASIBLE}

        def conslock(self, constraint: Any, locktype: int, nlockspos: int, nlocksneg: int) -> None:
            for v in (*host.eta, *host.heights):
                self.model.addVarLocks(v, nlockspos + nlocksneg, nlockspos + nlocksneg)

    class Climb(scip.Heur):  # type: ignore[misc]
        def heurexec(self, *args: Any) -> dict[str, Any]:
            found = host.guarded(host.climb, False)
            return {"result": outcome.FOUNDSOL if found else outcome.DIDNOTFIND}

    class Watcher(scip.Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            self.model.catchEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)
            self.model.catchEvent(scip.SCIP_EVENTTYPE.LPSOLVED, self)

        def eventexit(self) -> None:
            self.model.dropEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)
            self.model.dropEvent(scip.SCIP_EVENTTYPE.LPSOLVED, self)

        def eventexec(self, event: Any) -> None:
            host.guarded(host.tell_bound, None)

    return Handler(), Climb(), Watcher()
