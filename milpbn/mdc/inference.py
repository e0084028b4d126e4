"""Exact inference in the class network, for all rows at once.

Each class variable has one factor: for every row, a table over its class parents and itself.
Their product is P(y | x). Variable elimination maximises (the most probable joint state, optimal
for the subset 0/1 loss) or sums (the marginals, whose modes are optimal for the Hamming loss).
The tables contain all rows of a batch; there is no loop over rows or joint states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from milpbn._types import Codes, FloatArray
from milpbn.errors import BudgetError
from milpbn.mdc.features import Features
from milpbn.mdc.local_models import LocalModel
from milpbn.network.factors import Factor, cheapest, max_out, multiply, sum_out

SUBSET, HAMMING, BALANCED = LOSSES = ("subset", "hamming", "balanced")
"""What predictions minimise in expectation: subset 0/1 loss, Hamming loss, 1 - macro recall."""

# Cells (8 bytes) of the largest table of a batch.
_CELLS_AT_ONCE = 2**22
_MOST_CELLS = 2**27


def batches(
    n_rows: int, scopes: Sequence[tuple[int, ...]], cards: Sequence[int]
) -> Iterator[slice]:
    """Slices of rows whose largest table fits into memory."""
    at_once = max(1, _CELLS_AT_ONCE // largest_table(scopes, cards))
    for start in range(0, n_rows, at_once):
        yield slice(start, start + at_once)


def network_factors(
    models: Sequence[LocalModel], features: Features, cards: Sequence[int]
) -> Iterator[tuple[slice, list[Factor]]]:
    """Slices of rows with the factors of the class network; `cards` are of its variables."""
    scopes = [(*m.parents[: m.n_class_parents], m.child) for m in models]
    for rows in batches(len(features), scopes, cards):
        part = features.rows(rows)
        pairs = zip(scopes, models, strict=True)
        yield rows, [Factor(scope, m.log_table(part, len(cards))) for scope, m in pairs]


def largest_table(scopes: Sequence[tuple[int, ...]], cards: Sequence[int]) -> int:
    """Cells per row of the largest table that elimination creates."""
    left, rest = set(range(len(cards))), [set(s) for s in scopes]
    largest = max(prod(cards[v] for v in s) for s in scopes)
    while left:
        variable, cells = cheapest(rest, left, cards)
        largest = max(largest, cells)
        left.remove(variable)
        merged = set().union(*(s for s in rest if variable in s)) - {variable}
        rest = [s for s in rest if variable not in s] + [merged]
    return largest


def most_probable(factors: Sequence[Factor], cards: Sequence[int]) -> npt.NDArray[np.intp]:
    """``(rows, d)``: the joint state of highest probability."""
    left, rest = set(range(len(cards))), list(factors)
    steps: list[tuple[int, tuple[int, ...], npt.NDArray[np.intp]]] = []
    while left:
        variable, _ = cheapest([f.scope for f in rest], left, cards)
        left.remove(variable)
        reduced, states = max_out([f for f in rest if variable in f.scope], variable)
        steps.append((variable, reduced.scope, states))
        rest = [f for f in rest if variable not in f.scope] + [reduced]
    n_rows = len(factors[0].values)
    out = np.zeros((n_rows, len(cards)), dtype=np.intp)
    rows = np.arange(n_rows)
    # The variable eliminated last depends on no other: go backwards from there.
    for variable, scope, states in reversed(steps):
        out[:, variable] = states[(rows, *(out[:, v] for v in scope))]
    return out


def marginals(factors: Sequence[Factor], cards: Sequence[int]) -> list[FloatArray]:
    """For each class variable, ``(rows, r)``: log P(y_j | x). Factor j belongs to variable j."""
    return [_marginal(factors, cards, j) for j in range(len(cards))]


def _marginal(factors: Sequence[Factor], cards: Sequence[int], query: int) -> FloatArray:
    # Variables that are not ancestors sum to one: only the factors of ancestors matter.
    needed, stack = {query}, [query]
    while stack:
        for p in factors[stack.pop()].scope:
            if p not in needed:
                needed.add(p)
                stack.append(p)
    rest = [factors[j] for j in sorted(needed)]
    left = needed - {query}
    while left:
        variable, _ = cheapest([f.scope for f in rest], left, cards)
        left.remove(variable)
        summed = sum_out([f for f in rest if variable in f.scope], variable)
        rest = [f for f in rest if variable not in f.scope] + [summed]
    out: FloatArray = multiply(rest).values
    # Rounding, and probabilities that were raised from 0, make the sum slightly different from 1.
    normalised: FloatArray = out - sum_out([Factor((query,), out)], query).values[:, None]
    return normalised


def log_probability(factors: Sequence[Factor], codes: Codes) -> FloatArray:
    """``(rows,)``: log P(y | x) of one joint state per row."""
    rows = np.arange(len(codes))
    total = np.zeros(len(codes))
    for f in factors:
        total += f.values[(rows, *(codes[:, v] for v in f.scope))]
    return total


def joint_table(factors: Sequence[Factor], cards: Sequence[int]) -> FloatArray:
    """``(rows, r_1, ..., r_d)``: log P(y | x) of every joint state."""
    cells = len(factors[0].values) * prod(cards)
    if cells > _MOST_CELLS:
        raise BudgetError(
            f"{len(factors[0].values)} rows times {prod(cards)} joint states do not fit into "
            "memory; use fewer rows, or pass y for the probability of given joint states"
        )
    return multiply(factors).values
