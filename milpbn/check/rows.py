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
from milpbn.check.space import Floats, Ints, Pair, Space
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
        score, self.group = _margins(problem, soft=False), line["group"]
        rows = _rows_of(problem, self.group)
        against, labels = np.array(line["against"], np.int64), score.codes[rows, 0]
        need(against.shape == labels.shape, "a cut has other rows")
        other = (against == 0) if score.binary else (against != labels)
        known = (against < score.n_classes) & other
        right = bool((known | (against < 0)).all())
        need(right, "a row is compared with a class that is not another")
        self._first = int(rows[0])
        self._against = against.astype(np.min_scalar_type(-score.n_classes))
        self.size = 500 + self._against.nbytes

    def coefficients(self, problem: Bounds) -> Floats:
        """See :class:`Row`."""
        below = np.flatnonzero(self._against >= 0)
        against, rows = self._against[below].astype(np.int64), self._first + below
        return -_margins(problem, soft=False).slopes(rows, against, problem.score.weight[rows])

    def rhs(self, problem: Bounds, pairs: frozenset[Pair]) -> float:
        """See :class:`Row`."""
        beyond = self._first + np.flatnonzero(self._against < 0)
        return problem.score.gamma * float(problem.score.weight[beyond].sum())


class SoftRow(Row):
    """T[g] <= sum_u w_u (sum_c q_u(c) d_u(c) - H(q_u)), for any distributions q_u over the classes.

    -log(1 + sum_c exp(-d(c))) is the minimum of sum_c q(c) d(c) - H(q) over all q (Gibbs). Here q
    is about the softmax of minus the margins of the line. Its shares are rounded down to multiples
    of 2^-40, and the row's own class has the rest: so they add up to 1 exactly, and only the
    logarithms of H have rounding errors.
    """

    shape: ClassVar[Mapping[str, Any]] = {"group": COUNT, "margins": [range(1 - 2**15, 2**15)]}

    def __init__(self, line: Mapping[str, Any], problem: Bounds) -> None:
        score, self.group = _margins(problem, soft=True), line["group"]
        rows, others = _rows_of(problem, self.group), score.n_classes - 1
        need(len(line["margins"]) == len(rows) * others, "a cut has other rows")
        self._first = int(rows[0])
        self._margins = np.array(line["margins"], np.int16).reshape(len(rows), others)
        self.size = 500 + self._margins.nbytes

    def _shares(self) -> Floats:
        """q of the other classes in ascending order."""
        exponent = -self._margins / _STEPS
        top = np.maximum(exponent.max(axis=1, keepdims=True), 0.0)
        raised = np.exp(exponent - top)
        shares = raised / (raised.sum(axis=1, keepdims=True) + np.exp(-top))
        out: Floats = np.floor(shares * _SHARE) / _SHARE
        need(bool((out.sum(axis=1) <= 1.0).all()), "shares of classes are more than 1")
        return out

    def coefficients(self, problem: Bounds) -> Floats:
        """See :class:`Row`."""
        score, shares = _margins(problem, soft=True), self._shares()
        out = np.zeros(len(problem.space.families))
        labels = score.codes[self._first : self._first + len(shares), 0]
        for j in range(shares.shape[1]):
            here = np.flatnonzero(shares[:, j])
            rows = self._first + here
            against = j + (j >= labels[here]).astype(np.int64)
            out -= score.slopes(rows, against, score.weight[rows] * shares[here, j])
        return out

    def rhs(self, problem: Bounds, pairs: frozenset[Pair]) -> float:
        """See :class:`Row`."""
        shares = self._shares()
        every = np.column_stack([1.0 - shares.sum(axis=1), shares])
        entropy = -(every * np.log(np.where(every > 0, every, 1.0))).sum(axis=1)
        weight = problem.score.weight[self._first : self._first + len(shares)]
        return -float(weight @ entropy)


# Margins are in units of one over _STEPS, shares in units of one over _SHARE.
_STEPS, _SHARE = 2.0**10, 2.0**40


def _margins(problem: Bounds, *, soft: bool) -> MarginTables:
    if not isinstance(problem.score, MarginTables):
        raise CertificateError("a sum of costs has no cuts")
    need(problem.score.soft == soft, "a cut is that of another score")
    return problem.score


def _rows_of(problem: Bounds, group: int) -> Ints:
    need(group < len(problem.group_weight), "a cut has a group that does not exist")
    return np.arange(*problem.first_row[group : group + 2])


class ClusterRow(Row):
    """In a set K, at most \\|K\\| - k members have k or more parents inside.

    The first k members in a topological order have fewer.
    """

    shape: ClassVar[Mapping[str, Any]] = {"members": [COUNT], "k": COUNT}

    def __init__(self, line: Mapping[str, Any], problem: Bounds) -> None:
        members, self._k = line["members"], line["k"]
        right = len(set(members)) == len(members) and 1 <= self._k <= len(members)
        need(right and max(members) < problem.space.n, "this is not a cluster")
        self._members = np.array(members, np.int32)
        self.size = 500 + self._members.nbytes

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
        witnesses = line["witnesses"]
        need(len(witnesses) == problem.space.n - 1, "a feature has no witness")
        need(max(witnesses, default=0) < problem.space.n, "a witness does not exist")
        self._witnesses = np.array([-1, *witnesses], np.int32)
        self.size = 500 + self._witnesses.nbytes
        _limit(problem.space, "features")

    def coefficients(self, problem: Bounds) -> Floats:
        """See :class:`Row`."""
        space = problem.space
        counted = space.touches & (self._witnesses == space.child[:, None])
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
    "soft": SoftRow,
    "cluster": ClusterRow,
    "features": FeaturesRow,
    "budget": BudgetRow,
    "pair": PairRow,
}


def read_row(line: Mapping[str, Any], problem: Bounds) -> Row:
    """The row that a line defines."""
    kind = KINDS[typed(line.get("kind"), frozenset(KINDS), "kind")]
    return kind(typed(line, {"row": COUNT, "kind": str, **kind.shape}, "the row"), problem)
