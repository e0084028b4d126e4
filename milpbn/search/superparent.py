"""SuperParent: find the best feature as a parent of all features, then its best children.

Step 1 makes each feature in turn an additional parent of every feature that has fewer than k
feature parents (of every orphan, for k = 1), and selects the one with the best score. Step 2
tries the edges from this superparent to k of those features at once, and keeps the best k
edges if they gain; otherwise the search ends. As in Keogh & Pazzani (1999), step 1 selects
the best superparent whether or not it gains itself. If fewer than k children are possible,
they are tried together.

A structure scored in step 1 counts as one evaluation, regardless of its number of edges. If
variables have several resolutions, a new parent comes in its default resolution, and after each
step the score chooses the best resolutions for all families.

References
----------
Keogh & Pazzani (1999), Learning augmented Bayesian classifiers.
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 4.4.2.
"""

from __future__ import annotations

from itertools import combinations, groupby

import numpy as np

from milpbn.scores import SearchState
from milpbn.search.base import Learner, Search
from milpbn.search.hc import (
    KTrees,
    best_family,
    choose_resolutions,
    exchange_if_better,
    just_above,
)

Edges = list[tuple[int, int]]
"""Children, with the families that include the superparent."""


class SuperParent(Learner):
    """Keogh and Pazzani's SuperParent and its generalisation to k parents.

    Ties go to the first superparent, then to the first children, in variable order.
    """

    name = "superparent"
    title = "SuperParent: the best parent of all, then its best children"

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        trees = KTrees(search)
        state = search.state(trees.naive_bayes())
        choose_resolutions(search, state)
        search.offer(state, self.name)
        k = trees.most_parents
        while True:
            children = _best_superparent(search, trees, state)
            if not children:
                return
            edges = _best_edges(search, state, children, min(k, len(children)))
            if not edges or not exchange_if_better(state, edges):
                return
            choose_resolutions(search, state)
            search.offer(state, self.name)
            state.sort_rows()


def _best_superparent(search: Search, trees: KTrees, state: SearchState) -> Edges:
    """Step 1: all edges of the best superparent; empty if there is none.

    If no edge from a feature closes a cycle, all of them together close none either, because
    they give the feature no new ancestors.
    """
    edges_from: dict[int, Edges] = {parent: [] for parent in trees.features}
    for child in trees.features:
        for parent, family in trees.new_parents(state.families, child).items():
            edges_from[parent].append((child, family))
    best, best_edges = -np.inf, Edges()
    home = state.families.copy()
    for edges in filter(None, edges_from.values()):
        search.checkpoint()
        families = home.copy()
        for child, family in edges:
            families[child] = family
        state.reset(families)
        state.evaluations += 1
        if state.value > best:
            best, best_edges = state.value, edges
    state.reset(home)
    return best_edges


def _best_edges(search: Search, state: SearchState, edges: Edges, k: int) -> Edges:
    """Step 2: the best k edges if they gain, else none."""
    best, best_edges = just_above(state.value), Edges()
    home = state.families.copy()
    for first, sets in groupby(combinations(edges, k), key=lambda chosen: chosen[:-1]):
        for child, family in first:
            state.exchange(child, family)
        for chosen in sets:
            child, family = chosen[-1]
            last = search.feasibility.within_budgets(state.families, child, np.array([family]))
            score, found = best_family(search, state, child, last, best)
            if found >= 0:
                best, best_edges = score, list(chosen)
        for child, _ in first:
            state.exchange(child, int(home[child]))
    return best_edges
