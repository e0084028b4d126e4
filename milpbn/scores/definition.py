"""Helpers for the definitions of scores, see :meth:`milpbn.scores.Score.definition`.

Everything is computed from the raw codes. Nothing here may use merged rows, family tables or
compiled kernels, so that a definition is an independent check of what the learners compute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def by_fold(
    score: RowScore, codes: Codes, values_of: Callable[[Codes, Codes], FloatArray]
) -> FloatArray:
    """One value per row, from ``values_of(train, test)``.

    Without folds, all rows are both. With folds, each fold is tested with the counts of the
    other folds.
    """
    if score.folds is None:
        return values_of(codes, codes)
    codes = codes[np.lexsort(codes.T[::-1])]
    fold = assign_folds(len(codes), score.folds, score.fold_seed)
    parts = [values_of(codes[fold != k], codes[fold == k]) for k in range(score.folds)]
    return np.concatenate(parts)


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

    def of_rows(train: Codes, test: Codes) -> FloatArray:
        joint = log_joint(fit_classifier(structure, variables, train, score.smoothing), test[:, 1:])
        at = np.arange(len(test))
        own = joint[at, test[:, 0]]
        joint[at, test[:, 0]] = -np.inf
        out: FloatArray = own - joint.max(axis=1)
        return out

    return by_fold(score, codes, of_rows)


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
