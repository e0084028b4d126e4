"""A clock for runs that are stopped at the same place on every machine."""

from __future__ import annotations

from milpbn.clock import Clock, OutOfTime


class Countdown(Clock):
    """A clock whose time is over after a number of steps."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def checkpoint(self):
        self.steps -= 1
        if self.steps < 0:
            raise OutOfTime
