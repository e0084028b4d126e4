"""The sparse model as a PuLP problem, to inspect, change or solve with any solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.engines.monolithic.model import SparseModel

if TYPE_CHECKING:
    import pulp


def to_pulp(
    model: SparseModel, *, checkpoint: Checkpoint = no_checkpoint
) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    """An ``LpProblem`` and its variables in the order of the model's columns.

    Expressions are created from lists of pairs, which is forty times faster than ``lpSum``
    for dense rows.
    """
    import pulp

    problem = pulp.LpProblem(model.title, pulp.LpMaximize)
    names = iter(model.column_names())
    x: list[pulp.LpVariable] = []
    for block in model.columns:
        category = pulp.LpInteger if block.integer else pulp.LpContinuous
        for low, high in zip(block.lower.tolist(), block.upper.tolist(), strict=True):
            x.append(problem.add_variable(next(names), low, high, category))
    cost = np.concatenate([b.cost for b in model.columns]).tolist()
    # Include columns with cost 0: PuLP only knows variables that occur somewhere.
    problem.setObjective(pulp.LpAffineExpression(list(zip(x, cost, strict=True))))
    columns = np.array(x, dtype=object)
    for rows in model.rows:
        for r in range(len(rows)):
            part = slice(int(rows.starts[r]), int(rows.starts[r + 1]))
            terms = list(zip(columns[rows.index[part]], rows.value[part].tolist(), strict=True))
            sense, rhs = _sense(float(rows.lower[r]), float(rows.upper[r]))
            problem.addConstraint(
                pulp.LpConstraint(pulp.LpAffineExpression(terms), sense, rows.name(r), rhs)
            )
            if r % 256 == 0:
                checkpoint()
    return problem, x


def _sense(lower: float, upper: float) -> tuple[int, float]:
    import pulp

    if lower == upper:
        return pulp.LpConstraintEQ, upper
    if np.isinf(lower):
        return pulp.LpConstraintLE, upper
    return pulp.LpConstraintGE, lower
