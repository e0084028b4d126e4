"""Greedy hill climbing over edges, and the part of the search space that it uses.

Starting from naive Bayes, the edge with the largest gain is added until no edge gains, or
until no edge can be added. With ``max_parents = k + 1`` each feature has the class and at
most k features as parents: k = 1 gives TAN-CR (Pernkopf & Bilmes 2010) and TAN-HC-MM
(Pernkopf & Wohlmayr 2013), k = 2 gives 2-tree-CR. (A k-tree in the strict sense also bounds
the tree-width of the moral graph; these papers count parents, and so does milpbn.)

References
----------
Keogh & Pazzani (1999), Learning augmented Bayesian classifiers.
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, section 4.4.1.
Pernkopf & Wohlmayr (2013), Stochastic margin-based structure learning of Bayesian network
classifiers, section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from milpbn._types import BoolArray, Families
from milpbn.anytime import simple_starts
from milpbn.families.candidates import CLASS
from milpbn.scores import SearchState
from milpbn.search.base import Learner, Search

# Candidates are scored in single precision: smaller gains are rounding errors.
_GAIN = 1e-7
# Candidates scored between two checks of the clock.
_CHUNK = 256


class KTrees:
    """The families of k-trees: the class is a root and a parent of all features.

    If the constraints leave a variable without such a family, the nearest ones are used: a
    feature that cannot have the class as a parent keeps its families without it, and a class
    with required parents keeps those with the fewest parents.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self.space = search.space
        self.graph = search.feasibility
        self.features = range(1, self.space.n_variables)
        has_class = self.space.has_class
        can_have_class = np.logical_or.reduceat(has_class, self.space.offsets[:-1])
        self.usable: BoolArray = has_class | ~can_have_class[self.space.child]
        """``(F,)``: families that contain the class, or whose variable has no such family."""

    @property
    def most_parents(self) -> int:
        """k, the maximum number of feature parents."""
        features = slice(int(self.space.offsets[CLASS + 1]), None)
        sizes = self.space.parent_sets.sizes[features] - self.space.has_class[features]
        return int(sizes.max(initial=0))

    def naive_bayes(self) -> Families:
        """Naive Bayes, or the nearest structure that the constraints allow.

        Variables are placed one by one, each with parents among those already placed: first
        the class, after its required ancestors; then the variable with the cheapest family,
        where a missing class costs more than any number of parents. Placing a variable never
        prevents placing another, so this finds a structure whenever one exists. A structure
        that is too large for the budgets loses its least useful families.
        """
        found = simple_starts(self.space).get("naive-bayes")
        chosen = self._nearest_to_naive_bayes() if found is None else found
        return self._search.reduced(chosen)

    def _nearest_to_naive_bayes(self) -> Families:
        space, n = self.space, self.space.n_variables
        size = space.parent_sets.sizes
        cost = size + n * ~self.usable
        for v in set(self.features) - self._required_by_class():
            cost[space.offsets[v] : space.offsets[v + 1]] += n * n
        cost[: space.offsets[1]] = size[: space.offsets[1]] - n
        chosen, placed = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
        while not placed.all():
            waiting = placed[space.child] | space.parent_sets.contain(~placed)
            family = int(np.argmin(np.where(waiting, np.iinfo(np.int64).max, cost)))
            chosen[space.child[family]], placed[space.child[family]] = family, True
        return chosen

    def _required_by_class(self) -> set[int]:
        """The variables that are ancestors of the class in every structure."""
        above, front = set[int](), {CLASS}
        while front:
            above |= front
            front = {p for v in front for p in self._always(v)} - above
        return above - {CLASS}

    def _always(self, variable: int) -> set[int]:
        """The variables that are in every parent set of `variable`."""
        own = self.space.of(variable)
        members = self.space.parent_sets.members[own.start : own.stop]
        counts = np.bincount(members[members >= 0], minlength=1)
        return set(np.flatnonzero(counts == len(own)).tolist())

    def additions(self, families: Families, feature: int) -> Families:
        """The families of `feature` with one additional feature parent."""
        added, removed, free = self._changes(families, feature)
        return self._of(families, feature, free & (removed == 0) & (added <= 1))

    def replacements(self, families: Families, feature: int) -> Families:
        """The families of `feature` with one edge added or replaced, or with other resolutions."""
        added, removed, free = self._changes(families, feature)
        found = self._of(families, feature, free & (removed <= 1) & (added <= 1))
        if self.space.resolutions is None:
            return found
        now = int(families[feature])
        same = self.space.find_all(feature, self.space.parent_sets[now])
        same = self.graph.within_budgets(families, feature, same[same != now])
        return np.concatenate([found, same])

    def new_parents(self, families: Families, feature: int) -> dict[int, int]:
        """The features that can be added as a parent of `feature`, each with the new family.

        It has the resolutions of the present family, and the default one of the new parent.
        """
        found = self.additions(families, feature)
        members = self.space.parent_sets.members[found]
        old = (-1, CLASS, *self.space.parent_sets[int(families[feature])])
        at, place = np.nonzero(~np.isin(members, old))
        parents, first = np.unique(members[at, place], return_index=True)
        if self.space.resolutions is None:
            return dict(zip(parents.tolist(), found[at[first]].tolist(), strict=True))
        now, new = int(families[feature]), members[at, place]
        return {p: self.space.nearest(found[at[new == p]], now) for p in parents.tolist()}

    def _changes(
        self, families: Families, feature: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], BoolArray]:
        """Features added and parents removed by each family, and which families are possible."""
        sets = self.space.parent_sets
        own = slice(int(self.space.offsets[feature]), int(self.space.offsets[feature + 1]))
        now = np.zeros(self.space.n_variables + 1, dtype=bool)  # the last for the padding
        now[list(sets[int(families[feature])])] = True
        kept = now[sets.members[own]].sum(axis=1)
        added, removed = sets.sizes[own] - kept, now.sum() - kept
        closes_cycle = sets.contain(self.graph.descendants(families, feature), own)
        free = self.usable[own] & (added > 0) & ~closes_cycle
        with_class = self.space.has_class[own] & ~now[CLASS]
        return added - with_class, removed, free

    def _of(self, families: Families, feature: int, mask: BoolArray) -> Families:
        found = int(self.space.offsets[feature]) + np.flatnonzero(mask)
        return self.graph.within_budgets(families, feature, found)


def best_family(
    search: Search, state: SearchState, variable: int, candidates: Families, threshold: float
) -> tuple[float, int]:
    """The best candidate above `threshold` (the first, if tied) and its score, or (-inf, -1)."""
    best, family = -np.inf, -1
    for at in range(0, len(candidates), _CHUNK):
        search.checkpoint()
        chunk = candidates[at : at + _CHUNK]
        scores = state.scores(variable, chunk, max(threshold, best))
        pick = int(np.argmax(scores))
        if scores[pick] > max(threshold, best):
            best, family = float(scores[pick]), int(chunk[pick])
    return best, family


def choose_resolutions(search: Search, state: SearchState) -> None:
    """Give each variable the best resolutions for its parents, in turn, until none gains."""
    space = search.space
    waiting = space.n_variables if space.resolutions is not None else 0
    v = 0
    while waiting:
        now = int(state.families[v])
        same = space.find_all(v, space.parent_sets[now])
        same = search.feasibility.within_budgets(state.families, v, same[same != now])
        _, family = best_family(search, state, v, same, just_above(state.value))
        gains = family >= 0 and exchange_if_better(state, [(v, family)])
        waiting = space.n_variables - 1 if gains else waiting - 1
        v = (v + 1) % space.n_variables


def just_above(value: float) -> float:
    """The smallest score that counts as a gain over `value`."""
    return value + _GAIN * max(1.0, abs(value))


def exchange_if_better(state: SearchState, changes: Iterable[tuple[int, int]]) -> bool:
    """Make the (variable, family) exchanges; undo them unless they gain in double precision."""
    old, undo = state.value, []
    for variable, family in changes:
        undo.append((variable, int(state.families[variable])))
        state.exchange(variable, family)
    if state.value > just_above(old):
        return True
    for variable, family in reversed(undo):
        state.exchange(variable, family)
    return False


class HillClimbing(Learner):
    """Greedy hill climbing: add the edge with the largest gain.

    Ties go to the first child in variable order, then to the first parent. If variables have
    several resolutions, an edge is tried in all of them, and after each edge the score chooses the
    best resolutions for all families.

    Parameters
    ----------
    complete
        False: stop when no edge gains (Pernkopf & Bilmes 2010). True: continue with the best
        edge, even if it loses, until none can be added (Pernkopf & Wohlmayr 2013). For k = 1
        the result is then a tree of N - 1 edges.
    """

    name = "hc"
    title = "greedy hill climbing from naive Bayes"

    def __init__(self, complete: bool = False) -> None:
        self.complete = complete

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        trees = KTrees(search)
        state = search.state(trees.naive_bayes() if search.start is None else search.start)
        choose_resolutions(search, state)
        if not self.complete:
            search.offer(state, self.name)
        try:
            while self._add_edge(search, trees, state):
                choose_resolutions(search, state)
                if not self.complete:
                    search.offer(state, self.name)
        finally:
            # The complete tree may score less than a part of it, so only the complete tree is
            # offered. A run that is stopped offers its current structure.
            search.offer(state, self.name)

    def _add_edge(self, search: Search, trees: KTrees, state: SearchState) -> bool:
        best = -np.inf if self.complete else just_above(state.value)
        move = None
        for feature in trees.features:
            candidates = trees.additions(state.families, feature)
            score, family = best_family(search, state, feature, candidates, best)
            if family >= 0:
                best, move = score, (feature, family)
        if move is None:
            return False
        if self.complete:
            state.exchange(*move)
        elif not exchange_if_better(state, [move]):
            return False
        state.sort_rows()
        return True


class CompleteHillClimbing(HillClimbing):
    """Hill climbing until the tree is complete."""

    name = "hc-complete"
    title = "greedy hill climbing to a complete tree"

    def __init__(self) -> None:
        super().__init__(complete=True)
