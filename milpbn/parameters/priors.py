"""Gaussian priors of the parameters: their mean, and what they punish.

With a mean beta_0 and a weight, the logarithm of a prior is ``-weight / 2`` times

    ridge:   sum of a_i^2,                                     a = beta - beta_0,
    smooth:  sum over neighbours (i, j) of (a_j - a_i)^2 + sum of r_i a_i^2.

Here beta is a sum of parts, the effect of the child alone and with more and more of its parents
(:mod:`~milpbn.parameters.parts`), and the form is that over the entries of all parts. Neighbours
are entries of a part that differ by one step in one ordered variable, the child or a parent. The
effect of a number then is a curve, and its bins can be fine: with 24 bins of a naive Bayes
structure, this is logistic regression on thermometer codes. The second sum has a small r_i for
entries that have neighbours, which fixes their level, and for the classes themselves. Other
entries, such as that of a missing number, have r_i = 1, the ridge: a state of few rows says little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from milpbn._types import FloatArray, IntArray
from milpbn.families.smoothing import Smoothing
from milpbn.parameters import kernels
from milpbn.parameters.parts import TablePart
from milpbn.parameters.tables import Rows, TableLayout

SMOOTH, INDEPENDENCE, ML = "smooth", "independence", "ml"

# r_i of entries with neighbours, and of the classes themselves.
_LEVEL = 0.05
# Fewer ordered states have nothing to smooth: two have a single difference.
_LEAST_ORDERED = 3


@dataclass(frozen=True, eq=False)
class Precision:
    """A quadratic form over the entries of all parts.

    Attributes
    ----------
    lower, upper
        The entries of each pair of neighbours.
    ridge
        The weight r_i of each entry.
    """

    lower: IntArray
    upper: IntArray
    ridge: FloatArray

    @classmethod
    def of_smoothness(cls, layout: TableLayout) -> Precision | None:
        """Differences between neighbours; None for a ridge if no variable is ordered."""
        ridge = np.ones(layout.size)
        pairs: list[tuple[IntArray, IntArray]] = []
        for part in layout.parts:
            pairs += _neighbours(part, layout.ordered)
            if part.size == part.shape[-1]:
                part.of(ridge)[:] = _LEVEL
        if not pairs:
            return None
        lower, upper = map(np.concatenate, zip(*pairs, strict=True))
        ridge[lower] = ridge[upper] = _LEVEL
        return cls(lower, upper, ridge)

    def form(self, away: FloatArray) -> tuple[float, FloatArray]:
        """The value of the form, and half of its derivative."""
        half = self.ridge * away
        value = float(away @ half)
        return value + kernels.roughness(self.lower, self.upper, away, half), half


def _neighbours(part: TablePart, ordered: Sequence[int]) -> Iterator[tuple[IntArray, IntArray]]:
    """The pairs of neighbouring entries of a part, for each of its ordered variables."""
    entries = part.base + np.arange(part.size).reshape(part.shape)
    for axis, view in enumerate(part.key):
        n_ordered = min(ordered[view], part.shape[axis])
        if n_ordered >= _LEAST_ORDERED:
            along = np.moveaxis(entries, axis, 0)
            yield along[: n_ordered - 1].ravel(), along[1:n_ordered].ravel()


@dataclass(frozen=True)
class Prior:
    """What the prior draws the parameters to, and whether it is that of parts and neighbours."""

    mean: Callable[[Rows, Smoothing], FloatArray]
    smooth: bool

    def layout(self, plain: TableLayout) -> TableLayout:
        """The parts that it is a prior of."""
        return replace(plain, nested=self.smooth)

    def precision(self, layout: TableLayout) -> Precision | None:
        """The form of the prior; None for a ridge."""
        return Precision.of_smoothness(layout) if self.smooth else None


PRIORS = {
    SMOOTH: Prior(Rows.independence, smooth=True),
    INDEPENDENCE: Prior(Rows.independence, smooth=False),
    ML: Prior(Rows.maximum_likelihood, smooth=False),
}
"""The priors, by name."""
