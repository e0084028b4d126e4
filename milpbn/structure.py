"""The structure of a network: one parent set for every variable, without a cycle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from milpbn.errors import DataError
from milpbn.markup import html_table
from milpbn.words import assignment, name_in_list

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class Structure:
    """A directed acyclic graph over named variables.

    Attributes
    ----------
    variables
        Names; the class comes first (X_1 = C in the publications).
    parents
        For each variable, the sorted indices of its parents.

    Examples
    --------
    >>> s = Structure.from_arcs(["class", "a", "b"], [("class", "a"), ("class", "b"), ("a", "b")])
    >>> print(s)
    class
    a <- class
    b <- class, a
    """

    variables: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.variables) != len(self.parents):
            raise DataError(f"{len(self.variables)} variables but {len(self.parents)} parent sets")
        object.__setattr__(self, "parents", tuple(tuple(sorted(s)) for s in self.parents))
        _ = self.order

    @classmethod
    def from_arcs(cls, variables: Sequence[str], arcs: Iterable[tuple[str, str]]) -> Structure:
        """Build from (parent, child) names."""
        index = {v: i for i, v in enumerate(variables)}
        parents: list[set[int]] = [set() for _ in variables]
        for parent, child in arcs:
            for name in (parent, child):
                if name not in index:
                    raise DataError(
                        f"arc {parent}->{child}: there is no variable {name!r}; "
                        f"the variables are {', '.join(variables)}"
                    )
            parents[index[child]].add(index[parent])
        return cls(tuple(variables), tuple(tuple(sorted(s)) for s in parents))

    @classmethod
    def from_dict(cls, parents: Mapping[str, Sequence[str]]) -> Structure:
        """Build from ``{variable: [parents]}``, class first (the inverse of `to_dict`)."""
        arcs = [(p, child) for child, names in parents.items() for p in names]
        return cls.from_arcs(tuple(parents), arcs)

    def to_dict(self) -> dict[str, list[str]]:
        """``{variable: [parents]}`` in variable order."""
        return {
            v: [self.variables[p] for p in s]
            for v, s in zip(self.variables, self.parents, strict=True)
        }

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """All arcs as (parent, child) names."""
        return tuple((p, v) for v, names in self.to_dict().items() for p in names)

    def to_networkx(self) -> nx.DiGraph:
        """The graph as a networkx graph, with the names of the variables as nodes."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.variables)
        graph.add_edges_from(self.arcs)
        return graph

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order of the variable indices."""
        try:
            return tuple(TopologicalSorter(dict(enumerate(self.parents))).static_order())
        except CycleError as error:
            cycle = " -> ".join(self.variables[i] for i in error.args[1])
            raise DataError(f"the structure has a directed cycle: {cycle}") from None

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each variable, the indices of its children."""
        below: list[list[int]] = [[] for _ in self.variables]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                below[parent].append(child)
        return tuple(map(tuple, below))

    def __str__(self) -> str:
        return "\n".join(
            name_in_list(v) + (f" <- {', '.join(map(name_in_list, names))}" if names else "")
            for v, names in self.to_dict().items()
        )

    def _repr_html_(self) -> str:
        return self._table()

    def _table(self, caption: str = "") -> str:
        lines = [(v, ", ".join(map(name_in_list, s))) for v, s in self.to_dict().items()]
        return html_table(lines, head=("variable", "parents"), caption=caption)


@dataclass(frozen=True)
class ClassStructures:
    """One structure per class: the structure of a Bayesian multinet.

    Attributes
    ----------
    classes
        The states of the class.
    structures
        One structure per class, all over the same variables; the class is a root in each.

    Examples
    --------
    >>> names = ["class", "a", "b"]
    >>> arcs = [("class", "a"), ("class", "b")]
    >>> one, two = (Structure.from_arcs(names, [*arcs, *more]) for more in ([], [("a", "b")]))
    >>> print(ClassStructures(("no", "yes"), (one, two)))
    class = no
      a <- class
      b <- class
    class = yes
      a <- class
      b <- class, a
    """

    classes: tuple[str, ...]
    structures: tuple[Structure, ...]

    def __post_init__(self) -> None:
        if len(self.classes) != len(self.structures):
            raise DataError(f"{len(self.classes)} classes but {len(self.structures)} structures")
        if any(s.variables != self.variables or s.parents[0] for s in self.structures):
            raise DataError(
                "the structures of a multinet must have the same variables and the class as a root"
            )

    @property
    def variables(self) -> tuple[str, ...]:
        """Names; the class comes first."""
        return self.structures[0].variables

    @classmethod
    def from_dict(cls, parents: Mapping[str, Mapping[str, Sequence[str]]]) -> ClassStructures:
        """Build from ``{class: {variable: [parents]}}`` (the inverse of `to_dict`)."""
        return cls(tuple(parents), tuple(Structure.from_dict(s) for s in parents.values()))

    def to_dict(self) -> dict[str, dict[str, list[str]]]:
        """``{class: {variable: [parents]}}``."""
        pairs = zip(self.classes, self.structures, strict=True)
        return {state: structure.to_dict() for state, structure in pairs}

    def __str__(self) -> str:
        lines = []
        for state, structure in zip(self.classes, self.structures, strict=True):
            lines.append(f"{name_in_list(self.variables[0])} = {name_in_list(state)}")
            lines += [f"  {line}" for line in str(structure).splitlines()[1:]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        pairs = zip(self.classes, self.structures, strict=True)
        return "".join(own._table(assignment(self.variables[0], c)) for c, own in pairs)


AnyStructure = Structure | ClassStructures
"""The structure of a classifier: one for all classes, or one per class."""


def structure_from_dict(content: Mapping[str, Any]) -> AnyStructure:
    """Build a structure of either kind (the inverse of ``to_dict``)."""
    if any(isinstance(value, Mapping) for value in content.values()):
        return ClassStructures.from_dict(content)
    return Structure.from_dict(content)
