"""Scores that are sums over rows of a function of the row's log-joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milpbn._types import AnyFamilies, FloatArray
from milpbn.errors import OptionError
from milpbn.families.candidates import FamilySpace
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Laplace, Smoothing, parse_smoothing
from milpbn.families.tables import FamilyTables
from milpbn.scores.base import CLL, HINGE, RATE, Objective, Score
from milpbn.scores.definition import LOO

if TYPE_CHECKING:
    from milpbn.families.exchange import ExchangeState

NO_VALIDATION = "none"
"""How no validation is written, as opposed to one that is not given."""


def parse_validation(value: int | str | None) -> int | str | None:
    """Read a validation: a number of folds, ``"loo"``, or None (also ``"none"``) for none.

    Examples
    --------
    >>> parse_validation("10"), parse_validation("loo"), parse_validation("none")
    (10, 'loo', None)
    """
    text = str(value).lower()
    if text in (LOO, NO_VALIDATION):
        return LOO if text == LOO else None
    try:
        folds = int(text)
    except ValueError:
        raise OptionError(
            f"validation must be a number of folds, {LOO} or none, not {value!r}"
        ) from None
    if folds < 2:
        raise OptionError(f"validation needs at least 2 folds, not {folds}")
    return folds


def read_validation(text: str) -> int | str:
    """Read a validation as :func:`parse_validation` does; ``"none"`` stays as it is.

    Examples
    --------
    >>> read_validation("10"), read_validation("none")
    (10, 'none')
    """
    return parse_validation(text) or NO_VALIDATION


@dataclass(frozen=True)
class RowObjective(Objective):
    """A row score on one data set.

    `tables` holds log-probabilities, and the margins are the differences between the row's
    class and each competitor; or log ratios of the row's class to the rest, and each row has
    one competitor.
    """

    tables: FamilyTables
    gamma: float = np.inf

    @property
    def binary(self) -> bool:
        """Whether each row has one competitor, the rest of the classes."""
        return self.tables.ratios

    @property
    def space(self) -> FamilySpace:  # type: ignore[override]
        """The candidate families."""
        return self.tables.space

    @property
    def rows(self) -> MergedRows:  # type: ignore[override]
        """The training rows."""
        return self.tables.rows

    def fits(self) -> bool:
        """See :class:`~milpbn.scores.Objective`."""
        return self.tables.fits(np.arange(len(self.space)))

    def margins(self, families: AnyFamilies) -> FloatArray:
        """``(U,)``: the smallest margin of each row under a structure."""
        margins = self.tables.margins(families)
        smallest: FloatArray = margins if self.tables.single else margins.min(axis=1)
        return smallest

    def value(self, families: AnyFamilies) -> float:
        """See :class:`~milpbn.scores.Objective`."""
        return float(self.rows.weights @ self.row_values(families))

    def state(self, families: AnyFamilies) -> ExchangeState:
        """See :class:`~milpbn.scores.Objective`."""
        from milpbn.families import kernels
        from milpbn.families.exchange import ExchangeState

        kind = {HINGE: kernels.HINGE, RATE: kernels.RATE, CLL: kernels.CLL}[self.kind]
        return ExchangeState(self.tables, kind, families, self.gamma)


@dataclass(frozen=True)
class RowScore(Score):
    """Common settings of the scores that are sums over rows.

    Parameters
    ----------
    smoothing
        How counts become probabilities; a string such as ``"laplace:0.5"`` is parsed.
    validation
        None: each row is scored with parameters learned from all rows. A number of folds: each
        row is scored with parameters learned from the other folds. ``"loo"`` (leave one out):
        each row is scored with parameters learned from all other rows.
    fold_seed
        Seed for the division into folds.
    """

    resolutions = True
    by_rows = True
    smoothing: Smoothing = field(default_factory=Laplace)
    validation: int | str | None = None
    fold_seed: int = 0
    _tables_of: ClassVar[Callable[..., FamilyTables]] = FamilyTables.log_probabilities

    def __post_init__(self) -> None:
        object.__setattr__(self, "smoothing", parse_smoothing(self.smoothing))
        object.__setattr__(self, "validation", parse_validation(self.validation))

    @property
    def folds(self) -> int | None:
        """The number of folds; None without validation and with leave-one-out."""
        return self.validation if isinstance(self.validation, int) else None

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`; the seed is omitted if there are no folds."""
        shown = super().settings()
        if self.folds is None:
            del shown["fold_seed"]
        return shown

    def tables(self, space: FamilySpace, rows: MergedRows) -> FamilyTables:
        """The tables that rows look up; with cross-validation, one for each fold."""
        tables_of = type(self)._tables_of
        if self.folds is None:
            return tables_of(space, rows, self.smoothing, leave_one_out=self.validation == LOO)
        divided, fold = rows.split(self.folds, self.fold_seed)
        return tables_of(space, divided, self.smoothing, fold=fold, n_folds=self.folds)
