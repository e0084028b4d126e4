"""Views: pairs of a variable and one of its resolutions, and their codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from milpbn._types import IntArray
from milpbn.encoding.columns import Coarsening, Variable
from milpbn.families.rows import MergedRows


@dataclass(frozen=True)
class Views:
    """All views of some variables.

    A family sees each of its variables through one view. The views of a variable are consecutive,
    that of its finest states first. The class, the first variable, has a single view.

    Attributes
    ----------
    finest
        The number of finest states of each variable.
    coarsenings
        The other resolutions of each variable; empty if no variable has any.

    Examples
    --------
    >>> views = Views((2, 3, 3), ((), (Coarsening(("low", "high"), (0, 0, 1)),), ()))
    >>> views.cards.tolist(), views.first.tolist()
    ([2, 3, 2, 3], [0, 1, 3, 4])
    >>> views.columns(np.array([[1], [1], [2]])).ravel().tolist()
    [1, 1, 0, 2]
    """

    finest: tuple[int, ...]
    coarsenings: tuple[tuple[Coarsening, ...], ...] = ()

    @classmethod
    def of(cls, variables: Sequence[Variable]) -> Views:
        """The views of some variables, the class first."""
        return cls(tuple(v.card for v in variables), other_resolutions(variables))

    @property
    def single(self) -> bool:
        """Whether each variable has one view, so that views and variables have the same numbers."""
        return not self.coarsenings

    @cached_property
    def counts(self) -> IntArray:
        """``(n,)``: the number of views of each variable."""
        if self.single:
            return np.ones(len(self.finest), dtype=np.int64)
        return np.array([1 + len(own) for own in self.coarsenings])

    @cached_property
    def first(self) -> IntArray:
        """``(n + 1,)``: variable i owns the views ``first[i]:first[i + 1]``."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    @cached_property
    def variable(self) -> IntArray:
        """``(V,)``: the variable of each view."""
        return np.repeat(np.arange(len(self.finest)), self.counts)

    @cached_property
    def cards(self) -> IntArray:
        """``(V,)``: the number of states of each view."""
        if self.single:
            return np.array(self.finest, dtype=np.int64)
        pairs = zip(self.finest, self.coarsenings, strict=True)
        return np.array([r for card, own in pairs for r in (card, *(c.card for c in own))])

    @cached_property
    def default(self) -> IntArray:
        """``(n,)``: the resolution of learners that need one: the first coarsening, if any."""
        return np.minimum(self.counts - 1, 1)

    @cached_property
    def smallest(self) -> IntArray:
        """``(n,)``: the resolution with the fewest states, the first of several."""
        own = np.split(self.cards, self.first[1:-1])
        return np.array([int(cards.argmin()) for cards in own])

    def columns(self, columns: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
        """``(V, U)``: the codes of the views, from those of the variables, ``(n, U)``."""
        if self.single:
            return columns
        out = []
        for codes, own in zip(columns, self.coarsenings, strict=True):
            out.append(codes)
            out += [np.array(c.of, dtype=columns.dtype)[codes] for c in own]
        return np.ascontiguousarray(out, dtype=columns.dtype)

    def default_rows(self, rows: MergedRows) -> MergedRows:
        """The rows as the default resolution of each variable shows them."""
        if self.single:
            return rows
        shown = self.columns(rows.codes.T)[self.first[:-1] + self.default]
        return replace(rows, codes=np.ascontiguousarray(shown.T))

    @property
    def default_cards(self) -> list[int]:
        """The number of states of each variable in its default resolution."""
        out: list[int] = self.cards[self.first[:-1] + self.default].tolist()
        return out


def other_resolutions(variables: Sequence[Variable]) -> tuple[tuple[Coarsening, ...], ...]:
    """The coarsenings of the features; empty if there are none."""
    _, *features = (v.coarsenings for v in variables)
    return ((), *features) if any(features) else ()
