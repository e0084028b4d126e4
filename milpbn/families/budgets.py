"""Budgets: how many arcs, features and free parameters a structure may have in total.

Arcs and parameters are sums over the families of a structure. A feature counts as used if it has
a parent or is a parent; the classifier ignores the others. All three can only grow with an arc,
so a structure within the budgets stays within them if arcs are removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from milpbn._types import BoolArray, Families, FloatArray
from milpbn.errors import ConstraintError
from milpbn.structure import Structure


@dataclass(frozen=True)
class Budgets:
    """Limits on a whole structure; None for no limit.

    Attributes
    ----------
    max_arcs
        Number of arcs, including those from and to the class.
    max_features
        Number of features that have an arc.
    max_parameters
        Number of free parameters of all tables, including those of unused features.

    Examples
    --------
    >>> star = Structure.from_arcs(["class", "a", "b"], [("class", "a"), ("class", "b")])
    >>> list(Budgets(max_arcs=1, max_features=2).broken_by(star, 9))
    ['the structure has 2 arcs, but max_arcs is 1']
    """

    max_arcs: int | None = None
    max_features: int | None = None
    max_parameters: int | None = None

    def __post_init__(self) -> None:
        for name, limit in asdict(self).items():
            whole = isinstance(limit, int) and not isinstance(limit, bool)
            if limit is not None and not (whole and limit >= 0):
                raise ConstraintError(f"{name} must be a whole number >= 0, not {limit!r}")

    def __bool__(self) -> bool:
        # Searches ask this before every exchange.
        none = self.max_arcs is None and self.max_features is None and self.max_parameters is None
        return not none

    def broken_by(self, structure: Structure, n_parameters: int) -> Iterator[str]:
        """What a structure with this many free parameters has too much of."""
        parents = structure.parents
        used = {v for i, s in enumerate(parents) for v in (i, *s) if s} - {0}
        counts = (sum(map(len, parents)), len(used), n_parameters)
        for (name, limit), count in zip(asdict(self).items(), counts, strict=True):
            if limit is not None and count > limit:
                what = name.removeprefix("max_")
                has = "uses" if what == "features" else "has"
                yield f"the structure {has} {count} {what}, but {name} is {limit}"


class BudgetUse:
    """What each family takes from the budgets.

    Parameters
    ----------
    budgets
        The limits.
    sizes, parameters
        ``(F,)``: number of parents and of free parameters of each family.
    touches
        ``(F, n)``: whether a feature is used if the family is chosen.
    """

    def __init__(
        self, budgets: Budgets, sizes: FloatArray, parameters: FloatArray, touches: BoolArray
    ) -> None:
        rows = {
            "arcs": (sizes, budgets.max_arcs),
            "parameters": (parameters, budgets.max_parameters),
        }
        self.linear: dict[str, tuple[FloatArray, float]] = {
            name: (row, float(limit)) for name, (row, limit) in rows.items() if limit is not None
        }
        """Rows ``coefficients . eta <= limit``, by name."""
        self.max_features = budgets.max_features
        self.touches = touches

    def allows(self, families: Families, variable: int, candidates: Families) -> BoolArray:
        """Which families of `variable` keep the structure within the budgets."""
        others = np.delete(families, variable)
        allowed = np.ones(len(candidates), dtype=bool)
        for row, limit in self.linear.values():
            allowed &= row[candidates] <= limit - row[others].sum()
        if self.max_features is not None:
            used = self.touches[others].any(axis=0)
            allowed &= (self.touches[candidates] | used).sum(axis=1) <= self.max_features
        return allowed

    def fits(self, families: Families) -> bool:
        """Whether a structure is within the budgets."""
        if self.max_features is not None:
            used = int(self.touches[families].any(axis=0).sum())
            if used > self.max_features:
                return False
        return all(row[families].sum() <= limit for row, limit in self.linear.values())
