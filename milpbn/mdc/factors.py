"""Factors of the class network: what variable elimination multiplies, sums and maximises.

Each row has tables of its own, since base models fill them; so nothing is shared between rows
as it is in :mod:`milpbn.network.inference`. All values are logarithms: long products underflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Factor:
    """A log table per row: axis 0 the rows, then one axis per variable of `scope`."""

    scope: tuple[int, ...]
    values: FloatArray


def multiply(factors: Iterable[Factor]) -> Factor:
    """The product, over the sorted union of the scopes; rows broadcast."""
    factors = list(factors)
    scope = tuple(sorted({v for f in factors for v in f.scope}))
    product = np.zeros((1,) * (1 + len(scope)))
    for f in factors:
        order = sorted(f.scope)
        values = np.moveaxis(
            f.values, [1 + f.scope.index(v) for v in order], range(1, 1 + len(order))
        )
        shape = [
            len(f.values),
            *(values.shape[1 + order.index(v)] if v in order else 1 for v in scope),
        ]
        product = product + values.reshape(shape)
    return Factor(scope, product)


def sum_out(factor: Factor, variable: int) -> Factor:
    """The factor with `variable` summed out."""
    axis = 1 + factor.scope.index(variable)
    largest = factor.values.max(axis=axis, keepdims=True)
    summed = np.log(np.exp(factor.values - largest).sum(axis=axis)) + largest.squeeze(axis)
    return Factor(tuple(v for v in factor.scope if v != variable), summed)


def max_out(factor: Factor, variable: int) -> tuple[Factor, npt.NDArray[np.intp]]:
    """The factor maximised over `variable`, and the maximising states (the first of equals)."""
    axis = 1 + factor.scope.index(variable)
    scope = tuple(v for v in factor.scope if v != variable)
    return Factor(scope, factor.values.max(axis=axis)), factor.values.argmax(axis=axis)


def cheapest(
    scopes: Sequence[Iterable[int]], left: Iterable[int], cards: Sequence[int]
) -> tuple[int, int]:
    """The variable whose elimination makes the smallest table, and that table's cells."""

    def cells(variable: int) -> int:
        return prod(cards[v] for v in {v for s in scopes if variable in s for v in s})

    best = min(left, key=lambda v: (cells(v), v))
    return best, cells(best)
