"""Reasons and changes: what fixes a prediction, and what flips it, each with proof.

A *reason* is a smallest set of features whose states fix the prediction: whatever the other
features are, no other class becomes more probable. For a class c and a rival d,

    log P(c, x) - log P(d, x) = sum over the families of (log theta[.., c] - log theta[.., d]),

so its smallest value over all completions of a partial row is found by eliminating one free
feature after the other, as sums are, with minima in place of sums. A completion that breaks the
prediction differs from the row in some features, and every reason must contain one of them. A
smallest set that contains one of each such set found so far is either a reason, and then a
smallest one, or gives another completion (Ignatiev, Narodytska & Marques-Silva, 2019).

A *flip* is a smallest set of features that leads to another prediction if their states are changed;
all changes of one feature are tried, then of two, and so on.

References
----------
Shih, Choi & Darwiche (2018), A symbolic approach to explaining Bayesian network classifiers.
Ignatiev, Narodytska & Marques-Silva (2019), Abduction-based explanations for machine learning
models.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb

import numpy as np
import numpy.typing as npt
import scipy

from milpbn._types import Codes
from milpbn.encoding import Encoder
from milpbn.errors import OptionError
from milpbn.families.candidates import CLASS
from milpbn.network.factors import Factor, cheapest, max_out
from milpbn.network.inference import log_joint, log_posterior
from milpbn.network.multinet import Classifier, Multinet
from milpbn.network.network import Network
from milpbn.words import assignment

# Below this, a difference of logarithms is rounding.
_ROUNDING = 1e-9
# The largest table of an elimination.
_MOST_CELLS = 2**22
# So many changed rows are tried for a flip, and how many at once.
_MOST_ROWS = 500_000
_AT_ONCE = 20_000


@dataclass(frozen=True)
class Reason:
    """A smallest set of features that fixes the prediction of a row.

    Attributes
    ----------
    prediction
        The predicted class, as a state.
    states
        The features of the reason with their states, in words; empty if the prediction is always
        the same. None if not even all known features fix it, because some are missing.
    """

    prediction: str
    states: dict[str, str] | None

    def __str__(self) -> str:
        if self.states is None:
            return f"{self.prediction}: the missing features could change it"
        if not self.states:
            return f"{self.prediction}, whatever the features are"
        told = ", ".join(assignment(name, state) for name, state in self.states.items())
        return f"{self.prediction}, because {told}"


@dataclass(frozen=True)
class Flip:
    """A smallest change of a row that leads to another prediction.

    Attributes
    ----------
    prediction, other
        The predicted class before and after the change; `other` is None if no change was found.
    probability
        That of the other class after the change; of several smallest changes, the one with the
        largest probability is taken.
    changes
        The features that change, each with its state before and after it, in words.
    tried
        No change of so many features flips the prediction, or all if `complete`.
    complete
        Whether every change was tried that is smaller than the one found.
    """

    prediction: str
    other: str | None
    probability: float | None
    changes: dict[str, tuple[str, str]]
    tried: int
    complete: bool

    def __str__(self) -> str:
        if self.other is None:
            what = "no change" if self.complete else f"no change of up to {self.tried} features"
            return f"{self.prediction}: {what} of the known features flips it"
        told = ", ".join(f"{name}: {a} -> {b}" for name, (a, b) in self.changes.items())
        return f"{self.prediction} becomes {self.other} ({self.probability:.3f}) with {told}"


def reason_of(network: Classifier, encoder: Encoder, row: Codes) -> Reason:
    """A smallest set of features that fixes the prediction of a row.

    Parameters
    ----------
    network, encoder
        The classifier.
    row
        ``(n - 1,)`` codes of the features; negative ones are missing.

    Examples
    --------
    >>> from milpbn import BNClassifier, load_dataset
    >>> monks = load_dataset("monks-3")
    >>> model = BNClassifier(max_parents=1).fit(monks.features, monks.target)
    >>> row = model.encode_rows(monks.features.head(1))[0, 1:]
    >>> print(reason_of(model.network_, model.encoder_, row))
    0, because a5 = 4
    """
    best = int(log_joint(network, row[np.newaxis]).argmax())
    label = encoder.target.readable_states[best]
    margins = [_margin(network, best, d) for d in range(network.n_classes) if d != best]
    known = [v for v in range(1, len(network.variables)) if row[v - 1] >= 0]
    if _counterexample(network, margins, row, known) is not None:
        return Reason(label, None)
    broken: list[set[int]] = []
    while True:
        chosen = _smallest_hitting_set(broken)
        found = _counterexample(network, margins, row, chosen)
        if found is None:
            break
        broken.append({v for v in known if v not in chosen and found[v] != row[v - 1]})
    words = [column.readable_states for column in encoder.columns]
    names = [column.name for column in encoder.columns]
    return Reason(label, {names[v - 1]: words[v - 1][row[v - 1]] for v in sorted(chosen)})


def flip_of(network: Classifier, encoder: Encoder, row: Codes, fixed: Iterable[str] = ()) -> Flip:
    """A smallest change of the known features of a row that leads to another prediction.

    Missing features stay missing, no feature becomes missing, and those of `fixed` do not change.

    Examples
    --------
    >>> from milpbn import BNClassifier, load_dataset
    >>> monks = load_dataset("monks-3")
    >>> model = BNClassifier(max_parents=1).fit(monks.features, monks.target)
    >>> row = model.encode_rows(monks.features.head(1))[0, 1:]
    >>> print(flip_of(model.network_, model.encoder_, row))
    0 becomes 1 (0.897) with a2: 3 -> 2, a5: 4 -> 3
    """
    names, words = [c.name for c in encoder.columns], [c.readable_states for c in encoder.columns]
    kept = set(fixed)
    if unknown := sorted(kept - set(names)):
        raise OptionError(f"{unknown[0]!r} is not a feature of the model")
    own = log_posterior(network, row[np.newaxis])[0]
    best, labels = int(own.argmax()), encoder.target.readable_states
    others = _other_states(encoder, row, kept)
    left = _MOST_ROWS
    for k in range(1, len(others) + 1):
        left -= _n_changes([len(s) for s in others.values()], k)
        if left < 0:
            return Flip(labels[best], None, None, {}, k - 1, complete=False)
        found = _best_flip(network, row, others, k, best)
        if found is not None:
            changed, other, probability = found
            changes = {
                names[j]: (words[j][row[j]], words[j][changed[j]])
                for j in range(len(row))
                if changed[j] != row[j]
            }
            return Flip(labels[best], labels[other], probability, changes, k - 1, complete=True)
    return Flip(labels[best], None, None, {}, len(others), complete=True)


def _margin(network: Classifier, c: int, d: int) -> list[Factor]:
    """log P(c, x) - log P(d, x) as a sum of tables over features."""
    minus = [Factor(f.scope, -f.values) for f in _tables_of(network, d)]
    return [*_tables_of(network, c), *minus]


def _tables_of(network: Classifier, c: int) -> list[Factor]:
    """log P(c, x) as a sum of tables over features."""
    own = network.networks[c] if isinstance(network, Multinet) else network
    state = 0 if isinstance(network, Multinet) else c
    plain: Network = own.finest
    out = []
    for i in range(len(plain.variables)):
        scope = plain.scope(i)
        table = plain.log_cpts[i][tuple(state if v == CLASS else slice(None) for v in scope)]
        out.append(Factor(tuple(v for v in scope if v != CLASS), table[np.newaxis]))
    return out


def _counterexample(
    network: Classifier, margins: Sequence[list[Factor]], row: Codes, fixed: Iterable[int]
) -> dict[int, int] | None:
    """A row with the states of `fixed` that has another prediction, if there is one."""
    codes = {v: int(row[v - 1]) for v in fixed}
    for margin in margins:
        value, found = _smallest(network, margin, codes)
        if value < -_ROUNDING:
            return found
    return None


def _smallest(
    network: Classifier, margin: Sequence[Factor], codes: dict[int, int]
) -> tuple[float, dict[int, int]]:
    """The smallest value of a sum of tables where some variables are given, and where it is."""
    cards = [v.card for v in network.variables]
    factors = [_restricted(f, codes) for f in margin]
    left = {v for f in factors for v in f.scope}
    order: list[tuple[int, tuple[int, ...], npt.NDArray[np.intp]]] = []
    while left:
        variable, cells = cheapest([f.scope for f in factors], left, cards)
        if cells > _MOST_CELLS:
            raise OptionError(f"the network is too dense for reasons: a table of {cells:,} cells")
        touched = [Factor(f.scope, -f.values) for f in factors if variable in f.scope]
        reduced, states = max_out(touched, variable)
        factors = [f for f in factors if variable not in f.scope]
        factors.append(Factor(reduced.scope, -reduced.values))
        order.append((variable, reduced.scope, states[0]))
        left.remove(variable)
    found = dict(codes)
    for variable, scope, choice in reversed(order):
        found[variable] = int(choice[tuple(found[v] for v in scope)])
    return float(sum(f.values.sum() for f in factors)), found


def _restricted(factor: Factor, codes: dict[int, int]) -> Factor:
    index = tuple(codes.get(v, slice(None)) for v in factor.scope)
    scope = tuple(v for v in factor.scope if v not in codes)
    return Factor(scope, factor.values[(slice(None), *index)])


def _smallest_hitting_set(sets: Sequence[set[int]]) -> set[int]:
    """A smallest set that has an element of each of the sets, by a small integer program."""
    if not sets:
        return set()
    elements = sorted(set().union(*sets))
    matrix = np.array([[float(e in s) for e in elements] for s in sets])
    solved = scipy.optimize.milp(
        np.ones(len(elements)),
        constraints=scipy.optimize.LinearConstraint(matrix, lb=1.0),
        bounds=scipy.optimize.Bounds(0, 1),
        integrality=np.ones(len(elements), dtype=np.int64),
    )
    assert solved.x is not None
    return {e for e, x in zip(elements, solved.x, strict=True) if x > 0.5}


def _other_states(encoder: Encoder, row: Codes, kept: set[str]) -> dict[int, list[int]]:
    """For each known feature that may change, the states that it may change to."""
    out = {}
    for j, column in enumerate(encoder.columns):
        if row[j] < 0 or column.name in kept:
            continue
        card = column.variable.card - column.missing_state
        out[j] = [s for s in range(card) if s != row[j]]
    return {j: states for j, states in out.items() if states}


def _n_changes(sizes: Sequence[int], k: int) -> int:
    """The number of ways to change k features: the k-th elementary symmetric polynomial."""
    if comb(len(sizes), k) > _MOST_ROWS:
        return _MOST_ROWS + 1
    ways = [1] + [0] * k
    for size in sizes:
        for j in range(k, 0, -1):
            ways[j] += size * ways[j - 1]
    return ways[k]


def _best_flip(
    network: Classifier, row: Codes, others: dict[int, list[int]], k: int, best: int
) -> tuple[Codes, int, float] | None:
    """Of all changes of k features with another prediction, the most probable one."""
    found: tuple[Codes, int, float] | None = None
    waiting: list[Codes] = []

    def look() -> None:
        nonlocal found
        logs = log_posterior(network, np.array(waiting))
        top = logs.argmax(axis=1)
        for r in np.flatnonzero(top != best).tolist():
            probability = float(np.exp(logs[r, top[r]]))
            if found is None or probability > found[2] + _ROUNDING:
                found = waiting[r], int(top[r]), probability
        waiting.clear()

    for features in combinations(others, k):
        for states in product(*(others[j] for j in features)):
            changed = row.copy()
            changed[list(features)] = states
            waiting.append(changed)
            if len(waiting) == _AT_ONCE:
                look()
    if waiting:
        look()
    return found
