"""From counts to the tables of families, many families of the same shape at once.

See :meth:`milpbn.families.counts.FamilyCounts.of` for the axes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from milpbn._types import FloatArray
from milpbn.families.counts import ClassRole
from milpbn.families.smoothing import Smoothing, minus

TableOf = Callable[[Smoothing, ClassRole, FloatArray], FloatArray]
"""The tables from the counts, see the module."""


def log_probabilities(smoothing: Smoothing, kind: ClassRole, counts: FloatArray) -> FloatArray:
    """``log theta``: the families' terms of log P(c, z)."""
    if kind is ClassRole.CHILD:
        return smoothing.log_theta(counts, axis=-1)
    if kind is ClassRole.PARENT:
        return smoothing.log_theta(counts, axis=-2)
    # Without the class among the parents, the term is the same for every class.
    log_theta = smoothing.log_theta(counts.sum(axis=-1, keepdims=True), axis=-2)
    return np.broadcast_to(log_theta, counts.shape)


def others_without_one(smoothing: Smoothing, kind: ClassRole, counts: FloatArray) -> FloatArray:
    """The entries of the classes that a row does not have, without this row."""
    if kind is ClassRole.CHILD:
        return smoothing.without_one(counts, axis=-1)[1]
    return log_probabilities(smoothing, kind, counts)


def own_without_one(smoothing: Smoothing, kind: ClassRole, counts: FloatArray) -> FloatArray:
    """The entries of the row's own class, without this row."""
    if kind is ClassRole.CHILD:
        return smoothing.without_one(counts, axis=-1)[0]
    if kind is ClassRole.PARENT:
        return smoothing.without_own(counts, axis=-2)
    # The same for every class: the margins do not change if the row stays.
    return log_probabilities(smoothing, kind, counts)


def own_against_rest(smoothing: Smoothing, kind: ClassRole, counts: FloatArray) -> FloatArray:
    """Log ratios of each class to the rest of the classes together."""
    return _own_against_rest(smoothing, kind, counts, leave_one_out=False)


def own_against_rest_without_one(
    smoothing: Smoothing, kind: ClassRole, counts: FloatArray
) -> FloatArray:
    """The same with one row of the class less."""
    return _own_against_rest(smoothing, kind, counts, leave_one_out=True)


def _own_against_rest(
    smoothing: Smoothing, kind: ClassRole, counts: FloatArray, leave_one_out: bool
) -> FloatArray:
    if kind is ClassRole.ABSENT:
        return np.zeros_like(counts)
    two = np.stack([counts, minus(counts.sum(axis=-1, keepdims=True), counts)], axis=-1)
    axis = -1 if kind is ClassRole.CHILD else -3
    if not leave_one_out:
        own = rest = smoothing.log_theta(two, axis)
    elif kind is ClassRole.CHILD:
        own, rest = smoothing.without_one(two, axis)
    else:
        # A feature's distribution given the other classes does not contain the row.
        own, rest = smoothing.without_own(two, axis), smoothing.log_theta(two, axis)
    out: FloatArray = own[..., 0] - rest[..., 1]
    return out
