"""Objectives for benchmarks: all rows of a bundled data set, class root."""

from dataclasses import replace

import numpy as np

from milpbn import Encoder, load_dataset
from milpbn._types import Codes
from milpbn.encoding import EncodedData, Variable
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import Objective, make_score


def all_rows(name: str) -> EncodedData:
    table = load_dataset(name)
    table = replace(table, is_train=np.ones(len(table.features), dtype=bool))
    return Encoder.fit(table).encode(table)


def objective_of(name: str, *, p: float = 0.9, class_parents: bool = False) -> Objective:
    space = SearchSpace(max_parents=2, class_parents=class_parents)
    return build_objective(all_rows(name), make_score("sm", p=p), space)


def synthetic(rows: int, features: int, classes: int, seed: int) -> EncodedData:
    """Features of three states that depend on the class and on a feature before them."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((rows, features + 1), dtype=np.int32)
    codes[:, 0] = rng.integers(0, classes, rows)
    for j in range(1, features + 1):
        before = codes[:, rng.integers(1, j)] if j > 1 else np.zeros(rows, dtype=np.int32)
        favourite = rng.integers(0, 3, (classes, 3))[codes[:, 0], before]
        codes[:, j] = np.where(rng.random(rows) < 0.6, favourite, rng.integers(0, 3, rows))
    return _encoded(codes, classes)


def pictures(rows: int, features: int, classes: int = 10, seed: int = 1) -> EncodedData:
    """Features in a line, like the pixels of pictures: most repeat the one before.

    About 40 features of a row are drawn given the class, wherever they are in the line. So a
    picture with more pixels says no more about the class.
    """
    rng = np.random.default_rng(seed)
    codes = np.zeros((rows, features + 1), dtype=np.int8)
    codes[:, 0] = rng.integers(0, classes, rows)
    likely = rng.integers(0, 3, (classes, features + 1), dtype=np.int8)
    for j in range(1, features + 1):
        drawn = np.where(
            rng.random(rows) < 0.3, likely[codes[:, 0], j], rng.integers(0, 3, rows, dtype=np.int8)
        )
        new = rng.random(rows) < (40 / features if j > 1 else 1.0)
        codes[:, j] = np.where(new, drawn, codes[:, j - 1])
    return _encoded(codes, classes)


def _encoded(codes: Codes, classes: int) -> EncodedData:
    variables = (
        Variable("class", tuple(f"c{k}" for k in range(classes))),
        *(Variable(f"x{j}", ("a", "b", "c")) for j in range(1, codes.shape[1])),
    )
    return EncodedData("synthetic", variables, codes, np.ones(len(codes), dtype=bool))
