"""The gap table on stderr: live in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from milpbn.compiled import COMPILING, is_first_run, watching
from milpbn.result import TracePoint
from milpbn.widths import fitting
from milpbn.words import visible

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from milpbn.cli.interrupts import Interrupts
    from milpbn.clock import Clock

# The columns before the last one, and their widths; the last one names who found a structure.
_WIDTHS = {"time": 8, "nodes": 8, "best solution": 15, "best bound": 15, "gap": 10}
_LAST = 16
# What a narrow terminal leaves out first.
_DISPENSABLE = ("nodes", "best solution", "best bound")

# Seconds between lines that show only a new bound; better solutions always get a line.
_SECONDS_BETWEEN_LINES = 1.0
_REFRESHES_PER_SECOND = 8


def format_header(width: int | None = None) -> str:
    """The header of the gap table, for a terminal with this many characters per line.

    Examples
    --------
    >>> format_header(60)
    '    time      best bound        gap  by'
    """
    return _line({name: name for name in _WIDTHS}, "by", width)


def format_point(point: TracePoint, width: int | None = None) -> str:
    """One line of the gap table."""
    cells = {
        "time": f"{point.time:.1f}s",
        "nodes": str(point.nodes),
        "best solution": "-" if point.objective is None else f"{point.objective:.4f}",
        "best bound": "-" if point.bound is None else f"{point.bound:.4f}",
        "gap": _format_gap(point.gap_rel),
    }
    return _line(cells, point.source, width)


def _line(cells: Mapping[str, str], last: str, width: int | None) -> str:
    room = None if width is None else width - _LAST - 1
    shown = fitting(_WIDTHS, _DISPENSABLE, room)
    return " ".join(f"{cells[name]:>{room}}" for name, room in shown.items()) + f"  {last}"


def _format_gap(gap: float | None) -> str:
    return "-" if gap is None else f"{100 * gap:.3f} %"


def format_seconds(seconds: float) -> str:
    """Format a duration with units that suit its length.

    Examples
    --------
    >>> format_seconds(7.25), format_seconds(83), format_seconds(7260)
    ('7.2 s', '1 min 23 s', '2 h 01 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


class GapTable:
    """A listener that prints the gap table while a learner runs.

    Parameters
    ----------
    clock
        The clock of the run; the progress line shows its time and phase.
    interrupts
        The signal handler; it knows whether the user asked to stop.
    phases
        The phases of the run in order, with the names that the clock records.
    quiet
        Print nothing at all.
    """

    def __init__(
        self,
        clock: Clock,
        interrupts: Interrupts,
        phases: Sequence[str] = ("solving",),
        *,
        quiet: bool = False,
    ) -> None:
        self._clock = clock
        self._phases = phases
        self._interrupts = interrupts
        self._quiet = quiet
        self._live: Live | None = None
        self._last: TracePoint | None = None
        self._printed: TracePoint | None = None
        self._step = ""
        self._compiling = False
        self._announced = False
        self._stack = ExitStack()

    def __enter__(self) -> GapTable:
        self._stack.enter_context(watching(self))
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            if console.is_interactive:
                # The line is rebuilt at every refresh, so the time advances without any event.
                self._live = Live(
                    console=console,
                    get_renderable=self._progress_line,
                    refresh_per_second=_REFRESHES_PER_SECOND,
                    transient=True,
                    # Results go to stdout even while the table is on stderr.
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._stack.enter_context(self._live)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __call__(self, point: TracePoint) -> None:
        """Show one any-time event."""
        self._last = point
        if self._printed is None:
            self.print(format_header(self._width()))
        if self._is_news(point):
            self.print(format_point(point, self._width()))
            self._printed = point

    def _width(self) -> int | None:
        """The width of the terminal; None if the table goes to a file."""
        return None if self._live is None else self._live.console.width

    def _is_news(self, point: TracePoint) -> bool:
        before = self._printed
        return (
            before is None
            or point.source == "end"
            or point.objective != before.objective
            or point.time - before.time >= _SECONDS_BETWEEN_LINES
        )

    def print(self, line: str) -> None:
        """Print a line above the progress line."""
        if self._quiet:
            return
        line = visible(line)
        if self._live is not None:
            self._live.console.print(line, highlight=False, markup=False, soft_wrap=True)
        else:
            with suppress(OSError):  # a full disk below a log file must not end the run
                print(line, file=sys.stderr, flush=True)

    def step(self, words: str) -> None:
        """Say on the progress line which step of a phase is done; elsewhere, nothing."""
        self._step = words

    def compiling(self, begins: bool) -> None:
        """Say that code is being compiled: on the progress line, or in the first run on a line."""
        self._compiling = begins
        if self._live is None and not self._announced:
            self._announced = True
            if is_first_run():
                self.print(COMPILING)

    def _progress_line(self) -> Text:
        from rich.text import Text

        clock, last = self._clock, self._last
        done = [k for k, phase in enumerate(self._phases, 1) if phase in clock.phases]
        phase = self._phases[min(max(done, default=0), len(self._phases) - 1)]
        stopping = self._interrupts.asked or clock.remaining == 0
        step = COMPILING if self._compiling else self._step
        what = "stopping" if stopping else step or phase
        words = [f"{what}, {format_seconds(clock.elapsed)}"]
        if clock.limit < float("inf"):
            words[0] += f" of {format_seconds(clock.limit)}"
        if last is not None and last.gap_rel is not None:
            words.append(f"gap {_format_gap(last.gap_rel)}")
        if last is not None and last.objective is not None and not stopping:
            words.append("Ctrl-C keeps the best structure")
        return Text("; ".join(words), style="cyan", no_wrap=True, overflow="ellipsis")
