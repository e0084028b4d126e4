"""What has to be computed for a row, as plain data: the input of every writer of code.

A classifier becomes columns with their codes and terms, which are tables of logarithms:

    log P(c, z) = constant + sum over the terms of term[z of its scope, c]

Features that are missing are summed out. What does not depend on the class cancels in P(c | z), so
components of features that no table connects with the class are left out, and states that no table
distinguishes are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.special import logsumexp

from milpbn._types import FloatArray
from milpbn.datasets.values import show_number
from milpbn.encoding import Encoder
from milpbn.encoding.columns import CATEGORICAL, NUMERIC, UNKNOWN, ColumnCode, Variable
from milpbn.encoding.texts import codes_by_number
from milpbn.errors import OptionError
from milpbn.families.candidates import CLASS
from milpbn.network.factors import cheapest
from milpbn.network.multinet import Classifier, Multinet
from milpbn.network.network import Network
from milpbn.words import between_cuts

# So many states of a merged state are listed in its label.
_LISTED = 3


@dataclass(frozen=True)
class InputColumn:
    """How the values of one column become codes.

    Attributes
    ----------
    name
        The name of the column.
    numeric
        Whether it holds numbers; otherwise texts.
    cuts
        Of a numeric column: value v is in bin ``number of cuts < v``.
    spellings
        Of a text column: the code of each text.
    numbers
        Of a text column: the code of each number that may be spelled in several ways. Of a numeric
        column: the code of each number that is a state of its own.
    bins
        Of a numeric column: the code of each bin.
    other
        The code of any other text; -1 if it is treated like an unknown value.
    missing
        The code of a missing value; -1 if it is summed out.
    labels
        The states, for people.
    feature
        The position of the column among the features of the classifier.
    merged
        The code of each state of the feature.
    """

    name: str
    numeric: bool
    cuts: tuple[float, ...]
    spellings: dict[str, int]
    numbers: dict[float, int]
    bins: tuple[int, ...]
    other: int
    missing: int
    labels: tuple[str, ...]
    feature: int
    merged: tuple[int, ...]

    @property
    def card(self) -> int:
        """The number of codes."""
        return len(self.labels)

    @property
    def texts(self) -> dict[str, int]:
        """The code of each text, with other spellings of numbers and truth values."""
        more: dict[str, int] = {}
        for number, code in self.numbers.items():
            more |= dict.fromkeys((show_number(number), repr(float(number))), code)
        for text, code in self.spellings.items():
            if text.lower() in ("true", "false"):
                more |= dict.fromkeys((text.lower(), text.upper(), text.title()), code)
        return {**more, **self.spellings}


@dataclass(frozen=True, eq=False)
class Term:
    """The table of one variable.

    Attributes
    ----------
    variable
        The column that the table belongs to; -1 for the class.
    scope
        The columns along its axes.
    values
        Logarithms; the last axis has the classes, or a single entry for all of them.
    normalised
        Whether the table sums to 1 over the states of its variable.
    """

    variable: int
    scope: tuple[int, ...]
    values: FloatArray
    normalised: bool

    def along(self, axes: Sequence[int]) -> FloatArray:
        """The values with an axis for each of these columns, and the classes last."""
        order = sorted(self.scope, key=axes.index)
        moved = np.transpose(self.values, [*map(self.scope.index, order), len(order)])
        lengths = dict(zip(order, moved.shape, strict=False))
        return moved.reshape(*(lengths.get(v, 1) for v in axes), moved.shape[-1])


@dataclass(frozen=True, eq=False)
class ClassTerms:
    """The terms of some classes: all of them in a network, one in a multinet."""

    classes: tuple[int, ...]
    terms: tuple[Term, ...]

    @property
    def constants(self) -> FloatArray:
        """What is added for each class, whatever the columns are."""
        total = np.zeros(len(self.classes))
        for term in self.terms:
            total = total if term.scope else total + term.values
        return total


@dataclass(frozen=True, eq=False)
class Calculation:
    """Columns and terms of a classifier."""

    target: str
    classes: tuple[str, ...]
    columns: tuple[InputColumn, ...]
    parts: tuple[ClassTerms, ...]

    @property
    def cards(self) -> list[int]:
        """The number of codes of each column."""
        return [column.card for column in self.columns]


@dataclass(frozen=True, eq=False)
class Elimination:
    """One column is summed out: the product of terms and messages leaves a message.

    Attributes
    ----------
    variable
        The column.
    terms
        The terms that it is in.
    messages
        The positions of earlier eliminations whose messages it is in.
    scope
        The columns of the new message; none if only the class is left.
    """

    variable: int
    terms: tuple[Term, ...]
    messages: tuple[int, ...]
    scope: tuple[int, ...]


def schedule(part: ClassTerms, cards: Sequence[int]) -> list[Elimination]:
    """An order in which all columns are summed out, the smallest tables first.

    The same order serves every row: the sum over an observed column has one summand.
    """
    active: list[tuple[tuple[int, ...], Term | int]] = [(t.scope, t) for t in part.terms]
    left = {v for scope, _ in active for v in scope}
    steps: list[Elimination] = []
    while left:
        variable, _ = cheapest([scope for scope, _ in active], left, cards)
        left.remove(variable)
        own = [(scope, what) for scope, what in active if variable in scope]
        rest = tuple(sorted({v for scope, _ in own for v in scope} - {variable}))
        terms = tuple(what for _, what in own if isinstance(what, Term))
        messages = tuple(what for _, what in own if isinstance(what, int))
        active = [pair for pair in active if variable not in pair[0]]
        if rest:
            active.append((rest, len(steps)))
        steps.append(Elimination(variable, terms, messages, rest))
    return steps


def n_cells(part: ClassTerms, steps: Sequence[Elimination], cards: Sequence[int]) -> int:
    """The number of terms of all sums of a schedule."""
    sizes = (prod(cards[v] for v in (step.variable, *step.scope)) for step in steps)
    return len(part.classes) * sum(sizes)


def make_calculation(network: Classifier, encoder: Encoder | None = None) -> Calculation:
    """The columns and terms of a classifier.

    Parameters
    ----------
    network
        A network or a multinet.
    encoder
        How raw columns become states; without one, the values of columns are states.
    """
    target, *features = network.variables
    codes = _text_columns(features) if encoder is None else encoder.columns
    networks = network.networks if isinstance(network, Multinet) else (network,)
    if not all(np.isfinite(table).all() for own in networks for table in own.log_cpts):
        raise OptionError("a network with probabilities of 0 cannot be written as code")
    if isinstance(network, Multinet):
        # In the network of a class, the class has one state.
        merged = [np.zeros(1, dtype=int), *(np.arange(v.card) for v in features)]
        parts = [
            ClassTerms((c,), _terms(own.finest, merged)) for c, own in enumerate(network.networks)
        ]
    else:
        merged = [_merged(network, v) for v in range(len(network.variables))]
        parts = [ClassTerms(tuple(range(target.card)), _terms(network, merged))]
    used = sorted(set().union(*(_with_class(part) for part in parts)))
    place = {v: k for k, v in enumerate(used)}
    return Calculation(
        target.name,
        target.states,
        tuple(_column(codes[v], v, merged[v + 1]) for v in used),
        tuple(_kept(part, place) for part in parts),
    )


def _text_columns(variables: Sequence[Variable]) -> tuple[ColumnCode, ...]:
    return tuple(ColumnCode(v.name, CATEGORICAL, states=v.states) for v in variables)


def _merged(network: Network, variable: int) -> np.ndarray:
    """For each finest state, the number of its class of states that no table distinguishes."""
    seen = [
        axis.of
        for i in range(len(network.variables))
        for v, axis in zip(network.scope(i), network.axes(i), strict=True)
        if v == variable
    ]
    place: dict[tuple[int, ...], int] = {}
    states = zip(*seen, strict=True)
    return np.array([place.setdefault(state, len(place)) for state in states])


def _terms(network: Network, merged: Sequence[np.ndarray]) -> tuple[Term, ...]:
    """One term per variable; features are numbered from 0."""
    terms = []
    for i in range(len(network.variables)):
        scope = network.scope(i)
        firsts = [np.unique(merged[v], return_index=True)[1] for v in scope]
        values = network.tied(i, np.ix_(*firsts))
        if network.shares:
            own = [logsumexp(network.shares[i][merged[i] == k]) for k in range(len(firsts[-1]))]
            values = values + np.array(own)
        normalised = network.is_normalised[i]
        with_class = CLASS in scope
        values = np.moveaxis(values, scope.index(CLASS), -1) if with_class else values[..., None]
        terms.append(Term(i - 1, tuple(v - 1 for v in scope if v != CLASS), values, normalised))
    return tuple(terms)


def _with_class(part: ClassTerms) -> set[int]:
    """The columns of components in which some term depends on the class."""
    groups: list[tuple[set[int], bool]] = []
    for term in part.terms:
        scope, depends = set(term.scope), term.values.shape[-1] > 1 or len(part.classes) == 1
        for group in [g for g in groups if g[0] & scope]:
            groups.remove(group)
            scope, depends = scope | group[0], depends or group[1]
        groups.append((scope, depends))
    return set().union(*(scope for scope, depends in groups if depends))


def _kept(part: ClassTerms, place: dict[int, int]) -> ClassTerms:
    """The part with columns numbered by `place`, without the terms of other columns."""
    terms = [
        Term(place.get(t.variable, -1), tuple(place[v] for v in t.scope), t.values, t.normalised)
        for t in part.terms
        if set(t.scope) <= place.keys()
    ]
    return ClassTerms(part.classes, tuple(terms))


def _column(code: ColumnCode, feature: int, merged: np.ndarray) -> InputColumn:
    of = merged.tolist()
    n_states = len(code.cuts) + 1 if code.kind == NUMERIC else len(code.states)
    special = code.variable.states[n_states:]  # other values, and missing ones
    if code.kind == NUMERIC:
        # Cuts between bins of the same code are not needed.
        cuts = [(cut, k) for k, cut in enumerate(code.cuts) if of[k] != of[k + 1]]
        bins = [*(of[k] for _, k in cuts), of[n_states - 1]]
        shown = between_cuts([cut for cut, _ in cuts]) if cuts else ["any number"]
        labels = dict(zip(bins, shown, strict=True))
    else:
        cuts, bins = [], []
        labels = {
            k: _listed([s for s, own in zip(code.states, of, strict=False) if own == k])
            for k in sorted(set(of[:n_states]))
        }
    for state, own in zip(special, of[n_states:], strict=True):
        labels[own] = f"{labels[own]}, {state}" if own in labels else state
    return InputColumn(
        code.name,
        code.kind == NUMERIC,
        tuple(cut for cut, _ in cuts),
        {s: of[k] for k, s in enumerate(code.states)},
        {
            number: of[k]
            for number, k in (*codes_by_number(code.states).items(), *code.special_codes.items())
        },
        tuple(bins),
        of[n_states] if code.pool else UNKNOWN,
        of[-1] if code.missing_state else UNKNOWN,
        tuple(labels[k] for k in range(max(of) + 1)),
        feature,
        tuple(of),
    )


def _listed(states: Sequence[str]) -> str:
    more = len(states) - _LISTED
    return ", ".join(states[:_LISTED]) + (f" and {more} more" if more > 0 else "")
