"""Class probabilities, exact also when features are missing.

Rows are grouped by which features are missing. Tables without a missing variable
are looked up; the others are factors over the missing variables, which are summed
out one at a time (variable elimination), for all rows of the group at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from milpbn.errors import DataError
from milpbn.network.network import Codes, FloatArray, Network

_ROWS_AT_ONCE = 2048
_CLASS = 0


def log_joint(network: Network, features: Codes) -> FloatArray:
    """``(M, |C|)``: log P(c, observed features) for every row and class.

    Parameters
    ----------
    network
        The classifier.
    features
        ``(M, n - 1)`` codes in the order of ``network.variables[1:]``; negative
        codes are missing and are summed out.
    """
    features = np.asarray(features)
    n = len(network.variables) - 1
    if features.ndim != 2 or features.shape[1] != n:
        raise DataError(f"expected {n} feature codes a row, got an array {features.shape}")
    out = np.empty((len(features), network.n_classes))
    patterns, group = np.unique(features < 0, axis=0, return_inverse=True)
    for g, pattern in enumerate(patterns):
        members = np.flatnonzero(group.ravel() == g)
        missing = frozenset((np.flatnonzero(pattern) + 1).tolist())
        for start in range(0, len(members), _ROWS_AT_ONCE):
            part = members[start : start + _ROWS_AT_ONCE]
            # Codes with a dummy class in front, so that columns match variables.
            codes = np.column_stack([np.zeros(len(part), dtype=features.dtype), features[part]])
            out[part] = _log_joint_of_pattern(network, codes, missing)
    return out


def log_posterior(network: Network, features: Codes) -> FloatArray:
    """``(M, |C|)``: log P(c | observed features)."""
    joint = log_joint(network, features)
    out: FloatArray = joint - logsumexp(joint, axis=1, keepdims=True)
    return out


def predict(network: Network, features: Codes) -> npt.NDArray[np.intp]:
    """The most probable class of every row (the first of equals)."""
    best: npt.NDArray[np.intp] = log_joint(network, features).argmax(axis=1)
    return best


def accuracy(network: Network, codes: Codes) -> float:
    """Share of rows (class code first) whose class is predicted; unknown labels are errors."""
    return float(np.mean(predict(network, codes[:, 1:]) == codes[:, 0]))


@dataclass(frozen=True)
class _Factor:
    """A log table per row: axis 0 the rows, then one axis per variable of `scope`."""

    scope: tuple[int, ...]
    values: FloatArray


def _log_joint_of_pattern(network: Network, codes: Codes, missing: frozenset[int]) -> FloatArray:
    total = np.zeros((len(codes), network.n_classes))
    factors = []
    for i in range(len(network.variables)):
        factor = _restrict(network, i, codes, missing)
        if missing.isdisjoint(factor.scope):
            # (rows, 1) or (rows, |C|): the class is the only variable left.
            total += factor.values.reshape(len(codes), -1)
        else:
            factors.append(factor)
    left = set(missing)
    while left:
        variable = min(left, key=lambda v: (_cost(network, factors, v), v))
        left.remove(variable)
        touching = [f for f in factors if variable in f.scope]
        factors = [f for f in factors if variable not in f.scope]
        factor = _sum_out(touching, variable)
        if set(factor.scope) <= {_CLASS}:
            total += factor.values.reshape(len(codes), -1)
        else:
            factors.append(factor)
    return total


def _restrict(network: Network, i: int, codes: Codes, missing: frozenset[int]) -> _Factor:
    """The log table of variable i at each row's observed values."""
    scope = network.scope(i)
    free = tuple(v for v in scope if v == _CLASS or v in missing)
    ndim = 1 + len(free)
    index: list[Codes] = []
    for v in scope:
        shape = [1] * ndim
        if v in free:
            shape[1 + free.index(v)] = network.variables[v].card
            index.append(np.arange(network.variables[v].card).reshape(shape))
        else:
            shape[0] = len(codes)
            index.append(codes[:, v].reshape(shape))
    values = network.log_cpts[i][tuple(index)]
    rows = (len(codes), *values.shape[1:])
    return _Factor(free, np.broadcast_to(values, rows))


def _cost(network: Network, factors: list[_Factor], variable: int) -> int:
    """Cells of the table that eliminating `variable` makes."""
    scope = {v for f in factors if variable in f.scope for v in f.scope}
    return prod(network.variables[v].card for v in scope)


def _sum_out(factors: list[_Factor], variable: int) -> _Factor:
    """Multiply `factors` and sum `variable` out, in logs: long products underflow."""
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
    axis = 1 + scope.index(variable)
    largest = product.max(axis=axis, keepdims=True)
    summed = np.log(np.exp(product - largest).sum(axis=axis)) + largest.squeeze(axis)
    return _Factor(tuple(v for v in scope if v != variable), summed)
