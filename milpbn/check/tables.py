"""Counts, tables and scores, from the codes of the rows by the definitions of the scores.

Codes are those of all views, see :mod:`milpbn.check.space`: a family that sees a variable in
coarser states has a smaller table, and the rows look it up at these states.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from milpbn.check.schema import COUNT, finite, need, typed
from milpbn.check.space import Floats, Ints, Space

UNIT = 2.0**-53
"""The largest relative error of one operation in double precision."""

# What is left of a sum of weights, relative to it, after all of its parts are taken away.
_ROUNDING = 1e-9
_MOST_UNITS = 10_000_000
# Settings that are numbers.
_LARGEST = 1e15
# Entries of tables that are looked up at once.
_BLOCK = 2**21


def _sums(key: Ints, weight: Floats, size: int = 0) -> Floats:
    """The sum of the weights of each key."""
    return np.bincount(key, weight, size).astype(np.float64)


def _minus(counts: Floats, taken: Floats | float) -> Floats:
    """Counts after some are taken away; zero if only rounding is left."""
    left = counts - taken
    return np.where(left > _ROUNDING * counts, left, 0.0)


def _log_of_sum(a: Floats, b: Floats) -> Floats:
    """log(exp(a) + exp(b)); the smaller summand may vanish, which is less than rounding."""
    with np.errstate(under="ignore"):
        return np.logaddexp(a, b)


def _estimator(smoothing: str) -> Any:
    """log theta from n[x, h], n[h] and the number of states of x."""
    name, _, value = typed(smoothing, str, "smoothing").partition(":")
    number = finite(value, "the number of the smoothing")
    need(0.0 < number <= _LARGEST, "the number of the smoothing is out of range")
    if name == "laplace":
        return lambda n, total, r: np.log((n + number) / (total + number * r))
    need(name == "epsilon", f"unknown smoothing {smoothing}")

    def epsilon(n: Floats, total: Floats, r: int) -> Floats:
        theta = np.divide(n, total, out=np.zeros_like(n), where=np.broadcast_to(total > 0, n.shape))
        return np.log(np.where(theta > 0, theta, number))

    return epsilon


def _number(value: Any, name: str) -> float:
    """A setting that is a number and not negative."""
    number: float = typed(value, float, name)
    need(0.0 <= number <= _LARGEST, f"{name} is {number:g}, which cannot be")
    return number


def _divided(codes: Ints, weight: Floats, folds: int, seed: int) -> tuple[Ints, Floats, Ints]:
    """Rows divided into folds by units of weight 1, as the score is defined; the fold of each."""
    size = max(1.0, float(weight.sum()) / _MOST_UNITS)
    number = np.maximum(np.ceil(weight / size * (1 - _ROUNDING)), 1).astype(np.int64)
    row = np.repeat(np.arange(len(weight)), number)
    unit = np.full(len(row), size)
    unit[np.cumsum(number) - 1] = weight - (number - 1) * size
    fold = np.random.default_rng(seed).permutation(np.arange(len(row), dtype=np.int64) % folds)
    there, key = np.unique(row * folds + fold, return_inverse=True)
    return codes[there // folds], _sums(key, unit), there % folds


class ScoreTables:
    """A score of structures, and how large its numbers and their errors are.

    Attributes
    ----------
    codes, weight
        The rows that have margins, and their weights.
    gamma
        The most that a row can score: the hinge, or 0 for a conditional log-likelihood.
    row_size, row_terms
        The largest constant of a row in a cut, and the number of terms that it is a sum of.
    costs, cost_error
        What each family adds to the score, and the error of these numbers.
    reach, entry_error
        The largest margin of a family, and its error.
    """

    codes: Ints
    weight: Floats
    costs: Floats
    gamma = row_size = reach = entry_error = cost_error = 0.0
    row_terms = 1

    def value(self, chosen: Sequence[int]) -> float:
        """The score of a structure."""
        return float(self.costs[list(chosen)].sum())

    def gain(self, f: int, g: int) -> float:
        """What a family can score more than another of its variable, in any structure."""
        return float(self.costs[f] - self.costs[g])


class MarginTables(ScoreTables):
    """Tables of a score of margins: alpha(f, u, c) = own[f, u, class of u] - other[f, u, c].

    Entry (cell, class) of a family has the joint state of its features as its cell. Families
    without the class have the empty cell 0: they change no margin.
    """

    def __init__(self, space: Space, codes: Ints, weight: Floats, settings: Mapping[str, Any]):
        self.soft, validation = settings["score"] == "cll", settings.get("validation")
        self.gamma = 0.0 if self.soft else _number(settings["gamma"], "gamma")
        self.fold, self.n_folds = np.zeros(len(codes), dtype=np.int64), 1
        if type(validation) is int:
            seed = typed(settings["fold_seed"], COUNT, "fold_seed")
            self.n_folds = typed(validation, range(2, 2**31), "validation")
            codes, weight, self.fold = _divided(codes, weight, validation, seed)
        else:
            need(validation is None or validation == "loo", "validation is unknown")
        self.codes, self.weight, self.n_classes = codes, weight, space.cards[0]
        self.binary = settings["score"] == "sbm"
        # The entropy of a row is at most log(classes).
        self.row_size = math.log(self.n_classes) if self.soft else self.gamma
        self.row_terms = self.n_classes
        self._estimate, self._loo = _estimator(settings["smoothing"]), validation == "loo"
        penalty = settings.get("penalty", 0.0)
        bic = type(penalty) is str and penalty == "bic"
        price = 0.5 * math.log(max(weight.sum(), 1.0)) if bic else _number(penalty, "penalty")
        self.costs = -price * space.use["parameters"]
        self._place(space)
        top = max(np.abs(self.own).max(), np.abs(self.other).max())
        # A sum over states, three operations and a logarithm; an entry may be a difference of two.
        self.entry_error = (64 + 4 * max(space.cards)) * UNIT * (1.0 + top)
        self.reach = 2.0 * (top + self.entry_error)
        self.cost_error = 32 * UNIT * float(np.abs(self.costs).max())

    def _place(self, space: Space) -> None:
        n_f = len(space.families)
        width = 1 + int(space.contains.sum(axis=1).max())
        self._variable = np.zeros((n_f, width), dtype=np.int64)
        self._stride = np.zeros((n_f, width), dtype=np.int64)
        self._base, self._cells = np.zeros(n_f, dtype=np.int64), np.zeros(n_f, dtype=np.int64)
        used, largest = 1, 0
        for f, (child, parents) in enumerate(space.families):
            if child > 0 and 0 not in parents:
                continue
            key = [p for p in parents if p > 0] + ([child] if child > 0 else [])
            cells = 1
            for j, v in reversed(list(enumerate(key))):
                self._variable[f, j], self._stride[f, j] = v, cells
                cells *= space.cards[v]
            self._base[f], self._cells[f] = used, cells
            used, largest = used + self.n_folds * cells, max(largest, self.n_folds * cells)
        # Two tables, and on the way to those of a family six more.
        need(
            8 * (2 * used + 6 * largest) * self.n_classes <= space.memory_limit,
            f"the tables need more than {space.memory_limit / 2**30:.1f} GiB, the memory limit",
        )
        own, other = np.zeros((used, self.n_classes)), np.zeros((used, self.n_classes))
        for f in np.flatnonzero(self._cells).tolist():
            child, cells = space.families[f][0], int(self._cells[f])
            at = slice(self._base[f], self._base[f] + self.n_folds * cells)
            mine, theirs = self._tables(f, cells, space.cards[child] if child > 0 else None)
            own[at], other[at] = mine.reshape(own[at].shape), theirs.reshape(own[at].shape)
        self.own, self.other = own.ravel(), other.ravel()

    def _tables(self, f: int, cells: int, states: int | None) -> tuple[Floats, Floats]:
        """The entries of the rows' own classes and of their competitors."""
        place = self.cell(np.array([f]), np.arange(len(self.codes)))[0] - self._base[f]
        size = self.n_folds * cells * self.n_classes
        counts = _sums(place * self.n_classes + self.codes[:, 0], self.weight, size)
        counts = counts.reshape(self.n_folds, cells, self.n_classes)
        if self.n_folds > 1:
            counts = _minus(counts.sum(axis=0, keepdims=True), counts)
        if states is not None:  # the class is a parent
            counts = counts.reshape(self.n_folds, cells // states, states, self.n_classes)
        axis, r = (-1, self.n_classes) if states is None else (-2, states)
        if not self.binary:
            return self._own(counts, axis, r), self._others(counts, axis, r)
        # The class against the rest of the classes together.
        rest = _minus(counts.sum(axis=-1, keepdims=True), counts)
        if states is None:
            both = np.stack([counts, rest], axis=-1)
            ratio: Floats = self._own(both, -1, 2)[..., 0] - self._others(both, -1, 2)[..., 1]
        else:
            theirs = self._estimate(rest, rest.sum(axis=-2, keepdims=True), r)
            ratio = self._own(counts, -2, r) - theirs
        return ratio, np.zeros_like(ratio)

    def _own(self, n: Floats, axis: int, r: int) -> Floats:
        """log theta, without the row itself if one is left out."""
        total = n.sum(axis=axis, keepdims=True)
        if self._loo:
            taken = 1.0 if axis == -1 else np.minimum(n, 1.0)
            n, total = _minus(n, 1.0), _minus(total, taken)
        out: Floats = self._estimate(n, total, r)
        return out

    def _others(self, n: Floats, axis: int, r: int) -> Floats:
        total = n.sum(axis=axis, keepdims=True)
        if self._loo and axis == -1:
            total = _minus(total, 1.0)
        out: Floats = self._estimate(n, total, r)
        return out

    def cell(self, families: Ints, rows: Ints) -> Ints:
        """Where rows look up families, ``(families, rows)``."""
        out: Ints = self._base[families, None] + self._cells[families, None] * self.fold[rows]
        for j in range(self._variable.shape[1]):
            values = self.codes[rows[None, :], self._variable[families, j, None]]
            out += values * self._stride[families, j, None]
        return out

    def alpha(self, families: Ints, rows: Ints, against: Ints) -> Floats:
        """The margins of rows against given classes, by family."""
        cell = self.cell(families, rows) * self.n_classes
        out: Floats = self.own[cell + self.codes[rows, 0]] - self.other[cell + against]
        return out

    def slopes(self, rows: Ints, against: Ints, weight: Floats) -> Floats:
        """``sum_u weight_u alpha(f, u, against_u)`` of every family."""
        out, step = np.empty(len(self._base)), max(1, _BLOCK // max(len(rows), 1))
        for at in range(0, len(out), step):
            block = np.arange(at, min(at + step, len(out)))
            out[block] = self.alpha(block, rows, against) @ weight
        return out

    def competitors(self) -> Iterator[tuple[Ints, Ints]]:
        """Rows, and a class that each is compared with, until all have been."""
        for c in range(1 if self.binary else self.n_classes):
            rows = np.flatnonzero(self.binary | (self.codes[:, 0] != c))
            yield rows, np.full(len(rows), c)

    def value(self, chosen: Sequence[int]) -> float:
        """See :class:`ScoreTables`."""
        row = np.full(len(self.codes), self.gamma)
        for rows, against in self.competitors():
            margins = self.alpha(np.array(chosen), rows, against).sum(axis=0)
            # The sum of exponentials of a row, here minus its logarithm, begins with its own class.
            soft = -_log_of_sum(-row[rows], -margins) if self.soft else margins
            row[rows] = np.minimum(row[rows], soft)
        return float(self.weight @ row) + super().value(chosen)

    def gain(self, f: int, g: int) -> float:
        """See :class:`ScoreTables`.

        If no margin of a row rises by more than delta >= 0, neither does what the row scores: for
        the hinge and for -log(1 + sum of exp(-margin)).
        """
        most = np.zeros(len(self.codes))
        for rows, against in self.competitors():
            both = self.alpha(np.array([f, g]), rows, against)
            most[rows] = np.maximum(most[rows], both[0] - both[1])
        return float(self.weight @ most) + super().gain(f, g)


class FamilyCosts(ScoreTables):
    """A decomposable score: one cost per family, and no rows."""

    def __init__(self, space: Space, codes: Ints, weight: Floats, settings: Mapping[str, Any]):
        self.codes, self.weight = codes[:0], weight[:0]
        total, self.costs = float(weight.sum()), np.empty(len(space.families))
        bdeu, price = settings["score"] == "bdeu", 0.5 * math.log(max(total, 1.0))
        ess = _number(settings["ess"], "ess") if bdeu else 0.0
        need(ess > 0.0 or not bdeu, "ess is 0")
        need(not bdeu or len(space.cards) == space.n, "BDeu has no prior for several resolutions")

        def counts(child: int, parents: Sequence[int]) -> Floats:
            key, q, r = np.zeros(len(codes), np.int64), 1, space.cards[child]
            for p in parents:
                key, q = key * space.cards[p] + codes[:, p], q * space.cards[p]
            need(8 * q * r <= space.memory_limit, "a table needs more than the memory limit")
            return _sums(key * r + codes[:, child], weight, q * r).reshape(q, r)

        for f, (child, parents) in enumerate(space.families):
            n, finest = counts(child, parents), space.finest[space.child[f]]
            # The finest states have shares of the coarse ones, which are parameters, too.
            shares = [] if finest == child else [_log_likelihood(counts(finest, [child]))]
            free = space.use["parameters"][f] + space.cards[finest] - space.cards[child]
            mdl = [_log_likelihood(n), *shares, np.array([-price * free])]
            terms = _bdeu(n, ess) if bdeu else np.concatenate(mdl)
            self.costs[f] = terms.sum()
            # Logarithms and logarithms of gamma functions are accurate to 64 units or better.
            size = (np.abs(terms).sum() + total) * (1 + len(terms) / 32)
            error = 64 * UNIT * (4 * len(terms) + size)
            self.cost_error = max(self.cost_error, float(error))


def _log_likelihood(n: Floats) -> Floats:
    """Terms of sum n[x, h] log(n[x, h] / n[h])."""
    counts, sums = n[n > 0], n.sum(axis=1)
    sums = sums[sums > 0]
    return np.concatenate([counts * np.log(counts), -sums * np.log(sums)])


def _bdeu(n: Floats, ess: float) -> Floats:
    """Terms of the logarithms of Gamma(a[x, h] + n[x, h]) / Gamma(a[x, h]), and so on for h."""
    (q, r), sums = n.shape, n.sum(axis=1)
    pairs = [(ess / q, ess / q + s) for s in sums[sums > 0].tolist()]
    pairs += [(ess / (q * r) + x, ess / (q * r)) for x in n[n > 0].tolist()]
    return np.array([term for a, b in pairs for term in (math.lgamma(a), -math.lgamma(b))])
