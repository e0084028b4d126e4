"""The time budget of a whole command: reading, scoring, building and solving together."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Checkpoint = Callable[[], None]
"""Called between pieces of work; raises :class:`OutOfTime` once the budget is spent."""

T = TypeVar("T")

_AT_ONCE = 500


def no_checkpoint() -> None:
    """A checkpoint that never stops anything."""


def column_by_column(names: Iterable[T], checkpoint: Checkpoint) -> Iterator[T]:
    """Columns to read or encode; from the 501st on, `checkpoint` is called before each.

    Fewer columns take so little time that a run which is late reads them all, and then has an
    answer.
    """
    for j, name in enumerate(names):
        if j >= _AT_ONCE:
            checkpoint()
        yield name


class OutOfTime(Exception):
    """The time limit was reached. Learners catch it and return what they have."""


_extra = 0.0


def not_charged(seconds: float) -> None:
    """Extend all limits: time that a run cannot help, such as compilation."""
    global _extra
    _extra += seconds


class Clock:
    """Seconds since the start, and the limit if there is one.

    Compiling milpbn's loops for the first time is not charged to the limit.

    Parameters
    ----------
    limit
        Seconds for everything, or None.
    started
        ``time.perf_counter()`` at the start; now by default. The command line
        passes the start of the process.

    Examples
    --------
    >>> Clock(limit=None).remaining
    inf
    """

    def __init__(self, limit: float | None = None, started: float | None = None) -> None:
        self.started = time.perf_counter() if started is None else started
        self.limit = math.inf if limit is None else limit
        self._extra = _extra
        self._phase_start = self.started
        self._parent: Clock | None = None
        self._one_phase: str | None = None
        self.phases: dict[str, float] = {}

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def end(self) -> float:
        """Seconds after the start at which the limit is reached."""
        return self.limit + _extra - self._extra

    @property
    def remaining(self) -> float:
        """Seconds until the limit, never negative."""
        return max(self.end - self.elapsed, 0.0)

    def checkpoint(self) -> None:
        """Raise :class:`OutOfTime` if the limit has passed."""
        if self.elapsed >= self.end:
            raise OutOfTime

    def close_phase(self, name: str) -> None:
        """Record the time since the last call under `name`."""
        now = time.perf_counter()
        name = self._one_phase or name
        self.phases[name] = self.phases.get(name, 0.0) + now - self._phase_start
        clock: Clock | None = self
        while clock is not None:
            clock._phase_start = now
            clock = clock._parent

    def until(self, limit: float, phase: str | None = None) -> Clock:
        """The same clock with an earlier limit; its phases are recorded here too.

        With `phase`, all time is recorded under that one name.
        """
        part = Clock(min(limit, self.end), self.started)
        part.phases, part._phase_start = self.phases, self._phase_start
        part._parent, part._one_phase = self, phase
        return part
