"""Multinets by mutual information: one tree of features per class.

- ``multinet-cmi``: the maximum spanning tree on ``I(Xi; Xj | C = c)``, which maximises the
  likelihood of the rows of class c (Chow & Liu within each class);
- ``multinet-ear``: the maximum spanning forest on positive explaining-away residuals
  ``I(Xi; Xj | C = c) - I(Xi; Xj)``.

Otherwise the trees are those of ``tan-cmi`` and ``tan-ear``, including constraints: an arc is
required or forbidden in the tree of every class. A class without rows gets no edges. If variables
have several resolutions, all trees see them in their default resolutions.

References
----------
Friedman, Geiger & Goldszmidt (1997), Bayesian network classifiers, section 4.2.
Pernkopf & Bilmes (2005), Discriminative versus generative parameter and structure
learning of Bayesian network classifiers, section 2.2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from milpbn._types import FloatArray
from milpbn.clock import OutOfTime
from milpbn.families.candidates import CLASS
from milpbn.families.information import JointValues, class_information, pairwise_information
from milpbn.families.rows import MergedRows
from milpbn.search.base import Search
from milpbn.search.tan_cmi import tree_families
from milpbn.structure import ClassStructures

# Information below this is a rounding error.
_ROUNDING = 1e-12

MULTINETS = {
    "multinet-cmi": "a tree per class by mutual information",
    "multinet-ear": "a forest per class by explaining-away residual",
}
"""Multinet learners by name, with their titles."""


def multinet_structures(
    name: str, search: Search, rows: MergedRows, classes: Sequence[str]
) -> tuple[ClassStructures, bool]:
    """One tree per class, from the candidate families of a search, and whether all are complete.

    A class for which there was no time gets naive Bayes.
    """
    space, complete = search.space, True
    rows, cards = space.views.default_rows(rows), space.views.default_cards
    relevance = class_information(JointValues.of(rows), range(space.n_variables))
    structures = []
    plain: FloatArray | None = None
    for c in range(len(classes)):
        families = search.simple_start()
        own_class = families[CLASS]
        try:
            if plain is None:
                plain = pairwise_information(rows, cards, search.checkpoint).plain
            own = rows.select(rows.labels == c)
            families = tree_families(search, _weights(name, own, cards, plain, search), relevance)
        except OutOfTime:
            complete = False
        families[CLASS] = own_class
        structures.append(space.structure(families))
    return ClassStructures(tuple(classes), tuple(structures)), complete


def _weights(
    name: str, rows: MergedRows, cards: Sequence[int], plain: FloatArray, search: Search
) -> FloatArray:
    """The weights of the edges within one class; NaN for edges that are not used."""
    if not len(rows):
        return np.full(plain.shape, np.nan)
    within = pairwise_information(rows, cards, search.checkpoint).plain
    if name == "multinet-cmi":
        return within
    residual = within - plain
    return np.where(residual > _ROUNDING, residual, np.nan)
