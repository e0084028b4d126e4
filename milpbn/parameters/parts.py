"""Tables as sums of parts: the effect of the child alone, and with more and more of its parents.

The table beta[x, h] of a child x with the feature parents h is the sum, over all sets S of these
parents, of a part that depends on x, on the parents in S and on the class:

    beta[x, h] = sum over S of b_S[x, h_S].

Every part has its own penalty. So the rows of all parent configurations speak for the effect of x
alone, and a part with more parents is different from zero only where the smaller ones do not
explain the rows. This is the analysis of variance of a function (Hooker 2007); generalized additive
models with interactions have one- and two-dimensional parts.

References
----------
Hooker (2007), Generalized functional ANOVA diagnostics for high-dimensional functions of dependent
variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from milpbn._types import FloatArray


@dataclass(frozen=True)
class TablePart:
    """A part of a table, in the vector of all of them.

    Attributes
    ----------
    table
        The number of the table.
    key
        The views of the features in the key of the table.
    shape
        Its axes: one for each feature in the key, of size 1 if the part does not depend on it, and
        one for the classes.
    base
        Where it begins in the vector.
    """

    table: int
    key: tuple[int, ...]
    shape: tuple[int, ...]
    base: int

    @property
    def size(self) -> int:
        """The number of its entries."""
        return prod(self.shape)

    def of(self, vector: FloatArray) -> FloatArray:
        """Its entries in the vector, without copying."""
        return vector[self.base : self.base + self.size].reshape(self.shape)


def smaller_parts(
    whole: Sequence[TablePart], n_parents: Sequence[int], base: int
) -> Iterator[TablePart]:
    """The parts of each table that do not depend on all of its feature parents.

    These come first in the key of a table, `n_parents` of them.

    Examples
    --------
    >>> table = TablePart(0, (5, 6), (3, 4, 2), 0)
    >>> list(smaller_parts([table], [1], 24))
    [TablePart(table=0, key=(5, 6), shape=(1, 4, 2), base=24)]
    """
    for part, number in zip(whole, n_parents, strict=True):
        for size in range(number):
            for kept in combinations(range(number), size):
                dropped = set(range(number)).difference(kept)
                shape = tuple(1 if a in dropped else n for a, n in enumerate(part.shape))
                own = TablePart(part.table, part.key, shape, base)
                yield own
                base += own.size
