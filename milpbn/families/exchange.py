"""The cached log-joint of a structure, for exchanging one family at a time.

This is the speed-up of Pernkopf & Bilmes (2010): the joint log-probabilities are cached, an
exchange needs the table of one family only, and rows with the smallest margins come first, so
that a bad candidate is rejected early. Rows whose margins stay above the hinge whatever the
family are not looked at.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, FloatArray, IntArray
from milpbn.families import kernels
from milpbn.families.moves import take_best
from milpbn.families.passes import divided, is_divided
from milpbn.families.tables import FamilyTables, HardSlopes

# With fewer rows times candidates, bounds on the scores take longer than the scores.
_FEW = 100_000
# Room for rounding in double precision in bounds on the score.
_ROUNDING = 1e-12
# The weights of the family that goes, and of the one that comes.
_EXCHANGE = np.array([-1.0, 1.0])


class ExchangeState:
    """The margins of the rows under a structure, and fast scores of exchanges.

    Parameters
    ----------
    tables
        Log-probabilities, or log ratios of the row's class to the rest.
    kind, gamma
        The row score: ``kernels.HINGE`` with its gamma, ``RATE`` or ``CLL``.
    families
        The structure to begin with.
    """

    def __init__(
        self, tables: FamilyTables, kind: int, families: AnyFamilies, gamma: float = np.inf
    ) -> None:
        self._tables = tables
        self._kind = kind
        self._gamma = min(gamma, float(kernels.FAR))
        self._top = {kernels.HINGE: gamma, kernels.RATE: 1.0, kernels.CLL: 0.0}[kind]
        self._enough = {kernels.HINGE: gamma, kernels.RATE: 0.0, kernels.CLL: np.inf}[kind]
        self.evaluations = 0
        self._pair = np.empty(2, dtype=np.int64)
        self._columns = (0,) * tables.width
        self._order_rows(np.arange(len(tables.rows)))
        self.reset(families)
        self.sort_rows()

    def reset(self, families: AnyFamilies) -> None:
        """Move to another structure and compute its margins."""
        self.families = np.array(families, dtype=np.int64)
        self._margins[:] = self._no_margins
        self._tables.ensure(self.families)
        self._add(self.families, np.ones(len(self.families)))
        self._known: float | None = None
        self._slopes: HardSlopes | None = None

    @property
    def value(self) -> float:
        """The score of the structure, in double precision."""
        if self._known is None:
            score = kernels.value_one if self._tables.single else kernels.value_many
            self._known = float(score(self._margins, self._weights, self._kind, self._gamma))
        return self._known

    def sort_rows(self) -> None:
        """Put the rows with the smallest margins first, so that bad candidates fail early."""
        least = self._margins if self._tables.single else self._margins.min(axis=1)
        self._order_rows(self._order[np.argsort(least[: self._n], kind="stable")])
        self.reset(self.families)

    def scores(
        self, variable: int, candidates: npt.ArrayLike, threshold: float = -np.inf
    ) -> FloatArray:
        """The score of the structure with each candidate as the family of `variable`.

        A candidate that cannot reach `threshold` may be abandoned; its score is then -inf.
        """
        candidates = np.asarray(candidates, dtype=np.int64)
        if not self._have_tables(variable, candidates):
            halves = np.array_split(candidates, 2)
            return np.concatenate([self.scores(variable, h, threshold) for h in halves])
        out = np.full(len(candidates), -np.inf)
        left = self._promising(variable, candidates, threshold)
        out[left] = self._scores(variable, candidates[left], threshold)
        return out

    def take_best(self, variable: int, candidates: npt.ArrayLike, threshold: float) -> bool:
        """Exchange the family of `variable` for its best candidate, if that scores more.

        See the function :func:`take_best`; this is the same in one compiled call.
        """
        candidates = np.asarray(candidates, dtype=np.int64)
        tables, now = self._tables, int(self.families[variable])
        is_long = is_divided(len(candidates), self._n, tables.space.threads)
        if is_long or not self._have_tables(variable, candidates):
            return take_best(self, variable, candidates, threshold)
        candidates = candidates[self._promising(variable, candidates, threshold)]
        if len(candidates) == 0:
            return False
        self.evaluations += len(candidates)
        exchange = kernels.exchange_one if tables.single else kernels.exchange_many
        pick, value = exchange(
            now, candidates, tables.key, tables.cards, tables.base, self._fold, self._codes,
            self._own, tables.exact, tables.fast, tables.fall, self._margins, self._rest,
            self._least, self._weights, self._weights32, self._block_weights, self._kind,
            self._gamma, self._top, self._enough, threshold, self._columns, self._pair, _EXCHANGE,
            self._blocks, self._remaining, np.empty(len(candidates)),
        )  # fmt: skip
        if pick < 0:
            return False
        before, self._known = self._known, value
        self.families[variable] = candidates[pick]
        if value > threshold:
            self._slopes = None
            return True
        self.exchange(variable, now)
        self._known = before
        return False

    def _have_tables(self, variable: int, candidates: IntArray) -> bool:
        """Count the tables of some candidates if necessary; False if there are too many at once."""
        if self._tables.complete:
            return True
        # Together, because making room for one must not drop the other.
        together = np.append(candidates, self.families[variable])
        if len(candidates) > 1 and not self._tables.fits(together):
            return False
        self._tables.ensure(together)
        return True

    def _promising(self, variable: int, candidates: IntArray, threshold: float) -> IntArray | slice:
        """The places of the candidates that may score `threshold` or more."""
        few = self._n * len(candidates) < _FEW
        if self._kind != kernels.HINGE or threshold == -np.inf or few:
            return slice(None)
        return np.flatnonzero(self._upper_bounds(variable, candidates) >= threshold)

    def _upper_bounds(self, variable: int, candidates: IntArray) -> FloatArray:
        """What each candidate can score at most, because the soft margin is concave."""
        if self._slopes is None:
            self._slopes = self._slopes_here()
        now = self.families[variable : variable + 1]
        slopes = self._slopes.of(self._tables, np.concatenate([now, candidates]))[:, 0]
        out: FloatArray = self.value + slopes[1:] - slopes[0] + _ROUNDING * abs(self.value)
        return out

    def _slopes_here(self) -> HardSlopes:
        """The supergradient at the current structure."""
        least, against = self._margins, self._labels
        if not self._tables.single:
            against = self._margins.argmin(axis=1).astype(np.int32)
            least = self._margins[np.arange(len(against)), against]
        below = np.flatnonzero((least < self._gamma) & (self._weights > 0))
        codes = np.ascontiguousarray(self._codes[:, below])
        return HardSlopes(
            np.array([0, len(below)]),
            self._weights[below],
            self._fold[below],
            codes,
            self._own[below],
            against[below],
        )

    def _scores(self, variable: int, candidates: IntArray, threshold: float) -> FloatArray:
        tables, now = self._tables, self.families[variable]
        self.evaluations += len(candidates)
        rest = kernels.rest_one if tables.single else kernels.rest_many
        rest(
            self._margins, now, tables.key, tables.cards, tables.base, self._fold, self._codes,
            self._own, tables.exact, self._rest, self._least,
        )  # fmt: skip
        out = np.empty(len(candidates))
        n = kernels.open_blocks(
            candidates, tables.fall, self._least, self._block_weights, self._enough, self._top,
            self._blocks, self._remaining, out,
        )  # fmt: skip
        kernel = kernels.score_one if tables.single else kernels.score_many

        def score(part: slice) -> None:
            kernel(
                candidates[part], tables.key, tables.cards, tables.base, self._fold, self._codes,
                tables.fast, self._rest, self._own, self._weights32, self._blocks[:n],
                self._remaining, self._kind, np.float32(self._gamma), self._top, threshold,
                self._columns, out[part],
            )  # fmt: skip

        divided(len(candidates), n * kernels.BLOCK, tables.space.threads, score)
        return out

    def exchange(self, variable: int, family: int) -> None:
        """Give `variable` another family."""
        self._pair[:] = self.families[variable], family
        self._tables.ensure(self._pair)
        self._add(self._pair, _EXCHANGE)
        self.families[variable] = family
        self._known = None
        self._slopes = None

    def _order_rows(self, order: npt.NDArray[np.intp]) -> None:
        tables, rows = self._tables, self._tables.rows
        n = self._n = len(rows)
        padded = kernels.BLOCK * -(-n // kernels.BLOCK)
        self._order = order
        self._codes = np.zeros((tables.codes.shape[0], padded), dtype=tables.codes.dtype)
        np.take(tables.codes, order, axis=1, out=self._codes[:, :n])
        self._labels = self._codes[0].astype(np.int32)
        self._own = tables.own_columns(self._labels)
        self._weights = np.zeros(padded)
        self._weights[:n] = rows.weights[order]
        self._weights32 = self._weights.astype(np.float32)
        self._block_weights = self._weights.reshape(-1, kernels.BLOCK).sum(axis=1)
        self._blocks = np.empty(len(self._block_weights), dtype=np.int64)
        self._remaining = np.empty(len(self._block_weights))
        self._fold = np.zeros(padded, dtype=np.int32)
        self._fold[:n] = tables.fold[order]
        self._no_margins = kernels.no_margins(self._labels, tables.space.n_classes, tables.single)
        self._margins = self._no_margins.copy()
        shape = (padded,) if tables.single else (padded, tables.width)
        self._rest = np.full(shape, kernels.FAR, dtype=np.float32)
        self._least = np.empty(len(self._block_weights), dtype=np.float32)

    def _add(self, families: IntArray, weights: FloatArray) -> None:
        tables = self._tables
        add = kernels.add_families_one if tables.single else kernels.add_families_many
        add(
            self._margins, families, weights, tables.key, tables.cards, tables.base, self._fold,
            self._codes, self._own, tables.exact,
        )  # fmt: skip
