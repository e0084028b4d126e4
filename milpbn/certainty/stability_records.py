"""How often arcs occur in structures that were learned from resampled rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from milpbn.errors import DataError
from milpbn.schema import known_entries

Arc = tuple[str, str]


@dataclass(frozen=True)
class Stability:
    """The arcs of structures that were learned from bootstrap samples.

    Attributes
    ----------
    resamples
        Number of samples from which a structure was learned.
    wanted
        Number of samples that were asked for.
    method
        What learned the structures.
    optimal
        Number of structures that are proven optimal.
    seed
        Random seed of the samples.
    counts
        In how many structures each arc occurs.
    """

    resamples: int
    wanted: int
    method: str
    optimal: int
    seed: int
    counts: Mapping[Arc, int]

    @property
    def complete(self) -> bool:
        """Whether all samples were finished."""
        return self.resamples == self.wanted

    def __post_init__(self) -> None:
        if not 1 <= self.resamples <= self.wanted or self.optimal > self.resamples:
            raise DataError("stability: the numbers of samples contradict each other")
        if any(self.edge_frequency(arc) > 1 for arc in self.counts):
            raise DataError("stability: an arc occurs in more structures than there are")

    @property
    def names(self) -> set[str]:
        """The variables of all arcs."""
        return {name for arc in self.counts for name in arc}

    def frequency(self, arc: Arc) -> float:
        """The share of the structures that have an arc."""
        return self.counts.get(arc, 0) / self.resamples

    def edge_frequency(self, arc: Arc) -> float:
        """The share of the structures that have an arc between two variables, in any direction."""
        # No structure has both directions.
        return self.frequency(arc) + self.frequency((arc[1], arc[0]))

    def to_frame(self) -> pd.DataFrame:
        """One line per arc that occurs, the most frequent edge first."""
        frame = pd.DataFrame(
            [
                {
                    "parent": arc[0],
                    "child": arc[1],
                    "frequency": self.frequency(arc),
                    "edge_frequency": self.edge_frequency(arc),
                }
                for arc in self.counts
            ],
            columns=["parent", "child", "frequency", "edge_frequency"],
        )
        order = ["edge_frequency", "frequency"]
        return frame.sort_values(order, ascending=False, kind="stable", ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for model files."""
        return {**vars(self), "counts": [[*arc, k] for arc, k in self.counts.items()]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Stability:
        """The inverse of :meth:`to_dict`."""
        counts = {(p, c): int(k) for p, c, k in content["counts"]}
        return cls(**{**known_entries(cls, content), "counts": counts})
