"""Readable column and row names for LP and MPS files.

The file formats allow few characters, and PuLP silently replaces some of them. Names
therefore consist of letters, digits, ``_`` and ``.`` only, are unique, and are explained
in a legend at the top of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from milpbn.families.candidates import FamilySpace
from milpbn.structure import seen_name

# Names in LP files have at most 255 characters; some are reserved for separators.
_LONGEST = 240


def safe_names(names: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """Unique names that are valid in model files, similar to the originals.

    ``none`` is reserved for the empty parent set. Names are cut after `longest` characters.

    Examples
    --------
    >>> safe_names(["class", "a b", "a-b", "größe"])
    ['class', 'a_b', 'a_b_2', 'gr__e']
    """
    taken = {"none"}
    out = []
    for name in names:
        base = re.sub(r"[^A-Za-z0-9_]", "_", name)[:longest] or "_"
        candidate, k = base, 2
        while candidate in taken:
            candidate, k = f"{base}_{k}", k + 1
        taken.add(candidate)
        out.append(candidate)
    return out


class ModelNames:
    """Column and row names of the structure-learning MILP."""

    def __init__(self, space: FamilySpace) -> None:
        self._space = space
        # The name of a column contains those of a child and its parents.
        n_names = 1 + max(map(len, space.parent_sets), default=0)
        self._safe = safe_names(space.names, max(_LONGEST // n_names - 8, 1))

    def eta(self, family: int) -> str:
        """``eta.child.from.parent.parent``, or ``eta.child.from.none``.

        A resolution that is not the finest follows after two points: ``eta.child..2.from.parent``.
        """
        *parents, child = (
            f"{self._safe[v]}..{r}" if r else self._safe[v] for v, r in self._seen(family)
        )
        return f"eta.{child}.from.{'.'.join(parents) or 'none'}"

    def _seen(self, family: int) -> Iterator[tuple[int, int]]:
        """The parents and the child of a family, each with its resolution."""
        child, parents, seen = self._space.family(family)
        return zip((*parents, child), seen or (0,) * (len(parents) + 1), strict=True)

    def tau(self, row: int) -> str:
        """The margin of a distinct row."""
        return f"tau.row{row}"

    def order(self, variable: int) -> str:
        """The position of a variable in the topological order."""
        return f"order.{self._safe[variable]}"

    def one(self, variable: int) -> str:
        """The row that gives a variable exactly one parent set."""
        return f"one.{self._safe[variable]}"

    def acyclic(self, parent: int, child: int) -> str:
        """The order row of an arc."""
        return f"acyclic.{self._safe[parent]}.before.{self._safe[child]}"

    def used(self, feature: int) -> str:
        """Whether a feature has an arc."""
        return f"used.{self._safe[feature]}"

    def use(self, feature: int, variable: int) -> str:
        """The row that marks a feature as used by the family of a variable."""
        return f"use.{self._safe[feature]}.by.{self._safe[variable]}"

    def legend(self) -> list[str]:
        """One line per variable and per family: the name in the file, then the original names."""
        space = self._space
        lines = [f"{s} = {n!r}" for s, n in zip(self._safe, space.names, strict=True)]
        # Escaped, because a line break inside a name would end the comment.
        shown = [repr(n)[1:-1] for n in space.names]
        for f in range(len(space)):
            *parents, child = (seen_name(shown[v], r) for v, r in self._seen(f))
            lines.append(f"{self.eta(f)}: {child} <- {', '.join(parents) or 'no parents'}")
        return lines
