"""The candidates of a selection and the chosen one, as reports and model files show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pandas as pd

from milpbn.errors import ModelFileError
from milpbn.schema import known_entries
from milpbn.selection.criteria import CRITERIA
from milpbn.settings import renamed


@dataclass(frozen=True)
class Candidate:
    """One combination of values, and how it did on the held-out rows.

    Attributes
    ----------
    values
        The settings that the grid gave it.
    scores
        All measures of :data:`~milpbn.selection.criteria.CRITERIA` over the held-out rows of all
        folds; empty if it was not in all of them.
    standard_errors
        Standard errors of those that are means of rows.
    n_parameters
        Number of free parameters, averaged over the folds.
    seconds
        Time for its structures and parameters. Work that candidates share counts for the first.
    stopped_early
        Whether a search for its structure or its parameters was stopped by the time limit.
    error
        Why it failed, or why it was not continued; or empty.
    """

    values: dict[str, Any]
    scores: dict[str, float] = field(default_factory=dict)
    standard_errors: dict[str, float] = field(default_factory=dict)
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
        The measure that was selected by.
    folds
        Number of times that rows were held out.
    candidates
        All candidates, in the order of the grid.
    chosen
        The index of the chosen one.
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

    @property
    def plain_values(self) -> dict[str, Any]:
        """The values of the chosen candidate as plain data."""
        return {k: _plain(v) for k, v in self.values.items()}

    @property
    def order(self) -> list[int]:
        """The candidates from the best to the worst; those that failed come last."""
        ranks = [CRITERIA[self.by].rank(c.scores.get(self.by)) for c in self.candidates]
        return sorted(range(len(ranks)), key=lambda k: -ranks[k])

    def to_frame(self) -> pd.DataFrame:
        """One line per candidate, in the order of the grid."""
        return pd.DataFrame(
            [
                {
                    **c.values,
                    **{name.replace("-", "_"): c.scores.get(name) for name in CRITERIA},
                    "n_parameters": c.n_parameters,
                    "seconds": c.seconds,
                    "stopped_early": c.stopped_early,
                    "error": c.error,
                }
                for c in self.candidates
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for reports and model files."""
        content = asdict(self)
        for candidate in content["candidates"]:
            values = candidate["values"]
            candidate["values"] = {k: _plain(v) for k, v in values.items()}
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Selection:
        """The inverse of :meth:`to_dict`."""
        candidates = tuple(Candidate(**known_entries(Candidate, c)) for c in content["candidates"])
        candidates = tuple(replace(c, values=renamed(c.values, warn=False)) for c in candidates)
        if not (content["by"] in CRITERIA and 0 <= content["chosen"] < len(candidates)):
            raise ModelFileError("the selection names a measure or a candidate that does not exist")
        return cls(**{**known_entries(cls, content), "candidates": candidates})

    def __str__(self) -> str:
        best = self.candidates[self.chosen]
        why = "the first candidate; none was finished"
        if best.scores:
            found = CRITERIA[self.by].show(best.scores[self.by])
            tried = sum(bool(c.scores) for c in self.candidates)
            why = f"{self.by} {found} on held-out rows, best of {tried} candidates"
            if self.chosen != (top := self.order[0]):
                least = CRITERIA[self.by].show(self.candidates[top].scores[self.by])
                why = (
                    f"{self.by} {found} on held-out rows, within one standard error of the best "
                    f"of {tried} candidates, {least}"
                )
        return f"{show_values(best.values)} ({why})"


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def show_values(values: Mapping[str, Any]) -> str:
    """Values as the option --select spells them.

    Examples
    --------
    >>> show_values({"max_parents": 2, "p": 0.9})
    'max-parents=2, p=0.9'
    """
    shown = (f"{k.replace('_', '-')}={v}" for k, v in values.items())
    return ", ".join(shown) or "the given settings"
