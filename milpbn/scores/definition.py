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
from milpbn.families.rows import assign_folds
from milpbn.network.inference import log_joint
from milpbn.network.multinet import fit_classifier
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
    fold: IntArray | None = None,
) -> FloatArray:
    """``(M, |C|)``: log P(c, z) of each row, by parameters that the score's validation allows.

    These are learned from all rows, from the other folds, or from all other rows. `fold` is the
    fold of each row, see :func:`fold_rows`.
    """
    if score.validation == LOO:
        return _without_own_row(score, structure, variables, codes)
    if fold is None:
        network = fit_classifier(structure, variables, codes, score.smoothing)
        return log_joint(network, codes[:, 1:])
    out = np.empty((len(codes), variables[0].card))
    for k in np.unique(fold):
        network = fit_classifier(structure, variables, codes[fold != k], score.smoothing)
        out[fold == k] = log_joint(network, codes[fold == k, 1:])
    return out


def fold_rows(score: RowScore, codes: Codes) -> tuple[Codes, IntArray | None]:
    """The rows in the order in which folds are drawn, and the fold of each row, if any."""
    if score.folds is None:
        return codes, None
    codes = codes[np.lexsort(codes.T[::-1])]
    return codes, assign_folds(len(codes), score.folds, score.fold_seed)


def _without_own_row(
    score: RowScore, structure: AnyStructure, variables: Sequence[Variable], codes: Codes
) -> FloatArray:
    """See :func:`log_joints`: the parameters for each row are learned from all other rows."""
    total = np.zeros((len(codes), variables[0].card))
    for c in range(variables[0].card):
        if isinstance(structure, ClassStructures):
            # The network of a class is learned from the rows of this class.
            features = structure.structures[c].parents[1:]
            families: Sequence[Sequence[int]] = [(), *((0, *parents) for parents in features)]
        else:
            families = structure.parents
        for child, parents in enumerate(families):
            total[:, c] += _term_without_own_row(score, (*parents, child), variables, codes, c)
    return total


def _term_without_own_row(
    score: RowScore, scope: tuple[int, ...], variables: Sequence[Variable], codes: Codes, c: int
) -> FloatArray:
    """The term of a family (parents, then the child) for every row, its class replaced by c."""
    *parents, child = scope
    row = np.arange(len(codes))
    counts = np.zeros(tuple(variables[v].card for v in scope))
    np.add.at(counts, tuple(codes[:, v] for v in scope), 1)
    replaced = codes.copy()
    replaced[:, 0] = c
    # The counts of the child's states given the parents of each row, and then without this row,
    # which is among them unless the class is a parent and c is not its class.
    given = counts[tuple(replaced[:, p] for p in parents)] if parents else counts[None, :]
    given = np.broadcast_to(given, (len(codes), variables[child].card)).copy()
    among = row[codes[:, 0] == c] if 0 in parents else row
    given[among, codes[among, child]] -= 1
    out: FloatArray = score.smoothing.log_theta(given, axis=1)[row, replaced[:, child]]
    return out


def n_free_parameters(structure: AnyStructure, variables: Sequence[Variable]) -> int:
    """Free parameters of a network, or of a multinet with its own tables for each class."""
    cards = [v.card for v in variables]
    if isinstance(structure, ClassStructures):
        # Within a class the class has one state; its distribution is counted once.
        inside = [Variable(variables[0].name, ("own",)), *variables[1:]]
        return cards[0] - 1 + sum(n_free_parameters(s, inside) for s in structure.structures)
    return sum((cards[i] - 1) * prod(cards[p] for p in s) for i, s in enumerate(structure.parents))


def margins(
    score: RowScore, structure: AnyStructure, variables: Sequence[Variable], codes: Codes
) -> FloatArray:
    """Per row, the log-joint of its class minus that of the strongest other class."""
    codes, fold = fold_rows(score, codes)
    joint = log_joints(score, structure, variables, codes, fold)
    at = np.arange(len(codes))
    own = joint[at, codes[:, 0]]
    joint[at, codes[:, 0]] = -np.inf
    out: FloatArray = own - joint.max(axis=1)
    return out


def observed_counts(
    codes: Codes, child: int, parents: Sequence[int]
) -> tuple[IntArray, IntArray, IntArray]:
    """Counts of the observed configurations of one family.

    Returns
    -------
    n_h
        Number of rows per observed parent configuration.
    n_xh
        Number of rows per observed pair of parent configuration and state of the child.
    h
        The index of the parent configuration of each such pair.
    """
    _, configuration, n_h = np.unique(
        codes[:, list(parents)], axis=0, return_inverse=True, return_counts=True
    )
    pairs = np.column_stack([configuration.ravel(), codes[:, child]])
    cells, n_xh = np.unique(pairs, axis=0, return_counts=True)
    return n_h, n_xh, cells[:, 0].astype(np.int64)
