"""Decisions that cost least: a cost for each true class and each prediction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from milpbn._types import FloatArray, IntArray
from milpbn.errors import OptionError, by_name
from milpbn.files import read_limited
from milpbn.messages import read_list
from milpbn.words import quoted

CostNames = Mapping[Any, Mapping[Any, float]]
"""``costs[true class][predicted class]``."""


@dataclass(frozen=True, eq=False)
class Costs:
    """What predictions cost.

    Attributes
    ----------
    matrix
        ``(|C|, |C|)``: the cost of predicting the class of the column if that of the row is true.

    Examples
    --------
    >>> costs = Costs.of({"sick": {"healthy": 10}, "healthy": {"sick": 1}}, ["healthy", "sick"])
    >>> costs.matrix.tolist(), round(costs.threshold, 3)
    ([[0.0, 1.0], [10.0, 0.0]], 0.091)
    >>> costs.decide(np.array([[0.8, 0.2], [0.95, 0.05]])).tolist()
    [1, 0]
    """

    matrix: FloatArray

    @classmethod
    def of(cls, given: CostNames, classes: Sequence[Any]) -> Costs:
        """The costs by class; right predictions that are not named cost 0.

        Every error must have a cost, because 0 is hardly ever meant.
        """
        place = {label: k for k, label in enumerate(classes)}
        matrix: FloatArray = np.full((len(classes), len(classes)), np.nan)
        np.fill_diagonal(matrix, 0.0)
        example = '{"sick": {"healthy": 10}, "healthy": {"sick": 1}}'
        for true, row in by_name(given, "costs", example).items():
            for predicted, cost in by_name(row, "costs", example).items():
                unknown = [label for label in (true, predicted) if label not in place]
                if unknown:
                    raise OptionError(
                        f"costs: {unknown[0]!r} is not a class; the classes are {quoted(classes)}"
                    )
                matrix[place[true], place[predicted]] = _number(cost, true, predicted)
        absent = np.argwhere(np.isnan(matrix))
        if len(absent):
            true, predicted = (classes[k] for k in absent[0].tolist())
            raise OptionError(
                f"costs: the cost of predicting {predicted!r} if {true!r} is true is missing"
            )
        return cls(matrix)

    @property
    def threshold(self) -> float:
        """The probability of the second of two classes from which on it is predicted.

        Infinite if it never costs less, and minus infinity if it always does.
        """
        (right0, wrong0), (wrong1, right1) = self.matrix.tolist()
        too_early, too_late = wrong0 - right0, wrong1 - right1
        if too_early + too_late > 0:
            return float(too_early / (too_early + too_late))
        return math.inf if too_early >= 0 else -math.inf

    def expected(self, proba: FloatArray) -> FloatArray:
        """``(M, |C|)``: the expected cost of predicting each class, from probabilities."""
        out: FloatArray = proba @ self.matrix
        return out

    def decide(self, proba: FloatArray) -> IntArray:
        """The class of the smallest expected cost of every row; the first one of several."""
        out: IntArray = self.expected(proba).argmin(axis=1)
        return out

    def mean(self, true: IntArray, predicted: IntArray) -> float:
        """The mean cost of predictions; true classes are known."""
        return float(self.matrix[true, predicted].mean())


def read_costs(text: str) -> dict[str, dict[str, float]]:
    """Read costs as they are typed, or a CSV file with a row for each true class.

    Examples
    --------
    >>> read_costs("sick:healthy=10, healthy:sick=1")
    {'sick': {'healthy': 10.0}, 'healthy': {'sick': 1.0}}
    """
    if "=" not in text:
        return _from_file(text)
    out: dict[str, dict[str, float]] = {}
    try:
        items = read_list(text)
    except ValueError:
        items = [text]
    for item in items:
        pair, _, cost = item.rpartition("=")
        true, colon, predicted = (part.strip() for part in pair.partition(":"))
        if not (colon and true and predicted):
            raise OptionError(
                f"{item.strip()!r} is not a cost; write TRUE:PREDICTED=COST, such as "
                "sick:healthy=10,healthy:sick=1, or name a CSV file"
            )
        row = out.setdefault(true, {})
        if predicted in row:
            raise OptionError(f"the cost of {true}:{predicted} is given twice")
        row[predicted] = _number(cost, true, predicted)
    return out


def _from_file(path: str) -> dict[str, dict[str, float]]:
    """A table whose first column has the true classes, and whose header has the predicted ones."""
    import csv

    try:
        lines = read_limited(Path(path)).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise OptionError(f"{path} is not a text file in UTF-8") from None
    except (OSError, ValueError) as error:  # no file has a name with a null character
        why = getattr(error, "strerror", None) or error
        raise OptionError(f"cannot read costs from {path}: {why}") from None
    header, *rows = [row for row in csv.reader(lines) if row] or [[]]
    out: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(header) or row[0] in out:
            raise OptionError(
                f"{path}, row {number}: expected a new class and a cost per prediction"
            )
        pairs = zip(header[1:], row[1:], strict=True)
        out[row[0]] = {predicted: _number(cost, row[0], predicted) for predicted, cost in pairs}
    return out


def _number(cost: Any, true: Any, predicted: Any) -> float:
    try:
        number = float(cost)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(
            f"costs: the cost of predicting {predicted!r} if {true!r} is true must be a number, "
            f"not {cost!r}"
        )
    return number
