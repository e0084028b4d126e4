"""Effects of features: how the log-odds of a class depend on the state of one feature.

Let LO_c(z) be the log-odds of class c against all others for the row z. The effect of state s of
feature f is a mean over rows, in which every row takes the state s and keeps its other features:

    e_c(s) = (1 / M) sum over rows u of LO_c(z_u with z_f = s) - m_c,

where m_c makes the mean of e_c over the observed states of f zero. Effects of a feature that has
only the class as a parent, and no children, do not depend on the other features: they are the
contributions of its table. Otherwise they are averages over the rows (a partial dependence,
Friedman, 2001). Missing features are summed out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import Codes, FloatArray
from milpbn.encoding import ColumnCode, Encoder
from milpbn.errors import OptionError
from milpbn.explanation.contributions import log_odds_of
from milpbn.network.inference import log_joint
from milpbn.network.multinet import Classifier
from milpbn.words import count, quoted

# Means over so many rows have settled; more rows are thinned out evenly.
_MOST_ROWS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Effect:
    """The effect of one feature on the log-odds of every class.

    Attributes
    ----------
    feature
        Its name.
    classes
        The class labels.
    states
        Its states as they are shown to people.
    cuts
        The cuts between the first states of a numeric feature, in the user's units; else none.
    shares
        ``(S,)``: the share of the rows that have the state, among those that have one.
    log_odds
        ``(S, |C|)``: what the state adds to the log-odds of the class against all others.
    """

    feature: str
    classes: npt.NDArray[Any]
    states: tuple[str, ...]
    cuts: tuple[float, ...]
    shares: FloatArray
    log_odds: FloatArray

    def __repr__(self) -> str:
        return f"<Effect of {self.feature!r}: {count(len(self.states), 'state')}>"

    @property
    def size(self) -> float:
        """The mean absolute effect over the rows, of the class for which it is largest."""
        return float((self.shares @ np.abs(self.log_odds)).max())

    @property
    def shown(self) -> range:
        """The classes to show: of two classes, what one gains the other loses."""
        return range(len(self.classes) == 2, len(self.classes))

    def to_frame(self) -> pd.DataFrame:
        """One row per state: its share of the rows, and its effect on each class."""
        table = pd.DataFrame({"share": self.shares}, index=pd.Index(self.states, name=self.feature))
        for c, label in enumerate(self.classes.tolist()):
            table[label] = self.log_odds[:, c]
        return table


def effects_of(
    network: Classifier,
    encoder: Encoder,
    codes: Codes,
    features: Sequence[str] | None = None,
    *,
    classes: Sequence[Any] | npt.NDArray[Any] | None = None,
) -> tuple[Effect, ...]:
    """The effects of features on the given rows.

    Parameters
    ----------
    network
        The classifier: a network or a multinet.
    encoder
        How raw columns become states.
    codes
        ``(M, n - 1)`` codes of the rows; negative codes are missing.
    features
        The names of features. By default all of them, those with the largest effects first.
    classes
        The class labels, in the order of the states; by default the states.
    """
    columns = {column.name: (j, column) for j, column in enumerate(encoder.columns)}
    unknown = [name for name in features or () if name not in columns]
    if unknown:
        raise OptionError(
            f"the model has no feature {unknown[0]!r}; its features are {quoted(columns)}"
        )
    if not len(codes):
        raise OptionError("effects are means over rows, and there are no rows")
    labels = np.asarray(encoder.target.variable.states if classes is None else classes)
    chosen = columns if features is None else features
    found = tuple(_effect(network, codes, *columns[name], labels) for name in chosen)
    if features is not None:
        return found
    return tuple(sorted(found, key=lambda effect: -effect.size))


def _effect(
    network: Classifier,
    codes: Codes,
    position: int,
    column: ColumnCode,
    labels: npt.NDArray[Any],
) -> Effect:
    states = column.readable(0)
    observed = codes[codes[:, position] >= 0, position]
    counts = np.bincount(observed, minlength=len(states)).astype(np.float64)
    shares = counts / max(1.0, counts.sum())
    rows = codes[:: -(-len(codes) // _MOST_ROWS)].copy()
    means = np.empty((len(states), len(labels)))
    for state in range(len(states)):
        rows[:, position] = state
        joint = log_joint(network, rows)
        for c in range(len(labels)):
            means[state, c] = log_odds_of(joint, np.full(len(rows), c)).mean()
    weights = shares if counts.sum() else np.full(len(states), 1 / len(states))
    return Effect(
        feature=column.name,
        classes=labels,
        states=states,
        cuts=column.cuts_of(0),
        shares=shares,
        log_odds=means - weights @ means,
    )
