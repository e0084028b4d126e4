"""Enumerate the families of a search space, within the constraints and the memory limit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from milpbn._types import IntArray
from milpbn.encoding.columns import Coarsening
from milpbn.errors import BudgetError, ConstraintError, OptionError
from milpbn.families.choices import CLASS, AllowedParents, choice_of
from milpbn.families.constraints import Constraints
from milpbn.families.parent_sets import ParentSet, ParentSets
from milpbn.families.resolutions import with_resolutions
from milpbn.families.space import FamilySpace
from milpbn.families.views import Views
from milpbn.messages import Message, Spelling, option
from milpbn.settings.run import DEFAULT_MEMORY
from milpbn.words import memory

__all__ = ["CLASS", "FamilySpace", "ParentSet", "candidate_families"]

MOST_VARIABLES = 2**15 - 1
"""Indices of variables, and of their views, are stored in 16 bits."""

# The cost of a family without its table: its parents, its number, where its table is.
_BYTES_PER_FAMILY = 80
# A cell of a table: its count, and its entry in double and single precision.
_BYTES_PER_CELL = 24


def candidate_families(
    names: Sequence[str],
    cards: Sequence[int],
    *,
    max_parents: int = 2,
    class_parents: bool = True,
    generative: bool = False,
    constraints: Constraints | None = None,
    memory_limit: int = DEFAULT_MEMORY,
    threads: int = 1,
    coarsenings: tuple[tuple[Coarsening, ...], ...] = (),
    most_families: float = math.inf,
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
    threads
        Number of threads for passes over the rows.
    coarsenings
        The other resolutions of each variable. A variable without parents has one family, in the
        resolution with the fewest states: its table is the same for all classes, and the likelihood
        of its finest states is the same in every resolution.
    most_families
        More families are a :class:`BudgetError`: listing them takes too long.

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
    views = Views(tuple(cards), coarsenings)
    if len(views.cards) > MOST_VARIABLES:
        raise OptionError(
            f"{len(names):,} variables have {len(views.cards):,} resolutions in total: milpbn "
            f"handles up to {MOST_VARIABLES:,}. Select columns first, or use fewer resolutions"
        )
    choices: list[AllowedParents] = []
    n_families = 0
    for i in range(len(names)):
        choices.append(choice_of(i, names, max_parents, class_parents, generative, constraints))
        n_families += choices[-1].n_families(i, views.counts)
        _check_memory(n_families, i == len(names) - 1, max_parents, memory_limit)
        if n_families > most_families:
            raise BudgetError(
                f"max_parents={max_parents} makes more than {most_families:,.0f} candidate "
                "families, too many for the time limit"
            )
    width = max(c.limit for c in choices)
    blocks = [c.members(width) for c in choices]
    members, offsets = np.concatenate(blocks), np.cumsum([0, *map(len, blocks)])
    seen = None
    if not views.single:
        members, offsets, seen = with_resolutions(members, offsets, views)
    space = FamilySpace(
        tuple(names),
        tuple(cards),
        ParentSets(members),
        offsets,
        budgets=constraints.budgets,
        memory_limit=memory_limit,
        threads=threads,
        coarsenings=coarsenings,
        resolutions=seen,
    )
    _check_tables(space, max_parents)
    smallest = space.feasible_families()
    return _within_budgets(space, smallest) if space.budgets else space


def _within_budgets(space: FamilySpace, smallest: IntArray) -> FamilySpace:
    """The space without families that break a budget even if all others are the smallest."""
    if broken := space.broken_budgets(smallest):
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
            Message(
                Spelling(f"max_parents={max_parents}", f"--max-parents {max_parents}"),
                f" makes {number} candidate families, which need {memory(need)}; the memory limit "
                f"is {memory(memory_limit)}. Lower ",
                option("max_parents"),
                ", select columns, limit the parents of single variables, or raise the memory "
                "limit",
            )
        )


def _check_tables(space: FamilySpace, max_parents: int) -> None:
    """Refuse a space with a family whose table alone is too large."""
    cards = np.append(space.views.cards, 1).astype(np.float64)  # the last for the padding
    cells = cards[space.child_view] * cards[space.parent_views].prod(axis=1)
    cells *= np.where(space.has_class | (space.child == CLASS), 1, space.n_classes)
    largest = int(cells.argmax())
    need = cells[largest] * _BYTES_PER_CELL
    if need > space.memory_limit:
        child, parents = int(space.child[largest]), space.parent_sets[largest]
        family = f"{space.names[child]!r} given {', '.join(repr(space.names[p]) for p in parents)}"
        raise BudgetError(
            f"the table of {family} has {int(cells[largest]):,} table cells, about "
            f"{memory(need)}; the memory limit is {memory(space.memory_limit)}. "
            f"Merge rare states, lower max_parents (now {max_parents}), or raise the memory limit"
        )
