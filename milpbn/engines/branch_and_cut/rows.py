"""The rows of a relaxation, kept beside the solver's copy because the safe bound needs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray, IntArray
from milpbn.compiled import jit
from milpbn.engines.branch_and_cut.cuts.clusters import Cluster
from milpbn.engines.branch_and_cut.cuts.concave import ConcaveCut, CutSource
from milpbn.engines.branch_and_cut.cuts.oracle import StructureRow
from milpbn.families.candidates import FamilySpace

Edge = tuple[int, int]
"""Two variables, the smaller first."""

# Number of rows that fit at first; doubled when needed.
_CAPACITY = 64
_NO_GROUP = -1
# A row is in use if it was slack in at most this many solves since it was last tight.
_RECENT = 2
# Columns whose sums stay in the cache.
_BLOCK = 2048
# Sums are divided by at least this.
_TINY = 1e-300

Source = CutSource | StructureRow | Edge | str
"""What a row was made from; the name of a budget for its row. No two rows have the same source."""

Row = tuple[FloatArray, float]
"""The coefficients of a row, and its right-hand side."""


def joining(space: FamilySpace, edge: Edge) -> IntArray:
    """The families that contain an arc between two variables, in either direction."""
    i, j = edge
    forward = (space.child == i) & space.contains[:, j]
    backward = (space.child == j) & space.contains[:, i]
    return np.flatnonzero(forward | backward)


@jit()
def weighted_sum(coefficients, rows, weights):  # type: ignore[no-untyped-def]
    """The sum of some rows, each times its weight, without a copy of these rows."""
    out = np.zeros(coefficients.shape[1])
    for first in range(0, len(out), _BLOCK):
        last = min(first + _BLOCK, len(out))
        for r in rows:
            for k in range(first, last):
                out[k] += weights[r] * coefficients[r, k]
    return out


def _doubled(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array with as many zeros after it; these take no memory before they are changed."""
    out = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


def _group_of(source: Source) -> int:
    return source.group if isinstance(source, CutSource) else _NO_GROUP


class RelaxationRows:
    """Rows ``coefficients . eta <= rhs``, with ``T[group]`` on the left in concave cuts.

    Parameters
    ----------
    n_families, n_groups
        Number of columns eta and T.
    """

    def __init__(self, n_families: int, n_groups: int) -> None:
        self.n_groups = n_groups
        self._sources: list[Source] = []
        self._row_of: dict[Source, int] = {}
        self._permanent = 0
        self._coefficients = np.zeros((_CAPACITY, n_families))
        self._rhs = np.zeros(_CAPACITY)
        self._group = np.zeros(_CAPACITY, dtype=np.int64)
        self._idle = np.zeros(_CAPACITY, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._sources)

    def __contains__(self, source: Source) -> bool:
        return source in self._row_of

    def index(self, source: Source) -> int:
        """The place of the row made from a source."""
        return self._row_of[source]

    def row(self, source: Source) -> Row:
        """A copy of the row made from a source."""
        r = self._row_of[source]
        return self._coefficients[r].copy(), float(self._rhs[r])

    def cuts(self) -> list[ConcaveCut]:
        """All concave cuts."""
        return [
            ConcaveCut(source, -self._coefficients[r])
            for r, source in enumerate(self._sources)
            if isinstance(source, CutSource)
        ]

    def clusters(self) -> list[Cluster]:
        """The clusters of all cluster rows."""
        return [source for source in self._sources if isinstance(source, Cluster)]

    def append(self, coefficients: FloatArray, rhs: float, source: Source) -> None:
        """Add a row at the end."""
        r = len(self)
        if r == len(self._rhs):
            self._coefficients, self._rhs, self._group, self._idle = map(_doubled, self._arrays())
        self._coefficients[r], self._rhs[r], self._idle[r] = coefficients, rhs, 0
        self._group[r] = _group_of(source)
        self._sources.append(source)
        self._row_of[source] = r

    def keep(self) -> None:
        """Make the rows so far permanent: they are never stale."""
        self._permanent = len(self)

    def sources(self, rows: IntArray) -> list[Source]:
        """What some rows were made from."""
        return [self._sources[r] for r in rows.tolist()]

    def of_columns(self, columns: IntArray, first: int = 0) -> FloatArray:
        """The coefficients of some columns, with a row for each row from `first` on."""
        return self._coefficients[first : len(self), columns]

    def equal_weights(self) -> FloatArray:
        """Multipliers of the concave cuts: equal within a group, and 1 in total."""
        out = np.zeros(len(self))
        with_height = np.flatnonzero(self._group[: len(self)] >= 0)
        group = self._group[with_height]
        out[with_height] = 1.0 / np.bincount(group, minlength=self.n_groups)[group]
        return out

    @property
    def groups(self) -> IntArray:
        """The group of each row, -1 if it has none."""
        return self._group[: len(self)]

    def change_rhs(self, row: int, rhs: float) -> None:
        """Change the right-hand side of a row."""
        self._rhs[row] = rhs

    def replace(self, rows: dict[Source, Row], idle: dict[Source, int]) -> None:
        """Replace all rows that are not permanent; `idle` has the solves since each was tight."""
        first = self._permanent
        kept = dict.fromkeys(self._sources[:first])
        new = {source: row for source, row in rows.items() if source not in kept}
        last = first + len(new)
        # The new sources last: a run may be interrupted between two steps.
        self._sources, self._row_of = [*kept], {source: r for r, source in enumerate(kept)}
        while len(self._rhs) < last:
            self._coefficients, self._rhs, self._group, self._idle = map(_doubled, self._arrays())
        for r, (coefficients, _) in enumerate(new.values(), start=first):
            self._coefficients[r] = coefficients
        self._rhs[first:last] = [rhs for _, rhs in new.values()]
        self._group[first:last] = list(map(_group_of, new))
        self._idle[first:last] = [idle[source] for source in new]
        self._sources += new
        self._row_of |= zip(new, range(first, last), strict=True)

    @property
    def rhs(self) -> FloatArray:
        """The right-hand side of each row."""
        return self._rhs[: len(self)]

    def delete(self, rows: IntArray) -> None:
        """Remove rows; the others keep their order."""
        keep = np.setdiff1d(np.arange(len(self)), rows)
        first = int(rows.min(initial=len(self)))  # the rows before stay where they are
        sources = [self._sources[r] for r in keep]
        # As in `replace`: the arrays change while only the rows before have sources.
        self._sources = sources[:first]
        for array in self._arrays():
            array[first : len(keep)] = array[keep[first:]]
        self._sources = sources
        self._row_of = {s: r for r, s in enumerate(self._sources)}

    def _arrays(self) -> tuple[npt.NDArray[Any], ...]:
        return self._coefficients, self._rhs, self._group, self._idle

    def note_slack(self, activity: FloatArray, units: FloatArray) -> None:
        """Count the solves since each row was last tight, within a tolerance in its unit."""
        n = len(self)
        slack = self._rhs[:n] - activity > 1e-7 * units
        self._idle[:n] = np.where(slack, self._idle[:n] + 1, 0)

    def idle(self) -> dict[Source, int]:
        """The solves since each row was last tight."""
        return dict(zip(self._sources, self._idle[: len(self)].tolist(), strict=True))

    def in_use(self) -> dict[Source, int]:
        """The same, of rows that were tight in one of the last solves, or have come since."""
        return {source: solves for source, solves in self.idle().items() if solves <= _RECENT}

    def stale(self, patience: int, required: frozenset[Edge]) -> IntArray:
        """Rows not tight in more than `patience` solves, unless permanent or of a required edge."""
        idle = np.flatnonzero(self._idle[: len(self)] > patience)
        idle = idle[idle >= self._permanent]
        return idle[[self._sources[r] not in required for r in idle]]

    def combine(self, y: FloatArray, most: float) -> tuple[FloatArray, FloatArray, float]:
        """The sum of y times the rows: coefficients of eta, coefficients of T, right-hand side.

        The multipliers of a group's cuts are scaled down if they sum to more than `most`.
        """
        group = self._group[: len(self)]
        with_height = np.flatnonzero(group >= 0)
        group = group[with_height]
        heights = np.bincount(group, y[with_height], minlength=self.n_groups)
        scale = most / np.maximum(heights, max(most, _TINY))
        y = y.copy()
        y[with_height] *= scale[group]
        tight = np.flatnonzero(y)
        return (
            weighted_sum(self._coefficients, tight, y),
            np.minimum(heights, most),
            float(y @ self._rhs[: len(self)]),
        )


@dataclass
class Pool:
    """Cuts that are valid for every gamma and penalty, for the same rows and families."""

    cuts: list[ConcaveCut] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    families: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The working set of families that goes with the cuts."""

    def replace(self, other: Pool) -> None:
        """Replace all cuts by those of another pool."""
        self.cuts, self.clusters, self.families = other.cuts, other.clusters, other.families
