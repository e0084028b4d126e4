"""Which parents each class variable may have: class variables and partitioning features.

The candidates are visited level by level and never listed as a whole, so that thousands of
subsets of class variables cost nothing once a lemma has excluded them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from milpbn.errors import ConstraintError, OptionError
from milpbn.families import Constraints
from milpbn.families.candidates import ParentSet


@dataclass(frozen=True)
class Nodes:
    """The nodes of the class network: the class variables, then discrete features.

    Discrete features are roots; they can only be parents of class variables.
    """

    names: tuple[str, ...]
    cards: tuple[int, ...]
    d: int

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class ParentChoice:
    """The parents that limits and constraints allow for one class variable.

    Attributes
    ----------
    forced
        Parents that are required.
    free
        Parents that may be added, class variables first.
    class_limit, discrete_limit, limit
        How many class variables, discrete features and parents in total may be added.
    """

    forced: ParentSet
    free: ParentSet
    class_limit: int
    discrete_limit: int
    limit: int
    d: int

    def allows(self, added: Sequence[int]) -> bool:
        """Whether these free parents together satisfy the limits."""
        n_class = sum(p < self.d for p in added)
        return (
            n_class <= self.class_limit
            and len(added) - n_class <= self.discrete_limit
            and len(added) <= self.limit
        )

    def extensions(self, parents: ParentSet) -> Iterator[ParentSet]:
        """The candidates with one more parent, each reached from exactly one set."""
        added = [p for p in parents if p not in self.forced]
        last = max(added, default=-1)
        for p in self.free:
            if p > last and self.allows([*added, p]):
                yield tuple(sorted((*parents, p)))

    def reductions(self, parents: ParentSet) -> Iterator[ParentSet]:
        """The candidates with one parent fewer."""
        for p in parents:
            if p not in self.forced:
                yield tuple(q for q in parents if q != p)

    def sizes(self, cards: Sequence[int]) -> list[tuple[int, int]]:
        """For each number of free parents, the numbers of candidates and of configurations."""
        n_class = sum(p < self.d for p in self.free)
        sets = [_symmetric([1] * n_class), _symmetric([1] * (len(self.free) - n_class))]
        cells = [
            _symmetric([cards[p] for p in self.free[:n_class]]),
            _symmetric([cards[p] for p in self.free[n_class:]]),
        ]
        start = prod(cards[p] for p in self.forced)
        out = []
        for level in range(min(self.limit, len(self.free)) + 1):
            pairs = [
                (a, level - a)
                for a in range(min(self.class_limit, n_class) + 1)
                if 0 <= level - a <= min(self.discrete_limit, len(self.free) - n_class)
            ]
            if not pairs:
                break
            out.append(
                (
                    sum(sets[0][a] * sets[1][b] for a, b in pairs),
                    start * sum(cells[0][a] * cells[1][b] for a, b in pairs),
                )
            )
        return out


def _symmetric(values: Sequence[int]) -> list[int]:
    """Elementary symmetric polynomials e_0, e_1, ... of `values`."""
    out = [1] + [0] * len(values)
    for k, value in enumerate(values, 1):
        for j in range(k, 0, -1):
            out[j] += out[j - 1] * value
    return out


def parent_choices(
    nodes: Nodes,
    *,
    max_parents: int | None = None,
    max_discrete_parents: int | None = None,
    constraints: Constraints | None = None,
) -> list[ParentChoice]:
    """The allowed parents of every class variable.

    Examples
    --------
    >>> nodes = Nodes(("a", "b", "c", "color"), (2, 2, 3, 4), d=3)
    >>> choices = parent_choices(nodes, max_parents=1)
    >>> list(choices[0].extensions(()))
    [(1,), (2,), (3,)]
    >>> choices[0].sizes(nodes.cards)
    [(1, 1), (3, 9), (2, 20)]
    """
    for name, value in (
        ("max_parents", max_parents),
        ("max_discrete_parents", max_discrete_parents),
    ):
        if value is not None and value < 0:
            raise OptionError(f"{name} must not be negative: {value}")
    constraints = constraints or Constraints()
    constraints.check_names(nodes.names)
    if constraints.budgets or constraints.feature_costs:
        raise ConstraintError(
            "max_arcs, max_features, max_parameters and max_cost with feature_costs are for a "
            "single class variable; remove them from the constraints"
        )
    features = set(nodes.names[nodes.d :])
    for parent, child in constraints.required:
        if child in features:
            raise ConstraintError(f"{parent}->{child}: no arc may enter the feature {child!r}")
    return [
        _choice(nodes, j, max_parents, max_discrete_parents, constraints) for j in range(nodes.d)
    ]


def _choice(
    nodes: Nodes,
    child: int,
    max_parents: int | None,
    max_discrete_parents: int | None,
    constraints: Constraints,
) -> ParentChoice:
    name, d = nodes.names[child], nodes.d
    required = constraints.required_parents(name)
    forced = tuple(p for p, other in enumerate(nodes.names) if other in required)
    free = tuple(
        p
        for p, other in enumerate(nodes.names)
        if p != child and p not in forced and constraints.allows(other, name)
    )
    forced_class = sum(p < d for p in forced)
    most_class = d - 1 if max_parents is None else max_parents
    n_discrete = len(nodes) - d
    most_discrete = n_discrete if max_discrete_parents is None else max_discrete_parents
    most = constraints.max_parents.get(name, len(nodes))
    choice = ParentChoice(
        forced=forced,
        free=free,
        class_limit=most_class - forced_class,
        discrete_limit=most_discrete - (len(forced) - forced_class),
        limit=most - len(forced),
        d=d,
    )
    if min(choice.class_limit, choice.discrete_limit, choice.limit) < 0:
        raise ConstraintError(
            f"{name!r} has the required parents {', '.join(sorted(required))}, more than the "
            "limits allow; raise max_parents or max_discrete_parents"
        )
    return choice
