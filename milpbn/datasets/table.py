"""A raw table: named columns, which of them are numeric, the class labels, and a split."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import FloatArray
from milpbn.datasets.bins import MDLP, parse_bins
from milpbn.datasets.monotone import check_monotone, parse_monotone
from milpbn.datasets.own_bins import OTHERS, OwnBins, split_bins
from milpbn.datasets.readings import Reading
from milpbn.datasets.weights import (
    ClassWeight,
    check_positive,
    class_factors,
    parse_class_weight,
)
from milpbn.errors import DataError
from milpbn.messages import Message, Spelling, option
from milpbn.settings import StateNames, check_settings
from milpbn.settings.columns import MISSING_POLICIES
from milpbn.words import count, quoted

AUTO, STATE, DROP = MISSING_POLICIES


@dataclass(frozen=True)
class Table:
    """Raw data with one class variable or several.

    Attributes
    ----------
    name
        Catalog name or file name; messages about the data begin with it.
    features
        One column per feature. Numeric columns are float64 with NaN for missing;
        categorical columns hold ``str`` values, with ``None`` for missing.
    targets
        One column of class labels per class variable, ``str``, without missing values.
        A Series becomes a frame with one column.
    numeric
        The columns of `features` that are numbers.
    states
        Declared states of categorical columns and of targets, in order. A column that
        is not listed has the states of its training rows.
    is_train
        True for training rows. All True if the data have no held-out test rows.
    weights
        The positive weight of each row: a weight of 2 counts a row twice. None if
        every row counts as one.
    class_weight
        A factor for the weights of the rows of each class: a mapping from labels to numbers (1
        for those that it lacks), ``"balanced"`` for factors that give all classes of the
        training rows the same total weight and leave their sum as it is, or None.
    missing
        What becomes of missing values in training rows. ``"auto"``: a state of their own, but
        columns that are mostly empty are left out; ``"state"``: a state of their own in every
        column; ``"drop"``: training rows with a missing feature are left out. Test rows are
        never left out.
    readings
        How columns, targets included, are made from raw ones, for those that are not taken as
        they are: dates, numbers with units, a numeric target that is cut into classes.
    max_states
        The number of states of a categorical feature above which rare states are pooled; None
        for no limit.
    bins
        How numeric features are cut: ``"mdlp"``, ``"fine"``, ``"quantile:K"`` or ``"auto"``; see
        :func:`~milpbn.datasets.bins.parse_bins`.
    own_bins
        Cuts and special values of single columns, and the smallest share of a bin.
    monotone
        The features with a monotone effect on two classes: 1 if the second class may not become
        less likely along their ordered states, -1 if it may not become more likely.
    folds
        Number of folds that the catalog proposes for cross-validation; 0 for none.
    notes
        What was decided while reading, one sentence each, naming the column.
    source
        Where the rows came from: ``{"dataset": name, "sha256": ...}``, or
        ``{"file": path, "sha256": ..., "columns": ...}`` with the arguments of
        :func:`read_table`. It is stored in model files.
    ordered
        The categorical columns whose declared states have an order. Numbers always have one.
    updates
        Raw training rows that came later, as :func:`~milpbn.datasets.readers.read_features`
        returns them, with their class: no state and no cut is learned from them.

    Examples
    --------
    >>> table = Table(
    ...     name="vehicles",
    ...     features=pd.DataFrame({"length": [4.1, 8.2], "fuel": ["petrol", "diesel"]}),
    ...     targets=pd.DataFrame({"kind": ["car", "truck"], "wheels": ["4", "6"]}),
    ...     numeric=("length",),
    ... )
    >>> len(table), table.categorical
    (2, ['fuel'])
    >>> replace(table, targets=table.targets["kind"]).target.tolist()
    ['car', 'truck']
    """

    name: str
    features: pd.DataFrame
    targets: pd.DataFrame
    numeric: tuple[str, ...]
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_train: npt.NDArray[np.bool_] | None = None
    weights: FloatArray | None = None
    class_weight: ClassWeight | None = None
    missing: str = AUTO
    readings: dict[str, Reading] = field(default_factory=dict)
    max_states: int | None = None
    bins: str = MDLP
    own_bins: OwnBins = field(default_factory=OwnBins)
    monotone: dict[str, int] = field(default_factory=dict)
    folds: int = 0
    notes: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)
    ordered: tuple[str, ...] = ()
    updates: tuple[pd.DataFrame, ...] = ()

    def __post_init__(self) -> None:
        if self.missing not in MISSING_POLICIES:
            raise DataError(
                f"{self.name}: unknown missing-value policy {self.missing!r}; "
                f"choose one of {', '.join(MISSING_POLICIES)}"
            )
        object.__setattr__(self, "bins", parse_bins(self.bins))
        object.__setattr__(self, "targets", pd.DataFrame(self.targets))
        if self.weights is not None:
            check_positive(self.weights, len(self), self.name)
        if self.class_weight is not None:
            parse_class_weight(self.class_weight)
        if self.is_train is None:
            object.__setattr__(self, "is_train", np.ones(len(self.features), dtype=bool))

    def __len__(self) -> int:
        return len(self.features)

    @property
    def target(self) -> pd.Series[str]:
        """The labels of the class variable; an error if there are several."""
        if self.targets.shape[1] != 1:
            names = quoted(self.targets.columns)
            raise DataError(
                Message(
                    f"{self.name} has {count(self.targets.shape[1], 'class variable')} ({names}), "
                    "but one is needed; use ",
                    Spelling("GBNCClassifier", "`milpbn mdc solve`"),
                    " for several, or name one target",
                )
            )
        return self.targets.iloc[:, 0]

    @property
    def categorical(self) -> list[str]:
        """The columns of `features` that are categories."""
        return [name for name in map(str, self.features.columns) if name not in self.numeric]

    @property
    def sources(self) -> list[str]:
        """The raw columns that the features are made from."""
        names = map(str, self.features.columns)
        return list(
            dict.fromkeys(self.readings[c].source if c in self.readings else c for c in names)
        )

    @cached_property
    def incomplete(self) -> npt.NDArray[np.bool_]:
        """Rows in which a feature is missing."""
        missing = np.zeros(len(self.features), dtype=bool)
        for j in range(self.features.shape[1]):
            missing |= self.features.iloc[:, j].isna().to_numpy(dtype=bool)
        return missing

    def row_weights(self) -> FloatArray | None:
        """The weights of the rows with the factors of their classes; None if all are 1."""
        if self.class_weight is None:
            return self.weights
        assert self.is_train is not None
        weights = np.ones(len(self)) if self.weights is None else self.weights
        factors = class_factors(
            self.class_weight, self.target[self.is_train], weights[self.is_train]
        )
        out: FloatArray = weights * self.target.map(factors).fillna(1.0).to_numpy(np.float64)
        return out

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
            features=_chosen(self.features, mask),
            targets=_chosen(self.targets, mask),
            is_train=self.is_train[mask],
            weights=None if self.weights is None else self.weights[mask],
        )

    def train(self) -> Table:
        """The training rows."""
        assert self.is_train is not None
        return self.rows(self.is_train)

    def test(self) -> Table:
        """The held-out rows; empty if there are none."""
        assert self.is_train is not None
        return self.rows(~self.is_train)


def _chosen(frame: pd.DataFrame, mask: npt.NDArray[np.bool_]) -> pd.DataFrame:
    return (frame if mask.all() else frame.loc[mask]).reset_index(drop=True)


def with_states(table: Table, **states: Unpack[StateNames]) -> Table:
    """The table with other settings of states; those that are not given stay.

    Parameters
    ----------
    table
        The table.
    states
        `bins`, a name or cuts for some columns, as in ``{"income": [1000, 2000], "*": "auto"}``,
        where ``"*"`` stands for the others; `special`, values that are states of their own, for
        some numeric columns; `min_bin_share`, the smallest share of a column's rows in a bin;
        `monotone`, the effects of some features; and `missing`.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> iris = with_states(load_dataset("iris"), bins={"petalwidth": [1, 2]}, min_bin_share=0.1)
    >>> iris.bins, iris.own_bins.cuts
    ('mdlp', {'petalwidth': (1.0, 2.0)})
    >>> with_states(load_dataset("heart"), monotone={"age": "increasing"}).monotone
    {'age': 1}
    """
    check_settings(states)
    changes: dict[str, Any] = {"missing": states.get("missing") or table.missing}
    own, bins = table.own_bins, states.get("bins") or table.bins
    if isinstance(bins, str) and own.cuts:
        bins = {**own.cuts, OTHERS: bins}
    special, share = states.get("special"), states.get("min_bin_share")
    others, own = split_bins(bins, special or own.special, share or own.min_share)
    if own != table.own_bins:
        own.check(table.name, table.features.columns, table.numeric)
    if monotone := parse_monotone(states.get("monotone")):
        check_monotone(table.name, monotone, table.features.columns)
        changes["monotone"] = monotone
    return replace(table, bins=others, own_bins=own, **changes)


def weighted(
    table: Table, weights: FloatArray | None = None, class_weight: ClassWeight | None = None
) -> Table:
    """The table with weights of rows and of classes; the source says which class weights."""
    source = (
        table.source if class_weight is None else {**table.source, "class_weight": class_weight}
    )
    return replace(table, weights=weights, class_weight=class_weight, source=source)


def without_holes(table: Table) -> Table:
    """For several class variables: complete rows alone under ``"drop"``; and what becomes of holes.

    Base models take the mean for a missing number, and a missing category is a state.
    """
    complete = ~table.incomplete
    if complete.all():
        return table
    rows = count(int((~complete).sum()), "row")
    if table.missing == DROP:
        note = f"{table.name}: left out {rows} where a feature is missing."
        return replace(table.rows(complete), notes=(*table.notes, note))
    told = (
        f"{table.name}: features are missing in {rows} of {len(table)}; a missing number becomes "
        "the mean, a missing category is a state of its own; "
    )
    note = Message(told, option("missing", DROP), " leaves such rows out.")
    return replace(table, notes=(*table.notes, note))
