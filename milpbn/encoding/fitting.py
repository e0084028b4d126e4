"""The code of one column, learned from training rows: cuts, states and coarser resolutions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from milpbn._types import Codes, FloatArray
from milpbn.datasets.bins import (
    AUTO,
    FINE,
    MDLP,
    equal_shares,
    large_bins,
    quantile_count,
    quantile_cuts,
)
from milpbn.datasets.table import AUTO as AUTOMATIC
from milpbn.datasets.table import DROP, Table
from milpbn.encoding.columns import CATEGORICAL, NUMERIC, ColumnCode, Kept
from milpbn.encoding.mdlp import mdlp_cuts
from milpbn.encoding.texts import are_numbers, sorted_states
from milpbn.errors import DataError
from milpbn.words import quoted

# Reasons for leaving a feature out of the model.
NO_CUT = "no cut found"
CONSTANT = "constant"
RARE = "every state is rare"
ONE_BIN = "all values are in one bin"
NO_TREND = "no effect in the direction that was asked for"
EMPTY = "mostly empty"
REASONS = (NO_CUT, CONSTANT, RARE, ONE_BIN, NO_TREND)
"""Those that have a note of their own; that on missing values names empty columns."""

# From this share of missing values on, a column is left out unless the user keeps it.
_MOSTLY_EMPTY = 0.95

# Under "auto", the finest states of a numeric column are those of this many quantile bins and of
# MDLP together; the coarser ones, besides MDLP's, have so many quantile bins.
_FINEST = 16
_COARSER = (8, 4, 2)
# Under "fine", the numbers of quantile bins of a number: in a table of its own, together with
# another feature, and for the search. Each divides the one before, so that the cuts are nested.
_FINE = (24, 12, 6)
# Under "auto", the numbers of states of a coarser category: the frequent ones and the rest.
_SIZES = (16, 8, 4, 2)


def feature_code(
    train: Table, name: str, labels: Codes, weights: FloatArray | None
) -> tuple[ColumnCode, str]:
    """The code of a feature, and the reason for leaving it out ("" to keep it).

    Parameters
    ----------
    train
        The training rows that are used.
    name
        The column.
    labels, weights
        The classes of these rows as codes, and their weights, if there are any.
    """
    values = train.features[name]
    if train.missing == AUTOMATIC and values.isna().mean() >= _MOSTLY_EMPTY:
        return ColumnCode(name, CATEGORICAL), EMPTY
    if name in train.numeric:
        column = _numeric_code(train, name, labels, weights)
    else:
        column = _with_coarsenings(train, categorical_code(train, values), values, weights)
    direction = train.monotone.get(name, 0)
    if direction and not column.variable.ordered:
        raise DataError(
            f"{train.name}: the effect of {name!r} cannot be monotone, because its states have no "
            "order; only numbers and ordered categories have one"
        )
    if direction and column.kind == NUMERIC and column.cuts:
        column = _pooled(column, column.encode(values).codes, labels, weights, direction)
        if column.variable.card == 1:
            return column, NO_TREND
    column = replace(column, monotone=direction)
    if column.variable.card == 1 or (train.missing != DROP and values.isna().all()):
        several = RARE if column.pool else NO_CUT
        return column, several if values.nunique() > 1 else CONSTANT
    if name in train.own_bins.columns and len(np.unique(column.encode(values).codes)) == 1:
        return column, ONE_BIN
    return column, ""


def categorical_code(table: Table, train_values: pd.Series[Any]) -> ColumnCode:
    """The code of a category or of a class: its declared states, or those of its training rows."""
    name, distinct = str(train_values.name), list(train_values.unique())
    known = [str(value) for value in distinct if not pd.isna(value)]
    seen = sorted_states(known)
    states = table.states.get(name, seen)
    undeclared = [state for state in seen if state not in states]
    if undeclared:
        raise DataError(
            f"{table.name}: column {name!r} holds {quoted(undeclared)}, "
            f"but its declared states are {quoted(states)}"
        )
    missing = len(known) < len(distinct)
    return ColumnCode(
        name,
        CATEGORICAL,
        states=tuple(states),
        missing_state=missing,
        ordered=name in table.ordered or (len(states) > 2 and are_numbers(states)),
    )


def _with_coarsenings(
    train: Table, column: ColumnCode, values: pd.Series[Any], weights: FloatArray | None
) -> ColumnCode:
    """A category with rare states pooled, and with coarser resolutions if there are to be some.

    With more than `max_states` states, the most frequent ones are kept, and one stands for all
    others. A state with a single row, or with a weight of at most 1, is then never kept. Of
    equally frequent states, the first ones are.
    """
    pooled = train.max_states is not None and len(column.states) > train.max_states
    if not pooled and train.bins != AUTO:
        return column
    amounts = pd.Series(np.ones(len(values)) if weights is None else weights)
    tally: dict[str, float] = {}
    for value, amount in amounts.groupby(values.to_numpy(), sort=False).sum().items():
        tally[str(value)] = tally.get(str(value), 0.0) + amount

    def frequent(number: int, least: float) -> tuple[str, ...]:
        found = [state for state in column.states if tally.get(state, 0.0) > least]
        kept = set(sorted(found, key=lambda state: -tally[state])[:number])
        return tuple(state for state in column.states if state in kept)

    if pooled:
        assert train.max_states is not None
        column = replace(column, states=frequent(train.max_states - 1, 1.0), pool=True)
    if train.bins != AUTO:
        return column
    sizes = [size for size in _SIZES if len(column.states) + column.pool > size]
    kept = dict.fromkeys(frequent(size - 1, 0.0) for size in sizes)
    return replace(column, coarsenings=tuple(filter(None, kept)))


def _numeric_code(train: Table, name: str, labels: Codes, weights: FloatArray | None) -> ColumnCode:
    try:
        values = train.features[name].to_numpy(dtype=np.float64, na_value=np.nan)
        missing, own = bool(np.isnan(values).any()), train.own_bins
        special = own.special.get(name, ())
        if name in own.cuts:
            finest, coarser = own.cuts[name], []
        else:
            plain = np.where(np.isin(values, special), np.nan, values)
            finest, *coarser = _cuts(plain, labels, weights, train.bins, own.min_share)
    except (TypeError, ValueError) as error:
        raise DataError(f"{train.name}: numeric column {name!r}: {error}") from error
    return ColumnCode(
        name,
        NUMERIC,
        cuts=finest,
        missing_state=missing,
        coarsenings=tuple(coarser),
        search=len(coarser) if train.bins == FINE else 0,
        special=special,
    )


def _cuts(
    values: FloatArray, labels: Codes, weights: FloatArray | None, bins: str, min_share: float
) -> list[tuple[float, ...]]:
    """The finest cuts, then the cuts that each coarser resolution keeps."""

    def at_quantiles(n_bins: int) -> tuple[float, ...]:
        return tuple(quantile_cuts(values, equal_shares(n_bins), weights).tolist())

    def large(*wanted: tuple[float, ...]) -> list[tuple[float, ...]]:
        """Without cuts that make small bins; the coarser ones matter more."""
        if not min_share:
            return [*wanted]
        kept = large_bins(values, wanted[::-1], min_share, weights)
        return [tuple(cut for cut in cuts if cut in kept) for cuts in wanted]

    n_bins = quantile_count(bins)
    if n_bins is not None:
        return large(at_quantiles(n_bins))
    if bins == FINE:
        return _distinct(large(*map(at_quantiles, _FINE)))
    by_class = tuple(mdlp_cuts(values, labels, weights, min_share).tolist())
    if bins == MDLP:
        return [by_class]
    finest = tuple(sorted({*at_quantiles(_FINEST), *by_class}))
    finest, *coarser, by_class = large(finest, *map(at_quantiles, _COARSER), by_class)
    return _distinct([finest, by_class, *coarser])


def _pooled(
    column: ColumnCode, codes: Codes, labels: Codes, weights: FloatArray | None, direction: int
) -> ColumnCode:
    """The column without cuts between bins whose odds of the second class are in the wrong order.

    The odds are those of counts plus one, as in tables with the default smoothing.
    """
    blocks: list[FloatArray] = []
    cuts: list[float] = []
    for k, upper in enumerate((*column.cuts, np.inf)):
        own = codes == k
        amounts = None if weights is None else weights[own]
        blocks.append(np.bincount(labels[own], amounts, minlength=2).astype(np.float64))
        cuts.append(upper)
        while len(blocks) > 1 and direction * (_odds(blocks[-1]) - _odds(blocks[-2])) < 0:
            last = blocks.pop()
            blocks[-1] = blocks[-1] + last
            del cuts[-2]
    kept = tuple(cuts[:-1])
    coarser = [tuple(cut for cut in own if cut in kept) for own in column.coarsenings]
    _, *distinct = _distinct([kept, *map(_numbers, coarser)])
    search = len(distinct) if column.search else 0
    return replace(column, cuts=kept, coarsenings=tuple(distinct), search=search)


def _numbers(kept: Kept) -> tuple[float, ...]:
    return tuple(map(float, kept))


def _odds(counts: FloatArray) -> float:
    return float((counts[1] + 1) / (counts[0] + 1))


def _distinct(resolutions: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """The finest cuts, and the coarser ones that are different and leave two bins or more."""
    finest, *coarser = dict.fromkeys(resolutions)
    return [finest, *filter(None, coarser)]
