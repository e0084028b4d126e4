"""Handling of Ctrl-C and similar signals: they stop a search without losing its result."""

from __future__ import annotations

import signal
import time
from types import FrameType

from milpbn.signals import ENDING

EXIT_STOPPED = 3
"""The exit code of a command that was stopped, or ran out of time, with a result to show."""

# Signals in quick succession (a key held down, an impatient scheduler) count as one.
_SECONDS_OF_ONE = 2.0


class Interrupts:
    """A handler that turns SIGINT, SIGTERM and SIGHUP into KeyboardInterrupt.

    A scheduler's SIGTERM and a closed terminal are treated like Ctrl-C: the best
    structure is kept. Once there is a result, `close` makes the handler ignore signals,
    so that a late one cannot prevent the result from being written.
    """

    def __init__(self) -> None:
        self._last = float("-inf")
        self._closed = False
        self._handled: list[signal.Signals] = []

    def install(self) -> None:
        """Handle the signals of this process, except those that it ignored from the start."""
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self)
                self._handled.append(number)

    @property
    def asked(self) -> bool:
        """Whether a signal has arrived."""
        return self._last > float("-inf")

    def reopen(self) -> None:
        """Handle signals again, for work after the first result that may be stopped too."""
        self._closed = False
        for number in self._handled:
            signal.signal(number, self)

    def close(self) -> None:
        """Ignore signals from now on."""
        self._closed = True
        for number in self._handled:
            # The interpreter removes its own handlers on exit, but keeps ignoring these signals.
            signal.signal(number, signal.SIG_IGN)

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, once for signals in quick succession."""
        now = time.monotonic()
        if self._closed or now - self._last < _SECONDS_OF_ONE:
            return
        self._last = now
        raise KeyboardInterrupt
