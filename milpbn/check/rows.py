"""The kinds of rows: what each is made from, and why it holds for every structure.

A row is ``coefficients . eta <= rhs``, with ``T[group]`` on the left if it has a group. A kind says
which entries it has, checks them when the row is defined, and computes its coefficients from the
data when they are needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milpbn.check.schema import COUNT, need, typed
from milpbn.check.space import Floats, Pair, Space
from milpbn.check.tables import MarginTables
from milpbn.errors import CertificateError

if TYPE_CHECKING:
    from milpbn.check.bounds import Bounds


class Row(ABC):
    """A row that holds for every structure of every node in which it is used.

    Attributes
    ----------
    shape
        The entries of its line, besides its number and its kind.
    group
        The group of rows whose height is on the left, if there is one.
    size
        Bytes that it takes, roughly.
    """

    shape: ClassVar[Mapping[str, Any]]
    group: int | None = None
    size = 500

    @abstractmethod
    def __init__(self, line: Mapping[str, Any], problem: Bounds) -> None:
        """Check the entries of a line, which have the shape of this kind."""

    @abstractmethod
    def coefficients(self, problem: Bounds) -> Floats:
        """The coefficient of every family."""

    @abstractmethod
    def rhs(self, problem: Bounds, pairs: frozenset[Pair]) -> float:
        """The right-hand side in a node that requires these pairs."""


class CutRow(Row):
    """T[g] <= sum of the margins below the hinge + gamma w(beyond it).

    A row contributes at most each of its margins, and at most gamma.
    """

    shape: ClassVar[Mapping[str, Any]] = {"group": COUNT, "against": [range(-1, 2**31)]}

    def __init__(self, line: Mapping[str, Any], problem: Bounds) -> None:
        score, g = _margins(problem), line["group"]
        need(g < len(problem.group_weight), "a cut has a group that does not exist")
        first, last = problem.first_row[g : g + 2]
        against, labels = np.array(line["against"], np.int64), score.codes[first:last, 0]
        need(against.shape == labels.shape, "a cut has other rows")
        other = (against == 0) if score.binary else (against != labels)
        known = (against < score.n_classes) & other
        right = bool((known | (against < 0)).all())
        need(right, "a row is compared with a class that is not another")
        self.group, self._first = g, int(first)
        self._against = against.astype(np.min_scalar_type(-score.n_classes))
        self.size = 500 + self._against.nbytes

    def coefficients(self, problem: Bounds) -> Floats:
        """See :class:`Row`."""
        below = np.flatnonzero(self._against >= 0)
        against = self._against[below].astype(np.int64)
        return -_margins(problem).slopes(self._first + below, against)

    def rhs(self, problem: Bounds, pairs: frozenset[Pair]) -> float:
        """See :class:`Row`."""
        beyond = self._first + np.flatnonzero(self._against < 0)
        return problem.score.gamma * float(problem.score.weight[beyond].sum())


def _margins(problem: Bounds) -> MarginTables:
    if not isinstance(problem.score, MarginTables):
        raise CertificateError("a sum of costs has no cuts")
    return problem.score


class ClusterRow(Row):
    """In a set K, at most \\|K\\| - k members have k or more parents inside.

    The first k members in a topological order have fewer.
    """

    shape: ClassVar[Mapping[str, Any]] = {"members": [COUNT], "k": COUNT}

    def __init__(self, line: Mapping[str, Any], problem: Bounds) -> None:
        self._members, self._k = line["members"], line["k"]
        right = len(set(self._members)) == len(self._members) and 1 <= self._k <= len(self._members)
        need(right and max(self._members) < problem.space.n, "this is not a cluster")

    def coefficients(self, problem: Bounds) -> Floats:
        """See :class:`Row`."""
        space = problem.space
        inside = np.isin(space.child, self._members)
        counted = inside & (space.contains[:, self._members].sum(axis=1) >= self._k)
        out: Floats = counted.astype(np.float64)
        return out

    def rhs(self, problem: Bounds, pairs: frozenset[Pair]) -> float:
        """See :class:`Row`."""
        return float(len(self._members) - self._k)


class FeaturesRow(Row):
    """A feature in use is used by its witness, or by others as well."""

    shape: ClassVar[Mapping[str, Any]] = {"witnesses": [COUNT]}

    def __init__(self, line: Mapping[str, Any], problem: Bounds) -> None:
        self._witnesses = line["witnesses"]
        need(len(self._witnesses) == problem.space.n - 1, "a feature has no witness")
        need(all(w < problem.space.n for w in self._witnesses), "a witness does not exist")
        _limit(problem.space, "features")

    def coefficients(self, problem: Bounds) -> Floats:
        """See :class:`Row`."""
        witness, space = np.array([-1, *self._witnesses]), problem.space
        counted = space.touches & (witness[None, :] == space.child[:, None])
        out: Floats = counted.sum(axis=1).astype(np.float64)
        return out

    def rhs(self, problem: Bounds, pairs: frozenset[Pair]) -> float:
        """See :class:`Row`."""
        return _limit(problem.space, "features")


class BudgetRow(Row):
    """The arcs, or the free parameters, of all families are within their limit."""

    shape: ClassVar[Mapping[str, Any]] = {"of": frozenset({"arcs", "parameters"})}

    def __init__(self, line: Mapping[str, Any], problem: Bounds) -> None:
        self._of = line["of"]
        _limit(problem.space, self._of)

    def coefficients(self, problem: Bounds) -> Floats:
        """See :class:`Row`."""
        out: Floats = problem.space.use[self._of]
        return out

    def rhs(self, problem: Bounds, pairs: frozenset[Pair]) -> float:
        """See :class:`Row`."""
        return _limit(problem.space, self._of)


def _limit(space: Space, name: str) -> float:
    most = space.limits[name]
    need(most is not None, f"the number of {name} has no limit")
    return float(most or 0)


class PairRow(Row):
    """Where a pair is required, one of the families that join it is chosen."""

    shape: ClassVar[Mapping[str, Any]] = {"pair": (COUNT, COUNT)}

    def __init__(self, line: Mapping[str, Any], problem: Bounds) -> None:
        self._pair = line["pair"]
        problem.space.joining(self._pair)

    def coefficients(self, problem: Bounds) -> Floats:
        """See :class:`Row`."""
        return -problem.space.joining(self._pair).astype(np.float64)

    def rhs(self, problem: Bounds, pairs: frozenset[Pair]) -> float:
        """See :class:`Row`."""
        return -1.0 if self._pair in pairs else 0.0


KINDS: Mapping[str, type[Row]] = {
    "cut": CutRow,
    "cluster": ClusterRow,
    "features": FeaturesRow,
    "budget": BudgetRow,
    "pair": PairRow,
}


def read_row(line: Mapping[str, Any], problem: Bounds) -> Row:
    """The row that a line defines."""
    kind = KINDS[typed(line.get("kind"), frozenset(KINDS), "kind")]
    return kind(typed(line, {"row": COUNT, "kind": str, **kind.shape}, "the row"), problem)
