"""The result of an exact engine, from its any-time record."""

from __future__ import annotations

from dataclasses import replace

import highspy

from milpbn.result import Result, Status, WarmStart
from milpbn.scores import ScoreReport
from milpbn.search.progress import TOLERANCE, Progress, allowed_gap


def engine_result(
    engine: str,
    progress: Progress,
    score: ScoreReport,
    status: Status,
    warm: WarmStart | None,
    solver: str | None = None,
) -> Result:
    """What was found and proved; "optimal" only where the bound closes at the tolerance."""
    assert progress.families is not None
    value, bound = progress.value, progress.bound
    if bound - value <= allowed_gap(value):
        status = Status.OPTIMAL
    elif status is Status.OPTIMAL:
        # The solver is done (gap asked for, or its tolerances): without a closed bound no proof.
        status = Status.FEASIBLE
    if warm is not None:
        warm = replace(warm, improvement=value - warm.objective)
    return Result(
        status=status,
        structure=progress.objective.space.structure(progress.families),
        objective=value,
        bound=bound,
        score=score.name,
        score_parameters=score.settings(),
        tolerance=TOLERANCE,
        source=progress.source,
        engine=engine,
        solver=solver or f"HiGHS {highspy.Highs().version()}",  # type: ignore[no-untyped-call]
        nodes=progress.nodes,
        seconds=dict(progress.clock.phases),
        warm_start=warm,
        trace=progress.close(),
    )
