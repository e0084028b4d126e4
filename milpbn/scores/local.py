"""Local scores from another program: one number per candidate family, no data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.scores.base import LinearObjective, Score


@dataclass(frozen=True)
class LocalScores(Score):
    """A decomposable score given as a table.

    Attributes
    ----------
    given
        The families and their scores.
    source
        The file they were read from, for reports.
    """

    given: LinearObjective = field(repr=False)
    source: str
    name = "local scores"
    title = "local scores from a file"
    exact = True
    decomposable = True
    generative = True

    def settings(self) -> dict[str, Any]:
        """The source; the table is too large to show."""
        return {"source": self.source}

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> LinearObjective:
        """The given table; the rows are not used."""
        return self.given
