"""Budgets: how many arcs, features and free parameters a structure may have, and what it may cost.

Arcs and parameters are sums over the families of a structure. A feature counts as used if it has
a parent or is a parent; the classifier ignores the others. The cost of a structure is the sum of
the costs of the features that it uses. All four can only grow with an arc, so a structure within
the budgets stays within them if arcs are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from milpbn._types import BoolArray, Families, FloatArray
from milpbn.errors import ConstraintError, OptionError
from milpbn.messages import Message, Spelling, option, read_list
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
    max_cost
        Sum of the costs of the features that have an arc.
    feature_costs
        What features cost, whole numbers; others cost nothing.

    Examples
    --------
    >>> star = Structure.from_arcs(["class", "a", "b"], [("class", "a"), ("class", "b")])
    >>> list(Budgets(max_arcs=1, max_features=2).broken_by(star, 9))
    ['the structure has 2 arcs, but max_arcs is 1']
    """

    max_arcs: int | None = None
    max_features: int | None = None
    max_parameters: int | None = None
    max_cost: int | None = None
    feature_costs: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, limit in self._limits.items():
            if limit is not None and not _is_whole(limit):
                raise ConstraintError(f"{name} must be a whole number >= 0, not {limit!r}")
        if not isinstance(self.feature_costs, Mapping):
            raise ConstraintError("feature_costs must map the names of features to their costs")
        for name, cost in self.feature_costs.items():
            if not (_is_whole(cost) and cost <= MOST_COST):
                raise ConstraintError(
                    f"the cost of {name!r} must be a whole number from 0 to {MOST_COST:,}, not "
                    f"{cost!r}; choose another unit"
                )
        if self.max_cost is not None and not self.feature_costs:
            costs = Spelling("feature_costs", "--feature-cost")
            raise ConstraintError(Message(option("max_cost"), " requires ", costs))

    def __bool__(self) -> bool:
        # Searches ask this before every exchange.
        none = self.max_arcs is None and self.max_features is None and self.max_parameters is None
        return not none or self.max_cost is not None

    @property
    def _limits(self) -> dict[str, int | None]:
        return {
            "max_arcs": self.max_arcs,
            "max_features": self.max_features,
            "max_parameters": self.max_parameters,
            "max_cost": self.max_cost,
        }

    def feature_rows(self, names: Sequence[str]) -> dict[str, FeatureLimit]:
        """The limits on the features in use, by name; the class comes first in `names`."""
        ones, costs = np.ones(len(names)), self.costs(names)
        ones[0] = 0.0
        rows = {"features": (ones, self.max_features), "cost": (costs, self.max_cost)}
        return {
            name: FeatureLimit(weights, float(limit))
            for name, (weights, limit) in rows.items()
            if limit is not None
        }

    def costs(self, names: Sequence[str]) -> FloatArray:
        """The cost of each variable."""
        return np.array([self.feature_costs.get(name, 0) for name in names], dtype=np.float64)

    def cost_of(self, structure: Structure) -> int:
        """The cost of the features that a structure uses."""
        used = [name for v, name in enumerate(structure.variables) if v in _used(structure)]
        return int(self.costs(used).sum())

    def broken_by(self, structure: Structure, n_parameters: int) -> Iterator[str]:
        """What a structure with this many free parameters has too much of."""
        n_arcs, n_used = sum(map(len, structure.parents)), len(_used(structure))
        counts = (n_arcs, n_used, n_parameters, self.cost_of(structure))
        for (name, limit), count in zip(self._limits.items(), counts, strict=True):
            if limit is not None and count > limit:
                what = name.removeprefix("max_")
                if what == "cost":
                    yield f"the features of the structure cost {count}, but {name} is {limit}"
                    continue
                has = "uses" if what == "features" else "has"
                yield f"the structure {has} {count} {what}, but {name} is {limit}"


MOST_COST = 10_000
"""The largest cost of a feature: solvers compare sums of costs with a tolerance."""


class FeatureLimit(NamedTuple):
    """A limit on the features in use: ``weights[v]`` summed over the variables v in use."""

    weights: FloatArray
    limit: float


def read_feature_costs(text: str) -> dict[str, int]:
    """Read costs as they are typed.

    Examples
    --------
    >>> read_feature_costs("test=5, xray=20")
    {'test': 5, 'xray': 20}
    """
    out: dict[str, int] = {}
    try:
        for item in read_list(text):
            name, _, cost = item.rpartition("=")
            if not name.strip() or name.strip() in out:
                raise ValueError
            out[name.strip()] = int(cost)
    except ValueError:
        out = {}
    if not out:
        raise OptionError(
            f"{text!r} is no list of features and costs, which are whole numbers; write "
            "test=5,xray=20"
        )
    return dict(Budgets(feature_costs=out).feature_costs)


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def _used(structure: Structure) -> set[int]:
    """The features that have an arc."""
    return {v for i, s in enumerate(structure.parents) for v in (i, *s) if s} - {0}


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
    names
        The variables, the class first.
    """

    def __init__(
        self,
        budgets: Budgets,
        sizes: FloatArray,
        parameters: FloatArray,
        touches: BoolArray,
        names: Sequence[str],
    ) -> None:
        rows = {
            "arcs": (sizes, budgets.max_arcs),
            "parameters": (parameters, budgets.max_parameters),
        }
        self.linear: dict[str, tuple[FloatArray, float]] = {
            name: (row, float(limit)) for name, (row, limit) in rows.items() if limit is not None
        }
        """Rows ``coefficients . eta <= limit``, by name."""
        self.features = budgets.feature_rows(names)
        """Limits on the features in use, by name."""
        self.touches = touches

    def allows(self, families: Families, variable: int, candidates: Families) -> BoolArray:
        """Which families of `variable` keep the structure within the budgets."""
        others = np.delete(families, variable)
        allowed = np.ones(len(candidates), dtype=bool)
        for row, limit in self.linear.values():
            allowed &= row[candidates] <= limit - row[others].sum()
        if self.features:
            used = self.touches[candidates] | self.touches[others].any(axis=0)
            for weights, limit in self.features.values():
                allowed &= used @ weights <= limit
        return allowed

    def fits(self, families: Families) -> bool:
        """Whether a structure is within the budgets."""
        if self.features:
            used = self.touches[families].any(axis=0)
            if any(used @ weights > limit for weights, limit in self.features.values()):
                return False
        return all(row[families].sum() <= limit for row, limit in self.linear.values())
