"""Order-based heuristics: order the features, then choose parents among earlier features.

There are four orders. Parents are always chosen by the score that is maximised (Pernkopf &
Bilmes 2010 use the classification rate, hence the names):

- ``omi-cr``: each feature is the most informative about the class given all before it;
- ``omisp-cr``: ... given the best single feature before it;
- ``ocr-cr``: each feature is the one with which the saturated network over the class and all
  features so far classifies best;
- ``ro-cr``: a random order.

``omi-cr-ext`` repeats the rounds over the order, choosing the parents again in the current
structure, until a round changes nothing.

Algorithm 1 of Pernkopf & Bilmes (2010) is followed exactly, which has two consequences. The
edge from the first to the second feature is added without a test. And the best score so far
starts at CR_old = 0, so that the third feature keeps its best parent even if no parent scores
more. After that, an edge must gain. The result can therefore score less than naive Bayes.

With k > 1 all sets of at most k earlier features are tried. Mutual information is computed
from the observed values and does not count as a score evaluation. If variables have several
resolutions, the order is that of their default resolutions, and each parent set is tried in all of
its resolutions.

References
----------
Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning of
Bayesian network classifiers, sections 5 and 6.5.4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from milpbn._types import Families
from milpbn.families.candidates import CLASS
from milpbn.families.information import (
    JointValues,
    class_information,
    majority,
    pairwise_information,
)
from milpbn.families.rows import MergedRows
from milpbn.scores import SearchState
from milpbn.search.base import Learner, Search
from milpbn.search.hc import (
    KTrees,
    best_family,
    choose_resolutions,
    exchange_if_better,
    just_above,
)
from milpbn.search.tan_cmi import training_rows

# Smaller differences of information count as ties: the earlier feature wins.
_ROUNDING = 1e-12


class OrderBased(Learner):
    """Choose parents among earlier features, one feature after the other.

    Ties between parent sets go to the smaller one, then to features earlier in the order.
    """

    whole_space = True
    refine = False
    """Whether the parents are chosen again until nothing changes."""

    @abstractmethod
    def order(self, search: Search) -> list[int]:
        """The features in the order in which they get their parents."""

    def run(self, search: Search) -> None:
        """See :class:`~milpbn.search.Learner`."""
        order = self.order(search)
        selection = ParentSelection(search, order, self.name)
        selection.first_round()
        while self.refine and selection.next_round():
            pass
        choose_resolutions(search, selection.state)
        selection.tell()


class OMI(OrderBased):
    """Order by mutual information with the class given all earlier features."""

    name = "omi-cr"
    title = "order by mutual information, parents by score"

    def order(self, search: Search) -> list[int]:
        """The most informative pair, the better one first, then greedily."""
        rows = training_rows(search, self.name)
        features = list(range(CLASS + 1, search.space.n_variables))
        order = self._first_pair(search, rows, features)
        rest = [x for x in features if x not in order]
        given = JointValues.of(rows, order)
        while rest:
            search.checkpoint()
            order.append(rest.pop(_first_best(class_information(given, rest))))
            given = given.joined(order[-1])
        return order

    def _first_pair(self, search: Search, rows: MergedRows, features: list[int]) -> list[int]:
        """``argmax I(C; X, X')``, and the one with the larger ``I(C; X)`` first."""
        if len(features) < 2:
            return features
        pairs = np.array(list(combinations(features, 2)))
        cards = search.space.views.default_cards
        values = pairwise_information(rows, cards, search.checkpoint).about_class
        pair: list[int] = pairs[_first_best(values[tuple(pairs.T)])].tolist()
        first, second = class_information(JointValues.of(rows), pair)
        return pair[::-1] if first < second - _ROUNDING else pair


class OMIExtended(OMI):
    """OMI with iterative refinement of the parents."""

    name = "omi-cr-ext"
    title = "omi-cr, parents refined until nothing changes"
    refine = True


class OMISP(OrderBased):
    """Order by mutual information with the class given one earlier feature."""

    name = "omisp-cr"
    title = "order by information given one parent, parents by score"

    def order(self, search: Search) -> list[int]:
        """Greedily; the first feature is the one with the largest ``I(C; X)``."""
        rows = training_rows(search, self.name)
        values = class_information(JointValues.of(rows), range(search.space.n_variables))
        values[CLASS] = -np.inf
        # I(C; X | X') = I(C; X, X') - I(C; X')
        cards = search.space.views.default_cards
        given = pairwise_information(rows, cards, search.checkpoint).about_class
        given -= values
        order = [_first_best(values)]
        rest = [x for x in range(CLASS + 1, len(values)) if x not in order]
        values[CLASS + 1 :] = -np.inf
        while rest:
            values[rest] = np.maximum(values[rest], given[rest, order[-1]])
            order.append(rest.pop(_first_best(values[rest])))
        return order


class OCR(OrderBased):
    """Order by the classification rate of the saturated network, on the training rows."""

    name = "ocr-cr"
    title = "order by classification rate, parents by score"

    def order(self, search: Search) -> list[int]:
        """Greedily, including the first feature."""
        given = JointValues.of(training_rows(search, self.name))
        rest = list(range(CLASS + 1, search.space.n_variables))
        order = []
        while rest:
            search.checkpoint()
            order.append(rest.pop(_first_best(majority(given, rest))))
            given = given.joined(order[-1])
        return order


class RandomOrder(OrderBased):
    """A random order, given by the seed."""

    name = "ro-cr"
    title = "random order, parents by score"

    def order(self, search: Search) -> list[int]:
        """A permutation."""
        features = np.arange(CLASS + 1, search.space.n_variables)
        return [int(x) for x in search.rng.permutation(features)]


def _first_best(values: npt.NDArray[np.float64]) -> int:
    return int(np.argmax(values >= values.max() - _ROUNDING))


class ParentSelection:
    """Step 2 of the heuristics: parents for each feature among those before it."""

    def __init__(self, search: Search, order: Sequence[int], source: str) -> None:
        self.search = search
        self.order = order
        self.source = source
        self.trees = KTrees(search)
        self.base = self.trees.naive_bayes()
        self.state: SearchState = search.state(self.base)
        self._sorted_at = 0

    def first_round(self) -> None:
        """Algorithm 1; later features have no parent except the class."""
        if len(self.order) > 1:
            first, second = self.order[:2]
            edge = self.trees.new_parents(self.base, second).get(first)
            if edge is not None:
                self.state.exchange(second, edge)
        tested, space = False, self.search.space
        for j in range(2, len(self.order)):
            candidates = self.candidates(j)
            base = int(self.base[self.order[j]])
            bare = space.find_all(self.order[j], space.parent_sets[base])
            if self.choose(j, candidates[~np.isin(candidates, bare)], tested):
                self.tell()
                tested = True
        self.tell()

    def tell(self) -> None:
        """Report the structure so far."""
        self.search.offer(self.state, self.source)

    def next_round(self) -> bool:
        """Choose all parents again, with no parent as a choice; return whether one changed."""
        changed = False
        for j in range(1, len(self.order)):
            candidates = self.candidates(j)
            candidates = candidates[candidates != self.state.families[self.order[j]]]
            if self.choose(j, candidates, must_gain=True):
                self.tell()
                changed = True
        return changed

    def choose(self, j: int, candidates: Families, must_gain: bool) -> bool:
        """Give the j-th feature its best candidate; return whether it took one."""
        feature = self.order[j]
        threshold = just_above(self.state.value) if must_gain else -np.inf
        _, family = best_family(self.search, self.state, feature, candidates, threshold)
        if family < 0:
            return False
        if not must_gain:
            self.state.exchange(feature, family)
        elif not exchange_if_better(self.state, [(feature, family)]):
            return False
        # Sorting adds the margins of all families again, as much work as scoring so many
        # candidates.
        if self.state.evaluations - self._sorted_at > 2 * len(self.base):
            self.state.sort_rows()
            self._sorted_at = self.state.evaluations
        return True

    def candidates(self, j: int) -> Families:
        """The families of the j-th feature with earlier parents, ordered for breaking ties.

        A required parent may come later in the order. It is then still in the family, unless
        it closes a cycle.
        """
        space, feature = self.search.space, self.order[j]
        rank = np.full(space.n_variables + 1, len(self.order))  # the last for the padding
        rank[[CLASS, -1]] = -1
        rank[list(self.order[:j])] = np.arange(j)
        late = rank[:-1] >= j
        late[list(space.parent_sets[int(self.base[feature])])] = False
        found = self.search.feasibility.candidates(self.state.families, feature)
        found = found[self.trees.usable[found]]
        found = found[~space.parent_sets.contain(late, found)]
        # The smaller set first, then the one whose parents come first in the order.
        ranks = np.sort(rank[space.parent_sets.members[found]], axis=1)
        return found[np.lexsort((*ranks.T[::-1], space.parent_sets.sizes[found]))]
