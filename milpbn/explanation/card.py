"""Score cards: a classifier as points to be added up on paper.

The log-odds of a complete row are a sum with one term per family (see
:mod:`milpbn.explanation.contributions`), and a term depends only on the states of the variable
and of its parents. A card lists these terms, scaled and rounded to whole numbers:

    points = round(scale * (term - smallest term of the family)),
    log-odds = intercept + total / scale.

The intercept makes up for what rounding takes away on average.

With more than two classes the terms of every class are listed, less the smallest of them; the class
with the most points is predicted. One class against the rest is not such a sum. Its card is that of
the same structure with two classes, whose tables are counted again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from milpbn._types import Codes, FloatArray, IntArray
from milpbn.encoding import Encoder
from milpbn.encoding.columns import Coarsening, ColumnCode, Variable
from milpbn.errors import OptionError
from milpbn.explanation.explain import class_position
from milpbn.explanation.resolutions import seen_by_family
from milpbn.families.candidates import CLASS
from milpbn.families.smoothing import Smoothing
from milpbn.network.inference import log_posterior
from milpbn.network.multinet import Classifier, Multinet
from milpbn.network.network import Network
from milpbn.words import assignment

MOST_POINTS = 10
"""The largest number of points of a line, unless another one is chosen."""

THE_REST = "the rest"
_STEPS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class CardTable:
    """The points of one variable.

    Attributes
    ----------
    variable
        The name of the variable.
    scope
        The features whose states are looked up, as positions: its parents, then the variable
        itself. The class only has its parents.
    resolutions
        The resolutions in which the family sees them.
    points
        One axis for each feature of the scope, then one for the columns of the card.
    """

    variable: str
    scope: tuple[int, ...]
    resolutions: tuple[int, ...]
    points: IntArray


@dataclass(frozen=True)
class CardLoss:
    """What rounding costs on some rows: measures of the classifier, and of its card."""

    rows: int
    left_out: int
    accuracy: float
    card_accuracy: float
    log_loss: float
    card_log_loss: float


@dataclass(frozen=True, eq=False)
class ScoreCard:
    """A classifier as points.

    Attributes
    ----------
    columns
        The classes that points count for: one, if it is compared with one other class or with
        the rest; otherwise all classes.
    against
        The other class, or ``"the rest"``; empty if there is a column for every class.
    encoder
        How the columns of a table become states.
    tables
        The points of every variable that matters.
    scale
        Points per unit of log-odds.
    intercept
        The log-odds of 0 points, if there is one column.
    """

    columns: tuple[str, ...]
    against: str
    encoder: Encoder
    tables: tuple[CardTable, ...]
    scale: float
    intercept: float

    @property
    def codes(self) -> tuple[ColumnCode, ...]:
        """The class and the features, in the order of positions."""
        return (self.encoder.target, *self.encoder.columns)

    @property
    def threshold(self) -> int:
        """The smallest total for which the class is predicted, if there is one column."""
        return int(np.ceil(-self.intercept * self.scale))

    def totals(self, features: Codes) -> IntArray:
        """``(M, columns)``: the points of complete rows of codes."""
        out = np.zeros((len(features), len(self.columns)), dtype=np.int64)
        for table in self.tables:
            pairs = zip(table.scope, table.resolutions, strict=True)
            seen = (
                np.array(self.codes[v].variable.resolution(r).of)[features[:, v - 1]]
                for v, r in pairs
            )
            out += table.points[tuple(seen)]
        return out

    def states(self, table: CardTable) -> list[tuple[str, ...]]:
        """The states along the axes of a table, in readable words."""
        pairs = zip(table.scope, table.resolutions, strict=True)
        return [self.codes[v].readable(r) for v, r in pairs]

    def log_proba(self, features: Codes) -> FloatArray:
        """``(M, classes)``: log-probabilities of complete rows of codes.

        If there is one column, those of the other class come first.
        """
        scores = self.totals(features) / self.scale
        if len(self.columns) == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores[:, 0] + self.intercept])
        out: FloatArray = scipy.special.log_softmax(scores, axis=1)
        return out

    def probabilities(self) -> dict[int, float]:
        """For one column: totals at which the probability of the class passes round numbers."""
        least = sum(int(table.points.min()) for table in self.tables)
        most = sum(int(table.points.max()) for table in self.tables)
        at = {
            p: int(np.ceil((scipy.special.logit(p) - self.intercept) * self.scale - 1e-9))
            for p in _STEPS
        }
        totals = sorted({least, *(t for t in at.values() if least < t <= most)})
        return {t: float(scipy.special.expit(self.intercept + t / self.scale)) for t in totals}

    def loss(self, network: Classifier, codes: Codes) -> CardLoss:
        """What rounding costs on rows of codes, the class first.

        Rows with a missing feature or an unknown class are left out: they have no points. If no
        row is left, all measures are NaN.
        """
        used = codes[(codes >= 0).all(axis=1)]
        labels, exact = used[:, 0].astype(np.int64), log_posterior(network, used[:, 1:])
        if len(self.columns) == 1:
            own = self.codes[CLASS].variable.states.index(self.columns[0])
            others = np.logaddexp.reduce(np.delete(exact, own, axis=1), axis=1)
            exact = np.column_stack([others, exact[:, own]])
            labels = (labels == own).astype(np.int64)
        card = self.log_proba(used[:, 1:])
        at = np.arange(len(used))
        return CardLoss(
            len(used),
            len(codes) - len(used),
            *(_mean(p.argmax(axis=1) == labels) for p in (exact, card)),
            *(-_mean(p[at, labels]) for p in (exact, card)),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per line of the card: feature, state, states of the parents, and points."""
        lines = []
        for table in self.tables:
            own = self.states(table)
            names = [self.codes[v].name for v in table.scope]
            for cell in product(*(range(len(states)) for states in own)):
                states = [s[k] for s, k in zip(own, cell, strict=True)]
                given = list(map(assignment, names, states))
                is_class = table.variable == self.codes[CLASS].name
                lines.append(
                    {
                        "feature": table.variable,
                        "state": "" if is_class else states[-1],
                        "given": ", ".join(given if is_class else given[:-1]),
                        **dict(zip(self._heads(), table.points[cell].tolist(), strict=True)),
                    }
                )
        return pd.DataFrame(lines, columns=["feature", "state", "given", *self._heads()])

    def _heads(self) -> list[str]:
        return ["points"] if len(self.columns) == 1 else list(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """The card as plain data, for JSON."""
        one = len(self.columns) == 1
        return {
            "columns": list(self.columns),
            "against": self.against,
            "points_per_log_odds": self.scale,
            **({"intercept": self.intercept, "threshold": self.threshold} if one else {}),
            "lines": self.to_frame().to_dict("records"),
        }


def make_card(
    network: Classifier,
    encoder: Encoder,
    smoothing: Smoothing,
    *,
    of: str | None = None,
    points: int = MOST_POINTS,
) -> ScoreCard:
    """Turn a classifier into a score card.

    Parameters
    ----------
    network
        The classifier: a network or a multinet.
    encoder
        How raw columns become states.
    smoothing
        How counts become probabilities; for one of several classes against the rest.
    of
        The class that points speak for. By default, with two classes, the second one; otherwise
        all classes, with a column each.
    points
        The largest number of points of a line.

    Raises
    ------
    OptionError
        There is no such class, or the card is not defined.
    """
    states = network.variables[CLASS].states
    if points < 1:
        raise OptionError(f"points must be at least 1, not {points}")
    if len(states) > 2 and of is None:
        return _card_of_all(network, encoder, points)
    own = len(states) - 1 if of is None else class_position("of", of, states)
    if len(states) == 2:
        return _card_of_two(network, encoder, states[own], states[1 - own], own, points)
    two = _one_against_the_rest(network, own, smoothing)
    return _card_of_two(two, encoder, states[own], THE_REST, 1, points)


def _card_of_two(
    network: Classifier,
    encoder: Encoder,
    own: str,
    against: str,
    positive: int,
    points: int,
) -> ScoreCard:
    terms = [
        replace(t, table=t.table[..., [positive]] - t.table[..., [1 - positive]])
        for t in _term_tables(network)
    ]
    lowest = sum(float(t.table.min()) for t in terms)
    shifted = [replace(t, table=t.table - t.table.min()) for t in terms]
    scale = _scale(shifted, points)
    tables = [t.rounded(scale) for t in shifted]
    lost = sum(t.mean_loss(table, scale)[0] for t, table in zip(shifted, tables, strict=True))
    used = tuple(table for table in tables if table.points.any())
    return ScoreCard((own,), against, encoder, used, scale, float(lowest + lost))


def _card_of_all(network: Classifier, encoder: Encoder, points: int) -> ScoreCard:
    prior, *terms = (t.above_least() for t in _term_tables(network))
    scale = _scale([prior, *terms], points)
    tables = [t.rounded(scale) for t in terms]
    lost = sum(t.mean_loss(table, scale) for t, table in zip(terms, tables, strict=True))
    start = replace(prior, table=prior.table + lost).above_least().rounded(scale)
    used = tuple(table for table in (start, *tables) if table.points.any())
    return ScoreCard(network.variables[CLASS].states, "", encoder, used, scale, 0.0)


@dataclass(frozen=True, eq=False)
class _Terms:
    """The terms of a variable by the states of its scope, columns last.

    The weights of the states are their frequencies in the training rows, if they are known.
    """

    name: str
    scope: tuple[int, ...]
    resolutions: tuple[int, ...]
    table: FloatArray
    weights: FloatArray

    def above_least(self) -> _Terms:
        """The terms of every class less the smallest of them."""
        return replace(self, table=self.table - self.table.min(axis=-1, keepdims=True))

    def rounded(self, scale: float) -> CardTable:
        """Points for the terms."""
        points = np.rint(scale * self.table).astype(np.int64)
        return CardTable(self.name, self.scope, self.resolutions, points)

    def mean_loss(self, card: CardTable, scale: float) -> FloatArray:
        """What rounding takes away on average; the start makes up for it."""
        lost = (self.table - card.points / scale) * self.weights[..., None]
        out: FloatArray = lost.sum(axis=tuple(range(lost.ndim - 1))) / self.weights.sum()
        return out


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _scale(terms: Sequence[_Terms], points: int) -> float:
    largest = max(float(t.table.max()) for t in terms)
    return points / largest if largest > 0 else 1.0


def _term_tables(network: Classifier) -> list[_Terms]:
    """For each variable, its log table by the features that it depends on, classes last.

    The features have the states that the family sees. How a coarse state is divided into finer
    ones does not depend on the class, so that nothing is lost.
    """
    n_classes = network.n_classes
    parts = [(network, c) for c in range(n_classes)] if isinstance(network, Network) else []
    if isinstance(network, Multinet):
        parts = [(own, 0) for own in network.networks]
    found = []
    for i, variable in enumerate(network.variables):
        seen = seen_by_family(network.structure, i)
        scope = (*sorted(set(seen) - {CLASS, i}), *([i] if i != CLASS else []))
        resolutions = tuple(seen[v] for v in scope)
        # One finest state for each coarse one: within it, the tables are the same.
        first = [_first_states(network.variables[v].resolution(seen[v])) for v in scope]
        grid = dict(zip(scope, np.ix_(*first), strict=True))
        own = [part.tied(i, [grid.get(v, np.array(c)) for v in part.scope(i)]) for part, c in parts]
        cards = [len(states) for states in first]
        table = np.stack([np.broadcast_to(t, cards) for t in own], axis=-1)
        weights = np.ones(cards)
        if isinstance(network, Network) and network.counts is not None:
            axes = [k for k, v in enumerate(network.scope(i)) if v == CLASS]
            weights = network.counts[i].sum(axis=tuple(axes))
        found.append(_Terms(variable.name, scope, resolutions, table, weights))
    return found


def _first_states(resolution: Coarsening) -> list[int]:
    return [resolution.of.index(k) for k in range(resolution.card)]


def _one_against_the_rest(network: Classifier, own: int, smoothing: Smoothing) -> Network:
    """The same structure with two classes, the rest first, and the tables counted again."""
    if isinstance(network, Multinet):
        raise OptionError(
            "of: a multinet has one structure per class, and no card for one class against the "
            "rest; leave it out to get a card with all classes"
        )
    if network.counts is None:
        raise OptionError(
            "of: the model file has no counts, which a card for one class against the rest "
            "needs; learn the model again"
        )
    target = network.variables[CLASS]
    two = Variable(target.name, (THE_REST, target.states[own]))
    counts = []
    for i, table in enumerate(network.counts):
        axis = network.scope(i).index(CLASS) if CLASS in network.scope(i) else None
        if axis is not None:
            single = np.take(table, [own], axis=axis)
            rest = table.sum(axis=axis, keepdims=True) - single
            table = np.concatenate([rest, single], axis=axis)
        counts.append(table)
    return Network(
        network.structure,
        (two, *network.variables[1:]),
        tuple(smoothing.log_theta(table, axis=-1) for table in counts),
        tuple(counts),
        (np.zeros(two.card), *network.shares[1:]) if network.shares else (),
    )
