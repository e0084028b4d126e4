"""What an engine or a heuristic gets in addition to the objective."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from milpbn.anytime.progress import Progress
from milpbn.clock import Clock
from milpbn.result import Listener
from milpbn.scores import Objective
from milpbn.settings import SolveOptions
from milpbn.structure import Structure


@dataclass(frozen=True)
class Run:
    """One run: its time, its start, its options and its listener.

    Attributes
    ----------
    clock
        The time budget, already running.
    options
        Gap, threads, seed and memory limit.
    start, start_source
        A structure to start from, and where it came from.
    bound
        An upper bound on the score of every structure, if one is known in advance.
    listener
        Called with every :class:`~milpbn.result.TracePoint`.
    """

    clock: Clock = field(default_factory=Clock)
    options: SolveOptions = field(default_factory=SolveOptions)
    start: Structure | None = None
    start_source: str = "warm-start"
    bound: float = math.inf
    listener: Listener | None = None

    def progress(self, objective: Objective) -> Progress:
        """A new record for this run."""
        return Progress(objective, self.clock, self.listener, self.bound)
