"""The rows that a model is measured on."""

from __future__ import annotations

from dataclasses import dataclass

from milpbn._types import Codes


@dataclass(frozen=True, eq=False)
class MeasuredRows:
    """Rows of codes, and a few words about them.

    Attributes
    ----------
    codes
        ``(M, n)`` codes, the class first; -1 if a value is not known.
    described
        Where they come from: ``"90 test rows of heart"``.
    training
        Whether the model was learned from them.
    notes
        What was decided about columns and rows when the data were read.
    """

    codes: Codes
    described: str
    training: bool = False
    notes: tuple[str, ...] = ()
