"""The candidates of a selection and the chosen one, as reports and model files show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from milpbn.learning.criteria import CRITERIA


@dataclass(frozen=True)
class Candidate:
    """One combination of values, and how it did on the held-out rows.

    Attributes
    ----------
    values
        The settings that the grid gave it.
    scores
        All measures of :data:`~milpbn.learning.criteria.CRITERIA` over the held-out rows of all
        folds; empty if it failed.
    n_parameters
        Number of free parameters, averaged over the folds.
    seconds
        Time for its structures and parameters. Work that candidates share counts for the first.
    stopped_early
        Whether a search for its parameters was stopped by the time limit.
    error
        Why it failed, or empty.
    """

    values: dict[str, Any]
    scores: dict[str, float] = field(default_factory=dict)
    n_parameters: float = 0.0
    seconds: float = 0.0
    stopped_early: bool = False
    error: str = ""


@dataclass(frozen=True)
class Selection:
    """The candidates of a grid and the one that was chosen.

    Attributes
    ----------
    by
        The measure that decided.
    folds
        Number of times that rows were held out.
    candidates
        All candidates, in the order of the grid.
    chosen
        The index of the best one; the first of equals.
    interrupted
        Whether Ctrl-C ended the selection before all folds were finished.
    """

    by: str
    folds: int
    candidates: tuple[Candidate, ...]
    chosen: int
    interrupted: bool = False

    @property
    def values(self) -> dict[str, Any]:
        """The values of the chosen candidate."""
        return self.candidates[self.chosen].values

    def to_dict(self) -> dict[str, Any]:
        """Plain data for reports and model files."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Selection:
        """The inverse of :meth:`to_dict`."""
        candidates = tuple(Candidate(**c) for c in content["candidates"])
        return cls(**{**content, "candidates": candidates})

    def __str__(self) -> str:
        best = self.candidates[self.chosen]
        why = "the first candidate; no fold was finished"
        if best.scores:
            found = CRITERIA[self.by].show(best.scores[self.by])
            why = f"{self.by} {found} on held-out rows, best of {len(self.candidates)} candidates"
        return f"{show_values(best.values)} ({why})"


def show_values(values: Mapping[str, Any]) -> str:
    """Values as the option --select spells them.

    Examples
    --------
    >>> show_values({"max_parents": 2, "p": 0.9})
    'max-parents=2, p=0.9'
    """
    names = {"structure_score": "score"}
    shown = (f"{names.get(k, k).replace('_', '-')}={v}" for k, v in values.items())
    return ", ".join(shown) or "the given settings"
