"""Progress of work in pieces: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self, TextIO

from milpbn.compiled import COMPILING, is_first_run, watching
from milpbn.words import visible

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """A progress bar, used as a context manager; call :meth:`show` after every piece.

    Parameters
    ----------
    stream
        Where to write; a terminal gets a bar, anything else gets lines.
    first
        Text next to the bar until the first piece is done.
    quiet
        Write nothing.
    seconds_between_lines
        Minimum time between two lines if the stream is not a terminal.
    """

    def __init__(
        self,
        stream: TextIO,
        first: str,
        *,
        quiet: bool = False,
        seconds_between_lines: float = 0.0,
    ) -> None:
        self._stream = stream
        self._quiet = quiet
        self._seconds_between_lines = seconds_between_lines
        self._progress: Progress | None = None
        self._printed = time.monotonic()
        self._line = first
        self._announced = False
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(watching(self))
        if not self._quiet and self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            console = Console(file=self._stream)
            if not console.is_interactive:  # a dumb terminal gets lines
                return self
            self._progress = Progress(
                BarColumn(),
                TextColumn("{task.description}", markup=False),
                TimeElapsedColumn(),
                console=console,
                transient=True,
                # Results go to stdout even while the bar is on stderr.
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._progress.add_task(self._line, total=None)
            self._stack.enter_context(self._progress)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def show(self, done: int, total: int, line: str) -> None:
        """Show that `done` of `total` pieces are done; `line` is the text to show."""
        self._line = line
        now = time.monotonic()
        if self._progress is not None:
            task = self._progress.task_ids[0]
            self._progress.update(task, completed=done, total=total, description=visible(line))
        elif now - self._printed >= self._seconds_between_lines:
            self._printed = now
            self.print(line)

    def compiling(self, begins: bool) -> None:
        """Say that code is being compiled: next to the bar, or in the first run on a line."""
        if self._progress is not None:
            text = COMPILING if begins else self._line
            self._progress.update(self._progress.task_ids[0], description=text)
        elif not self._announced:
            self._announced = True
            if is_first_run():
                self.print(COMPILING)

    def print(self, line: str) -> None:
        """Write a separate line, in a terminal too."""
        if not self._quiet:
            with suppress(OSError):  # a full disk below a log file must not end the run
                print(visible(line), file=self._stream, flush=True)
