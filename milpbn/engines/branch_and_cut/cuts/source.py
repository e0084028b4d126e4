"""What a row of a relaxation is made from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from milpbn._types import FloatArray

if TYPE_CHECKING:
    from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle

NO_GROUP, OPTIONAL = -1, -2
"""Instead of a group: rows without a T, and among them those that only some nodes have."""

Line = dict[str, Any]
"""A line of a certificate; its first entry says what it is."""


class RowSource(ABC):
    """What a row is made from. Equal sources make equal rows."""

    @property
    def height(self) -> int:
        """The group whose T is on the left of a concave cut; negative for other rows."""
        return NO_GROUP

    @abstractmethod
    def inequality(self, oracle: CutOracle) -> tuple[FloatArray, float]:
        """``(F,)`` and a number: the row is ``(T +) coefficients . eta <= rhs``."""

    @abstractmethod
    def line(self, oracle: CutOracle) -> Line:
        """The line by which a certificate defines the row."""
