"""The start and the result of an exact run, shared by all engines."""

from __future__ import annotations

import highspy

from milpbn.anytime import TOLERANCE, Progress, Run, offer_simple_starts
from milpbn.result import Result, Status, WarmStart
from milpbn.scores import Objective, ScoreReport


class EngineRecord:
    """The any-time record of an exact run and its warm start."""

    def __init__(self, objective: Objective, run: Run) -> None:
        self.run = run
        self.progress = Progress(objective, run.clock, run.listener, objective.quick_bound())
        self._start_value: float | None = None

    def begin(self) -> None:
        """Record the given start and the simple structures as incumbents."""
        run, objective = self.run, self.progress.objective
        if run.start is not None:
            families = objective.space.families(run.start)
            self._start_value = objective.value(families)
            self.progress.incumbent(families, run.start_source)
        offer_simple_starts(self.progress)

    @property
    def is_closed(self) -> bool:
        """Whether the bound that was known in advance has been reached."""
        return self.progress.bound - self.progress.value <= self.progress.slack

    def result(
        self,
        engine: str,
        score: ScoreReport,
        status: Status,
        *,
        start_accepted: bool | None,
        solver: str | None = None,
    ) -> Result:
        """The result; "optimal" only if the gap is within the tolerance."""
        progress = self.progress
        if self.is_closed:
            status = Status.OPTIMAL
        elif status is Status.OPTIMAL:
            # The solver stopped at the requested gap, or at its own tolerances.
            status = Status.FEASIBLE
        return progress.result(
            score,
            status,
            engine=engine,
            bound=progress.bound,
            tolerance=TOLERANCE,
            solver=solver or f"HiGHS {highspy.Highs().version()}",  # type: ignore[no-untyped-call]
            nodes=progress.nodes,
            warm_start=self._warm_start(start_accepted),
        )

    def _warm_start(self, accepted: bool | None) -> WarmStart | None:
        if self._start_value is None:
            return None
        gain = self.progress.value - self._start_value
        return WarmStart(self.run.start_source, self._start_value, accepted, gain)
