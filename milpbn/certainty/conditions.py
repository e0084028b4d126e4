"""Conditions on a structure: it has an arc, or no arc between two variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from milpbn._types import AnyFamilies, BoolArray, Families, FloatArray
from milpbn.engines.branch_and_cut.rows import Edge
from milpbn.families.candidates import FamilySpace
from milpbn.scores import Objective, SearchState
from milpbn.scores.penalised import PenalisedState


@dataclass(frozen=True)
class Condition:
    """The structures with an arc, or those in which two variables have no arc.

    Attributes
    ----------
    parent, child
        The arc, as variables.
    present
        True: all structures with the arc. False: all structures without an arc between the two
        variables, in either direction.
    """

    parent: int
    child: int
    present: bool

    @property
    def edge(self) -> Edge:
        """The two variables, the smaller first."""
        return min(self.parent, self.child), max(self.parent, self.child)

    @property
    def ends(self) -> list[tuple[int, int]]:
        """The variables that the condition restricts, each with the parent in question."""
        arc = self.child, self.parent
        return [arc] if self.present else [arc, arc[::-1]]

    def allowed(self, space: FamilySpace) -> BoolArray:
        """``(F,)``: the families of the structures."""
        out = np.ones(len(space), dtype=bool)
        for v, parent in self.ends:
            own = space.of(v)
            out[own.start : own.stop] = self.fits(space, own, parent)
        return out

    def fits(
        self, space: FamilySpace, families: Sequence[int] | Families, parent: int
    ) -> BoolArray:
        """Which families of a restricted variable are allowed."""
        out: BoolArray = space.contains[families, parent] == self.present
        return out

    def holds(self, space: FamilySpace, families: Families) -> bool:
        """Whether a structure satisfies the condition."""
        return all((p in space.parent_sets[int(families[v])]) == self.present for v, p in self.ends)

    def least_loss(self, space: FamilySpace, loss: FloatArray) -> float:
        """The sum over the variables of the least loss of an allowed family.

        It is 0 for variables that are not restricted, because the best family has no loss.
        """
        own = ((space.of(v), parent) for v, parent in self.ends)
        least = (loss[f][self.fits(space, f, p)].min(initial=np.inf) for f, p in own)
        return float(sum(least))


def arc_conditions(space: FamilySpace, best: Families) -> list[Condition]:
    """One condition per possible arc: its edge removed if the structure has it, else the arc."""
    parents = [space.parent_sets[int(f)] for f in best]
    return [
        Condition(p, c, present=p not in parents[c])
        for c in range(space.n_variables)
        for p in np.flatnonzero(space.contains[space.of(c)].any(axis=0)).tolist()
    ]


class Restricted(Objective):
    """An objective over the structures under a condition; the others score minus infinity.

    Searches may pass through other structures, at a price that is higher than any score, so that
    they find their way back.
    """

    def __init__(self, objective: Objective, condition: Condition, price: float) -> None:
        self.objective = objective
        self.space = objective.space
        self.condition = condition
        self._price = price

    def value(self, families: AnyFamilies) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        if not self.condition.holds(self.space, np.asarray(families)):
            return -np.inf
        return self.objective.value(families)

    def state(self, families: AnyFamilies) -> SearchState:
        """See :class:`~milpbn.scores.Objective`."""
        costs = np.where(self.condition.allowed(self.space), 0.0, -self._price)
        return PenalisedState(self.objective.state(families), costs)

    def quick_bound(self) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        return self.objective.quick_bound()
