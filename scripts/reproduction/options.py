"""What the options of the command line say about a run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OUT = Path(__file__).resolve().parents[2] / "build" / "reproduce"


@dataclass(frozen=True)
class Options:
    """How much of a table is computed, and where the results are kept.

    Attributes
    ----------
    sets
        Restrict the data sets to these; empty for all.
    folds
        Number of cross-validation folds instead of the published one.
    splits
        Number of random splits for data sets whose published split is not known.
    repeats
        Number of random orders, draws or seeds instead of the default of the table.
    rows
        Number of rows of drawn data instead of the published one.
    time_limit
        Seconds for each fit.
    jobs
        Number of processes.
    deadline
        Start nothing after this time (of ``time.time()``).
    out
        The folder of the results.
    files
        Data sets that are not bundled: name and path.
    discrete
        Whether the columns of these files are states already.
    published
        The folder of the manual's results if these are not computed again.
    """

    sets: Sequence[str] = ()
    folds: int | None = None
    splits: int = 10
    repeats: int | None = None
    rows: int | None = None
    time_limit: float = 60.0
    jobs: int = 1
    deadline: float | None = None
    out: Path = OUT
    files: Mapping[str, Path] = field(default_factory=dict)
    discrete: bool = False
    published: Path | None = None

    def chosen(self, sets: Sequence[str]) -> list[str]:
        """Those of a table's data sets, and of the given files, that are wanted."""
        known = [*sets, *(name for name in self.files if name not in sets)]
        return [name for name in known if not self.sets or name in self.sets]

    @property
    def is_over(self) -> bool:
        """Whether no further run may start."""
        return self.deadline is not None and time.time() >= self.deadline
