"""The any-time record of a run: best structure, best bound, and what found them when."""

from __future__ import annotations

import math
import threading
from typing import Any

from milpbn._types import Families
from milpbn.clock import Clock
from milpbn.errors import SolverError
from milpbn.result import Listener, Result, Status, TracePoint
from milpbn.scores import Objective, ScoreReport

TOLERANCE = 1e-6
"""The gap counts as closed when it is within this fraction of the objective's size."""

# A bound that moves by less than this fraction does not get a trace point.
_WORTH_TELLING = 1e-6


def allowed_gap(value: float, scale: float = 1.0) -> float:
    """The absolute gap that counts as closed: the tolerance, with some room for rounding.

    Values closer to zero than `scale` count as that large. HiGHS leaves its bound at exactly 1e-6
    from a solution; the computed difference of the two may be slightly larger.
    """
    return (1 + 1e-9) * TOLERANCE * max(scale, abs(value))


class Progress:
    """Collects incumbents and bounds; objective and bound in the trace are monotone.

    Incumbents are scored here by the objective itself; a solver's value is never used. A
    structure that breaks a budget is never an incumbent. A `bound` that is known in advance
    appears in the trace from the first incumbent on.
    """

    def __init__(
        self,
        objective: Objective,
        clock: Clock,
        listener: Listener | None = None,
        bound: float = math.inf,
    ) -> None:
        self.objective = objective
        self.clock = clock
        self.families: Families | None = None
        self.value = -math.inf
        self.source = ""
        self.bound = bound
        self.bound_is_trivial = math.isfinite(bound)
        """Whether the bound is still the one that was known in advance."""
        self.nodes = 0
        self.trace: list[TracePoint] = []
        self._listener = listener
        # Several workers may report at the same time; the listener gets one event after another.
        self._lock = threading.RLock()

    @property
    def slack(self) -> float:
        """The absolute gap that counts as closed."""
        return allowed_gap(self.value, self.objective.scale)

    def incumbent(self, families: Families, source: str) -> bool:
        """Offer a structure; return whether it is the best so far."""
        if not self.objective.space.fits(families):
            return False
        value = self.objective.value(families)
        with self._lock:
            if value <= self.value:
                return False
            self.families, self.value, self.source = families, value, source
            self.bound = self._above_incumbent(self.bound)
            self._tell(source)
            return True

    def begin_with(self, families: Families, source: str, bound: float, nodes: int) -> None:
        """Continue an earlier run, which had this structure and this bound after some nodes."""
        if bound < self.bound:
            self.bound, self.bound_is_trivial = bound, False
        self.nodes = nodes
        self.incumbent(families, source)

    def improve_bound(self, bound: float, nodes: int, source: str) -> None:
        """Report a valid bound; one that is weaker than the current bound changes nothing."""
        with self._lock:
            self.nodes = max(self.nodes, nodes)
            bound = self._above_incumbent(float(bound))
            if not bound < self.bound:
                return
            last = self.trace[-1].bound if self.trace else None
            self.bound = bound
            self.bound_is_trivial = False
            if last is None or last - bound > _WORTH_TELLING * max(abs(last), 1.0):
                self._tell(source)

    def result(
        self, score: ScoreReport, status: Status, *, engine: str, bound: float | None, **more: Any
    ) -> Result:
        """End the run: record the last event and return everything that was found.

        `more` are further fields of :class:`~milpbn.result.Result`.
        """
        assert self.families is not None
        self._tell("end")
        return Result(
            status=status,
            structure=self.objective.space.structure(self.families),
            objective=self.value,
            bound=bound,
            bound_is_trivial=bound is not None and bound > self.value and self.bound_is_trivial,
            score=score.name,
            score_parameters=score.settings(),
            scale=self.objective.scale,
            source=self.source,
            engine=engine,
            seconds=dict(self.clock.phases),
            trace=tuple(self.trace),
            **more,
        )

    def _above_incumbent(self, bound: float) -> float:
        """The bound, raised to the incumbent if it lies below it by less than the tolerance."""
        if bound >= self.value:
            return bound
        # Not "bound < ...": a bound that is NaN must not count as a proof.
        if not bound >= self.value - allowed_gap(self.value):
            raise SolverError(
                f"the bound {bound!r} lies below a structure that scores {self.value!r}; "
                "please report this with the data and the options"
            )
        return self.value

    def _tell(self, source: str) -> None:
        point = TracePoint(
            time=self.clock.elapsed,
            objective=self.value if self.families is not None else None,
            bound=self.bound if math.isfinite(self.bound) else None,
            nodes=self.nodes,
            source=source,
        )
        self.trace.append(point)
        if self._listener is not None:
            self._listener(point)
