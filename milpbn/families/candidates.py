"""The search space: every family (variable, parent set) a learner may choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from milpbn._types import BoolArray, Families, FloatArray, IntArray
from milpbn.errors import BudgetError, ConstraintError, OptionError
from milpbn.families.budgets import Budgets, BudgetUse
from milpbn.families.choices import CLASS, AllowedParents, choice_of
from milpbn.families.constraints import Constraints
from milpbn.families.parent_sets import Finder, ParentSet, ParentSets
from milpbn.structure import Structure

__all__ = ["CLASS", "DEFAULT_MEMORY", "FamilySpace", "ParentSet", "candidate_families"]

MOST_VARIABLES = 2**15 - 1
"""Indices of variables are stored in 16 bits."""

DEFAULT_MEMORY = 4 * 2**30
# The cost of a family without its table: its parents, its number, where its table is.
_BYTES_PER_FAMILY = 80
# A cell of a table: its count, and its entry in double and single precision.
_BYTES_PER_CELL = 24


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
        (Variable, parent set) pairs that were pruned, each with the family that replaces it:
        a subset of the parents that scores at least as well.
    budgets
        Limits on the structure as a whole.
    memory_limit
        Maximum bytes for the tables of the families.
    """

    names: tuple[str, ...]
    cards: tuple[int, ...]
    parent_sets: ParentSets
    offsets: IntArray
    dominated: Mapping[tuple[int, ParentSet], int] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)
    memory_limit: int = DEFAULT_MEMORY

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
    def free_parameters(self) -> FloatArray:
        """``(F,)``: free parameters (r - 1) q of the table of every family."""
        cards = np.array([*self.cards, 1], dtype=np.float64)  # the last for the padding
        out: FloatArray = (cards[self.child] - 1) * cards[self.parent_sets.members].prod(axis=1)
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
        return BudgetUse(self.budgets, sizes, self.free_parameters, touches)

    def fits(self, families: Families) -> bool:
        """Whether a choice of families is within the budgets."""
        return not self.budgets or self.budget_use.fits(families)

    def of(self, variable: int) -> range:
        """The family indices of one variable."""
        return range(int(self.offsets[variable]), int(self.offsets[variable + 1]))

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self.parent_sets, self.offsets)

    def find(self, variable: int, parents: Sequence[int]) -> int | None:
        """The index of a family, or None if it is not a candidate."""
        return self._finder.find(variable, parents)

    def select(
        self,
        families: npt.NDArray[np.integer] | Sequence[int],
        replaced: Mapping[int, int] | None = None,
    ) -> FamilySpace:
        """The space with only these families, given in ascending order.

        `replaced` maps families that are left out to the subset that is chosen in their place;
        this may be left out, too, if it is replaced itself.
        """
        place = {int(f): k for k, f in enumerate(families)}
        replaced = replaced or {}
        dominated = {}
        for f, g in replaced.items():
            while g not in place:
                g = replaced[g]
            dominated[int(self.child[f]), self.parent_sets[f]] = place[g]
        kept = np.asarray(families, dtype=np.int64)
        counts = np.bincount(self.child[kept], minlength=self.n_variables)
        return replace(
            self,
            parent_sets=ParentSets(self.parent_sets.members[kept]),
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            dominated=dominated,
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
        smaller = (s for k in range(len(parents)) for s in combinations(parents, k))
        return [g for g in (self.find(child, s) for s in smaller) if g is not None]

    def structure(self, families: npt.NDArray[np.integer] | Sequence[int]) -> Structure:
        """The structure with these families, one per variable in variable order."""
        return Structure(self.names, tuple(self.parent_sets[int(f)] for f in families))

    def families(self, structure: Structure) -> IntArray:
        """The family indices of a structure; raises if it is not part of the search space.

        A pruned family is replaced by the one that dominates it, which only removes arcs.
        """
        if structure.variables != self.names:
            structure = _reordered(structure, self.names)
        out = np.empty(self.n_variables, dtype=np.int64)
        for i, parents in enumerate(structure.parents):
            family = self.find(i, parents)
            if family is None:
                family = self.dominated.get((i, parents))
            if family is None:
                names = ", ".join(self.names[p] for p in parents) or "no parents"
                raise ConstraintError(
                    f"{self.names[i]} <- {names} is not among the candidate parent sets "
                    "(see max_parents, class_parents and the constraints)"
                )
            out[i] = family
        if not self.fits(out):
            raise ConstraintError("; ".join(self.budgets.broken_by(structure, self.cards)))
        return out

    def feasible_families(self) -> IntArray:
        """An acyclic choice of families with few parents; raises if the constraints leave none.

        A variable can be placed once one of its parent sets contains only variables already
        placed. Greedy placement is complete, because placing a variable never prevents
        placing another. If it gets stuck, every remaining variable needs a parent among the
        remaining ones, which proves that no structure exists.

        The smallest such set is chosen. If it is contained in all sets of its variable, as in
        every space of :func:`candidate_families`, no structure needs less of any budget.
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
    return Structure.from_arcs(names, structure.arcs)


def candidate_families(
    names: Sequence[str],
    cards: Sequence[int],
    *,
    max_parents: int = 2,
    class_parents: bool = True,
    generative: bool = False,
    constraints: Constraints | None = None,
    memory_limit: int = DEFAULT_MEMORY,
) -> FamilySpace:
    """Enumerate the candidate families.

    Parameters
    ----------
    names, cards
        Variables and their numbers of states, class first.
    max_parents
        Maximum number of parents per variable, including the class.
    class_parents
        Whether features may be parents of the class, as in Peharz & Pernkopf (2012), or the
        class is a root, as in Pernkopf & Bilmes (2010).
    generative
        False: a feature has no parents, or the class among them, since a parent set without
        the class changes no margin. True: every parent set is allowed.
    constraints
        Filter of the families; contradictions raise :class:`ConstraintError`.
    memory_limit
        Maximum bytes for the families, checked before they are listed, and for their tables.

    Examples
    --------
    >>> space = candidate_families(["c", "a", "b"], [2, 2, 3], class_parents=False)
    >>> [space.parent_sets[f] for f in space.of(1)]
    [(), (0,), (0, 2)]
    """
    if max_parents < 1:
        raise OptionError(f"max_parents must be at least 1, not {max_parents}")
    constraints = constraints or Constraints()
    constraints.check_names(names)
    if len(names) > MOST_VARIABLES:
        raise OptionError(
            f"{len(names):,} variables are too many: milpbn handles up to {MOST_VARIABLES:,}. "
            "Select columns first"
        )
    choices: list[AllowedParents] = []
    n_families = 0
    for i in range(len(names)):
        choices.append(choice_of(i, names, max_parents, class_parents, generative, constraints))
        n_families += choices[-1].n_sets
        _check_memory(n_families, i == len(names) - 1, max_parents, memory_limit)
    width = max(c.limit for c in choices)
    blocks = [c.members(width) for c in choices]
    space = FamilySpace(
        tuple(names),
        tuple(cards),
        ParentSets(np.concatenate(blocks)),
        np.cumsum([0, *map(len, blocks)]),
        budgets=constraints.budgets,
        memory_limit=memory_limit,
    )
    _check_tables(space, max_parents)
    smallest = space.feasible_families()
    return _within_budgets(space, smallest) if space.budgets else space


def _within_budgets(space: FamilySpace, smallest: IntArray) -> FamilySpace:
    """The space without families that break a budget even if all others are the smallest."""
    if broken := list(space.budgets.broken_by(space.structure(smallest), space.cards)):
        arcs = ", ".join(map("->".join, space.structure(smallest).arcs)) or "no arcs"
        raise ConstraintError(f"no structure is small enough: with {arcs}, {'; '.join(broken)}")
    allowed = [
        own.start + np.flatnonzero(space.budget_use.allows(smallest, i, np.array(own)))
        for i, own in enumerate(map(space.of, range(space.n_variables)))
    ]
    return space.select(np.concatenate(allowed))


def _check_memory(families: int, is_all: bool, max_parents: int, memory_limit: int) -> None:
    need = families * _BYTES_PER_FAMILY
    if need > memory_limit:
        number = f"{families:,}" if is_all else f"more than {families:,}"
        raise BudgetError(
            f"max_parents={max_parents} makes {number} candidate families, which need "
            f"{need / 2**30:.1f} GiB; the memory limit is {memory_limit / 2**30:.1f} GiB. Lower "
            "max_parents, select columns, limit the parents of single variables, or raise the "
            "memory limit"
        )


def _check_tables(space: FamilySpace, max_parents: int) -> None:
    """Refuse a space with a family whose table alone is too large."""
    cards = np.array([*space.cards, 1], dtype=np.float64)  # the last for the padding
    cells = cards[space.child] * cards[space.parent_sets.members].prod(axis=1)
    cells *= np.where(space.has_class | (space.child == CLASS), 1, space.n_classes)
    largest = int(cells.argmax())
    need = cells[largest] * _BYTES_PER_CELL
    if need > space.memory_limit:
        child, parents = int(space.child[largest]), space.parent_sets[largest]
        family = f"{space.names[child]!r} given {', '.join(repr(space.names[p]) for p in parents)}"
        raise BudgetError(
            f"the table of {family} has {int(cells[largest]):,} table cells, about "
            f"{need / 2**30:.1f} GiB; the memory limit is {space.memory_limit / 2**30:.1f} GiB. "
            f"Merge rare states, lower max_parents (now {max_parents}), or raise the memory limit"
        )
