"""Raw columns, and what the user says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from milpbn.datasets.infer import MAX_STATES, Orders, parse_orders
from milpbn.errors import OptionError


@dataclass(frozen=True)
class RawFrame:
    """The columns of a file before any decision.

    Attributes
    ----------
    name
        What messages begin with.
    frame
        The columns, with distinct names.
    untyped
        Whether strings may stand for numbers, as in a CSV file.
    states
        Declared states of some columns.
    notes
        What was decided while reading.
    source
        Where the rows came from.
    """

    name: str
    frame: pd.DataFrame
    untyped: bool
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    source: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Columns:
    """What the user says about the columns.

    Attributes
    ----------
    targets
        The class columns.
    categorical, numeric
        Columns whose kind is given.
    drop
        Columns to leave out.
    dates
        What becomes of dates and times: see `DATES`.
    max_states
        The number of states of a category above which rare states are pooled; None for no limit.
    target_bins
        The number of classes into which a numeric target is cut; None to take its values as
        classes.
    weight
        The column of the weights of the rows; it is not a feature.
    ordered
        Columns whose categories have an order, and these categories.
    """

    targets: tuple[str, ...]
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    dates: str = "expand"
    max_states: int | None = MAX_STATES
    target_bins: int | None = None
    weight: str | None = None
    ordered: Orders = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ordered", parse_orders(self.ordered))
        for name, least in (("max_states", 2), ("target_bins", 2)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise OptionError(f"{name} must be at least {least}, not {value}")

    def to_dict(self) -> dict[str, Any]:
        """The arguments of :func:`~milpbn.datasets.readers.read_table`, for a JSON file."""
        return {
            "target": self.targets[0] if len(self.targets) == 1 else list(self.targets),
            "categorical": list(self.categorical),
            "numeric": list(self.numeric),
            "drop": list(self.drop),
            "dates": self.dates,
            "max_states": self.max_states,
            "target_bins": self.target_bins,
            **({"weight": self.weight} if self.weight else {}),
            **({"ordered": {c: list(s) for c, s in self.ordered.items()}} if self.ordered else {}),
        }
