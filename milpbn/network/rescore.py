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

from milpbn.encoding.columns import Variable
from milpbn.network.inference import log_joint
from milpbn.network.network import Codes, fit_network
from milpbn.scores import MDL, BDeu, Score, SoftBinaryMargin, SoftMargin
from milpbn.structure import Structure

Variables = Sequence[Variable]


def rescore(score: Score, structure: Structure, variables: Variables, codes: Codes) -> float:
    """The score of a structure on complete rows (class code first)."""
    return _DEFINITIONS[type(score)](score, structure, variables, codes)


def _soft_margin(
    score: SoftMargin, structure: Structure, variables: Variables, codes: Codes
) -> float:
    network = fit_network(structure, variables, codes, score.smoothing)
    joint = log_joint(network, codes[:, 1:])
    own = joint[np.arange(len(codes)), codes[:, 0]]
    joint[np.arange(len(codes)), codes[:, 0]] = -np.inf
    return float(np.minimum(own - joint.max(axis=1), score.hinge).sum())


def _soft_binary_margin(
    score: SoftBinaryMargin, structure: Structure, variables: Variables, codes: Codes
) -> float:
    two = (Variable(variables[0].name, ("own", "rest")), *variables[1:])
    total = 0.0
    for c in range(variables[0].card):
        collapsed = codes.copy()
        collapsed[:, 0] = codes[:, 0] != c
        network = fit_network(structure, two, collapsed, score.smoothing)
        joint = log_joint(network, codes[codes[:, 0] == c, 1:])
        total += float(np.minimum(joint[:, 0] - joint[:, 1], score.hinge).sum())
    return total


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


_DEFINITIONS: dict[type[Score], Callable[[Any, Structure, Variables, Codes], float]] = {
    SoftMargin: _soft_margin,
    SoftBinaryMargin: _soft_binary_margin,
    MDL: _mdl,
    BDeu: _bdeu,
}
