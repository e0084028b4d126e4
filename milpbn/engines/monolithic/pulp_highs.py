"""An any-time PuLP solver for HiGHS with a truthful status.

PuLP's own ``HiGHS`` class ignores warm starts and misspelt options, reports a time
limit as "Optimal", turns maximisation into minimisation of the negative and drops the
objective's constant. This class has the same interface (``problem.solve(solver)``)
without these problems.
"""

from __future__ import annotations

import time
from array import array
from dataclasses import replace
from typing import Any

import numpy as np
import pulp

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.engines.monolithic.emit_highs import Arrays
from milpbn.engines.monolithic.highs import HighsAnswer, HighsRun, HighsSettings, Listeners
from milpbn.errors import OptionError
from milpbn.result import Status


class AnytimeHiGHS(pulp.HiGHS):  # type: ignore[misc]
    """HiGHS for any PuLP problem, with MIP start, listeners and a truthful status.

    Parameters
    ----------
    settings
        Time limit (for passing the problem and solving it), gap, threads and seed.
    warm_start
        Use the variables' initial values (``variable.setInitialValue``) as MIP start;
        every variable needs one.
    listeners
        Called with each solution and bound while the solver runs.
    checkpoint
        Called while the problem is passed to HiGHS, which takes seconds for large
        problems; may raise to stop.
    **changes
        Replace settings by name: ``time_limit``, ``gap``, ``threads``, ``seed``, or any HiGHS
        option. An unknown name raises.

    Attributes
    ----------
    answer
        The :class:`~milpbn.engines.monolithic.highs.HighsAnswer` of the last solve.

    Examples
    --------
    >>> problem = pulp.LpProblem("knapsack", pulp.LpMaximize)
    >>> x = [problem.add_variable(f"x{k}", 0, 1, "Integer") for k in range(3)]
    >>> problem.setObjective(5 * x[0] + 4 * x[1] + 3 * x[2] + 10)
    >>> problem += 2 * x[0] + 3 * x[1] + x[2] <= 5, "weight"
    >>> solver = AnytimeHiGHS()
    >>> pulp.LpStatus[problem.solve(solver)], solver.answer.bound
    ('Optimal', 19.0)
    """

    name = "AnytimeHiGHS"

    def __init__(
        self,
        settings: HighsSettings | None = None,
        *,
        warm_start: bool = False,
        listeners: Listeners | None = None,
        checkpoint: Checkpoint = no_checkpoint,
        **changes: Any,
    ) -> None:
        own = self.settings = (settings or HighsSettings()).changed(**changes)
        super().__init__(
            mip=True, msg=False, timeLimit=own.time_limit, gapRel=own.gap, threads=own.threads
        )
        self.warm_start = warm_start
        self.listeners = listeners or Listeners()
        self.checkpoint = checkpoint
        self.answer: HighsAnswer | None = None

    def actualSolve(self, lp: pulp.LpProblem) -> int:  # noqa: N802
        """Solve a problem.

        PuLP would also mark every variable and row as unchanged. ``lp.variables()`` searches all
        rows, for a second or more in large problems, so it is called only once.
        """
        self.createAndConfigureSolver(lp)
        self.buildSolverModel(lp)
        self.callSolver(lp)
        status, solution_status = self.findSolutionValues(lp)
        lp.assignStatus(status, solution_status)
        return status

    def createAndConfigureSolver(self, lp: pulp.LpProblem) -> None:  # noqa: N802
        """HiGHS runs in a process of its own, so there is no solver object yet."""
        self._began = time.perf_counter()

    def buildSolverModel(self, lp: pulp.LpProblem) -> None:  # noqa: N802
        """Convert the problem to arrays, with its own sense and constant: ``lp.solverModel``."""
        self._variables = variables = lp.variables()
        for k, v in enumerate(variables):
            v.index = k
        starts, lower, upper = [0], [], []
        # Lists of millions of entries would take seconds to convert.
        index, value = array("i"), array("d")
        for k, row in enumerate(lp.constraints()):
            row.index = k
            if k % 256 == 0:
                self.checkpoint()
            for v, coefficient in row.items():
                if coefficient != 0:
                    index.append(v.index)
                    value.append(coefficient)
            starts.append(len(index))
            low, high = row.getLb(), row.getUb()
            lower.append(-np.inf if low is None else low)
            upper.append(np.inf if high is None else high)
        lp.solverModel = Arrays(
            [
                [lp.objective.get(v, 0.0) for v in variables],
                [-np.inf if v.lowBound is None else v.lowBound for v in variables],
                [np.inf if v.upBound is None else v.upBound for v in variables],
                [v.cat == pulp.LpInteger for v in variables],
            ],
            [lower, upper],
            [starts, index, value],
            maximise=lp.sense == pulp.LpMaximize,
            offset=float(lp.objective.constant),
        )

    def callSolver(self, lp: pulp.LpProblem) -> None:  # noqa: N802
        """Run HiGHS, with a MIP start if requested."""
        start = None
        if self.warm_start:
            values = [v.varValue for v in self._variables]
            if None in values:
                name = self._variables[values.index(None)].name
                raise OptionError(f"warm start: variable {name} has no initial value")
            start = np.array(values, dtype=np.float64)
        spent = time.perf_counter() - self._began
        settings = replace(self.settings, time_limit=max(self.settings.time_limit - spent, 0.0))
        self.answer = HighsRun(lp.solverModel, settings, self.listeners).solve(start)

    def findSolutionValues(self, lp: pulp.LpProblem) -> tuple[int, int]:  # noqa: N802
        """Set the variables' values; the status is "Optimal" only if HiGHS proved it."""
        assert self.answer is not None
        x = self.answer.x
        for v in self._variables:
            v.varValue = None if x is None else float(x[v.index])
        if self.answer.status is Status.OPTIMAL:
            return pulp.LpStatusOptimal, pulp.LpSolutionOptimal
        if self.answer.status is Status.INFEASIBLE:
            return pulp.LpStatusInfeasible, pulp.LpSolutionInfeasible
        if x is None:
            return pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound
        return pulp.LpStatusNotSolved, pulp.LpSolutionIntegerFeasible
