"""The search space: every family (variable, parent set) a learner may choose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt

from milpbn._types import Families, FloatArray, IntArray
from milpbn.errors import BudgetError, ConstraintError, OptionError
from milpbn.families.budgets import Budgets, BudgetUse
from milpbn.families.constraints import Constraints
from milpbn.structure import Structure

CLASS = 0
"""Index of the class variable (X_1 = C in the publications)."""

ParentSet = tuple[int, ...]

DEFAULT_MEMORY = 4 * 2**30
# The cost of a family: a tuple, its index entry and its share of the columns of the MILP.
_BYTES_PER_FAMILY = 250
_BYTES_PER_CELL = 8


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
    """

    names: tuple[str, ...]
    cards: tuple[int, ...]
    parent_sets: tuple[ParentSet, ...]
    offsets: IntArray
    dominated: Mapping[tuple[int, ParentSet], int] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)

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
        cards = np.array(self.cards, dtype=np.float64)
        configurations = np.where(self.contains, cards, 1.0).prod(axis=1)
        out: FloatArray = (cards[self.child] - 1) * configurations
        return out

    @cached_property
    def contains(self) -> npt.NDArray[np.bool_]:
        """``(F, n)``: whether a variable is a parent in a family."""
        out = np.zeros((len(self), self.n_variables), dtype=bool)
        for f, parents in enumerate(self.parent_sets):
            out[f, list(parents)] = True
        return out

    @cached_property
    def budget_use(self) -> BudgetUse:
        """What each family takes from the budgets."""
        touches = self.contains.copy()
        touches[np.arange(len(self)), self.child] = self.contains.any(axis=1)
        touches[:, CLASS] = False
        sizes = self.contains.sum(axis=1).astype(np.float64)
        return BudgetUse(self.budgets, sizes, self.free_parameters, touches)

    def fits(self, families: Families) -> bool:
        """Whether a choice of families is within the budgets."""
        return not self.budgets or self.budget_use.fits(families)

    def of(self, variable: int) -> range:
        """The family indices of one variable."""
        return range(int(self.offsets[variable]), int(self.offsets[variable + 1]))

    @cached_property
    def _index(self) -> dict[tuple[int, ParentSet], int]:
        return {
            (int(i), s): f
            for f, (i, s) in enumerate(zip(self.child, self.parent_sets, strict=True))
        }

    def find(self, variable: int, parents: Sequence[int]) -> int | None:
        """The index of a family, or None if it is not a candidate."""
        return self._index.get((variable, tuple(sorted(parents))))

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
        counts = np.bincount(self.child[list(place)], minlength=self.n_variables)
        return replace(
            self,
            parent_sets=tuple(self.parent_sets[f] for f in place),
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            dominated=dominated,
        )

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
        progress = True
        while progress:
            progress = False
            for i in range(self.n_variables):
                if i in chosen:
                    continue
                fits = [f for f in self.of(i) if all(p in chosen for p in self.parent_sets[f])]
                if fits:
                    chosen[i] = min(fits, key=lambda f: len(self.parent_sets[f]))
                    progress = True
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


@dataclass(frozen=True)
class _Choice:
    """What the constraints allow for one variable: forced and free parents, size limits."""

    forced: tuple[int, ...]
    free: tuple[int, ...]
    limit: int
    may_be_empty: bool

    @property
    def n_sets(self) -> int:
        spare = self.limit - len(self.forced)
        total = sum(comb(len(self.free), j) for j in range(spare + 1)) if spare >= 0 else 0
        return total + (self.may_be_empty and bool(self.forced))

    def n_cells(self, cards: Sequence[int], own: int) -> int:
        """Table cells of all sets: elementary symmetric polynomials of the cardinalities."""
        spare = self.limit - len(self.forced)
        if spare < 0:
            return own
        polynomial = [1] + [0] * spare
        for p in self.free:
            for j in range(spare, 0, -1):
                polynomial[j] += polynomial[j - 1] * cards[p]
        return own * (prod(cards[p] for p in self.forced) * sum(polynomial) + 1)

    def sets(self) -> Iterator[ParentSet]:
        if self.may_be_empty and self.forced:
            yield ()
        for j in range(self.limit - len(self.forced) + 1):
            for extra in combinations(self.free, j):
                yield tuple(sorted((*self.forced, *extra)))


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
        Maximum bytes for families and tables; checked before anything is built.

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
    choices = [
        _choice(i, names, max_parents, class_parents, generative, constraints)
        for i in range(len(names))
    ]
    _check_budget(choices, cards, max_parents, memory_limit)
    parent_sets: list[ParentSet] = []
    offsets = [0]
    for choice in choices:
        parent_sets.extend(choice.sets())
        offsets.append(len(parent_sets))
    space = FamilySpace(
        tuple(names),
        tuple(cards),
        tuple(parent_sets),
        np.array(offsets),
        budgets=constraints.budgets,
    )
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


def _choice(
    i: int,
    names: Sequence[str],
    max_parents: int,
    class_parents: bool,
    generative: bool,
    constraints: Constraints,
) -> _Choice:
    name = names[i]
    limit = min(max_parents, constraints.max_parents.get(name, max_parents), len(names) - 1)
    required = {names.index(p) for p in constraints.required_parents(name)}
    allowed = {j for j, p in enumerate(names) if j != i and constraints.allows(p, name)}
    if i == CLASS and not class_parents:
        allowed = set()
    forced = set(required)
    if i != CLASS and not generative:
        if CLASS in allowed:
            forced.add(CLASS)
        else:
            allowed = set()
    choice = _Choice(
        forced=tuple(sorted(forced)),
        free=tuple(sorted(allowed - forced)),
        limit=limit,
        may_be_empty=not required,
    )
    if not required <= allowed or choice.n_sets == 0:
        with_class = i != CLASS and not generative
        raise ConstraintError(_no_parent_set(i, names, required, limit, class_parents, with_class))
    return choice


def _no_parent_set(
    i: int,
    names: Sequence[str],
    required: set[int],
    limit: int,
    class_parents: bool,
    with_class: bool,
) -> str:
    name = names[i]
    arcs = ", ".join(f"{names[p]}->{name}" for p in sorted(required))
    if i == CLASS and not class_parents:
        return f"{arcs} is required, but the class is a root here; allow class parents"
    what = f"no candidate parent set of {name!r} fits the constraints: required {arcs}, at most "
    if not with_class:
        return f"{what}{limit} parents; raise max_parents"
    return (
        f"{what}{limit} parents. A feature's parent sets contain the class ({names[CLASS]}), which "
        "counts as a parent: raise max_parents, or allow the arc from the class"
    )


def _check_budget(
    choices: Sequence[_Choice], cards: Sequence[int], max_parents: int, memory_limit: int
) -> None:
    families = sum(c.n_sets for c in choices)
    cells = sum(c.n_cells(cards, own) for c, own in zip(choices, cards, strict=True))
    need = families * _BYTES_PER_FAMILY + cells * _BYTES_PER_CELL
    if need > memory_limit:
        raise BudgetError(
            f"max_parents={max_parents} makes {families:,} candidate families with {cells:,} table "
            f"cells, about {need / 2**30:.1f} GiB; the memory limit is "
            f"{memory_limit / 2**30:.1f} GiB. Lower max_parents, limit the parents of "
            "single variables, merge rare states, or raise the memory limit"
        )
