"""The optimum of a small space by enumeration of all structures."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.families.candidates import FamilySpace
from milpbn.families.feasibility import Feasibility
from milpbn.scores import Objective


def n_choices(space: FamilySpace) -> int:
    """Number of choices of one family per variable, including cyclic ones."""
    return prod(len(space.of(i)) for i in range(space.n_variables))


def best_by_enumeration(
    objective: Objective, checkpoint: Checkpoint = no_checkpoint
) -> tuple[npt.NDArray[np.int64], float]:
    """The best structure within the budgets, as families, and its score.

    Choices are visited in the order of a reflected Gray code, so that each step exchanges a
    single family.

    Examples
    --------
    >>> from milpbn import Encoder, load_dataset
    >>> from milpbn.learning.objective import build_objective
    >>> from milpbn.learning.settings import SearchSpace
    >>> from milpbn.scores import make_score
    >>> table = load_dataset("iris")
    >>> data = Encoder.fit(table).encode(table)
    >>> objective = build_objective(data, make_score("sm"), SearchSpace(max_parents=1))
    >>> families, value = best_by_enumeration(objective)
    >>> round(value, 4)
    298.8924
    """
    best, best_value = None, -np.inf
    graph = Feasibility(objective.space)
    for state in _choices(objective, checkpoint):
        if state.value > best_value and graph.is_feasible(state.families):
            best, best_value = state.families.copy(), state.value
    assert best is not None, "a space without any structure cannot be built"
    return best, objective.value(best)


def structures_above(
    objective: Objective, least: float, checkpoint: Checkpoint = no_checkpoint
) -> Iterator[tuple[npt.NDArray[np.int64], float]]:
    """All structures within the budgets that score more than `least`, and their scores."""
    graph = Feasibility(objective.space)
    for state in _choices(objective, checkpoint):
        if state.value > least and graph.is_feasible(state.families):
            yield state.families.copy(), float(state.value)


def structures_near(
    objective: Objective, families: npt.NDArray[np.int64], checkpoint: Checkpoint = no_checkpoint
) -> Iterator[tuple[npt.NDArray[np.int64], float]]:
    """All structures within the budgets that differ in one family, and their scores."""
    graph, state = Feasibility(objective.space), objective.state(families)
    for v in range(objective.space.n_variables):
        for f in objective.space.of(v):
            checkpoint()
            state.exchange(v, f)
            if f != families[v] and graph.is_feasible(state.families):
                yield state.families.copy(), float(state.value)
        state.exchange(v, int(families[v]))


def _choices(objective: Objective, checkpoint: Checkpoint) -> Iterator[Any]:
    """The state of the objective at every choice of one family per variable."""
    space = objective.space
    n, sizes = space.n_variables, np.diff(space.offsets)
    state = objective.state(space.offsets[:-1])
    digit, step = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    while True:
        checkpoint()
        yield state
        v = n - 1
        while v >= 0 and not 0 <= digit[v] + step[v] < sizes[v]:
            step[v] = -step[v]
            v -= 1
        if v < 0:
            return
        digit[v] += step[v]
        state.exchange(v, int(space.offsets[v] + digit[v]))
