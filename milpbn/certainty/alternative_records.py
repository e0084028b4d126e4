"""Sets of good structures: how they differ, how often each arc occurs, what is not in the set."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from milpbn.encoding import Encoder
from milpbn.explanation.resolutions import SeenResolutions
from milpbn.schema import known_entries
from milpbn.structure import Structure
from milpbn.words import count

Arc = tuple[str, str]


@dataclass(frozen=True)
class Alternative:
    """One structure of the set.

    Attributes
    ----------
    score
        Its score.
    structure
        The structure.
    group
        A number for its equivalence class: structures with the same number have the same arcs up to
        directions and encode the same independences.
    test_accuracy
        Share of the test rows that it classifies correctly, if there are any.
    """

    score: float
    structure: Structure
    group: int
    test_accuracy: float | None = None


@dataclass(frozen=True)
class Alternatives:
    """The best structures, the best one first.

    Attributes
    ----------
    most, within
        The limits: at most this many structures, within this fraction of the best score (or None).
    structures
        What was found.
    rest
        No other structure scores more; None if there is no other structure.
    complete
        Whether it is proven, at the usual tolerance, that no structure is missing.
    more
        Whether further structures within the tolerance are not ruled out: `most` was too small, or
        the set is not complete.
    nodes
        Nodes of the search tree.
    """

    most: int
    within: float | None
    structures: tuple[Alternative, ...]
    rest: float | None
    complete: bool
    more: bool = False
    nodes: int = 0

    @property
    def names(self) -> set[str]:
        """The variables of all structures."""
        return {name for s in self.structures for name in s.structure.variables}

    def arc_frequencies(self) -> dict[tuple[str, str], float]:
        """The share of the structures that have an arc, for every arc that one of them has."""
        counts = Counter(arc for s in self.structures for arc in s.structure.arcs)
        return {arc: k / len(self.structures) for arc, k in counts.most_common()}

    def differences(self, k: int) -> tuple[list[Arc], list[Arc]]:
        """The arcs that structure k has and the best one lacks, and those that it lacks."""
        best, other = (set(self.structures[i].structure.arcs) for i in (0, k))
        return sorted(other - best), sorted(best - other)

    def seen_otherwise(self, k: int) -> list[str]:
        """The variables with the parents that they have in the best structure, but seen otherwise.

        That is, in other resolutions.
        """
        best, other = (self.structures[i].structure for i in (0, k))
        changed, parents = best.changes(other)[0], best.to_dict()
        return [name for name, above in changed.items() if above == parents[name]]

    def described(self, k: int, encoder: Encoder) -> tuple[list[Arc], list[Arc], list[str]]:
        """How structure k differs from the best one, with what its families see.

        Returns the arcs that it has and those that it lacks, and the families that only see their
        members in other resolutions.
        """
        own, (added, removed) = self.structures[k].structure, self.differences(k)
        seen, place = SeenResolutions(own, encoder), own.variables.index
        families = dict(zip(own.variables, str(seen).splitlines(), strict=True))
        shown = [seen.arc(own, place(parent), place(child)) for parent, child in added]
        return shown, removed, [families[name] for name in self.seen_otherwise(k)]

    @property
    def accuracy_range(self) -> tuple[float, float] | None:
        """The lowest and the highest accuracy on the test rows."""
        known = [s.test_accuracy for s in self.structures if s.test_accuracy is not None]
        return (min(known), max(known)) if known else None

    def to_frame(self) -> pd.DataFrame:
        """One line per structure."""
        best = self.structures[0].score
        return pd.DataFrame(
            [
                {
                    "score": s.score,
                    "loss": best - s.score,
                    "group": s.group,
                    "arcs": len(s.structure.arcs),
                    "added": len(self.differences(k)[0]),
                    "removed": len(self.differences(k)[1]),
                    "seen_otherwise": len(self.seen_otherwise(k)),
                    "test_accuracy": math.nan if s.test_accuracy is None else s.test_accuracy,
                }
                for k, s in enumerate(self.structures)
            ]
        )

    def __str__(self) -> str:
        n = len(self.structures)
        if not self.complete:
            rest = "?" if self.rest is None else f"{self.rest:.6f}"
            return f"{count(n, 'structure')} found; others may exist that score up to {rest}"
        if self.within is None or self.more:
            more = "" if self.within is None else f"; more may be within {100 * self.within:g} %"
            return f"the {count(n, 'best structure')}, proven{more}"
        return f"{count(n, 'structure')} within {100 * self.within:g} %, proven to be all"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for model files: after the first structure, only what differs from it."""
        first = self.structures[0].structure
        listed = []
        for s in self.structures:
            parents, resolutions = first.changes(s.structure)
            listed.append(
                {
                    "score": s.score,
                    "group": s.group,
                    "test_accuracy": s.test_accuracy,
                    "changes": parents,
                    **({"resolutions": resolutions} if resolutions else {}),
                }
            )
        seen = first.resolutions_to_dict()
        return {
            **{k: v for k, v in vars(self).items() if k != "structures"},
            "best": first.to_dict(),
            **({"best_resolutions": seen} if seen else {}),
            "structures": listed,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Alternatives:
        """The inverse of :meth:`to_dict`."""
        first = Structure.from_dict(content["best"], content.get("best_resolutions"))
        structures = tuple(
            Alternative(
                s["score"],
                first.changed(s["changes"], s.get("resolutions")),
                s["group"],
                s["test_accuracy"],
            )
            for s in content["structures"]
        )
        return cls(**{**known_entries(cls, content), "structures": structures})


def equivalence_key(structure: Structure) -> tuple[frozenset[Any], frozenset[Any]]:
    """Equal for two structures if and only if they encode the same independences.

    They do if they have the same edges and the same pairs of unconnected parents with a common
    child (Verma & Pearl, 1990).

    Examples
    --------
    >>> chain, turned, collider = (
    ...     Structure.from_arcs("abc", arcs)
    ...     for arcs in (["ab", "bc"], ["ba", "bc"], ["ab", "cb"])
    ... )
    >>> equivalence_key(chain) == equivalence_key(turned)
    True
    >>> equivalence_key(chain) == equivalence_key(collider)
    False
    """
    edges = frozenset(
        frozenset((p, child)) for child, parents in enumerate(structure.parents) for p in parents
    )
    colliders = frozenset(
        (pair, child)
        for child, parents in enumerate(structure.parents)
        for pair in combinations(sorted(parents), 2)
        if frozenset(pair) not in edges
    )
    return edges, colliders
