"""Queries and samples: what the joint distribution of a network says.

A query sums out, by variable elimination, everything that is neither asked nor given. Samples are
drawn forwards, parents before children.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import scipy

from milpbn._types import Codes, FloatArray
from milpbn.errors import DataError, OptionError
from milpbn.network.factors import Factor, cheapest, multiply, sum_out

if TYPE_CHECKING:
    from milpbn.network.network import Network

MOST_CELLS = 2**24
"""Queries are small: a larger table is refused."""


def joint_of(network: Network, asked: Sequence[int], given: Mapping[int, int]) -> FloatArray:
    """P(asked | given), with one axis for each variable of `asked`, in their order.

    `given` has the state of each given variable. Variables below all of them are left out if
    their tables add up to 1.
    """
    cards = [v.card for v in network.variables]
    needed = _above(network, {*asked, *given})
    factors = [_reduced(network, i, given) for i in sorted(needed)]
    left = needed - {*asked, *given}
    while left:
        variable, cells = cheapest([f.scope for f in factors], left, cards)
        _check_size(cells)
        left.remove(variable)
        factor = sum_out([f for f in factors if variable in f.scope], variable)
        factors = [*(f for f in factors if variable not in f.scope), factor]
    _check_size(prod(cards[v] for v in asked))
    product = multiply(factors)
    table = product.values[0].transpose([product.scope.index(v) for v in asked])
    total = scipy.special.logsumexp(table)
    if np.isneginf(total):
        raise DataError("the given states are impossible: their probability is 0")
    out: FloatArray = np.exp(table - total)
    return out


def sample_codes(network: Network, n: int, seed: int) -> Codes:
    """``(n, variables)``: codes of rows that are drawn from the network."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((n, len(network.variables)), dtype=np.int32)
    for i in network.structure.order:
        logs = network.log_cpts[i]
        # With epsilon smoothing, the rows of a table may not add up to 1.
        steps = np.exp(logs - scipy.special.logsumexp(logs, axis=-1, keepdims=True)).cumsum(axis=-1)
        steps[..., -1] = 1.0
        rows = steps[tuple(codes[:, p] for p in network.structure.parents[i])]
        codes[:, i] = (rng.random((n, 1)) >= rows).sum(axis=-1)
    return codes


def _above(network: Network, variables: set[int]) -> set[int]:
    """The variables, those above them, and those whose tables do not add up to 1."""
    needed = variables | {i for i, sums in enumerate(network.is_normalised) if not sums}
    for i in reversed(network.structure.order):
        if i in needed:
            needed.update(network.structure.parents[i])
    return needed


def _reduced(network: Network, i: int, given: Mapping[int, int]) -> Factor:
    """The table of a variable where the given variables have their states."""
    scope = network.scope(i)
    values = network.log_cpts[i][tuple(given.get(v, slice(None)) for v in scope)]
    return Factor(tuple(v for v in scope if v not in given), values[np.newaxis])


def _check_size(cells: int) -> None:
    if cells > MOST_CELLS:
        raise OptionError(
            f"the query needs a table with {cells:,} cells, more than {MOST_CELLS:,}; ask for "
            "fewer variables, or give more states"
        )
