"""A raw table: named columns, which of them are numeric, the target, and a split."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn.errors import DataError

MISSING_POLICIES = ("drop", "state")


@dataclass(frozen=True)
class Table:
    """Raw data on its way to the encoder.

    Attributes
    ----------
    name
        Catalog name or file name; every message about the data begins with it.
    features
        One column per feature. Numeric columns are float64 with NaN for missing;
        categorical columns hold ``str`` values, with ``None`` for missing.
    target
        The class labels, ``str``, no missing value; its name is the column's name.
    numeric
        The columns of `features` that are numbers and will be discretised.
    states
        Declared states of categorical columns (and of the target), in order. A
        column that is not mentioned takes the states seen in the training rows.
    is_train
        True for training rows. All True where the data have no held-out test set.
    missing
        ``"drop"``: rows with a missing feature are left out; ``"state"``: missing
        is a state of its own.
    notes
        What was decided while reading, one sentence each, naming the column.
    source
        Where the rows came from: ``{"dataset": name, "sha256": ...}`` or
        ``{"file": path, "sha256": ...}``; kept in model files.
    """

    name: str
    features: pd.DataFrame
    target: pd.Series[str]
    numeric: tuple[str, ...]
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_train: npt.NDArray[np.bool_] | None = None
    missing: str = "drop"
    notes: tuple[str, ...] = ()
    source: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.missing not in MISSING_POLICIES:
            raise DataError(
                f"{self.name}: unknown missing-value policy {self.missing!r}; "
                f"choose one of {', '.join(MISSING_POLICIES)}"
            )
        if self.is_train is None:
            object.__setattr__(self, "is_train", np.ones(len(self.features), dtype=bool))

    @property
    def has_test(self) -> bool:
        """Whether some rows are held out for testing."""
        assert self.is_train is not None
        return not bool(self.is_train.all())

    def rows(self, mask: npt.NDArray[np.bool_]) -> Table:
        """The same table with only the rows of `mask`."""
        assert self.is_train is not None
        return replace(
            self,
            features=self.features.loc[mask].reset_index(drop=True),
            target=self.target.loc[mask].reset_index(drop=True),
            is_train=self.is_train[mask],
        )

    def train(self) -> Table:
        """The training rows."""
        assert self.is_train is not None
        return self.rows(self.is_train)

    def test(self) -> Table:
        """The held-out rows; empty where the data have none."""
        assert self.is_train is not None
        return self.rows(~self.is_train)
