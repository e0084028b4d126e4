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
from milpbn.families.passes import divided
from milpbn.families.tables import FamilyTables, HardSlopes

# Room for rounding in single precision when rows are left out.
_SAFE = 1e-2
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
        self._order_rows(np.arange(len(tables.rows)))
        self.reset(families)
        self.sort_rows()

    def reset(self, families: AnyFamilies) -> None:
        """Move to another structure and compute its margins."""
        self.families = np.array(families, dtype=np.int64)
        self._margins[:] = self._no_margins
        self._tables.ensure(self.families)
        self._add(self.families, np.ones(len(self.families)))
        self.value = self._value()
        self._slopes: HardSlopes | None = None

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
        base, now = self._tables.base, self.families[variable]
        if base[now] < 0 or (base[candidates] < 0).any():
            # Together, because making room for one must not drop the other.
            together = np.append(candidates, now)
            if len(candidates) > 1 and not self._tables.fits(together):
                halves = np.array_split(candidates, 2)
                return np.concatenate([self.scores(variable, h, threshold) for h in halves])
            self._tables.ensure(together)
        self.evaluations += len(candidates)
        few = self._n * len(candidates) < _FEW
        if self._kind != kernels.HINGE or threshold == -np.inf or few:
            return self._scores(variable, candidates, threshold)
        out = np.full(len(candidates), -np.inf)
        left = np.flatnonzero(self._upper_bounds(variable, candidates) >= threshold)
        if len(left):
            out[left] = self._scores(variable, candidates[left], threshold)
        return out

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
        tables = self._tables
        self._take_out(int(self.families[variable]))
        blocks, remaining, closed = self._blocks, self._remaining, 0.0
        if len(blocks) > 1:
            fall = float(tables.fall[candidates].max(initial=0.0))
            open_rows = self._least < self._enough + fall + _SAFE
            blocks = np.flatnonzero(open_rows)
            weights = self._block_weights[blocks]
            remaining = weights.sum() - np.cumsum(weights)
            closed = float(self._block_weights[~open_rows].sum())
        out = np.full(len(candidates), self._top * closed if closed else 0.0)
        kernel = kernels.one_competitor_kernel
        if not tables.single:
            kernel = kernels.many_classes_kernel(tables.width)

        def score(part: slice) -> None:
            kernel(
                candidates[part], tables.key, tables.cards, tables.base, self._fold, self._codes,
                tables.fast, self._rest, self._own, self._weights32, blocks, remaining, self._kind,
                np.float32(self._gamma), self._top, threshold, out[part],
            )  # fmt: skip

        divided(len(candidates), len(blocks) * kernels.BLOCK, tables.space.threads, score)
        return out

    def exchange(self, variable: int, family: int) -> None:
        """Give `variable` another family; the score is computed in double precision."""
        self._pair[:] = self.families[variable], family
        self._tables.ensure(self._pair)
        self._add(self._pair, _EXCHANGE)
        self.families[variable] = family
        self.value = self._value()
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
        self._blocks = np.arange(len(self._block_weights))
        self._remaining = self._block_weights.sum() - np.cumsum(self._block_weights)
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

    def _take_out(self, family: int) -> None:
        """The margins without a family, for the compiled loops."""
        tables = self._tables
        rest = kernels.rest_one if tables.single else kernels.rest_many
        rest(
            self._margins, family, tables.key, tables.cards, tables.base, self._fold, self._codes,
            self._own, tables.exact, self._rest, self._least,
        )  # fmt: skip

    def _value(self) -> float:
        value = kernels.value_one if self._tables.single else kernels.value_many
        return float(value(self._margins, self._weights, self._kind, self._gamma))
