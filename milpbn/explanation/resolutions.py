"""The resolutions in which families see their variables, in the user's units."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from string import ascii_uppercase

from milpbn.encoding import Encoder
from milpbn.structure import AnyStructure, ClassStructures, Structure, labelled


def parts_of(structure: AnyStructure) -> tuple[Structure, ...]:
    """The structures of all classes of a multinet, or the only one."""
    return structure.structures if isinstance(structure, ClassStructures) else (structure,)


def seen_by_family(structure: AnyStructure, variable: int) -> dict[int, int]:
    """The resolutions of a variable and of its parents in its family, by their numbers.

    Where the classes of a multinet see a parent in different resolutions, it is 0.
    """
    found: dict[int, set[int]] = {}
    for part in parts_of(structure):
        for v, r in zip(part.scope(variable), part.seen(variable), strict=True):
            found.setdefault(v, set()).add(r)
    return {v: min(seen) if len(seen) == 1 else 0 for v, seen in found.items()}


def seen_cuts(structure: AnyStructure, encoder: Encoder) -> dict[str, tuple[float, ...]]:
    """For each variable, the cuts between the states of its probability table."""
    codes = (encoder.target, *encoder.columns)
    return {c.name: c.cuts_of(seen_by_family(structure, v)[v]) for v, c in enumerate(codes)}


class SeenResolutions:
    """The resolutions that the families of a structure use.

    Parameters
    ----------
    structure
        The structure, or the structures of a multinet.
    encoder
        How raw columns become states.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from milpbn import load_dataset
    >>> encoder = Encoder.fit(replace(load_dataset("iris"), bins="auto"))
    >>> names = tuple(v.name for v in encoder.variables)
    >>> parents = ((), (0,), (0,), (), (0, 2))
    >>> structure = Structure(names, parents, ((0,), (0, 1), (0, 2), (0,), (0, 3, 1)))
    >>> print(SeenResolutions(structure, encoder))
    class
    sepallength (3 bins) <- class
    sepalwidth (8 bins) <- class
    petallength
    petalwidth (3 bins) <- class, sepalwidth (4 bins)
    >>> for line in SeenResolutions(structure, encoder).legend:
    ...     print(line)
    sepallength in 3 bins: <= 5.55, 5.55 to 6.15, > 6.15
    sepalwidth in 8 bins: <= 2.55, 2.55 to 2.75, 2.75 to 2.95, 2.95 to 3.05, ..., > 3.55
    sepalwidth in 4 bins: <= 2.75, 2.75 to 3.05, 3.05 to 3.35, > 3.35
    petalwidth in 3 bins: <= 0.8, 0.8 to 1.75, > 1.75
    """

    def __init__(self, structure: AnyStructure, encoder: Encoder) -> None:
        self._structure = structure
        self._codes = (encoder.target, *encoder.columns)

    @cached_property
    def _letters(self) -> dict[tuple[int, int], str]:
        """The resolutions that are used; a letter tells those of one size apart."""
        used = sorted(
            {
                (v, r)
                for part in parts_of(self._structure)
                for child, parents in enumerate(part.parents)
                if parents
                for v, r in zip(part.scope(child), part.seen(child), strict=True)
                if self._codes[v].coarsenings
            }
        )
        alike: dict[tuple[int, str], list[int]] = defaultdict(list)
        for v, r in used:
            alike[v, self._codes[v].size(r)].append(r)
        return {
            (v, r): letter if len(same) > 1 else ""
            for (v, _), same in alike.items()
            for r, letter in zip(same, ascii_uppercase, strict=False)
        }

    def label(self, variable: int, resolution: int) -> str:
        """The number of states that a family sees; empty if there is nothing to choose."""
        letter = self._letters.get((variable, resolution))
        return "" if letter is None else self._codes[variable].size(resolution, letter)

    def own(self, structure: Structure, variable: int) -> str:
        """The label of a variable in its own family; empty if it has no parents."""
        return (
            self.label(variable, structure.seen(variable)[-1])
            if structure.parents[variable]
            else ""
        )

    def of_arc(self, structure: Structure, parent: int, child: int) -> str:
        """The label of a parent as the family of its child sees it."""
        place = structure.parents[child].index(parent)
        return self.label(parent, structure.seen(child)[place])

    def arc(self, structure: Structure, parent: int, child: int) -> tuple[str, str]:
        """The names of parent and child, with what the family of the child sees."""
        names = structure.variables
        above = labelled(names[parent], self.of_arc(structure, parent, child))
        return above, labelled(names[child], self.own(structure, child))

    @property
    def legend(self) -> list[str]:
        """The states of every resolution that is used, one line each."""
        used = sorted(self._letters.items())
        return [self._codes[v].in_words(r, letter) for (v, r), letter in used]

    def __str__(self) -> str:
        return self._structure.text(self.label)
