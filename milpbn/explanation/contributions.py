"""Log-odds as sums of contributions, one per variable.

Let t_i(c) be the terms of :mod:`milpbn.network.terms`, whose sum is L(c) = log P(c, z). The
log-odds of class a against class b are

    L(a) - L(b) = sum over i of t_i(a) - t_i(b).

Against all other classes together, log P(a | z) / (1 - P(a | z)) = L(a) - log sum_b exp L(b), b
over the other classes. Which of them it would be is treated like a missing feature: with the
weights w(b) = P(b | z, not a) and their entropy H(w),

    log sum_b exp L(b) = sum_b w(b) L(b) + H(w),

so the contribution of i is t_i(a) - sum_b w(b) t_i(b), and that of the class also has - H(w). With
two classes both definitions agree.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import entr, softmax

from milpbn._types import Codes, FloatArray
from milpbn.network.multinet import Classifier
from milpbn.network.terms import family_terms

_CLASS = 0
_ROWS_AT_ONCE = 4096


def contributions_of(
    terms: FloatArray, of: npt.NDArray[np.intp], against: int | None = None
) -> FloatArray:
    """``(M, n + 1)``: the contributions to the log-odds of class `of` in every row.

    Parameters
    ----------
    terms
        ``(M, n + 1, |C|)``: see :func:`milpbn.network.terms.family_terms`.
    of
        ``(M,)``: the explained class of every row.
    against
        The class to compare with; None for all others together.
    """
    own = np.take_along_axis(terms, of[:, None, None], axis=2)
    if against is not None:
        out: FloatArray = own[:, :, 0] - terms[:, :, against]
        return out
    weights = _weights_of_others(terms.sum(axis=1), of)
    # Differences first: those of a feature that is not used are exactly 0.
    out = np.einsum("mkc,mc->mk", own - terms, weights)
    out[:, _CLASS] -= entr(weights).sum(axis=1)
    return out


def log_odds_of(
    joint: FloatArray, of: npt.NDArray[np.intp], against: int | None = None
) -> FloatArray:
    """``(M,)``: the log-odds of class `of`, from ``log P(c, z)`` directly."""
    own = np.take_along_axis(joint, of[:, None], axis=1)[:, 0]
    rival = (
        joint[:, against]
        if against is not None
        else np.logaddexp.reduce(_others(joint, of), axis=1)
    )
    out: FloatArray = own - rival
    return out


def _others(joint: FloatArray, of: npt.NDArray[np.intp]) -> FloatArray:
    return np.where(np.arange(joint.shape[1]) == of[:, None], -np.inf, joint)


def _weights_of_others(joint: FloatArray, of: npt.NDArray[np.intp]) -> FloatArray:
    """P(c | z, not `of`)."""
    weights: FloatArray = softmax(_others(joint, of), axis=1)
    return weights


def mean_contributions(
    network: Classifier, features: Codes, weights: FloatArray | None = None
) -> FloatArray:
    """``(n - 1,)``: for each feature, the mean size of its contribution.

    The contributions are those to the log-odds of the predicted class against all others, without
    their signs. If there are `weights` of rows, the mean is weighted.
    """
    amounts = np.ones(len(features)) if weights is None else weights
    total = np.zeros(len(network.variables) - 1)
    for start in range(0, len(features), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        terms = family_terms(network, features[part])
        found = contributions_of(terms, terms.sum(axis=1).argmax(axis=1))
        total += amounts[part] @ np.abs(found[:, 1:-1])
    means: FloatArray = total / max(float(amounts.sum()), np.finfo(np.float64).tiny)
    return means
