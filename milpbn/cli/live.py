"""The gap table on stderr: live in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from milpbn.result import TracePoint

if TYPE_CHECKING:
    from rich.live import Live

HEADER = f"{'time':>8} {'nodes':>8} {'best solution':>15} {'best bound':>15} {'gap':>10}  by"

# Bound-only lines come at most this often; better solutions always get a line.
_SECONDS_BETWEEN_LINES = 1.0


def format_point(point: TracePoint) -> str:
    """One line of the gap table."""
    gap = point.gap_rel
    objective = "-" if point.objective is None else f"{point.objective:.4f}"
    bound = "-" if point.bound is None else f"{point.bound:.4f}"
    shown = "-" if gap is None else f"{100 * gap:.3f} %"
    return (
        f"{point.time:>7.1f}s {point.nodes:>8} {objective:>15} {bound:>15} {shown:>10}  "
        f"{point.source}"
    )


class GapTable:
    """A listener that prints the gap table while a learner runs."""

    def __init__(self, time_limit: float | None) -> None:
        self._limit = time_limit
        self._live: Live | None = None
        self._printed_at = float("-inf")
        self._printed_objective: float | None = None

    def __enter__(self) -> GapTable:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), transient=True, refresh_per_second=8)
            self._live.start()
        self._print(HEADER)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, point: TracePoint) -> None:
        """Show one any-time event."""
        better = point.objective != self._printed_objective
        due = point.time - self._printed_at >= _SECONDS_BETWEEN_LINES
        if better or due or point.source == "end":
            self._print(format_point(point))
            self._printed_at, self._printed_objective = point.time, point.objective
        if self._live is not None:
            self._live.update(self._status(point))

    def _status(self, point: TracePoint) -> str:
        limit = "" if self._limit is None else f" of {self._limit:.0f} s"
        gap = point.gap_rel
        shown = "no gap yet" if gap is None else f"gap {100 * gap:.3f} %"
        return f"solving{limit}, {shown} at {point.time:.1f} s; Ctrl-C keeps the best structure"

    def _print(self, line: str) -> None:
        if self._live is not None:
            self._live.console.print(line, highlight=False, markup=False)
        else:
            print(line, file=sys.stderr, flush=True)
