"""Monotone effects of a network: a check of its tables, and how strong each effect is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from milpbn._types import FloatArray
from milpbn.families.choices import CLASS
from milpbn.families.monotone import TOLERANCE, Trend
from milpbn.network.multinet import Classifier
from milpbn.network.network import Network


def broken_trends(network: Classifier) -> list[str]:
    """Which tables of a network are not monotone along a feature that must be, in words."""
    directed = [v.name for v in network.variables if v.monotone]
    if not directed:
        return []
    if not isinstance(network, Network) or network.n_classes != 2:
        return [
            f"a monotone effect of {name} needs one network of two classes" for name in directed
        ]
    found = []
    for child, variable, axis, trend, log_odds in _terms(network):
        if trend.worst(log_odds, axis) > TOLERANCE:
            own, name = network.variables[child].name, network.variables[variable].name
            found.append(f"the table of {own} is not monotone along {name}")
    return found


def odds_steps(network: Network, variable: int) -> FloatArray:
    """``(2, k)``: the smallest and largest step of the log-odds to each state from the one before.

    The steps are sums over the families of the variable, each with its extremes over the states of
    other variables. The first entry, of the first state, is 0.
    """
    card = network.variables[variable].ordered
    out = np.zeros((2, card))
    for _, v, axis, _, log_odds in _terms(network):
        if v == variable:
            ordered = np.moveaxis(log_odds, axis, 0)[:card].reshape(card, -1)
            steps = np.diff(ordered, axis=0)
            out[:, 1:] += np.stack([steps.min(axis=1), steps.max(axis=1)])
    return out


def _terms(network: Network) -> Iterator[tuple[int, int, int, Trend, FloatArray]]:
    """Families with the class: child, monotone variable, its axis, its trend, log-odds."""
    plain = network.finest
    for child in range(len(plain.variables)):
        scope = plain.scope(child)
        if CLASS not in scope:
            continue
        at = scope.index(CLASS)
        table = plain.log_cpts[child]
        log_odds = np.take(table, 1, axis=at) - np.take(table, 0, axis=at)
        features = [v for v in scope if v != CLASS]
        for axis, v in enumerate(features):
            own = plain.variables[v]
            if own.monotone:
                yield child, v, axis, Trend(own.monotone, own.ordered), log_odds
