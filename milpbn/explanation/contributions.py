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

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from milpbn._types import Codes, FloatArray
from milpbn.families.candidates import CLASS
from milpbn.network.multinet import Classifier, Multinet
from milpbn.network.terms import family_terms

_TERMS_AT_ONCE = 1_000_000


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
    weights = _weights_of_rivals(terms.sum(axis=1), of, against)
    out = _differences(terms, of, weights)
    out[:, CLASS] -= scipy.special.entr(weights).sum(axis=1)
    return out


def log_odds_of(
    joint: FloatArray, of: npt.NDArray[np.intp], against: int | None = None
) -> FloatArray:
    """``(M,)``: the log-odds of class `of`, from ``log P(c, z)`` directly."""
    own = np.take_along_axis(joint, of[:, None], axis=1)[:, 0]
    others = _others(joint, of) if against is None else joint[:, [against]]
    out: FloatArray = own - np.logaddexp.reduce(others, axis=1)
    return out


def sizes_of(
    terms: FloatArray,
    of: npt.NDArray[np.intp],
    against: int | None = None,
    *,
    class_parents: Sequence[int] = (),
    usual: FloatArray | None = None,
) -> FloatArray:
    """``(M, n - 1)``: the absolute contribution of every feature in every row.

    The parents of the class, if there are any, share what the class's own table contributes beyond
    the `usual` terms of the class, by default their mean over the rows.
    """
    sizes = np.abs(contributions_of(terms, of, against)[:, 1:-1])
    if class_parents:
        own = terms[:, [CLASS]]
        beyond = own - (own.mean(axis=0) if usual is None else usual)
        weights = _weights_of_rivals(terms.sum(axis=1), of, against)
        shared = np.abs(_differences(beyond, of, weights)) / len(class_parents)
        sizes[:, [p - 1 for p in class_parents]] += shared
    return sizes


def _differences(terms: FloatArray, of: npt.NDArray[np.intp], weights: FloatArray) -> FloatArray:
    own = np.take_along_axis(terms, of[:, None, None], axis=2)
    # Differences first: those of a feature that is not used are exactly 0.
    out: FloatArray = np.einsum("mkc,mc->mk", own - terms, weights)
    return out


def _others(joint: FloatArray, of: npt.NDArray[np.intp]) -> FloatArray:
    return np.where(np.arange(joint.shape[1]) == of[:, None], -np.inf, joint)


def _weights_of_rivals(
    joint: FloatArray, of: npt.NDArray[np.intp], against: int | None
) -> FloatArray:
    """P(c | z, not `of`); 1 for the class `against` if there is one."""
    if against is not None:
        return np.broadcast_to(np.arange(joint.shape[1]) == against, joint.shape).astype(float)
    weights: FloatArray = scipy.special.softmax(_others(joint, of), axis=1)
    return weights


def mean_contributions(
    network: Classifier, features: Codes, weights: FloatArray | None = None
) -> FloatArray:
    """``(n - 1,)``: for each feature, the mean size of its contribution.

    The contributions are those to the log-odds of the predicted class against all others, without
    their signs. The parents of the class share the contribution of its table, as far as it
    deviates from its mean. If there are `weights` of rows, the means are weighted.
    """
    amounts = np.ones(len(features)) if weights is None else weights
    total = max(float(amounts.sum()), np.finfo(np.float64).tiny)
    above = () if isinstance(network, Multinet) else network.structure.parents[CLASS]
    at_once = max(1, _TERMS_AT_ONCE // (len(network.variables) * network.n_classes))
    parts = [slice(start, start + at_once) for start in range(0, len(features), at_once)]
    usual = np.zeros((1, network.n_classes))
    for part in parts if above else ():
        usual += amounts[part] @ family_terms(network, features[part])[:, CLASS] / total
    means = np.zeros(len(network.variables) - 1)
    for part in parts:
        terms = family_terms(network, features[part])
        best = terms.sum(axis=1).argmax(axis=1)
        means += amounts[part] @ sizes_of(terms, best, class_parents=above, usual=usual) / total
    return means
