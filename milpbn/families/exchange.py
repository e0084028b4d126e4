"""The cached log-joint of a structure, for exchanging one family at a time.

This is the speed-up of Pernkopf & Bilmes (2010): the joint log-probabilities are cached, an
exchange needs the table of one family only, and rows with the smallest margins come first, so
that a bad candidate is rejected early.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, FloatArray, IntArray
from milpbn.families import kernels
from milpbn.families.candidates import FamilySpace
from milpbn.families.tables import FamilyTables, key_variables


class ExchangeTables:
    """A :class:`FamilyTables` in the layout of the compiled kernels, shared by searches.

    Parameters
    ----------
    tables
        Log-probabilities, or log ratios of the row's class to the rest.
    """

    def __init__(self, tables: FamilyTables) -> None:
        space, ratios = tables.space, tables.ratios
        self.tables = tables
        self.single = ratios or space.n_classes == 2
        self.pointer, self.variable, stride = key_layout(space)
        # Rows of a flat table are n_labels entries apart, those of a padded table one row.
        self.scale = space.n_classes if self.single else 1
        self.stride = stride * np.int32(self.scale)
        self.base = (tables.base[:-1] * self.scale).astype(np.int32)
        own = tables.values if tables.own is None else tables.own
        if self.single:
            margins = own if ratios else own - tables.values[:, ::-1]
            self.exact_values = np.ascontiguousarray(margins).ravel()
            self.values = self.exact_values.astype(np.float32)
        else:
            both = (tables.values,) if tables.own is None else (tables.values, own)
            columns = len(both) * space.n_classes
            self.exact_values = np.hstack(both)
            self.width = 8 * -(-columns // 8)
            self.values = np.zeros((len(tables.values), self.width), dtype=np.float32)
            self.values[:, :columns] = self.exact_values

    def own_columns(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Where rows look up the entry of their own class: after the others, if it differs."""
        if self.single or self.tables.own is None:
            return labels
        return labels + np.int32(self.tables.space.n_classes)

    @cached_property
    def kernel(self):  # type: ignore[no-untyped-def]
        """The compiled loop for this number of classes."""
        if self.single:
            return kernels.one_competitor_kernel
        return kernels.many_classes_kernel(self.width)


def key_layout(space: FamilySpace) -> tuple[IntArray, IntArray, npt.NDArray[np.int32]]:
    """The features of every family's key and their strides, as compiled loops read them.

    Family f has the entries ``pointer[f]:pointer[f + 1]`` of `variable` and `stride`.
    """
    keys = [key_variables(int(i), s) for i, s in zip(space.child, space.parent_sets, strict=True)]
    pointer = np.concatenate([[0], np.cumsum([len(k) for k in keys])]).astype(np.int64)
    variable = np.array([v for key in keys for v in key], dtype=np.int64)
    stride = np.array([s for key in keys for s in _strides(key, space.cards)], dtype=np.int32)
    return pointer, variable, stride


def _strides(key: Sequence[int], cards: Sequence[int]) -> list[int]:
    out, step = [], 1
    for v in reversed(key):
        out.append(step)
        step *= cards[v]
    return out[::-1]


class ExchangeState:
    """The margins of the rows under a structure, and fast scores of exchanges.

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
        self, tables: ExchangeTables, kind: int, families: AnyFamilies, gamma: float = np.inf
    ) -> None:
        self._shared = tables
        self._kind = kind
        self._gamma = min(gamma, float(kernels.FAR))
        self._top = {kernels.HINGE: gamma, kernels.RATE: 1.0, kernels.CLL: 0.0}[kind]
        self.evaluations = 0
        self._order_rows(np.arange(len(tables.tables.rows)))
        self.reset(families)
        self.sort_rows()

    def reset(self, families: AnyFamilies) -> None:
        """Move to another structure and compute its margins."""
        self.families = np.array(families, dtype=np.int64)
        self._margins[:] = self._no_margins
        for f in self.families:
            self._add(self._margins, int(f), 1.0)
        self.value = self._value()

    def sort_rows(self) -> None:
        """Put the rows with the smallest margins first, so that bad candidates fail early."""
        least = self._margins if self._shared.single else self._margins.min(axis=1)
        self._order_rows(self._order[np.argsort(least[: self._n], kind="stable")])
        self.reset(self.families)

    def scores(
        self, variable: int, candidates: npt.ArrayLike, threshold: float = -np.inf
    ) -> FloatArray:
        """The score of the structure with each candidate as the family of `variable`.

        A candidate that cannot reach `threshold` may be abandoned; its score is then -inf.
        """
        candidates = np.asarray(candidates, dtype=np.int64)
        out = np.empty(len(candidates))
        rest = self._margins.copy()
        self._add(rest, int(self.families[variable]), -1.0)
        shared = self._shared
        shared.kernel(
            candidates, shared.pointer, shared.variable, shared.stride, shared.base, self._offset,
            self._codes, shared.values, self._as_kernel_wants(rest), self._own, self._weights32,
            self._remaining, self._kind, np.float32(self._gamma), self._top, threshold, out,
        )  # fmt: skip
        self.evaluations += len(candidates)
        return out

    def exchange(self, variable: int, family: int) -> None:
        """Give `variable` another family; the score is computed in double precision."""
        self._add(self._margins, int(self.families[variable]), -1.0)
        self._add(self._margins, family, 1.0)
        self.families[variable] = family
        self.value = self._value()

    def _order_rows(self, order: npt.NDArray[np.intp]) -> None:
        shared, rows = self._shared, self._shared.tables.rows
        n = self._n = len(rows)
        padded = kernels.BLOCK * -(-n // kernels.BLOCK)
        self._order = order
        self._codes = np.zeros((rows.codes.shape[1], padded), dtype=np.int32)
        self._codes[:, :n] = rows.codes[order].T
        self._labels = np.ascontiguousarray(self._codes[0])
        self._own = shared.own_columns(self._labels)
        self._weights = np.zeros(padded)
        self._weights[:n] = rows.weights[order]
        self._weights32 = self._weights.astype(np.float32)
        self._offset = np.zeros(padded, dtype=np.int32)
        if shared.tables.row_offset is not None:
            self._offset[:n] = shared.tables.row_offset[order] * shared.scale
        done = np.cumsum(self._weights)[kernels.BLOCK - 1 :: kernels.BLOCK]
        self._remaining = done[-1] - done
        self._no_margins = self._start_margins(padded)
        self._margins = self._no_margins.copy()

    def _start_margins(self, padded: int) -> FloatArray:
        """Zero for every competitor, and a large number for the row's class."""
        if self._shared.single:
            return np.zeros(padded)
        margins = np.zeros((padded, self._shared.tables.space.n_classes))
        margins[np.arange(padded), self._labels] = kernels.FAR
        return margins

    def _add(self, margins: FloatArray, family: int, sign: float) -> None:
        shared = self._shared
        add = kernels.add_family_one if shared.single else kernels.add_family_many
        add(
            margins, family, sign, shared.pointer, shared.variable, shared.stride, shared.base,
            self._offset, self._codes, self._own, shared.exact_values,
        )  # fmt: skip

    def _as_kernel_wants(self, margins: FloatArray) -> npt.NDArray[np.float32]:
        if self._shared.single:
            return margins.astype(np.float32)
        padded = np.full((len(margins), self._shared.width), kernels.FAR, dtype=np.float32)
        padded[:, : margins.shape[1]] = margins
        return padded

    def _value(self) -> float:
        value = kernels.value_one if self._shared.single else kernels.value_many
        return float(value(self._margins, self._weights, self._kind, self._gamma))
