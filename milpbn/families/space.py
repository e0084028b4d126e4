"""The search space: every family a learner may choose.

A family is a variable with a parent set, and a resolution for each of them if variables have
several. Then the same parent set occurs once for each combination of resolutions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn._types import BoolArray, Families, FloatArray, IntArray
from milpbn.encoding.columns import Coarsening
from milpbn.errors import ConstraintError
from milpbn.families.budgets import Budgets, BudgetUse
from milpbn.families.choices import CLASS
from milpbn.families.parent_sets import Finder, ParentSet, ParentSets
from milpbn.families.resolutions import ResolutionArray
from milpbn.families.views import Views
from milpbn.settings.run import DEFAULT_MEMORY
from milpbn.structure import Structure, seen_name

Family = tuple[int, ParentSet, tuple[int, ...]]
"""A variable, its parents and the resolutions of both, see :meth:`FamilySpace.family`."""


@dataclass(frozen=True)
class FamilySpace:
    """Candidate families, sorted by variable.

    Attributes
    ----------
    names, cards
        The variables, class first, and their numbers of states.
    parent_sets
        The parent set of every family, as sorted variable indices.
    offsets
        Variable i owns families ``offsets[i]:offsets[i + 1]``.
    dominated
        Families that were pruned, each with the one that replaces it: with the same parents or a
        subset of them, it scores at least as well and needs no more of any budget.
    budgets
        Limits on the structure as a whole.
    memory_limit
        Maximum bytes for the tables of the families.
    threads
        Number of threads for passes over the rows.
    coarsenings
        The other resolutions of each variable; empty if no variable has any.
    resolutions
        ``(F, k + 1)``: the resolution in which each family sees its parents, and in the last
        column its child; None if no variable has several. Families with the same parents are
        consecutive, those with fewer parameters first.
    """

    names: tuple[str, ...]
    cards: tuple[int, ...]
    parent_sets: ParentSets
    offsets: IntArray
    dominated: Mapping[Family, int] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)
    memory_limit: int = DEFAULT_MEMORY
    threads: int = 1
    coarsenings: tuple[tuple[Coarsening, ...], ...] = ()
    resolutions: ResolutionArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without what was derived from them: it is large and quickly computed."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def n_variables(self) -> int:
        """n, including the class."""
        return len(self.names)

    @property
    def n_classes(self) -> int:
        """Number of states of the class."""
        return self.cards[CLASS]

    def __len__(self) -> int:
        return len(self.parent_sets)

    @cached_property
    def child(self) -> IntArray:
        """The variable of every family."""
        return np.repeat(np.arange(self.n_variables), np.diff(self.offsets))

    @cached_property
    def views(self) -> Views:
        """The views through which families see the variables."""
        return Views(self.cards, self.coarsenings)

    @cached_property
    def parent_views(self) -> npt.NDArray[np.int16]:
        """``(F, k)``: the views of the parents, in the order of the parents, padded with -1."""
        members = self.parent_sets.members
        if self.resolutions is None:
            return members
        first = self.views.first.astype(np.int16)
        return np.where(members >= 0, first[members] + self.resolutions[:, :-1], members)

    @cached_property
    def child_view(self) -> IntArray:
        """``(F,)``: the view of the child."""
        if self.resolutions is None:
            return self.child
        out: IntArray = self.views.first[self.child] + self.resolutions[:, -1]
        return out

    @cached_property
    def free_parameters(self) -> FloatArray:
        """``(F,)``: free parameters (r - 1) q of the table of every family."""
        cards = np.append(self.views.cards, 1).astype(np.float64)  # the last for the padding
        out: FloatArray = (cards[self.child_view] - 1) * cards[self.parent_views].prod(axis=1)
        return out

    @cached_property
    def has_class(self) -> BoolArray:
        """``(F,)``: whether the class is a parent."""
        members = self.parent_sets.members
        if members.shape[1] == 0:
            return np.zeros(len(self), dtype=bool)
        out: BoolArray = members[:, 0] == CLASS  # parents are in ascending order
        return out

    @cached_property
    def contains(self) -> BoolArray:
        """``(F, n)``: whether a variable is a parent in a family; for spaces of moderate size."""
        out = np.zeros((len(self), self.n_variables + 1), dtype=bool)
        np.put_along_axis(out, self.parent_sets.members.astype(np.int64), True, axis=1)
        return out[:, :-1]  # the last column is the padding

    @cached_property
    def budget_use(self) -> BudgetUse:
        """What each family takes from the budgets."""
        touches = self.contains.copy()
        touches[np.arange(len(self)), self.child] = self.contains.any(axis=1)
        touches[:, CLASS] = False
        sizes = self.parent_sets.sizes.astype(np.float64)
        return BudgetUse(self.budgets, sizes, self.free_parameters, touches, self.names)

    def fits(self, families: Families) -> bool:
        """Whether a choice of families is within the budgets."""
        return not self.budgets or self.budget_use.fits(families)

    def of(self, variable: int) -> range:
        """The family indices of one variable."""
        return range(int(self.offsets[variable]), int(self.offsets[variable + 1]))

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self.parent_sets, self.offsets)

    def find_all(self, variable: int, parents: Sequence[int]) -> IntArray:
        """The families of a variable with these parents: one per combination of resolutions."""
        return self._finder.indices(self._finder.find(variable, parents))

    def find(self, variable: int, parents: Sequence[int], near: int | None = None) -> int | None:
        """A family of a variable with these parents, or None if there is no candidate.

        Among several resolutions, those of the family `near` are preferred, and for other
        variables their default resolution (see :class:`~milpbn.families.views.Views`).
        """
        found = self._finder.find(variable, parents)
        if len(found) == 0:
            return None
        if len(found) == 1:
            return self._finder.index(found.start)
        return self.nearest(self._finder.indices(found), near)

    def nearest(self, families: Families, near: int | None = None) -> int:
        """The one of some families whose resolutions are most like those that :meth:`find` wants.

        The families belong to the same variable. The first of several is returned.
        """
        if self.resolutions is None:
            return int(families[0])
        wanted = np.append(self.views.default, 0)  # the last for the padding
        if near is not None:
            wanted[self.parent_sets.members[near]] = self.resolutions[near, :-1]
            wanted[self.child[near]], wanted[-1] = self.resolutions[near, -1], 0
        scope = np.column_stack([self.parent_sets.members[families], self.child[families]])
        other = (self.resolutions[families] != wanted[scope]).sum(axis=1)
        return int(families[other.argmin()])

    def family(self, index: int) -> Family:
        """A family: the variable, its parents, and their resolutions and its own, in this order.

        The resolutions are empty if no variable has several.
        """
        parents = self.parent_sets[index]
        seen: tuple[int, ...] = ()
        if self.resolutions is not None:
            own = self.resolutions[index].tolist()
            seen = (*own[: len(parents)], own[-1])
        return int(self.child[index]), parents, seen

    def select(
        self,
        families: npt.NDArray[np.integer] | Sequence[int],
        replaced: Mapping[int, int] | None = None,
    ) -> FamilySpace:
        """The space with only these families, given in ascending order.

        `replaced` maps families that are left out to the one that is chosen in their place; this
        may be left out, too, if it is replaced itself. With it, what was dominated before stays
        dominated.
        """
        place = {int(f): k for k, f in enumerate(families)}
        dominated = {}
        if replaced is not None:
            now = ((self.family(f), g) for f, g in replaced.items())
            for family, g in (*self.dominated.items(), *now):
                while g not in place:
                    g = replaced[g]
                dominated[family] = place[g]
        kept = np.asarray(families, dtype=np.int64)
        counts = np.bincount(self.child[kept], minlength=self.n_variables)
        return replace(
            self,
            parent_sets=ParentSets(self.parent_sets.members[kept]),
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            dominated=dominated,
            resolutions=None if self.resolutions is None else self.resolutions[kept],
        )

    def containing(self, families: Families, variables: Sequence[int]) -> BoolArray:
        """Which of the families have all these variables as parents."""
        members = self.parent_sets.members[families]
        out: BoolArray = np.ones(len(members), dtype=bool)
        for v in variables:
            out &= (members == v).any(axis=1)
        return out

    def subsets(self, family: int) -> list[int]:
        """The other families of the same variable whose parents are among its own."""
        child, parents = int(self.child[family]), self.parent_sets[family]
        sets = (s for k in range(len(parents) + 1) for s in combinations(parents, k))
        return [g for s in sets for g in self.find_all(child, s).tolist() if g != family]

    def structure(self, families: npt.NDArray[np.integer] | Sequence[int]) -> Structure:
        """The structure with these families, one per variable in variable order."""
        found = [self.family(int(f)) for f in families]
        seen = () if self.resolutions is None else tuple(r for _, _, r in found)
        return Structure(self.names, tuple(parents for _, parents, _ in found), seen)

    def families(self, structure: Structure) -> IntArray:
        """The family indices of a structure; raises if it is not part of the search space.

        A pruned family is replaced by the one that dominates it. A structure without resolutions
        sees all variables in their finest states.
        """
        if structure.variables != self.names:
            structure = _reordered(structure, self.names)
        out = np.empty(self.n_variables, dtype=np.int64)
        for i, parents in enumerate(structure.parents):
            family = self._exactly(i, parents, structure.seen(i))
            if family is None:
                pairs = zip(structure.scope(i), structure.seen(i), strict=True)
                *others, own = (seen_name(self.names[v], r) for v, r in pairs)
                raise ConstraintError(
                    f"{own} <- {', '.join(others) or 'no parents'} is not among the candidate "
                    "parent sets (see max_parents, class_parents and the constraints)"
                )
            out[i] = family
        if not self.fits(out):
            raise ConstraintError("; ".join(self.broken_budgets(out)))
        return out

    def adapted(self, structure: Structure) -> IntArray | None:
        """The families of a structure of similar rows, as far as they are candidates here.

        Variables that the structure does not know get the class as their parent, and parents that
        do not exist here are left out. None if some variable then has no candidate, or if a budget
        is too small.
        """
        if structure.variables == self.names:
            with suppress(ConstraintError):
                return self.families(structure)
        parents, known = structure.to_dict(), {name: i for i, name in enumerate(self.names)}
        out = []
        for i, name in enumerate(self.names):
            usual = [] if i == CLASS else [self.names[CLASS]]
            wanted = sorted(known[p] for p in parents.get(name, usual) if p in known)
            smaller: list[list[int]] = [wanted, wanted[:1] if CLASS in wanted else [], []]
            family = next((f for s in smaller if (f := self.find(i, s)) is not None), None)
            if family is None:
                return None
            out.append(family)
        found = np.array(out, dtype=np.int64)
        return found if self.fits(found) else None

    def _exactly(self, variable: int, parents: ParentSet, seen: tuple[int, ...]) -> int | None:
        """The family with these parents and resolutions, or the one that dominates it."""
        found = self.find_all(variable, parents)
        if self.resolutions is None:
            same = found if not any(seen) else found[:0]
            seen = ()
        elif not parents or not len(found):
            same = found  # one resolution stands for all, see `candidate_families`
        else:
            own = self.resolutions[found]
            same = found[(own[:, [*range(len(parents)), -1]] == seen).all(axis=1)]
        return int(same[0]) if len(same) else self.dominated.get((variable, parents, seen))

    def broken_budgets(self, families: Families) -> list[str]:
        """What a choice of families has too much of, in words."""
        size = int(self.free_parameters[families].sum())
        return list(self.budgets.broken_by(self.structure(families), size))

    def feasible_families(self) -> IntArray:
        """An acyclic choice of families with few parents; raises if the constraints leave none.

        A variable can be placed once one of its parent sets contains only variables already
        placed. Greedy placement is complete, because placing a variable never prevents
        placing another. If it gets stuck, every remaining variable needs a parent among the
        remaining ones, which proves that no structure exists.

        The smallest such set is chosen, in the resolutions with the fewest parameters. If it is
        contained in all sets of its variable, as in every space of :func:`candidate_families`, no
        structure needs less of any budget.
        """
        chosen: dict[int, int] = {}
        waiting = np.ones(self.n_variables, dtype=bool)
        progress = True
        while progress:
            progress = False
            for i in np.flatnonzero(waiting).tolist():
                own = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
                fits = own.start + np.flatnonzero(~self.parent_sets.contain(waiting, own))
                if len(fits):
                    chosen[i] = int(fits[np.argmin(self.parent_sets.sizes[fits])])
                    waiting[i], progress = False, True
        if len(chosen) < self.n_variables:
            stuck = ", ".join(v for i, v in enumerate(self.names) if i not in chosen)
            raise ConstraintError(
                "the constraints leave no acyclic structure: every candidate parent set of each "
                f"of {stuck} needs another of them"
            )
        return np.array([chosen[i] for i in range(self.n_variables)])


def _reordered(structure: Structure, names: tuple[str, ...]) -> Structure:
    missing = sorted(set(names) ^ set(structure.variables))
    if missing:
        raise ConstraintError(
            f"the structure's variables differ from the data's: {', '.join(missing[:5])}"
        )
    return structure.reordered(names)
