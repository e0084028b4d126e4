"""The structure of a network: one parent set for every variable, without a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from milpbn.errors import DataError
from milpbn.markup import html_table
from milpbn.words import assignment, name_in_list

if TYPE_CHECKING:
    import networkx as nx


Parents = dict[str, list[str]]
"""The parents of variables, by name."""

ResolutionLabel = Callable[[int, int], str]
"""A word for a variable in a resolution, by their numbers; empty if nothing is to be said."""

Resolutions = dict[str, dict[str, int]]
"""The resolutions in the families of variables, by name, without those that are 0."""


@dataclass(frozen=True)
class Structure:
    """A directed acyclic graph over named variables.

    Attributes
    ----------
    variables
        Names; the class comes first (X_1 = C in the publications).
    parents
        For each variable, the sorted indices of its parents.
    resolutions
        For each variable, the resolutions in which its family sees its parents, in their order,
        and then itself (see :class:`milpbn.encoding.Variable`). Empty if every family sees all
        variables in their finest states.

    Examples
    --------
    >>> s = Structure.from_arcs(["class", "a", "b"], [("class", "a"), ("class", "b"), ("a", "b")])
    >>> print(s)
    class
    a <- class
    b <- class, a
    >>> print(Structure(s.variables, s.parents, ((0,), (0, 0), (0, 2, 1))))
    class
    a <- class
    b (resolution 1) <- class, a (resolution 2)
    """

    variables: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    resolutions: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        if len(self.variables) != len(self.parents):
            raise DataError(f"{len(self.variables)} variables but {len(self.parents)} parent sets")
        object.__setattr__(self, "resolutions", self._sorted_resolutions())
        object.__setattr__(self, "parents", tuple(tuple(sorted(s)) for s in self.parents))
        _ = self.order

    def _sorted_resolutions(self) -> tuple[tuple[int, ...], ...]:
        """The resolutions in the order of the sorted parents; empty if all are 0."""
        given = self.resolutions
        if not any(map(any, given)):
            return ()
        if [len(r) for r in given] != [len(s) + 1 for s in self.parents]:
            raise DataError("a structure needs a resolution for each parent and each variable")
        if min(map(min, given)) < 0:
            raise DataError("a resolution is negative")
        pairs = zip(given, self.parents, strict=True)
        return tuple(
            (*(r for _, r in sorted(zip(s, own, strict=False))), own[-1]) for own, s in pairs
        )

    def scope(self, variable: int) -> tuple[int, ...]:
        """The variables of a family: the parents, then the variable itself."""
        return (*self.parents[variable], variable)

    def seen(self, variable: int) -> tuple[int, ...]:
        """The resolution of each variable of :meth:`scope`."""
        return self.resolutions[variable] if self.resolutions else (0,) * len(self.scope(variable))

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
    def from_dict(
        cls,
        parents: Mapping[str, Sequence[str]],
        resolutions: Mapping[str, Mapping[str, int]] | None = None,
    ) -> Structure:
        """Build from ``{variable: [parents]}``, class first (the inverse of `to_dict`).

        `resolutions` are those of :meth:`resolutions_to_dict`, if there are any.
        """
        arcs = [(p, child) for child, names in parents.items() for p in names]
        plain = cls.from_arcs(tuple(parents), arcs)
        if not resolutions:
            return plain
        found = []
        for child, name in enumerate(plain.variables):
            scope = [plain.variables[v] for v in plain.scope(child)]
            own = resolutions.get(name, {})
            if strange := sorted(set(own) - set(scope)):
                raise DataError(f"resolutions of {name!r}: {strange[0]!r} is not in its family")
            found.append(tuple(own.get(v, 0) for v in scope))
        if strange := sorted(set(resolutions) - set(plain.variables)):
            raise DataError(f"resolutions: there is no variable {strange[0]!r}")
        return cls(plain.variables, plain.parents, tuple(found))

    def reordered(self, names: Sequence[str]) -> Structure:
        """The same structure with its variables, which must be the same, in another order."""
        parents = self.to_dict()
        return Structure.from_dict({v: parents[v] for v in names}, self.resolutions_to_dict())

    def to_dict(self) -> Parents:
        """``{variable: [parents]}`` in variable order."""
        return {
            v: [self.variables[p] for p in s]
            for v, s in zip(self.variables, self.parents, strict=True)
        }

    def resolutions_to_dict(self) -> Resolutions:
        """``{variable: {parent or itself: resolution}}``, without those that are 0.

        Examples
        --------
        >>> s = Structure(("class", "a", "b"), ((), (0,), (0, 1)), ((0,), (0, 0), (0, 2, 1)))
        >>> s.resolutions_to_dict()
        {'b': {'a': 2, 'b': 1}}
        >>> Structure.from_dict(s.to_dict(), s.resolutions_to_dict()) == s
        True
        """
        out = {}
        for child, seen in enumerate(self.resolutions):
            pairs = zip(self.scope(child), seen, strict=True)
            if own := {self.variables[v]: r for v, r in pairs if r}:
                out[self.variables[child]] = own
        return out

    def changes(self, other: Structure) -> tuple[Parents, Resolutions]:
        """The families in which another structure differs: parents, and resolutions if not 0.

        Examples
        --------
        >>> one = Structure.from_arcs(["class", "a"], [("class", "a")])
        >>> other = Structure.from_arcs(["class", "a"], [])
        >>> one.changes(other)
        ({'a': []}, {})
        >>> one.changed(*one.changes(other)) == other
        True
        """
        families = zip(self.variables, self._families(), other._families(), strict=True)
        names = [name for name, mine, theirs in families if mine != theirs]
        parents, seen = other.to_dict(), other.resolutions_to_dict()
        return {v: parents[v] for v in names}, {v: seen[v] for v in names if v in seen}

    def changed(
        self,
        parents: Mapping[str, Sequence[str]],
        resolutions: Mapping[str, Mapping[str, int]] | None = None,
    ) -> Structure:
        """The structure with other families, as :meth:`changes` returns them."""
        seen = {v: own for v, own in self.resolutions_to_dict().items() if v not in parents}
        return Structure.from_dict({**self.to_dict(), **parents}, {**seen, **(resolutions or {})})

    def _families(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        return [(self.scope(v), self.seen(v)) for v in range(len(self.variables))]

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

    def named_families(self, label: ResolutionLabel) -> Iterator[tuple[str, list[str]]]:
        """Each variable and its parents, with the labels of their resolutions."""
        for child, above in enumerate(self.parents):
            pairs = zip(self.scope(child), self.seen(child), strict=True)
            *parents, own = (
                labelled(name_in_list(self.variables[v]), label(v, r)) for v, r in pairs
            )
            yield own if above else name_in_list(self.variables[child]), parents

    def text(self, label: ResolutionLabel) -> str:
        """The structure as text; `label` says what families see of a variable in a resolution."""
        return "\n".join(
            own + (f" <- {', '.join(parents)}" if parents else "")
            for own, parents in self.named_families(label)
        )

    def __str__(self) -> str:
        return self.text(_number)

    def _repr_html_(self) -> str:
        return self._table()

    def _table(self, caption: str = "") -> str:
        lines = [(own, ", ".join(parents)) for own, parents in self.named_families(_number)]
        return html_table(lines, head=("variable", "parents"), caption=caption)


def seen_name(name: str, resolution: int) -> str:
    """The name of a variable with the resolution in which a family sees it, unless it is 0."""
    return labelled(name, _number(0, resolution))


def labelled(name: str, label: str) -> str:
    """The name of a variable with what a family sees of it, unless that is empty."""
    return f"{name} ({label})" if label else name


def _number(variable: int, resolution: int) -> str:
    return f"resolution {resolution}" if resolution else ""


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
        # The shares of states inside coarser ones are those of all classes: they must cancel.
        own = {tuple(s.seen(v)[-1] for v in range(len(s.variables))) for s in self.structures}
        if len(own) > 1:
            raise DataError("the structures of a multinet must see each child in one resolution")

    @property
    def variables(self) -> tuple[str, ...]:
        """Names; the class comes first."""
        return self.structures[0].variables

    @classmethod
    def from_dict(
        cls,
        parents: Mapping[str, Mapping[str, Sequence[str]]],
        resolutions: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
    ) -> ClassStructures:
        """Build from ``{class: {variable: [parents]}}`` (the inverse of `to_dict`).

        `resolutions` are those of :meth:`resolutions_to_dict`, if there are any.
        """
        seen = resolutions or {}
        own = (Structure.from_dict(s, seen.get(state)) for state, s in parents.items())
        return cls(tuple(parents), tuple(own))

    def to_dict(self) -> dict[str, dict[str, list[str]]]:
        """``{class: {variable: [parents]}}``."""
        pairs = zip(self.classes, self.structures, strict=True)
        return {state: structure.to_dict() for state, structure in pairs}

    def resolutions_to_dict(self) -> dict[str, dict[str, dict[str, int]]]:
        """``{class: {variable: {parent or itself: resolution}}}``, without those that are 0."""
        pairs = zip(self.classes, self.structures, strict=True)
        return {c: own for c, s in pairs if (own := s.resolutions_to_dict())}

    def text(self, label: ResolutionLabel) -> str:
        """The structures as text; see :meth:`Structure.text`."""
        lines = []
        for state, structure in zip(self.classes, self.structures, strict=True):
            lines.append(f"{name_in_list(self.variables[0])} = {name_in_list(state)}")
            lines += [f"  {line}" for line in structure.text(label).splitlines()[1:]]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text(_number)

    def _repr_html_(self) -> str:
        pairs = zip(self.classes, self.structures, strict=True)
        return "".join(own._table(assignment(self.variables[0], c)) for c, own in pairs)


AnyStructure = Structure | ClassStructures
"""The structure of a classifier: one for all classes, or one per class."""


def structure_from_dict(
    content: Mapping[str, Any], resolutions: Mapping[str, Any] | None = None
) -> AnyStructure:
    """Build a structure of either kind (the inverse of ``to_dict``)."""
    if any(isinstance(value, Mapping) for value in content.values()):
        return ClassStructures.from_dict(content, resolutions)
    return Structure.from_dict(content, resolutions)
