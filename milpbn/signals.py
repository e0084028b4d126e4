"""Signals that end a program: which there are, and code that they must not cut in two."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

ENDING = tuple(
    signal.Signals[name]
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if name in signal.Signals.__members__
)
"""Ctrl-C, a scheduler's request to stop and a closed terminal, as far as the platform has them."""


@contextmanager
def signals_wait() -> Iterator[None]:
    """Call the handlers of signals that end the program after the block, not within it.

    Only the main thread may set handlers, so only it may use this.
    """
    arrived: dict[int, FrameType | None] = {}
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    try:
        for number in ENDING:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, arrived.__setitem__)
        yield
    finally:
        for own, handler in handlers.items():
            signal.signal(own, handler)
        for own, frame in arrived.items():
            handlers[own](own, frame)
