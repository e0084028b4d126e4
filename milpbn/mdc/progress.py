"""A progress bar for the training of base models."""

from __future__ import annotations

from typing import TextIO

from milpbn.bar import Bar
from milpbn.mdc.training import Training

_SECONDS_BETWEEN_LINES = 2.0


def training_line(training: Training) -> str:
    """The progress of training, in one line.

    Examples
    --------
    >>> training_line(Training(candidate_models=90, scored_models=30, models_pruned_by_lemma_2=20))
    'base models: 30 trained, 20 pruned, 40 left'
    """
    return (
        f"base models: {training.scored_models:,} trained, "
        f"{training.models_pruned_by_lemma_2:,} pruned, {training.models_left:,} left"
    )


class TrainingBar(Bar):
    """A listener for training that shows a bar, and prints a line with the counts at the end."""

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        super().__init__(
            stream, "base models", quiet=quiet, seconds_between_lines=_SECONDS_BETWEEN_LINES
        )
        self._latest: Training | None = None

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._latest is not None:
            self.print(training_line(self._latest))

    def __call__(self, training: Training) -> None:
        """Show the progress of training."""
        self._latest = training
        done = training.candidate_models - training.models_left
        self.show(done, training.candidate_models, training_line(training))
