"""The MILP of Peharz & Pernkopf (2012) for margin scores, and its form for decomposable scores.

Columns: binary ``eta[i,S]`` per family, real ``tau[u]`` per distinct row (margin
scores only), real ``order[i]`` per variable, real ``used[i]`` per feature (if their number is
limited). All columns have finite bounds, which makes the solver's answers reliable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn._types import FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.engines.monolithic.model import ColumnBlock, RowBlock, SparseModel
from milpbn.engines.monolithic.names import ModelNames
from milpbn.errors import BudgetError
from milpbn.families.candidates import CLASS, FamilySpace
from milpbn.scores import MarginObjective, Objective
from milpbn.scores.base import HINGE, LINEAR
from milpbn.settings.run import DEFAULT_MEMORY
from milpbn.words import memory

# Entries of the dense block for a chunk of margin rows.
_CHUNK_ENTRIES = 2_000_000
# Peak memory, as measured: the arrays here, the solver's copies, and PuLP's objects.
_BYTES_PER_ENTRY = {"highspy": 80, "pulp": 200}


RowBlocks = tuple[tuple[ColumnBlock, ...], tuple[RowBlock, ...], float]
"""What the rows of the data need: columns, rows of the program, and a first bound."""


@dataclass(frozen=True)
class ModelLayout:
    """Positions of the columns; conversion of points and structures."""

    objective: Objective
    eta: slice
    tau: slice
    order: slice
    used: slice
    bound: float
    """A first valid bound: every row (or variable) has the families that are best for it."""

    def families(self, x: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The families chosen by a solution vector: the largest eta of each variable."""
        space = self.objective.space
        eta = np.asarray(x, dtype=np.float64)[self.eta]
        return np.array([r.start + int(eta[r.start : r.stop].argmax()) for r in _ranges(space)])

    def point(self, families: npt.NDArray[np.integer]) -> FloatArray:
        """The solution vector of a structure: a complete MIP start."""
        space = self.objective.space
        x = np.zeros(self.used.stop)
        x[self.eta][families] = 1.0
        x[self.tau] = self.objective.row_values(families)
        position = np.empty(space.n_variables)
        position[list(space.structure(families).order)] = np.arange(space.n_variables)
        x[self.order] = position
        if _limits_features(space):
            x[self.used] = space.budget_use.touches[families].any(axis=0)[CLASS + 1 :]
        return x


def _ranges(space: FamilySpace) -> list[range]:
    return [space.of(i) for i in range(space.n_variables)]


def build_model(
    objective: Objective,
    *,
    memory_limit: int = DEFAULT_MEMORY,
    emit: str = "highspy",
    checkpoint: Checkpoint = no_checkpoint,
) -> tuple[SparseModel, ModelLayout]:
    """Build the monolithic MILP of an objective.

    Parameters
    ----------
    objective
        A margin or a linear objective.
    memory_limit
        Bytes; raises before building a model that would need more.
    emit
        How the model is passed to the solver, ``"highspy"`` or ``"pulp"``; the memory
        needed depends on it.
    checkpoint
        Called between chunks of work; may raise to stop (time limits).
    """
    names = ModelNames(objective.space)
    space = objective.space
    if objective.kind not in _ROW_BLOCKS:
        raise TypeError(f"no MILP is known for {type(objective).__name__}")
    row_blocks = _ROW_BLOCKS[objective.kind]
    tau, rows, bound = row_blocks(objective, names, memory_limit, emit, checkpoint)
    columns: tuple[ColumnBlock, ...] = (_eta(space, objective.costs, names), *tau)
    n_eta, first_order = len(space), sum(map(len, columns))
    first_used = first_order + space.n_variables
    columns = (*columns, _order_columns(space, names))
    rows = (*rows, _one_parent_set(space, names), _order_rows(space, first_order, names))
    if space.budgets:
        columns = (*columns, _used_columns(space, names))
        rows = (*rows, _budget_rows(space, first_used), _use_rows(space, first_used, names))
    model = SparseModel("structure_learning", columns, rows, names.legend)
    layout = ModelLayout(
        objective,
        eta=slice(0, n_eta),
        tau=slice(n_eta, first_order),
        order=slice(first_order, first_used),
        used=slice(first_used, model.n_columns),
        bound=bound,
    )
    return model, layout


def _no_row_blocks(objective: Objective, *_: Any) -> RowBlocks:
    return (), (), objective.quick_bound()


def _margin_row_blocks(
    objective: MarginObjective,
    names: ModelNames,
    memory_limit: int,
    emit: str,
    checkpoint: Checkpoint,
) -> RowBlocks:
    _check_size(objective, memory_limit, emit)
    low, high = objective.margin_range(checkpoint)
    rows = _margin_rows(objective, names, checkpoint)
    return (_tau(objective, low, names),), (rows,), objective.row_bound(high)


# By the kind of the objective; each takes objectives of its kind only.
_ROW_BLOCKS: dict[str, Callable[..., RowBlocks]] = {
    LINEAR: _no_row_blocks,
    HINGE: _margin_row_blocks,
}


def n_margin_entries(objective: MarginObjective) -> int:
    """Number of entries of the margin rows: relevant families and tau, per row and competitor."""
    per_row = int(objective.relevant.sum()) + 1
    return len(objective.rows) * objective.n_competitors * per_row


def _check_size(objective: MarginObjective, memory_limit: int, emit: str) -> None:
    entries = n_margin_entries(objective)
    need = entries * _BYTES_PER_ENTRY[emit]
    if need > memory_limit or entries >= 2**31:
        raise BudgetError(
            f"the monolithic model would have {entries:,} margin coefficients "
            f"({len(objective.rows):,} distinct rows x {objective.n_competitors} competing classes "
            f"x ({int(objective.relevant.sum()):,} families + 1)), about {memory(need)}; "
            f"the memory limit is {memory(memory_limit)}. Use the score sbm (one row per "
            "sample), lower max_parents, make the class a root, "
            + ("emit with highspy instead of pulp, " if emit == "pulp" else "")
            + "or raise the memory limit"
        )


def _tau(objective: MarginObjective, lowest: FloatArray, names: ModelNames) -> ColumnBlock:
    # max sum_u w_u tau_u, with tau_u in [smallest possible margin - 1, gamma]. The lower bound
    # only keeps the column bounded. Minus 1, because HiGHS fixes a column at its lower bound if
    # its range is within tolerance, which would make the bound wrong by that much per row.
    return ColumnBlock(
        "tau",
        cost=objective.rows.weights,
        lower=np.minimum(lowest, objective.gamma) - 1.0,
        upper=np.full(len(lowest), objective.gamma),
        integer=False,
        name=names.tau,
    )


def _eta(space: FamilySpace, cost: FloatArray, names: ModelNames) -> ColumnBlock:
    n = len(space)
    return ColumnBlock("eta", cost, np.zeros(n), np.ones(n), integer=True, name=names.eta)


def _margin_rows(objective: MarginObjective, names: ModelNames, checkpoint: Checkpoint) -> RowBlock:
    # tau_u - sum_{i,S} alpha(i,S,u,c) eta[i,S] <= 0          for every u and c != c_u
    space, n_comp = objective.space, objective.n_competitors
    relevant = np.flatnonzero(objective.relevant)
    columns = np.append(relevant, 0).astype(np.int32)
    step = max(1, _CHUNK_ENTRIES // (len(columns) * n_comp))
    index, value, lengths = [], [], []
    for start in range(0, len(objective.rows), step):
        rows = slice(start, min(start + step, len(objective.rows)))
        n_rows = rows.stop - rows.start
        block = np.empty((n_rows, n_comp, len(columns)))
        for k, f in enumerate(relevant):
            block[:, :, k] = objective.alpha(int(f), rows)
        np.negative(block, out=block)
        block[:, :, -1] = 1.0
        keep = block != 0.0
        where = np.broadcast_to(columns, block.shape).copy()
        where[:, :, -1] = (len(space) + np.arange(rows.start, rows.stop))[:, None]
        index.append(where[keep])
        value.append(block[keep])
        lengths.append(keep.sum(axis=2).ravel())
        checkpoint()
    n = len(objective.rows) * n_comp
    return RowBlock(
        "margin",
        starts=np.concatenate([[0], np.cumsum(np.concatenate(lengths))]),
        index=np.concatenate(index),
        value=np.concatenate(value),
        lower=np.full(n, -np.inf),
        upper=np.zeros(n),
        name=lambda r: f"margin.row{r // n_comp}.competitor{r % n_comp}",
    )


def _one_parent_set(space: FamilySpace, names: ModelNames) -> RowBlock:
    # sum_S eta[i,S] = 1                                       for every variable i
    ones = np.ones(space.n_variables)
    return RowBlock(
        "one-parent-set",
        starts=space.offsets.astype(np.int64),
        index=np.arange(len(space), dtype=np.int32),
        value=np.ones(len(space)),
        lower=ones,
        upper=ones,
        name=names.one,
    )


def _order_columns(space: FamilySpace, names: ModelNames) -> ColumnBlock:
    # order[i] in [0, A] with A = n, so that positions in an order are valid values
    n = space.n_variables
    return ColumnBlock(
        "order", np.zeros(n), np.zeros(n), np.full(n, float(n)), integer=False, name=names.order
    )


def _order_rows(space: FamilySpace, first_order: int, names: ModelNames) -> RowBlock:
    # 2A (1 - a_ij) + order_j - order_i >= A/n,  a_ij = sum_{S contains i} eta[j,S],  A = n:
    #   order_j - order_i - 2n a_ij >= 1 - 2n                  for every ordered pair i != j
    # Pairs whose arc is in no family need no row.
    n = space.n_variables
    with_parent: dict[tuple[int, int], list[int]] = {}
    for f, parents in enumerate(space.parent_sets):
        for p in parents:
            with_parent.setdefault((p, int(space.child[f])), []).append(f)
    pairs = sorted(with_parent)
    starts, index, value = [0], [], []
    for i, j in pairs:
        families = with_parent[i, j]
        index += [*families, first_order + i, first_order + j]
        value += [-2.0 * n] * len(families) + [-1.0, 1.0]
        starts.append(len(index))
    return RowBlock(
        "order",
        starts=np.array(starts, dtype=np.int64),
        index=np.array(index, dtype=np.int32),
        value=np.array(value, dtype=np.float64),
        lower=np.full(len(pairs), 1.0 - 2.0 * n),
        upper=np.full(len(pairs), np.inf),
        name=lambda r: names.acyclic(*pairs[r]),
    )


def _limits_features(space: FamilySpace) -> bool:
    return bool(space.budgets) and bool(space.budget_use.features)


def _used_columns(space: FamilySpace, names: ModelNames) -> ColumnBlock:
    # used[i] in [0, 1], only if the number of features or their cost is limited
    n = space.n_variables - 1 if _limits_features(space) else 0
    return ColumnBlock(
        "used",
        np.zeros(n),
        np.zeros(n),
        np.ones(n),
        integer=False,
        name=lambda k: names.used(k + CLASS + 1),
    )


def _budget_rows(space: FamilySpace, first_used: int) -> RowBlock:
    # sum_{i,S} |S| eta[i,S] <= max_arcs
    # sum_{i,S} (r_i - 1) q_S eta[i,S] <= max_parameters
    # sum_i used[i] <= max_features
    # sum_i cost_i used[i] <= max_cost
    rows = [
        (name, np.flatnonzero(row), row[row != 0], limit)
        for name, (row, limit) in space.budget_use.linear.items()
    ]
    for name, (weights, limit) in space.budget_use.features.items():
        costly = np.flatnonzero(weights)
        rows.append((name, first_used + costly - CLASS - 1, weights[costly], limit))
    return RowBlock(
        "budget",
        starts=np.cumsum([0, *(len(index) for _, index, _, _ in rows)]),
        index=np.concatenate([index for _, index, _, _ in rows]).astype(np.int32),
        value=np.concatenate([value for _, _, value, _ in rows]),
        lower=np.full(len(rows), -np.inf),
        upper=np.array([limit for _, _, _, limit in rows]),
        name=lambda r: f"budget.{rows[r][0]}",
    )


def _use_rows(space: FamilySpace, first_used: int, names: ModelNames) -> RowBlock:
    # sum_{S not empty} eta[i,S] <= used[i]                    for every feature i
    # sum_{S contains i} eta[j,S] <= used[i]                   for every feature i and j != i
    by: dict[tuple[int, int], list[int]] = {}
    if _limits_features(space):
        for f, feature in np.argwhere(space.budget_use.touches).tolist():
            by.setdefault((feature, int(space.child[f])), []).append(f)
    pairs = sorted(by)
    index = [[*by[pair], first_used + pair[0] - CLASS - 1] for pair in pairs]
    value = [[1.0] * len(by[pair]) + [-1.0] for pair in pairs]
    return RowBlock(
        "use",
        starts=np.cumsum([0, *map(len, index)]),
        index=np.fromiter(chain(*index), dtype=np.int32),
        value=np.fromiter(chain(*value), dtype=np.float64),
        lower=np.full(len(pairs), -np.inf),
        upper=np.zeros(len(pairs)),
        name=lambda r: names.use(*pairs[r]),
    )
