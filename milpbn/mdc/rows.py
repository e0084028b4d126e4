"""Training rows, as base models and scores see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import Codes, FloatArray
from milpbn.datasets.table import Table
from milpbn.errors import DataError
from milpbn.mdc.candidates import Nodes
from milpbn.mdc.features import FeatureEncoder, Features


@dataclass(frozen=True)
class TrainingRows:
    """Encoded training rows.

    Attributes
    ----------
    matrix
        The features that base models see.
    codes
        States of all nodes: class variables, then discrete features.
    nodes
        The names and numbers of states of the nodes.
    weights
        The weight of each row; None if every row counts once. A weight of 2 counts a row twice in
        counts, scores and base models.
    """

    matrix: FloatArray
    codes: Codes
    nodes: Nodes
    weights: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def total(self) -> float:
        """The sum of the weights; without weights, the number of rows."""
        return float(len(self) if self.weights is None else self.weights.sum())

    @property
    def features(self) -> Features:
        """The rows as rows to predict."""
        return Features(self.matrix, self.codes[:, self.nodes.d :], {}, {})

    def part(self, chosen: npt.NDArray[np.generic]) -> TrainingRows:
        """Some of the rows, by a mask or by their numbers."""
        weights = None if self.weights is None else self.weights[chosen]
        return replace(self, matrix=self.matrix[chosen], codes=self.codes[chosen], weights=weights)

    def counts(self, node: int) -> npt.NDArray[Any]:
        """How often each state of a node occurs."""
        return np.bincount(self.codes[:, node], self.weights, self.nodes.cards[node])

    def configurations(self, parents: Sequence[int]) -> Codes:
        """The number of the parents' configuration in each row."""
        numbers = np.zeros(len(self), dtype=np.int64)
        for p in parents:
            numbers = numbers * self.nodes.cards[p] + self.codes[:, p]
        return numbers


def nodes_of(classes: Mapping[str, Sequence[Any]], encoder: FeatureEncoder) -> Nodes:
    """The class variables, then the features that may partition their rows."""
    partition = encoder.partition
    return Nodes(
        (*classes, *(v.name for v in partition)),
        (*map(len, classes.values()), *(v.card for v in partition)),
        len(classes),
    )


def class_states(table: Table) -> dict[str, tuple[str, ...]]:
    """The states of each class variable that occur in a table, in their declared order."""
    classes = {}
    for name, labels in table.targets.items():
        found = set(labels)
        order = table.states.get(str(name), sorted(found))
        classes[str(name)] = tuple(state for state in order if state in found)
        if len(found) < 2:
            raise DataError(
                f"the class variable {name!r} has only one class ({min(found)!r}); two are needed"
            )
    return classes


def class_codes(
    labels: pd.DataFrame, classes: Mapping[str, Sequence[Any]]
) -> npt.NDArray[np.int64]:
    """The states of the class variables in each row; -1 for a label that is none of them."""
    columns = [
        pd.Index(states).get_indexer(pd.Index(labels[name])) for name, states in classes.items()
    ]
    return np.column_stack(columns).astype(np.int64)


def encode_rows(table: Table, mixed: str) -> tuple[FeatureEncoder, TrainingRows]:
    """Learn means and states from the rows of a table, and encode them."""
    weights, classes = table.weights, class_states(table)
    encoder = FeatureEncoder.fit(table.features, set(table.categorical), mixed, weights)
    features = encoder.transform(table.features)
    codes = np.column_stack([class_codes(table.targets, classes), features.codes])
    return encoder, TrainingRows(features.matrix, codes, nodes_of(classes, encoder), weights)
