"""Weights of rows and of classes: where they come from, and what is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import FloatArray
from milpbn.datasets.raw import RawFrame
from milpbn.datasets.values import to_numbers
from milpbn.errors import DataError, OptionError
from milpbn.messages import Message, option, read_list
from milpbn.words import count, quoted

BALANCED = "balanced"

ClassWeight = str | Mapping[str, float]
"""``"balanced"``, or a factor for the rows of each class."""


def weighted_rows(
    frame: pd.DataFrame, raw: RawFrame, column: str | None
) -> tuple[pd.DataFrame, FloatArray | None, list[str]]:
    """The rows of positive weight, their weights, and a note if others are left out.

    `frame` has the rows that are used, `raw` has all of them, for messages.
    """
    if column is None:
        return frame, None, []
    where = f"{raw.name}: column {column!r}"
    check_weights(to_numbers(raw.frame[column]), raw.frame[column], where)
    weights = to_numbers(frame[column])
    used = weights > 0
    if not used.any():
        raise DataError(f"{where}: the weight of every row with a class is 0")
    left_out = count(int((~used).sum()), "row")
    notes = [] if used.all() else [f"{where}: left out {left_out} of weight 0."]
    return frame.loc[used].reset_index(drop=True), weights[used], notes


def check_weights(weights: FloatArray, raw: npt.ArrayLike, where: str) -> None:
    """Refuse weights that are negative, infinite or not numbers, and weights that are all zero.

    `raw` are the values as they were given, and `where` is what messages begin with.
    """
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        value = np.asarray(raw, dtype=object)[bad[0]]
        shown = "missing" if pd.isna(value) else repr(value)
        raise DataError(
            f"{where}: the weight in row {bad[0] + 1} is {shown}; "
            "weights must be finite numbers that are not negative"
        )
    if not weights.any():
        raise DataError(f"{where}: every weight is 0, so that no row is left to learn from")


def check_positive(weights: FloatArray, n_rows: int, where: str) -> None:
    """Refuse weights of a table that are not one positive number per row."""
    if np.shape(weights) != (n_rows,):
        raise DataError(
            f"{where}: the weights must be one number for each of the {n_rows} rows, not of shape "
            f"{np.shape(weights)}"
        )
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise DataError(f"{where}: the weights must be positive; leave out rows of weight 0")


def parse_class_weight(
    value: str | Mapping[Any, Any] | None, classes: Mapping[Any, str] | None = None
) -> ClassWeight | None:
    """Check class weights; a mapping gets the labels as the table spells them.

    Parameters
    ----------
    value
        ``"balanced"``, a mapping from classes to positive numbers, or None.
    classes
        Each class as the user calls it, and its label in the table; None to accept any name.

    Examples
    --------
    >>> parse_class_weight({1: 5}, {0: "0", 1: "1"})
    {'1': 5.0}
    """
    if value is None or (isinstance(value, str) and value == BALANCED):
        return value
    if not isinstance(value, Mapping):
        raise OptionError(
            Message(
                option("class_weight"),
                f" must be {BALANCED!r} or a weight for each class, not {value!r}",
            )
        )
    classes = {name: str(name) for name in value} if classes is None else classes
    if unknown := [name for name in value if name not in classes]:
        raise OptionError(
            Message(
                option("class_weight"),
                f": there is no class {quoted(unknown)}; the classes are {quoted(classes)}",
            )
        )
    out = {}
    for name, weight in value.items():
        try:
            out[classes[name]] = float(weight)
        except (TypeError, ValueError):
            out[classes[name]] = np.nan
        if not 0 < out[classes[name]] < np.inf:
            raise OptionError(
                Message(
                    option("class_weight"),
                    f": the weight of {name!r} must be a positive number, not {weight!r}",
                )
            )
    return out


def read_class_weight(text: str) -> ClassWeight:
    """Read ``balanced``, or factors such as ``sick=5,healthy=1``.

    An item that contains a comma is put in double quotes.

    Examples
    --------
    >>> read_class_weight('sick=5,"well, so far=0.5"')
    {'sick': 5.0, 'well, so far': 0.5}
    """
    if text.strip() == BALANCED:
        return BALANCED
    try:
        items = read_list(text)
        pairs = [item.rpartition("=") for item in items]
        out = {label.strip(): float(weight) for label, _, weight in pairs}
    except ValueError:
        out = {}
    if not out or "" in out or len(out) < len(items):
        raise OptionError(
            f"{text!r} is neither {BALANCED} nor a weight for classes; write sick=5,healthy=1"
        )
    return out


def class_factors(
    class_weight: ClassWeight, labels: pd.Series[str], weights: FloatArray
) -> dict[str, float]:
    """The factor of each class, for training rows with these labels and weights.

    ``"balanced"`` is the total weight divided by the number of classes and by the weight of the
    class, as in scikit-learn.

    Examples
    --------
    >>> class_factors("balanced", pd.Series(["a", "a", "a", "b"]), np.ones(4))
    {'a': 0.6666666666666666, 'b': 2.0}
    """
    if class_weight != BALANCED:
        assert not isinstance(class_weight, str)
        return dict(class_weight)
    by_class = pd.Series(weights).groupby(labels.to_numpy()).sum()
    factors = by_class.sum() / (len(by_class) * by_class)
    return {str(label): float(factor) for label, factor in factors.items()}
