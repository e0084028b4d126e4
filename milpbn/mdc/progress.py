"""A progress bar for the training of base models."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from milpbn.mdc.training import Training

if TYPE_CHECKING:
    from rich.progress import Progress

# In a file or a pipe a line comes at most this often.
_SECONDS_BETWEEN_LINES = 2.0


def training_line(training: Training) -> str:
    """How far training is, in one line.

    Examples
    --------
    >>> training_line(Training(candidate_models=90, scored_models=30, models_pruned_by_lemma_2=20))
    'base models: 30 trained, 20 pruned, 40 left'
    """
    return (
        f"base models: {training.scored_models:,} trained, "
        f"{training.models_pruned_by_lemma_2:,} pruned, {training.models_left:,} left"
    )


class TrainingBar:
    """A listener and context manager: a bar in a terminal, now and then a line elsewhere."""

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._progress: Progress | None = None
        self._last = time.monotonic()
        self._latest: Training | None = None

    def __enter__(self) -> TrainingBar:
        if not self._quiet and self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                BarColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                console=Console(file=self._stream),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._progress.start()
            self._progress.add_task("base models")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
        if not self._quiet and self._latest is not None:
            print(training_line(self._latest), file=self._stream, flush=True)

    def __call__(self, training: Training) -> None:
        """Show the state of training."""
        self._latest = training
        now = time.monotonic()
        if self._progress is not None:
            done = training.candidate_models - training.models_left
            self._progress.update(
                self._progress.task_ids[0],
                total=training.candidate_models,
                completed=done,
                description=training_line(training),
            )
        elif not self._quiet and now - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = now
            print(training_line(training), file=self._stream, flush=True)
