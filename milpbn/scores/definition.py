"""Helpers for the definitions of scores, see :meth:`milpbn.scores.Score.definition`.

Everything is computed from the raw codes. Nothing here may use merged rows, family tables or
compiled kernels, so that a definition is an independent check of what the learners compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from milpbn._types import Codes, FloatArray, IntArray
from milpbn.encoding.columns import Variable
from milpbn.families.rows import assign_folds, units
from milpbn.families.smoothing import minus
from milpbn.network.inference import log_joint
from milpbn.network.multinet import fit_classifier
from milpbn.network.network import seen_in
from milpbn.structure import AnyStructure, ClassStructures

if TYPE_CHECKING:
    from milpbn.scores.rows import RowScore

LOO = "loo"
"""Validation that leaves out one row at a time."""


def log_joints(
    score: RowScore,
    structure: AnyStructure,
    variables: Sequence[Variable],
    codes: Codes,
    weights: FloatArray,
    fold: IntArray | None = None,
) -> FloatArray:
    """``(M, |C|)``: log P(c, z) of each row, by parameters that the score's validation allows.

    These are learned from all rows, from the other folds, or from all other rows. `fold` is the
    fold of each row, see :func:`fold_rows`.
    """
    if score.validation == LOO:
        return _without_own_row(score, structure, variables, codes, weights)
    if fold is None:
        network = fit_classifier(structure, variables, codes, score.smoothing, weights)
        return log_joint(network, codes[:, 1:])
    out = np.empty((len(codes), variables[0].card))
    for k in np.unique(fold):
        rest = fold != k
        network = fit_classifier(structure, variables, codes[rest], score.smoothing, weights[rest])
        out[~rest] = log_joint(network, codes[~rest, 1:])
    return out


def row_weights(codes: Codes, weights: FloatArray | None) -> FloatArray:
    """The weights, or 1 for each row."""
    return np.ones(len(codes)) if weights is None else weights


def fold_rows(
    score: RowScore, codes: Codes, weights: FloatArray
) -> tuple[Codes, FloatArray, IntArray | None]:
    """The rows in the order in which folds are drawn, their weights and folds, if any.

    Folds are drawn for units of weight 1, see :func:`~milpbn.families.rows.units`.
    """
    if score.folds is None:
        return codes, weights, None
    distinct, same = np.unique(codes, axis=0, return_inverse=True)
    row, weight = units(np.bincount(same.ravel(), weights).astype(np.float64))
    return distinct[row], weight, assign_folds(len(row), score.folds, score.fold_seed)


def _without_own_row(
    score: RowScore,
    structure: AnyStructure,
    variables: Sequence[Variable],
    codes: Codes,
    weights: FloatArray,
) -> FloatArray:
    """See :func:`log_joints`: the parameters for each row are learned from all other rows.

    Of a weighted row, one unit of weight is taken away, or the whole count if it is less.
    """
    total = np.zeros((len(codes), variables[0].card))
    for c in range(variables[0].card):
        multinet = isinstance(structure, ClassStructures)
        own = structure.structures[c] if isinstance(structure, ClassStructures) else structure
        for child in range(len(variables)):
            scope = own.scope(child)
            # Shares of states inside coarser ones are the same for all classes: they are left out.
            seen, rows = seen_in(variables, codes, scope, own.seen(child))
            if multinet and child > 0:
                # The network of a class is learned from the rows of this class.
                scope = (0, *(v for v in scope if v != 0))
            total[:, c] += _term_without_own_row(score, scope, seen, rows, weights, c)
    return total


def _term_without_own_row(
    score: RowScore,
    scope: tuple[int, ...],
    variables: Sequence[Variable],
    codes: Codes,
    weights: FloatArray,
    c: int,
) -> FloatArray:
    """The term of a family (parents, then the child) for every row, its class replaced by c."""
    *parents, child = scope
    row = np.arange(len(codes))
    counts = np.zeros(tuple(variables[v].card for v in scope))
    np.add.at(counts, tuple(codes[:, v] for v in scope), weights)
    replaced = codes.copy()
    replaced[:, 0] = c
    # The counts of the child's states given the parents of each row, and then without this row,
    # which is among them unless the class is a parent and c is not its class.
    given = counts[tuple(replaced[:, p] for p in parents)] if parents else counts[None, :]
    given = np.broadcast_to(given, (len(codes), variables[child].card)).copy()
    among = row[codes[:, 0] == c] if 0 in parents else row
    total, own = given.sum(axis=1), given[among, codes[among, child]]
    given[among, codes[among, child]] = minus(own, 1.0)
    # The class has the same total in all its states, so that it changes no margin.
    taken = 1.0 if child == 0 else np.minimum(own, 1.0)
    total[among] = minus(total[among], taken)
    theta = score.smoothing.estimate(given, total[:, None], given.shape[1])
    out: FloatArray = theta[row, replaced[:, child]]
    return out


def n_free_parameters(structure: AnyStructure, variables: Sequence[Variable]) -> int:
    """Free parameters of a network, or of a multinet with its own tables for each class."""
    if isinstance(structure, ClassStructures):
        # Within a class the class has one state; its distribution is counted once.
        inside = [Variable(variables[0].name, ("own",)), *variables[1:]]
        within = (n_free_parameters(s, inside) for s in structure.structures)
        return variables[0].card - 1 + sum(within)
    total = 0
    for i in range(len(variables)):
        pairs = zip(structure.scope(i), structure.seen(i), strict=True)
        *parents, own = (variables[v].resolution(r).card for v, r in pairs)
        total += (own - 1) * prod(parents)
    return total


def margins(
    score: RowScore,
    structure: AnyStructure,
    variables: Sequence[Variable],
    codes: Codes,
    weights: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Per row, the log-joint of its class minus that of the strongest other class; its weight.

    The rows are those of :func:`fold_rows`.
    """
    codes, weights, fold = fold_rows(score, codes, weights)
    joint = log_joints(score, structure, variables, codes, weights, fold)
    at = np.arange(len(codes))
    own = joint[at, codes[:, 0]]
    joint[at, codes[:, 0]] = -np.inf
    return own - joint.max(axis=1), weights


def observed_counts(
    codes: Codes, child: int, parents: Sequence[int], weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Counts of the observed configurations of one family.

    Returns
    -------
    n_h
        Number of rows, or sum of weights, per observed parent configuration.
    n_xh
        The same per observed pair of parent configuration and state of the child.
    h
        The index of the parent configuration of each such pair.
    """
    weights = row_weights(codes, weights)
    _, configuration = np.unique(codes[:, list(parents)], axis=0, return_inverse=True)
    pairs = np.column_stack([configuration.ravel(), codes[:, child]])
    cells, cell = np.unique(pairs, axis=0, return_inverse=True)
    n_h = np.bincount(configuration.ravel(), weights).astype(np.float64)
    n_xh = np.bincount(cell.ravel(), weights).astype(np.float64)
    return n_h, n_xh, cells[:, 0].astype(np.int64)
