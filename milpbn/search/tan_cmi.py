"""TAN by conditional mutual information: the tree with the highest likelihood.

The features form a maximum spanning tree on ``I(Xi; Xj | C)`` (Kruskal), directed away
from a root, and the class is a parent of all. The root is the feature with the largest
``I(C; X)``; the likelihood is the same for every root.

References
----------
Friedman, Geiger & Goldszmidt (1997), Bayesian network classifiers.
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 4.3.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from milpbn._types import Families, FloatArray
from milpbn.errors import OptionError
from milpbn.families.candidates import CLASS
from milpbn.families.information import JointValues, class_information, pairwise_information
from milpbn.families.rows import MergedRows
from milpbn.search.base import Learner, Search
from milpbn.search.hc import KTrees, choose_resolutions

Arcs = list[tuple[int, int]]


def training_rows(search: Search, name: str) -> MergedRows:
    """The rows from which mutual information is computed, in their default resolutions."""
    rows = search.objective.rows
    if rows is not None:
        return search.space.views.default_rows(rows)
    raise OptionError(
        f"{name} computes mutual information from the training rows, which this score does not "
        "keep; choose another score or another method"
    )


class TanCMI(Learner):
    """The maximum spanning tree on conditional mutual information.

    It does not use the score that is maximised: its tree is the result and is scored once.
    With constraints, the spanning tree becomes a maximum branching over the allowed arcs. If
    variables have several resolutions, the tree is that of their default resolutions, and the
    score then chooses the best resolutions for its families.
    """

    name = "tan-cmi"
    whole_space = True
    title = "TAN by conditional mutual information"

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        rows = training_rows(search, self.name)
        weights = self.weights(search, rows)
        relevance = class_information(JointValues.of(rows), range(search.space.n_variables))
        state = search.state(tree_families(search, weights, relevance))
        state.evaluations += 1
        search.offer(state, self.name)
        choose_resolutions(search, state)
        search.offer(state, self.name)

    def weights(self, search: Search, rows: MergedRows) -> FloatArray:
        """``(n, n)``: the weights of the edges; NaN for edges that are not used."""
        cards = search.space.views.default_cards
        return pairwise_information(rows, cards, search.checkpoint).given_class


def tree_families(search: Search, weights: FloatArray, relevance: FloatArray) -> Families:
    """Naive Bayes with the forest of maximum weight over the features.

    Without constraints this is a spanning forest, each tree rooted at its most relevant
    feature. With constraints it is a branching over the allowed arcs: required arcs are kept,
    and a feature with a required feature parent gets no other.
    """
    trees = KTrees(search)
    families = trees.naive_bayes()
    allowed, fixed = _arcs(trees, families, weights)
    if fixed or not (allowed == allowed.T).all():
        arcs = _branching(allowed, fixed, weights)
    else:
        arcs = _rooted_forest(allowed, weights, relevance)
    for parent, child in sorted(arcs, key=lambda arc: -weights[arc]):
        # A branching does not consider the arcs to and from the class, nor features with
        # several required parents: an arc that closes a cycle there is left out.
        family = trees.new_parents(families, child).get(parent)
        if family is not None:
            families[child] = family
    return families


def _arcs(
    trees: KTrees, families: Families, weights: FloatArray
) -> tuple[npt.NDArray[np.bool_], Arcs]:
    """The arcs between features that may be added, and those that already exist."""
    allowed = np.zeros(weights.shape, dtype=bool)
    fixed = []
    for child in trees.features:
        present = trees.space.parent_sets[int(families[child])]
        fixed += [(p, child) for p in present if p != CLASS]
        if not any(p != CLASS for p in present):
            allowed[list(trees.new_parents(families, child)), child] = True
    return allowed & ~np.isnan(weights), fixed


def _rooted_forest(
    allowed: npt.NDArray[np.bool_], weights: FloatArray, relevance: FloatArray
) -> Arcs:
    import networkx as nx

    # Kruskal's algorithm; networkx's own examines every edge.
    features = range(CLASS + 1, len(weights))
    edges = np.argwhere(np.triu(allowed))
    edges = edges[np.argsort(-weights[tuple(edges.T)], kind="stable")]
    trees, chosen = nx.utils.UnionFind(features), Arcs()
    for i, j in edges.tolist():
        if trees[i] != trees[j]:
            trees.union(i, j)
            chosen.append((i, j))
            if len(chosen) == len(features) - 1:
                break
    forest = nx.Graph(chosen)
    forest.add_nodes_from(features)
    arcs: Arcs = []
    for tree in nx.connected_components(forest):
        root = max(tree, key=lambda x: (relevance[x], -x))
        arcs += nx.bfs_edges(forest, root)
    return arcs


def _branching(allowed: npt.NDArray[np.bool_], fixed: Arcs, weights: FloatArray) -> Arcs:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_weighted_edges_from((i, j, weights[i, j]) for i, j in np.argwhere(allowed))
    # No set of other arcs outweighs an arc that already exists.
    heavy = 1.0 + float(np.nansum(weights))
    graph.add_weighted_edges_from((p, c, heavy) for p, c in fixed)
    branching = nx.maximum_branching(graph)
    return [(int(p), int(c)) for p, c in branching.edges if (p, c) not in set(fixed)]
