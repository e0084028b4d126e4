"""A structure's cached log-joint, ready to exchange one family.

This is the papers' acceleration behind one object: the joint log-probabilities are
cached, an exchange touches one family's table, and rows are ordered so that those with
the smallest margins come first, where a bad candidate is found out soonest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from milpbn.families import kernels
from milpbn.families.tables import FamilyTables, key_variables

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Families = npt.NDArray[np.integer] | Sequence[int]


class ExchangeTables:
    """The compiled kernels' view of a :class:`FamilyTables`; made once, shared by searches.

    Parameters
    ----------
    tables
        Log-probabilities, or log ratios of own class against the rest.
    single
        One competitor a row: `tables` holds log ratios, or there are two classes.
    """

    def __init__(self, tables: FamilyTables, ratios: bool) -> None:
        space = tables.space
        self.tables = tables
        self.ratios = ratios
        self.single = ratios or space.n_classes == 2
        keys = [
            key_variables(int(i), s) for i, s in zip(space.child, space.parent_sets, strict=True)
        ]
        self.pointer = np.concatenate([[0], np.cumsum([len(k) for k in keys])]).astype(np.int64)
        self.variable = np.array([v for key in keys for v in key], dtype=np.int64)
        # Entries of a flat table are a label apart, rows of a padded one are one apart.
        self.scale = space.n_classes if self.single else 1
        self.stride = np.array(
            [s * self.scale for key in keys for s in _strides(key, space.cards)], dtype=np.int32
        )
        self.base = (tables.base[:-1] * self.scale).astype(np.int32)
        self.width = 8 * -(-space.n_classes // 8)
        self.values = self._single_values() if self.single else self._padded_values()

    def _single_values(self) -> npt.NDArray[np.float32]:
        values = self.tables.values
        if not self.ratios:
            values = values - values[:, ::-1]
        return np.ascontiguousarray(values, dtype=np.float32).ravel()

    def _padded_values(self) -> npt.NDArray[np.float32]:
        values = np.zeros((len(self.tables.values), self.width), dtype=np.float32)
        values[:, : self.tables.space.n_classes] = self.tables.values
        return values

    @cached_property
    def kernel(self):  # type: ignore[no-untyped-def]
        """The compiled loop for this number of classes."""
        if self.single:
            return kernels.one_competitor_kernel
        return kernels.many_classes_kernel(self.width)


def _strides(key: Sequence[int], cards: Sequence[int]) -> list[int]:
    out, step = [], 1
    for v in reversed(key):
        out.append(step)
        step *= cards[v]
    return out[::-1]


class ExchangeState:
    """The rows' log-joint under a current structure, and fast scores of exchanges.

    Parameters
    ----------
    tables
        The kernels' tables.
    kind, gamma
        The row score: ``kernels.HINGE`` with its gamma, ``RATE`` or ``CLL``.
    families
        The structure to begin with.
    """

    def __init__(
        self, tables: ExchangeTables, kind: int, families: Families, gamma: float = np.inf
    ) -> None:
        self._shared = tables
        self._kind = kind
        self._gamma = gamma
        self._top = {kernels.HINGE: gamma, kernels.RATE: 1.0, kernels.CLL: 0.0}[kind]
        self.evaluations = 0
        self.reset(families)

    def reset(self, families: Families) -> None:
        """Move to another structure, and put the rows in the order that suits it."""
        self.families = np.array(families, dtype=np.int64)
        joint = self._shared.tables.total(self.families)
        margins = self._margins(joint, self._shared.tables.rows.labels).min(axis=1)
        self._order_rows(np.argsort(margins, kind="stable"), joint)
        self.value = self._exact_value()

    def scores(
        self, variable: int, candidates: npt.ArrayLike, threshold: float = -np.inf
    ) -> FloatArray:
        """The structure's score with each candidate as family of `variable`.

        A candidate that cannot reach `threshold` may be given up: its score is -inf then.
        """
        candidates = np.asarray(candidates, dtype=np.int64)
        out = np.empty(len(candidates))
        rest = self._rest(variable)
        shared = self._shared
        shared.kernel(
            candidates, shared.pointer, shared.variable, shared.stride, shared.base, self._offset,
            self._codes, shared.values, rest, self._labels, self._weights, self._remaining,
            self._kind, np.float32(min(self._gamma, 1e6)), self._top, threshold, out,
        )  # fmt: skip
        self.evaluations += len(candidates)
        return out

    def exchange(self, variable: int, family: int) -> None:
        """Give `variable` another family; the score is computed in double precision."""
        old = int(self.families[variable])
        self._joint += self._by_row(family) - self._by_row(old)
        self.families[variable] = family
        self.value = self._exact_value()

    def _order_rows(self, order: npt.NDArray[np.intp], joint: FloatArray) -> None:
        shared, rows = self._shared, self._shared.tables.rows
        n, scale = len(rows), shared.scale
        padded = kernels.BLOCK * -(-n // kernels.BLOCK)
        self._n, self._joint = n, joint[order]
        self._codes = np.zeros((rows.codes.shape[1], padded), dtype=np.int32)
        self._codes[:, :n] = rows.codes[order].T
        self._labels = np.ascontiguousarray(self._codes[0])
        self._weights = np.zeros(padded, dtype=np.float32)
        self._weights[:n] = rows.weights[order]
        self._exact_weights = rows.weights[order]
        self._offset = np.zeros(padded, dtype=np.int32)
        if shared.tables.row_offset is not None:
            self._offset[:n] = shared.tables.row_offset[order] * scale
        done = np.cumsum(self._weights, dtype=np.float64)[kernels.BLOCK - 1 :: kernels.BLOCK]
        self._remaining = done[-1] - done

    def _by_row(self, family: int) -> FloatArray:
        """``(U, |C|)`` entries of a family in the current row order."""
        shared, n = self._shared, self._n
        key = np.full(n, shared.base[family], dtype=np.int64) + self._offset[:n]
        for q in range(shared.pointer[family], shared.pointer[family + 1]):
            key += shared.stride[q] * self._codes[shared.variable[q], :n].astype(np.int64)
        values: FloatArray = shared.tables.values[key // shared.scale]
        return values

    def _margins(self, joint: FloatArray, labels: npt.NDArray[np.int32]) -> FloatArray:
        """Margins against every competitor; the own class is far away."""
        at = np.arange(len(joint))
        own = joint[at, labels]
        if self._shared.ratios:
            return own[:, None]
        margins = own[:, None] - joint
        margins[at, labels] = kernels.FAR
        return margins

    def _rest(self, variable: int) -> npt.NDArray[np.float32]:
        """The margins without the family of `variable`, as the kernel wants them."""
        joint = self._joint - self._by_row(int(self.families[variable]))
        margins = self._margins(joint, self._labels[: self._n])
        shape = len(self._weights)
        if self._shared.single:
            rest = np.zeros(shape, dtype=np.float32)
            rest[: self._n] = margins.min(axis=1)
            return rest
        padded = np.full((shape, self._shared.width), kernels.FAR, dtype=np.float32)
        padded[: self._n, : margins.shape[1]] = margins
        return padded

    def _exact_value(self) -> float:
        margins = self._margins(self._joint, self._labels[: self._n])
        return float(self._exact_weights @ row_scores(margins, self._kind, self._gamma))


def row_scores(margins: FloatArray, kind: int, gamma: float) -> FloatArray:
    """Row scores in double precision from ``(U, competitors)`` margins.

    A tie counts as a wrong decision in the classification rate, so that the rate does
    not depend on the order of the classes.
    """
    if kind == kernels.CLL:
        out: FloatArray = -np.log1p(np.exp(-margins).sum(axis=1))
        return out
    least: FloatArray = margins.min(axis=1)
    if kind == kernels.RATE:
        return (least > 1e-9).astype(np.float64)
    return np.minimum(least, gamma)
