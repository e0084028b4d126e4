"""Scores that are sums over rows of a function of the row's log-joint."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.errors import OptionError
from milpbn.families.candidates import FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Laplace, Smoothing, parse_smoothing
from milpbn.families.tables import FamilyTables
from milpbn.scores.base import Objective, Score

if TYPE_CHECKING:
    from milpbn.families.exchange import ExchangeState, ExchangeTables

HINGE, RATE, CLL = "hinge", "rate", "cll"


@dataclass(frozen=True)
class RowObjective(Objective):
    """A row score on one data set.

    `tables` holds log-probabilities, and the margins are the differences between the row's
    class and each competitor. With ``binary`` it holds log ratios of the row's class to the
    rest, and each row has one competitor.
    """

    tables: FamilyTables
    kind: ClassVar[str]
    gamma: float = np.inf
    binary: bool = False

    @property
    def space(self) -> FamilySpace:  # type: ignore[override]
        """The candidate families."""
        return self.tables.space

    @property
    def rows(self) -> MergedRows:
        """The training rows."""
        return self.tables.rows

    @cached_property
    def competitors(self) -> npt.NDArray[np.intp]:
        """``(U, |C| - 1)``: the other classes of each row, in ascending order."""
        others = np.arange(self.space.n_classes - 1)[None, :]
        return others + (others >= self.rows.labels[:, None])

    def to_margins(self, by_class: FloatArray, rows: slice = slice(None)) -> FloatArray:
        """``(U, competitors)`` margins from ``(U, |C|)`` table entries or their sums."""
        own = np.take_along_axis(by_class, self.rows.labels[rows, None].astype(np.intp), axis=1)
        if self.binary:
            return own
        return own - np.take_along_axis(by_class, self.competitors[rows], axis=1)

    def margins(self, families: AnyFamilies) -> FloatArray:
        """``(U,)``: the smallest margin of each row under a structure."""
        smallest: FloatArray = self.to_margins(self.tables.total(families)).min(axis=1)
        return smallest

    @abstractmethod
    def value(self, families: AnyFamilies) -> float:
        """See :class:`~milpbn.scores.Objective`."""

    @cached_property
    def exchange_tables(self) -> ExchangeTables:
        """The compiled kernels' copy of the tables, shared by all searches."""
        from milpbn.families.exchange import ExchangeTables

        return ExchangeTables(self.tables, self.binary)

    def state(self, families: AnyFamilies) -> ExchangeState:
        """See :class:`~milpbn.scores.Objective`."""
        from milpbn.families import kernels
        from milpbn.families.exchange import ExchangeState

        kind = {HINGE: kernels.HINGE, RATE: kernels.RATE, CLL: kernels.CLL}[self.kind]
        return ExchangeState(self.exchange_tables, kind, families, self.gamma)


@dataclass(frozen=True)
class RowScore(Score):
    """Common settings of the scores that are sums over rows.

    Parameters
    ----------
    smoothing
        How counts become probabilities; a string such as ``"laplace:0.5"`` is parsed.
    folds
        None: each row is scored with parameters learned from all rows. A number: each row is
        scored with parameters learned from the other folds.
    fold_seed
        Seed for the division into folds.
    """

    smoothing: Smoothing = field(default_factory=Laplace)
    folds: int | None = None
    fold_seed: int = 0
    _tables_of: ClassVar[Callable[..., FamilyTables]] = FamilyTables.log_probabilities

    def __post_init__(self) -> None:
        object.__setattr__(self, "smoothing", parse_smoothing(self.smoothing))
        if self.folds is not None and self.folds < 2:
            raise OptionError(f"cross-validation needs at least 2 folds, not {self.folds}")

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`; the seed is omitted if there are no folds."""
        shown = super().settings()
        if self.folds is None:
            del shown["fold_seed"]
        return shown

    def tables(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> FamilyTables:
        """The tables that rows look up; with cross-validation, one copy per fold."""
        tables_of = type(self)._tables_of
        if self.folds is None:
            return tables_of(space, rows, self.smoothing, checkpoint)
        divided, fold = rows.split(self.folds, self.fold_seed)
        parts = [
            tables_of(space, divided.select(fold != k), self.smoothing, checkpoint)
            for k in range(self.folds)
        ]
        values = np.concatenate([part.values for part in parts])
        values.setflags(write=False)
        return FamilyTables(space, divided, values, parts[0].base, fold * len(parts[0].values))
