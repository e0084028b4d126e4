"""SuperParent: find the feature that helps most as a parent of all, then its best children.

Step 1 lets each feature in turn be a further parent of every feature that has fewer than k
feature parents (of every orphan, for k = 1), and keeps the one that scores best. Step 2 tries
the edges from this superparent to k of those features at once, and keeps the best k edges
if they gain; else the search ends. As published by Keogh & Pazzani, step 1 takes the
best superparent whether or not it gains itself. Where fewer than k children are possible,
they are tried together.

A structure scored in step 1 counts as one evaluation, however many edges it has.

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
from milpbn.search.hc import KTrees, best_family, exchange_if_better, just_above

Edges = list[tuple[int, int]]
"""Children with the families that the superparent gives them."""


class SuperParent(Learner):
    """Keogh and Pazzani's SuperParent and its generalisation to k parents.

    Ties go to the first superparent, then to the first children, in variable order.
    """

    name = "superparent"
    title = "SuperParent"

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        trees = KTrees(search)
        state = search.state(trees.naive_bayes())
        search.offer(state, self.name)
        k = trees.most_parents
        while True:
            children = _best_superparent(search, trees, state)
            if not children:
                return
            edges = _best_edges(search, state, children, min(k, len(children)))
            if not edges or not exchange_if_better(state, edges):
                return
            search.offer(state, self.name)
            state.sort_rows()


def _best_superparent(search: Search, trees: KTrees, state: SearchState) -> Edges:
    """Step 1: the edges of the best superparent, all together; empty if there is none.

    The edges from one feature close no cycle together if each alone closes none, because
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
    """Step 2: the k edges that score best, if they gain; else none."""
    best, best_edges = just_above(state.value), Edges()
    home = state.families.copy()
    for first, sets in groupby(combinations(edges, k), key=lambda chosen: chosen[:-1]):
        for child, family in first:
            state.exchange(child, family)
        for chosen in sets:
            child, family = chosen[-1]
            score, found = best_family(search, state, child, np.array([family]), best)
            if found >= 0:
                best, best_edges = score, list(chosen)
        for child, _ in first:
            state.exchange(child, int(home[child]))
    return best_edges
