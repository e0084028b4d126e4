"""Shared by the runs of engines and heuristics: options, the start, and the any-time record.

Engines and searches report to a :class:`Progress`; it scores structures by the objective
itself and keeps objective and bound monotone.
"""

from milpbn.anytime.progress import TOLERANCE, Progress, allowed_gap
from milpbn.anytime.run import Run
from milpbn.anytime.start import (
    complete_quietly,
    offer_simple_starts,
    simple_starts,
    simplest_start,
)
from milpbn.settings import SolveOptions

__all__ = [
    "TOLERANCE",
    "Progress",
    "Run",
    "SolveOptions",
    "allowed_gap",
    "complete_quietly",
    "offer_simple_starts",
    "simple_starts",
    "simplest_start",
]
