"""Iterated local search over parent sets, in the whole search space of the exact engines.

The moves are: the best family of one variable given all others (best response), reversing
an arc together with the best new family at its other end, cutting off a subtree and joining
it again at any of its variables, making features parents of the class, and, if there are
budgets, dropping parents of one variable to make room for those of another. From a local
optimum the search perturbs ("kicks") a few variables, climbs again, and continues from the
better of the two structures. It begins with naive Bayes or a given start, and with the
smallest structure if that scores more than naive Bayes. The longer there is no improvement, the
more variables it kicks; from time to time it restarts from a random structure, and later
returns to the best.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from milpbn._types import BoolArray, Families
from milpbn.anytime import simple_starts
from milpbn.families.candidates import CLASS
from milpbn.scores import SearchState
from milpbn.search.base import Learner, Search
from milpbn.search.hc import just_above

# Consecutive failures after which the search restarts, and after as many again returns to the
# best structure.
_SPELL = 60

# A kicked variable takes one of this many next best families, or, with this probability, any.
_NEXT_BEST = 3

# Up to this many variables, a kick is followed by a full climb; with more, the structure must
# first come this close to the one that was kicked, as a fraction of its score.
_FEW_VARIABLES = 64
_PROMISING = 1e-3
_WILD = 0.1


class LocalSearch(Learner):
    """Multi-start iterated local search; runs until its time or its patience ends.

    Parameters
    ----------
    patience
        Stop after this many consecutive kicks without a better structure.
    """

    name = "local-search"
    title = "iterated local search over parent sets"

    def __init__(self, patience: int = 2000) -> None:
        self.patience = patience

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        Climber(search, self.name).run(self.patience)


class Climber:
    """A current structure and the moves that improve it.

    Parameters
    ----------
    search
        Objective, time and record.
    source
        The name under which better structures are reported.
    tries_class
        Whether to try features as parents of the class: one move per pair of features.
    """

    def __init__(self, search: Search, source: str, tries_class: bool = True) -> None:
        self.search = search
        self.source = source
        self.space = search.space
        self.graph = search.feasibility
        start = search.simple_start() if search.start is None else search.start
        self.state: SearchState = search.state(start)
        search.offer(self.state, source)
        # The only feature parent in each family, the class if there is none or several.
        members = self.space.parent_sets.members
        features = np.where(members == CLASS, -1, members)
        one = (features >= 0).sum(axis=1) == 1
        self._only_feature = np.where(one, features.max(axis=1, initial=-1), CLASS)
        # What `with_feature_parent` has found, by family and feature; CLASS stands for none.
        self._replaced: dict[tuple[int, int], int | None] = {}
        self.tries_class = tries_class and len(self.space.of(CLASS)) > 1
        # The best structure, the one that is kicked (not always the best), and the kicks since.
        self.best = self.home = start
        self.best_value = self.home_value = -np.inf
        self.failures = 0

    def run(self, patience: int) -> None:
        """Climb, kick and climb again until `patience` consecutive kicks have no success.

        A later call continues where this one ended.
        """
        if np.isinf(self.best_value):
            self.go_on_from(self.best)
            self._try_the_smallest()
        in_vain = 0
        while in_vain < patience:
            self.search.checkpoint()
            self.restore(self.home)
            afresh = self.failures % _SPELL == _SPELL // 2
            self.kick(self.space.n_variables if afresh else self.strength(self.failures))
            if afresh or self.repair():
                self.climb()
            if self.state.value > just_above(self.best_value):
                self._settle()
                in_vain = 0
                continue
            self.failures += 1
            in_vain += 1
            if self.state.value >= self.home_value or afresh:
                self.home, self.home_value = self.state.families.copy(), self.state.value
            elif self.failures % _SPELL == 0:
                self.home, self.home_value = self.best.copy(), self.best_value

    def go_on_from(self, families: Families) -> None:
        """Continue the search from this structure, or from a better one near it."""
        self.restore(families)
        self.climb()
        self._settle()

    def _try_the_smallest(self) -> None:
        """Climb from the smallest structure, too, if it scores more than naive Bayes.

        It does if gamma is small: then the wrong side of the margin costs more than the right side
        can gain. Optimal structures are small, and no single move leads there from large ones.
        """
        smallest = self.space.feasible_families()
        usual = next(iter(simple_starts(self.space).values()))
        if self.search.objective.value(smallest) > self.search.objective.value(usual):
            self.restore(smallest)
            self.climb()
            if self.state.value > just_above(self.best_value):
                self._settle()

    def _settle(self) -> None:
        """Record the current structure as the best so far."""
        self.state.sort_rows()
        self.best, self.best_value = self.state.families.copy(), self.state.value
        self.home, self.home_value = self.best, self.best_value
        self.failures = 0

    def repair(self) -> bool:
        """Improve around the kicked variables; return whether a full climb is worthwhile.

        With few variables it always is. With many it takes seconds, so it must begin above or
        just below the structure that was kicked.
        """
        if self.space.n_variables <= _FEW_VARIABLES:
            return True
        self.best_responses(self._around(self.state.families != self.home))
        moved = bool((self.state.families != self.home).any())
        return moved and self.state.value > self.home_value - _PROMISING * abs(self.home_value)

    def _around(self, chosen: BoolArray) -> list[int]:
        """The chosen variables, their feature parents and their children."""
        sets, near = self.space.parent_sets, chosen.copy()
        for v in np.flatnonzero(chosen).tolist():
            near[list(sets[int(self.state.families[v])])] = True
        near |= np.append(chosen, False)[sets.members[self.state.families]].any(axis=1)
        near[CLASS] = chosen[CLASS]
        return np.flatnonzero(near).tolist()

    def climb(self) -> None:
        """Improve until no move helps."""
        try:
            while (
                self.best_responses()
                or self.reversals()
                or self.transplants()
                or self.class_moves()
                or self.trades()
            ):
                self.search.offer(self.state, self.source)
        finally:
            # Also when the time is over: on wide data that may be before the first optimum.
            self.search.offer(self.state, self.source)

    def best_responses(self, among: list[int] | None = None) -> bool:
        """One variable after the other takes its best family; True if any changed."""
        improved = False
        among = list(range(self.space.n_variables)) if among is None else among
        waiting = list(self.search.rng.permutation(among))
        while waiting:
            variable = int(waiting.pop())
            if self.best_response(variable):
                improved = True
                # All other variables may have a better family now.
                waiting = [int(v) for v in self.search.rng.permutation(among) if v != variable]
        return improved

    def best_response(self, variable: int) -> bool:
        """Give the variable its best family, if it is better than the current one."""
        self.search.checkpoint()
        candidates = self.graph.candidates(self.state.families, variable)
        return self.take_best(variable, candidates, self.state.value)

    def take_best(self, variable: int, candidates: Families, target: float) -> bool:
        """Exchange for the best candidate if it scores above `target` in double precision."""
        return len(candidates) > 0 and self.state.take_best(
            variable, candidates, just_above(target)
        )

    def reversals(self) -> bool:
        """Reverse arcs between features, with the best family at the new child."""
        for child in self.search.rng.permutation(np.arange(1, self.space.n_variables)):
            for parent in self.space.parent_sets[int(self.state.families[child])]:
                if parent != CLASS and self.reverse(int(parent), int(child)):
                    return True
        return False

    def reverse(self, parent: int, child: int) -> bool:
        """Remove `parent` from the parents of `child`, and make it depend on `child`."""
        self.search.checkpoint()
        before, value = int(self.state.families[child]), self.state.value
        without = [p for p in self.space.parent_sets[before] if p != parent]
        smaller = self.space.find(child, without, before)
        if smaller is None:
            return False
        self.state.exchange(child, smaller)
        candidates = self.graph.candidates(self.state.families, parent)
        towards = candidates[self.space.containing(candidates, [child])]
        if self.take_best(parent, towards, value):
            return True
        self.state.exchange(child, before)
        return False

    def transplants(self) -> bool:
        """Cut off subtrees and join each again at the best variable with its best family.

        A tree scores almost the same with any of its variables as the root, but only the root
        can take a new parent. So each variable of the subtree in turn becomes its root and
        looks for its best family.
        """
        children: dict[int, list[int]] = {}
        for v in range(1, self.space.n_variables):
            children.setdefault(self.only_feature_parent(v), []).append(v)
        target = self.state.value
        for v in self.search.rng.permutation(np.arange(1, self.space.n_variables)).tolist():
            bare = self.without_feature_parent(v)
            if v not in children or bare is None:
                continue
            before = self.state.families.copy()
            self.state.exchange(v, bare)
            if self.turn(v, children, target):
                return True
            self.restore(before)
        return False

    def turn(self, root: int, children: dict[int, list[int]], target: float) -> bool:
        """Make each variable below `root` the root in its place, until one gains."""
        for v in children.get(root, ()):
            self.search.checkpoint()
            before = int(self.state.families[root]), int(self.state.families[v])
            free = self.without_feature_parent(v)
            below = self.with_feature_parent(root, v)
            if free is None or below is None:
                continue
            self.state.exchange(v, free)
            if self.graph.is_free(self.state.families, root, below):
                self.state.exchange(root, below)
                candidates = self.graph.candidates(self.state.families, v)
                if self.take_best(v, candidates, target) or self.turn(v, children, target):
                    return True
                self.state.exchange(root, before[0])
            self.state.exchange(v, before[1])
        return False

    def only_feature_parent(self, variable: int) -> int:
        """The feature parent if there is exactly one, else the class."""
        return int(self._only_feature[self.state.families[variable]])

    def with_feature_parent(self, variable: int, feature: int) -> int | None:
        """The family with another feature in place of the only feature parent.

        A feature without parents also takes the class if the search space requires it.
        """
        key = int(self.state.families[variable]), feature
        if key not in self._replaced:
            parents, now = self.other_parents(variable) | {feature}, key[0]
            family = self.space.find(variable, list(parents), now)
            if family is None:
                family = self.space.find(variable, list(parents | {CLASS}), now)
            self._replaced[key] = family
        return self._replaced[key]

    def without_feature_parent(self, variable: int) -> int | None:
        """The family without the only feature parent."""
        key = int(self.state.families[variable]), CLASS
        if key not in self._replaced:
            self._replaced[key] = self.space.find(variable, [*self.other_parents(variable)], key[0])
        return self._replaced[key]

    def other_parents(self, variable: int) -> set[int]:
        """The parents without the only feature parent."""
        parents = set(self.space.parent_sets[int(self.state.families[variable])])
        return parents - ({self.only_feature_parent(variable)} - {CLASS})

    def class_moves(self) -> bool:
        """Make one or two features parents of the class instead of its children."""
        if not self.tries_class:
            return False
        features = [
            int(v) for v in self.search.rng.permutation(np.arange(1, self.space.n_variables))
        ]
        sizes = range(1, 1 + min(2, self.largest_class_set()))
        return any(self.adopt(group) for size in sizes for group in combinations(features, size))

    def largest_class_set(self) -> int:
        """The maximum number of parents of the class."""
        return int(self.space.parent_sets.sizes[: len(self.space.of(CLASS))].max())

    def adopt(self, group: tuple[int, ...]) -> bool:
        """Make all features of `group` parents of the class, without parents themselves."""
        self.search.checkpoint()
        if set(group) <= set(self.space.parent_sets[int(self.state.families[CLASS])]):
            return False
        before, value = self.state.families.copy(), self.state.value
        for v in group:
            bare = self.space.find(v, ())
            if bare is None:
                self.restore(before)
                return False
            self.state.exchange(v, bare)
        candidates = self.graph.candidates(self.state.families, CLASS)
        fitting = candidates[self.space.containing(candidates, group)]
        if self.take_best(CLASS, fitting, value):
            return True
        self.restore(before)
        return False

    def trades(self) -> bool:
        """Drop parents of one variable to make room within the budgets for those of another."""
        if not self.space.budgets:
            return False
        target = self.state.value
        for v in self.search.rng.permutation(self.space.n_variables).tolist():
            before = int(self.state.families[v])
            for smaller in self.reductions(v):
                self.state.exchange(v, smaller)
                for w in self.search.rng.permutation(self.space.n_variables).tolist():
                    self.search.checkpoint()
                    candidates = self.graph.candidates(self.state.families, w)
                    if w != v and self.take_best(w, candidates, target):
                        return True
                self.state.exchange(v, before)
        return False

    def reductions(self, variable: int) -> set[int]:
        """The families with one parent less than now, without parents, or with fewer parameters.

        The latter have the same parents in other resolutions.
        """
        now = int(self.state.families[variable])
        parents, size = self.space.parent_sets[now], self.space.free_parameters
        sets = [[p for p in parents if p != gone] for gone in parents] + [[]] * bool(parents)
        found = (self.space.find(variable, s, now) for s in sets)
        same = self.space.find_all(variable, parents)
        return {f for f in found if f is not None} | set(same[size[same] < size[now]].tolist())

    def restore(self, families: Families) -> None:
        """Undo exchanges one by one (cheaper than a reset)."""
        for v in np.flatnonzero(self.state.families != families):
            self.state.exchange(int(v), int(families[v]))

    def strength(self, failures: int) -> int:
        """How many variables to kick: more, the longer there was no improvement."""
        n = self.space.n_variables
        return 2 + int(self.search.rng.integers(0, 2 + min(failures // 20, n)))

    def kick(self, strength: int) -> None:
        """New families for some variables: mostly one of the next best, sometimes any.

        A kick of all variables is a restart, and completely random.
        """
        rng, n = self.search.rng, self.space.n_variables
        for variable in rng.permutation(n)[:strength].tolist():
            self.search.checkpoint()
            candidates = self.graph.candidates(self.state.families, variable)
            candidates = candidates[candidates != self.state.families[variable]]
            if len(candidates) == 0:
                continue
            if strength < n and rng.random() > _WILD:
                scores = self.state.scores(variable, candidates)
                candidates = candidates[np.argsort(-scores, kind="stable")[:_NEXT_BEST]]
            self.state.exchange(variable, int(rng.choice(candidates)))
