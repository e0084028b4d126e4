"""Objectives of bundled data sets, all rows, class root, for benchmarks."""

from dataclasses import replace

import numpy as np

from milpbn import Encoder, load_dataset
from milpbn.encoding import EncodedData
from milpbn.learning import SearchSpace, build_objective
from milpbn.scores import Objective, make_score


def all_rows(name: str) -> EncodedData:
    table = load_dataset(name)
    table = replace(table, is_train=np.ones(len(table.features), dtype=bool))
    return Encoder.fit(table).encode(table)


def objective_of(name: str, *, p: float = 0.9, class_parents: bool = False) -> Objective:
    space = SearchSpace(max_parents=2, class_parents=class_parents)
    return build_objective(all_rows(name), make_score("sm", p=p), space)
