"""Factors for variable elimination: products, sums and maxima, for many rows at once.

They serve to sum out missing features (:mod:`milpbn.network.inference`) and class variables
(:mod:`milpbn.mdc.inference`). All values are logarithms, because long products underflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import scipy

from milpbn._types import FloatArray

# A sum of scaled numbers above this is not affected by underflow.
TINY = 1e-200


@dataclass(frozen=True)
class Factor:
    """A log table per row: axis 0 the rows, then one axis per variable of `scope`."""

    scope: tuple[int, ...]
    values: FloatArray


def multiply(factors: Iterable[Factor]) -> Factor:
    """The product, over the sorted union of the scopes; rows broadcast."""
    scope, aligned = _align(list(factors))
    return Factor(scope, sum(aligned, np.zeros((1,) * (1 + len(scope)))))


def sum_out(factors: Sequence[Factor], variable: int) -> Factor:
    """The product of `factors` with `variable` summed out.

    Each factor is scaled by its largest entry along the variable, so that only small tables
    need exp and log; the large product is plain multiplication. If the sum of the scaled
    products underflows, it is computed in logarithms instead.
    """
    scope, aligned = _align(factors)
    axis = 1 + scope.index(variable)
    tops = [values.max(axis=axis, keepdims=True) for values in aligned]
    # Imported networks may have impossible states: -inf, and -inf - (-inf) is not a number.
    tops = [np.where(np.isneginf(top), 0.0, top) for top in tops]
    product = np.exp(aligned[0] - tops[0])
    for values, top in zip(aligned[1:], tops[1:], strict=True):
        product = product * np.exp(values - top)
    total = product.sum(axis=axis)
    if total.min(initial=1.0) > TINY:
        summed = np.log(total) + sum(tops).squeeze(axis)
    else:
        summed = scipy.special.logsumexp(sum(aligned), axis=axis)
    return Factor(_without(scope, variable), summed)


def max_out(factors: Iterable[Factor], variable: int) -> tuple[Factor, npt.NDArray[np.intp]]:
    """The product maximised over `variable`, and the maximising states (the first, if tied)."""
    product = multiply(factors)
    axis = 1 + product.scope.index(variable)
    reduced = Factor(_without(product.scope, variable), product.values.max(axis=axis))
    return reduced, product.values.argmax(axis=axis)


def cheapest(
    scopes: Sequence[Iterable[int]], left: Iterable[int], cards: Sequence[int]
) -> tuple[int, int]:
    """The variable whose elimination makes the smallest table, and that table's cells."""

    def cells(variable: int) -> int:
        return prod(cards[v] for v in {v for s in scopes if variable in s for v in s})

    best = min(left, key=lambda v: (cells(v), v))
    return best, cells(best)


def expectation(belief: Factor, factor: Factor, kept: int) -> FloatArray:
    """The mean of `factor` under a distribution, for each row and each state of `kept`.

    The values of `belief` are probabilities, not logarithms. Its scope contains `kept` and the
    scope of `factor`. Cells of probability 0 do not count, whatever the factor is there.
    """
    scope, (weights, values) = _align([belief, factor])
    product = weights * np.where(weights > 0, values, 0.0)
    axes = tuple(1 + k for k, v in enumerate(scope) if v != kept)
    out: FloatArray = product.sum(axis=axes)
    return out


def marginal(belief: Factor, scope: Iterable[int]) -> Factor:
    """The probabilities of `belief` summed over the variables that are not in `scope`."""
    kept = set(scope)
    axes = tuple(1 + k for k, v in enumerate(belief.scope) if v not in kept)
    return Factor(tuple(v for v in belief.scope if v in kept), belief.values.sum(axis=axes))


def _without(scope: tuple[int, ...], variable: int) -> tuple[int, ...]:
    return tuple(v for v in scope if v != variable)


def _align(factors: Sequence[Factor]) -> tuple[tuple[int, ...], list[FloatArray]]:
    """The sorted union of the scopes, and the values with an axis for each of its variables."""
    scope = tuple(sorted({v for f in factors for v in f.scope}))
    aligned = []
    for f in factors:
        order = sorted(f.scope)
        values = f.values.transpose([0, *(1 + f.scope.index(v) for v in order)])
        lengths = dict(zip(order, values.shape[1:], strict=True))
        aligned.append(values.reshape(len(values), *(lengths.get(v, 1) for v in scope)))
    return scope, aligned
