"""The class column: labels as strings, and the check that they are classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from milpbn.datasets.bins import equal_shares, quantile_cuts
from milpbn.datasets.formats import number_format
from milpbn.datasets.infer import SHORT_COLUMN
from milpbn.datasets.raw import Columns, RawFrame
from milpbn.datasets.readings import CLASSES, Reading
from milpbn.datasets.values import holds_numbers, is_number, show_text, show_value, unusable
from milpbn.errors import DataError
from milpbn.messages import Message, Spelling, option
from milpbn.words import between_cuts, quoted

# Up to this many different numbers are always classes.
_FEW_NUMBERS = 20
# Integers with fewer rows per value than this are measurements, not classes.
_ROWS_PER_CLASS = 5


@dataclass(frozen=True)
class Target:
    """Labels; for a numeric target that was cut, its reading and its classes in order."""

    labels: pd.Series[str]
    reading: Reading | None = None
    states: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def decide_target(values: pd.Series[Any], raw: RawFrame, columns: Columns) -> Target:
    """The labels of one class column as strings."""
    name = str(values.name)
    label = f"{raw.name}: target {name!r}"
    if len(unusable(values)):
        raise DataError(
            f"{label} must contain strings or finite numbers, not values of type {values.dtype}"
        )
    if columns.target_bins is not None:
        return _binned(values, label, columns.target_bins)
    index, distinct = pd.factorize(values)
    shown = [str(show_value(value)) for value in distinct]
    numbers = holds_numbers(values) or (raw.untyped and all(map(is_number, shown)))
    if numbers:
        shown = [show_text(text) for text in shown]
    labels = pd.Series(np.array(shown, dtype=object)[index], dtype=object, name=name)
    counts = labels.value_counts()
    if len(counts) == 1:
        raise DataError(f"{label} is {counts.index[0]!r} in every row; two classes are needed")
    if name not in columns.categorical:
        bins = Spelling("target_bins=5", "--target-bins 5")
        ways = (
            *((bins, " cuts it into classes, ") if numbers else ()),
            option("categorical", [name]),
            " accepts its values as classes",
        )
        check_classes(counts, label, numbers, *ways)
    return Target(labels)


def check_classes(counts: pd.Series[int], label: str, numbers: bool, *ways: str | Spelling) -> None:
    """Raise an error if a target with these labels looks like regression; `ways` lead out."""
    n_classes, n_rows = len(counts), int(counts.sum())
    many = numbers and n_classes > _FEW_NUMBERS
    fractions = many and not all(float(text).is_integer() for text in counts.index)
    sparse = many and n_rows < _ROWS_PER_CLASS * n_classes
    too_many = n_rows > SHORT_COLUMN and n_classes > n_rows / 2
    if too_many or fractions or sparse:
        raise DataError(
            Message(
                f"{label} has {n_classes} different values in {n_rows} rows, such as "
                f"{quoted(counts.index[:3])}: this looks like regression, not classification; ",
                *ways,
            )
        )


def _binned(values: pd.Series[Any], label: str, n_bins: int) -> Target:
    """A numeric target, cut into classes of about equal size."""
    texts = [show_value(value) or "" for value in values.unique()]
    form = number_format(texts)
    if form is None:
        raise DataError(
            Message(f"{label} holds values that are not numbers; remove ", option("target_bins"))
        )
    plain = Reading(str(values.name), "number", form.mark, form.unit).apply(values)
    cuts = tuple(quantile_cuts(plain, equal_shares(n_bins)).tolist())
    if not cuts:
        raise DataError(f"{label} cannot be cut into classes: all of its values are equal")
    reading = Reading(str(values.name), CLASSES, form.mark, form.unit, cuts)
    states = tuple(between_cuts(cuts))
    labels = reading.apply(values)
    sizes = labels.value_counts()
    told = ", ".join(f"{state!r} ({sizes[state]} rows)" for state in states)
    return Target(labels, reading, states, (f"{label} is cut into {len(states)} classes: {told}.",))
