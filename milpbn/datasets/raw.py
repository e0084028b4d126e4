"""Raw columns, and what the user says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import pandas as pd

from milpbn.datasets.bins import MDLP
from milpbn.datasets.infer import Orders, parse_orders
from milpbn.datasets.monotone import parse_monotone
from milpbn.datasets.own_bins import OwnBins, split_bins
from milpbn.settings import ColumnNames, check_settings
from milpbn.settings.columns import MAX_STATES, MISSING_POLICIES


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
    missing, bins, own_bins, monotone
        As in a :class:`~milpbn.datasets.table.Table`.
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
    missing: str = MISSING_POLICIES[0]
    bins: str = MDLP
    own_bins: OwnBins = field(default_factory=OwnBins)
    monotone: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def given(cls, targets: Sequence[str], **columns: Unpack[ColumnNames]) -> Columns:
        """What the settings of columns say; they are checked."""
        check_settings(columns)
        names: dict[str, Any] = dict(columns)
        bins, special = names.pop("bins", MDLP), names.pop("special", None)
        bins, own = split_bins(bins, special, names.pop("min_bin_share", 0.0))
        names |= {k: tuple(names[k]) for k in ("categorical", "numeric", "drop") if k in names}
        names["ordered"] = parse_orders(names.get("ordered") or {})
        names["monotone"] = parse_monotone(names.get("monotone"))
        return cls(tuple(targets), **names, bins=bins, own_bins=own)

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
