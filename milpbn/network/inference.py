"""Class probabilities, exact also with missing features.

Complete rows are look-ups. In a forest of features, missing features are summed out row by
row (see :mod:`milpbn.network.forest`). Otherwise rows are grouped by their missing features.
Tables without a missing variable are looked up; the others are factors over the missing
variables, which are summed out one at a time (variable elimination) for all rows of a group.
A missing variable without observed descendants sums to one and is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy

from milpbn._types import BoolArray, Codes, FloatArray
from milpbn.errors import DataError
from milpbn.families.candidates import CLASS
from milpbn.network.factors import Factor, cheapest, sum_out
from milpbn.network.forest import Forest
from milpbn.network.multinet import Classifier, Multinet
from milpbn.network.network import Network

_ROWS_AT_ONCE = 2048


def log_joint(network: Classifier, features: Codes) -> FloatArray:
    """``(M, |C|)``: log P(c, observed features) for every row and class.

    Parameters
    ----------
    network
        The classifier: a network or a multinet.
    features
        ``(M, n - 1)`` codes in the order of ``network.variables[1:]``; negative
        codes are missing and are summed out.
    """
    if isinstance(network, Multinet):
        # In the network of a class, the table of the class variable holds the prior of the class.
        return np.concatenate([log_joint(own, features) for own in network.networks], axis=1)
    features = np.asarray(features)
    n = len(network.variables) - 1
    if features.ndim != 2 or features.shape[1] != n:
        raise DataError(f"expected {n} feature codes per row, got an array {features.shape}")
    out = np.empty((len(features), network.n_classes))
    forest, done = by_row(network, features)
    if forest is not None:
        out[done] = forest.log_evidence(features[done]) + class_terms(network, features[done])
    for rows, codes, missing in by_pattern(features, ~done):
        out[rows] = _log_joint_of_pattern(network, codes, missing)
    return out


def by_pattern(
    features: Codes, chosen: BoolArray
) -> Iterator[tuple[npt.NDArray[np.intp], Codes, frozenset[int]]]:
    """The chosen rows in groups with the same missing features.

    Each group comes with its rows, its codes with a dummy class in front, so that columns match
    variables, and the variables that are missing.
    """
    incomplete = (features < 0).any(axis=1)
    groups = [(frozenset[int](), np.flatnonzero(chosen & ~incomplete))]
    if (left := np.flatnonzero(chosen & incomplete)).size:
        patterns, group = np.unique(features[left] < 0, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(group.ravel(), minlength=len(patterns)))
        members = np.split(left[order], ends[:-1])
        missing = (frozenset((np.flatnonzero(p) + 1).tolist()) for p in patterns)
        groups += zip(missing, members, strict=True)
    for missing_ones, rows in groups:
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[start : start + _ROWS_AT_ONCE]
            codes = np.column_stack([np.zeros(len(part), dtype=features.dtype), features[part]])
            yield part, codes, missing_ones


def by_row(network: Network, features: Codes) -> tuple[Forest | None, BoolArray]:
    """The forest of the features, and the incomplete rows that it can sum out."""
    absent = features < 0
    hidden = absent[:, [p - 1 for p in network.structure.parents[CLASS]]].any(axis=1)
    rows: BoolArray = np.logical_and(absent.any(axis=1), ~hidden)
    forest = Forest.of(network) if rows.any() else None
    return forest, np.zeros_like(rows) if forest is None else rows


def class_terms(network: Network, features: Codes) -> FloatArray:
    """``(M, |C|)``: the logarithms of the class's own table; its parents are observed."""
    above_class = network.structure.parents[CLASS]
    index = [features[:, p - 1, None] for p in above_class]
    found = network.look_up(CLASS, [*index, np.arange(network.n_classes)])
    return np.broadcast_to(found, (len(features), network.n_classes))


def log_posterior(network: Classifier, features: Codes) -> FloatArray:
    """``(M, |C|)``: log P(c | observed features); NaN if a row is impossible."""
    joint = log_joint(network, features)
    with np.errstate(invalid="ignore"):
        out: FloatArray = joint - scipy.special.logsumexp(joint, axis=1, keepdims=True)
    return out


def predict(network: Classifier, features: Codes) -> npt.NDArray[np.intp]:
    """The most probable class of each row (the first, if tied)."""
    best: npt.NDArray[np.intp] = log_joint(network, features).argmax(axis=1)
    return best


def accuracy(network: Classifier, codes: Codes) -> float:
    """Fraction of rows (class code first) predicted correctly; unknown labels count as errors."""
    return float(np.mean(predict(network, codes[:, 1:]) == codes[:, 0]))


def _log_joint_of_pattern(network: Network, codes: Codes, missing: frozenset[int]) -> FloatArray:
    total = np.zeros((len(codes), network.n_classes))
    barren = barren_variables(network, missing)
    missing = missing - barren
    factors = []
    for i in range(len(network.variables)):
        if i in barren:
            continue
        factor = restricted(network, i, codes, missing)
        if missing.isdisjoint(factor.scope):
            # (rows, 1) or (rows, |C|): the class is the only variable left.
            total += factor.values.reshape(len(codes), -1)
        else:
            factors.append(factor)
    left, cards = set(missing), [v.card for v in network.variables]
    while left:
        variable, _ = cheapest([f.scope for f in factors], left, cards)
        left.remove(variable)
        factor = sum_out([f for f in factors if variable in f.scope], variable)
        factors = [f for f in factors if variable not in f.scope]
        if set(factor.scope) <= {CLASS}:
            total += factor.values.reshape(len(codes), -1)
        else:
            factors.append(factor)
    return total


def barren_variables(network: Network, missing: frozenset[int]) -> frozenset[int]:
    """Missing variables without observed descendants: they sum to one.

    This holds for normalised tables only; those of epsilon smoothing may not be.
    """
    children = network.structure.children
    barren: set[int] = set()
    for i in reversed(network.structure.order):
        if i in missing and barren.issuperset(children[i]) and network.is_normalised[i]:
            barren.add(i)
    return frozenset(barren)


def restricted(network: Network, i: int, codes: Codes, missing: frozenset[int]) -> Factor:
    """The log table of variable i at each row's observed values."""
    scope = network.scope(i)
    free = tuple(v for v in scope if v == CLASS or v in missing)
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
    values = network.look_up(i, index)
    rows = (len(codes), *values.shape[1:])
    return Factor(free, np.broadcast_to(values, rows))
