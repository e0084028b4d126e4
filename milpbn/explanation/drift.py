"""Drift: whether rows look different from those that a classifier was learned from.

For each column, the population stability index compares the shares a of its states in new rows with
those e in the training rows:

    PSI = sum over the states of (a - e) log(a / e).

Half a row is added to every state, so that states without rows are no exception. Values that the
model does not know, and missing values without a state of their own, are a state, too. If nothing
has changed, PSI is small but not 0: with k states, n training rows and m new ones,
PSI n m / (n + m) has about a chi-squared distribution with k - 1 degrees of freedom. A column is
reported only if its PSI exceeds both the usual threshold and 99 % of this distribution.

References
----------
Siddiqi (2006), Credit risk scorecards (the thresholds 0.1 and 0.25).
Yurdakul & Naranjo (2020), Statistical properties of the population stability index.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from milpbn._types import Codes, FloatArray
from milpbn.encoding import Encoder
from milpbn.errors import DataError, OptionError
from milpbn.network.multinet import Classifier, Multinet

SMALL, LARGE = 0.1, 0.25
"""From these values of PSI on, a column has changed, or has changed much."""

UNKNOWN = "(unknown)"
"""The state of values that the model does not know."""

_CHANCE = 0.99
_WORDS = ("", "changed", "changed much")


@dataclass(frozen=True, repr=False)
class Drift:
    """How the columns of new rows differ from those of the training rows.

    Attributes
    ----------
    columns
        For each column, those that changed most first: its ``psi``; the ``chance``, which PSI
        exceeds in 1 % of the cases if nothing has changed; the ``state`` whose share changed most,
        with its share ``before`` and ``now``; the share of ``unknown`` values in the new rows; and
        ``change``, which is ``"changed"`` or ``"changed much"``, or empty.
    shares
        For each column its states with their shares ``before`` and ``now``.
    n_before, n_now
        The number of training rows, and of new rows.
    """

    columns: pd.DataFrame
    shares: dict[str, pd.DataFrame]
    n_before: int
    n_now: int

    @property
    def changed(self) -> tuple[str, ...]:
        """The columns that changed."""
        return tuple(self.columns.index[self.columns["change"] != ""])

    def __repr__(self) -> str:
        names = ", ".join(self.changed) or "none"
        return f"<Drift: {self.n_now} rows against {self.n_before}; changed columns: {names}>"


def drift_of(network: Classifier, encoder: Encoder, codes: Codes) -> Drift:
    """Compare new rows with the training rows, column by column.

    Parameters
    ----------
    network
        A classifier that has counts.
    encoder
        Its encoder.
    codes
        ``(M, n)``: the rows, the class first, as states; -1 for what is not known. If no class is
        known, the class is not compared.

    Examples
    --------
    >>> from milpbn import BNClassifier, load_dataset
    >>> car = load_dataset("car")
    >>> model = BNClassifier(method="nb").fit(car.features, car.target)
    >>> unsafe = car.features[car.features["safety"] != "high"]
    >>> found = drift_of(model.network_, model.encoder_, model.encode_rows(unsafe))
    >>> found
    <Drift: 1152 rows against 1728; changed columns: safety>
    >>> found.shares["safety"].round(3)
            before  now
    safety
    high     0.333  0.0
    low      0.333  0.5
    med      0.333  0.5
    """
    if not network.has_counts:
        raise OptionError("the model has no counts of its training rows; learn it again")
    if isinstance(network, Multinet) and network.structure.resolutions_to_dict():
        raise OptionError("a multinet with several resolutions has no common states to compare")
    if not len(codes):
        raise DataError("there is no row to compare with the training rows")
    rows, shares = {}, {}
    before = counted_states(network)
    for i, column in enumerate((encoder.target, *encoder.columns)):
        own = codes[:, i]
        if i == 0 and (own < 0).all():
            continue
        seen, resolution = before[i], _seen_by_family(network, i)
        states = list(column.readable(resolution))
        of = np.array(column.variable.resolution(resolution).of)
        now = np.bincount(of[own[own >= 0]], minlength=len(states)).astype(np.float64)
        unknown = float((own < 0).sum())
        if unknown:
            seen, now, states = np.append(seen, 0), np.append(now, unknown), [*states, UNKNOWN]
        rows[column.name] = _compared(seen, now, states, unknown / len(own))
        shares[column.name] = pd.DataFrame(
            {"before": seen / seen.sum(), "now": now / now.sum()},
            index=pd.Index(states, name=column.name),
        )
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("column")
    table = table.sort_values("psi", ascending=False, kind="stable")
    return Drift(table, shares, round(float(before[0].sum())), len(codes))


def counted_states(network: Classifier) -> list[FloatArray]:
    """For each variable, the number of training rows by the states that its family sees."""
    if isinstance(network, Multinet):
        parts = [counted_states(own) for own in network.networks]
        first = np.concatenate([own[0] for own in parts])
        pairs = zip(*(own[1:] for own in parts), strict=True)
        return [first, *(np.sum(own, axis=0) for own in pairs)]
    assert network.counts is not None
    return [t.reshape(-1, t.shape[-1]).sum(axis=0) for t in network.counts]


def _seen_by_family(network: Classifier, i: int) -> int:
    """The resolution in which the family of a variable sees it."""
    if isinstance(network, Multinet):
        return 0
    return network.structure.seen(i)[-1]


def _compared(
    before: FloatArray, now: FloatArray, states: list[str], unknown: float
) -> dict[str, float | str]:
    """PSI, what it is by chance, and the state that adds most to it."""
    n, m, k = float(before.sum()), float(now.sum()), len(states)
    e, a = (before + 0.5) / (n + 0.5 * k), (now + 0.5) / (m + 0.5 * k)
    parts = (a - e) * np.log(a / e)
    psi, most = float(parts.sum()), int(parts.argmax())
    # Half of it is the incomplete gamma function of half as many degrees of freedom.
    quantile = 2 * scipy.special.gammaincinv(max(k - 1, 1) / 2, _CHANCE)
    chance = float(quantile) * (1 / n + 1 / m)
    return {
        "psi": psi,
        "chance": chance,
        "state": states[most],
        "before": float(before[most]) / n,
        "now": float(now[most]) / m,
        "unknown": unknown,
        "change": _WORDS[(psi >= SMALL) + (psi >= LARGE)] if psi > chance else "",
    }
