"""Scores by their plain definitions, from a network's own log-joint.

No table, no merged row and no formula of the learners is used here, so a learner's
objective that agrees with this one has been checked from the data up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from scipy.special import gammaln

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.errors import OptionError
from milpbn.families.rows import assign_folds
from milpbn.families.tables import TIE
from milpbn.network.inference import log_joint, log_posterior
from milpbn.network.multinet import fit_classifier
from milpbn.network.network import fit_network
from milpbn.scores import (
    MDL,
    BDeu,
    ClassificationRate,
    ConditionalLogLikelihood,
    RowScore,
    Score,
    SoftBinaryMargin,
    SoftMargin,
)
from milpbn.structure import AnyStructure, ClassStructures, Structure

Variables = Sequence[Variable]


def rescore(score: Score, structure: AnyStructure, variables: Variables, codes: Codes) -> float:
    """The score of a structure on complete rows (class code first)."""
    if isinstance(structure, ClassStructures) and not scores_multinets(score):
        raise OptionError(
            f"the score {score.name} is not defined for multinets; choose sm, cr or cll"
        )
    return _DEFINITIONS[type(score)](score, structure, variables, codes)


def scores_multinets(score: Score) -> bool:
    """Whether the score looks at log-joints alone, so that a multinet has one too."""
    return type(score) in (SoftMargin, ClassificationRate, ConditionalLogLikelihood)


def has_definition(score: Score) -> bool:
    """Whether :func:`rescore` knows the score; one of a user's own it does not."""
    return type(score) in _DEFINITIONS


def _soft_margin(
    score: SoftMargin, structure: AnyStructure, variables: Variables, codes: Codes
) -> float:
    margins = _by_fold(score, codes, lambda *x: _margins(score, structure, variables, *x))
    return float(np.minimum(margins, score.hinge).sum())


def _classification_rate(
    score: ClassificationRate, structure: AnyStructure, variables: Variables, codes: Codes
) -> float:
    margins = _by_fold(score, codes, lambda *x: _margins(score, structure, variables, *x))
    return float((margins > TIE).sum())


def _margins(
    score: RowScore, structure: AnyStructure, variables: Variables, train: Codes, test: Codes
) -> FloatArray:
    network = fit_classifier(structure, variables, train, score.smoothing)
    joint = log_joint(network, test[:, 1:])
    at = np.arange(len(test))
    own = joint[at, test[:, 0]]
    joint[at, test[:, 0]] = -np.inf
    margins: FloatArray = own - joint.max(axis=1)
    return margins


def _conditional_log_likelihood(
    score: ConditionalLogLikelihood, structure: AnyStructure, variables: Variables, codes: Codes
) -> float:
    def own_posterior(train: Codes, test: Codes) -> FloatArray:
        network = fit_classifier(structure, variables, train, score.smoothing)
        posterior = log_posterior(network, test[:, 1:])
        out: FloatArray = posterior[np.arange(len(test)), test[:, 0]]
        return out

    return float(_by_fold(score, codes, own_posterior).sum())


def _soft_binary_margin(
    score: SoftBinaryMargin, structure: Structure, variables: Variables, codes: Codes
) -> float:
    two = (Variable(variables[0].name, ("own", "rest")), *variables[1:])

    def margins(train: Codes, test: Codes) -> FloatArray:
        out = np.empty(len(test))
        for c in range(variables[0].card):
            collapsed = train.copy()
            collapsed[:, 0] = train[:, 0] != c
            network = fit_network(structure, two, collapsed, score.smoothing)
            joint = log_joint(network, test[test[:, 0] == c, 1:])
            out[test[:, 0] == c] = joint[:, 0] - joint[:, 1]
        return out

    return float(np.minimum(_by_fold(score, codes, margins), score.hinge).sum())


def _by_fold(
    score: RowScore, codes: Codes, rows_of: Callable[[Codes, Codes], FloatArray]
) -> FloatArray:
    """Row scores from (train, test) rows: all rows for both, or fold by fold."""
    if score.folds is None:
        return rows_of(codes, codes)
    codes = codes[np.lexsort(codes.T[::-1])]
    fold = assign_folds(len(codes), score.folds, score.fold_seed)
    return np.concatenate([rows_of(codes[fold != k], codes[fold == k]) for k in range(score.folds)])


def _mdl(score: MDL, structure: Structure, variables: Variables, codes: Codes) -> float:
    total, free = 0.0, 0
    for i, parents in enumerate(structure.parents):
        free += (variables[i].card - 1) * prod(variables[p].card for p in parents)
        _, configuration, size = np.unique(
            codes[:, list(parents)], axis=0, return_inverse=True, return_counts=True
        )
        cells, count = np.unique(
            np.column_stack([configuration.ravel(), codes[:, i]]), axis=0, return_counts=True
        )
        total += float((count * np.log(count / size[cells[:, 0]])).sum())
    return total - 0.5 * float(np.log(len(codes))) * free


def _bdeu(score: BDeu, structure: Structure, variables: Variables, codes: Codes) -> float:
    # The marginal likelihood as a product of predictive probabilities needs gamma functions
    # only of observed configurations: the others contribute log 1 = 0.
    total = 0.0
    for i, parents in enumerate(structure.parents):
        q = float(np.prod([variables[p].card for p in parents]))
        a_h, a_x = score.ess / q, score.ess / (q * variables[i].card)
        _, configuration, size = np.unique(
            codes[:, list(parents)], axis=0, return_inverse=True, return_counts=True
        )
        pairs = np.column_stack([configuration.ravel(), codes[:, i]])
        _, count = np.unique(pairs, axis=0, return_counts=True)
        total += float((gammaln(a_h) - gammaln(a_h + size)).sum())
        total += float((gammaln(a_x + count) - gammaln(a_x)).sum())
    return total


_DEFINITIONS: dict[type[Score], Callable[[Any, Any, Variables, Codes], float]] = {
    SoftMargin: _soft_margin,
    SoftBinaryMargin: _soft_binary_margin,
    ClassificationRate: _classification_rate,
    ConditionalLogLikelihood: _conditional_log_likelihood,
    MDL: _mdl,
    BDeu: _bdeu,
}
