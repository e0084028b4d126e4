"""TAN by residuals: arcs between features whose pairs explain what naive Bayes does not.

Naive Bayes with conditional-likelihood parameters predicts rows that it was not fitted on. With
the residuals R[u, c] = [c = c_u] - P(c | z_u) and their variances V = P (1 - P), summed to r and v
over the rows of each cell of a pair of features, the pair is tested by

    s = (|C| - 1) / |C| sum over cells and classes with v > 1/2 of r^2 / v.

Half of s is the gain in likelihood of a table for the pair, in the quadratic approximation. If the
pair explains nothing, s / phi has about a chi-square distribution with the factor (|C| - 1) / |C|
times the number of terms as degrees of freedom. Here phi is the sum of R^2 over that of V, if it is
more than 1: predictions of new rows are too confident. The weight of an edge is its standard score

    z = (s / phi - df) / sqrt(2 df).

With the p-values of N pairs, p(1) <= ... <= p(N), the first k pairs can be edges, where k is the
largest number with p(k) <= 0.2 k / N: then at most one in five of them is expected to be there by
chance (Benjamini & Hochberg 1995). Such an edge costs little, because the prior of its table keeps
it small. The forest of maximum weight follows, as in TAN by conditional mutual
information. Gradient boosting ranks interactions in a similar way (Lou et al. 2013).

References
----------
Benjamini & Hochberg (1995), Controlling the false discovery rate.
Lou, Caruana, Gehrke & Hooker (2013), Accurate intelligible models with pairwise interactions.
"""

from __future__ import annotations

import numpy as np
import scipy

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.clock import Checkpoint
from milpbn.compiled import jit
from milpbn.families.candidates import CLASS
from milpbn.families.rows import MergedRows, units
from milpbn.families.smoothing import Laplace
from milpbn.families.views import Views
from milpbn.parameters.losses import ConditionalLoss, soft_maximum
from milpbn.parameters.optimise import Problem, climb
from milpbn.parameters.tables import ClassTable, Rows, TableLayout
from milpbn.search.base import Search
from milpbn.search.tan_cmi import TanCMI

_FOLDS = 3
_PENALTY = 3.0
# Residuals need no accurate optimum.
_TOLERANCE = 1e-3
_STEPS = 100
# The expected share of pairs that are used although they explain nothing.
_FALSE_SHARE = 0.2

_jit = jit()


class TanResidual(TanCMI):
    """The forest of features whose pairs explain the errors of naive Bayes.

    Only edges that pass a test are used; without any, the result is naive Bayes. Constraints and
    resolutions are treated as in :class:`~milpbn.search.tan_cmi.TanCMI`.
    """

    name = "tan-residual"
    title = "TAN by residuals of naive Bayes"

    def weights(self, search: Search, rows: MergedRows) -> FloatArray:
        """See :class:`~milpbn.search.tan_cmi.TanCMI`."""
        cards = np.asarray(search.space.views.default_cards, dtype=np.int64)
        n = len(cards)
        weights = np.full((n, n), np.nan)
        if len(units(rows.weights)[0]) < 2 or n < 3:
            return weights
        rows, posterior = _held_out_posterior(rows, cards, search.checkpoint)
        residual = -rows.weights[:, None] * posterior
        residual[np.arange(len(rows.labels)), rows.labels] += rows.weights
        variance = rows.weights[:, None] * posterior * (1 - posterior)
        sums, terms = np.zeros((n, n)), np.zeros((n, n))
        codes = np.ascontiguousarray(rows.codes.T)
        for i in range(CLASS + 1, n):
            search.checkpoint()
            _pair_sums(codes, cards, i, residual, variance, sums, terms)
        share = (int(cards[CLASS]) - 1) / int(cards[CLASS])
        squares = float((residual**2 / rows.weights[:, None]).sum())
        excess = max(1.0, squares / max(float(variance.sum()), 1e-300))
        freedom = np.maximum(share * terms, 1.0)
        z = (share * sums / excess - freedom) / np.sqrt(2 * freedom)
        pairs = np.array(np.triu_indices(n, 1))[:, n - 1 :]  # without the class
        first, second = pairs
        found = _discoveries(
            scipy.special.chdtrc(freedom[first, second], share * sums[first, second] / excess)
        )
        first, second = pairs[:, found]
        weights[first, second] = weights[second, first] = z[first, second]
        return weights


def _discoveries(p_values: FloatArray) -> BoolArray:
    """The smallest p-values, as many as keep the share of false ones small."""
    order = np.sort(p_values)
    passed = np.flatnonzero(order <= _FALSE_SHARE * np.arange(1, len(order) + 1) / len(order))
    return p_values <= (order[passed[-1]] if len(passed) else -1.0)


def _held_out_posterior(
    rows: MergedRows, cards: IntArray, checkpoint: Checkpoint
) -> tuple[MergedRows, FloatArray]:
    """The rows, and the posteriors of naive Bayes that was fitted on the rows of other folds."""
    sizes = [int(card) for card in cards]
    tables = [ClassTable.of_class((), sizes)]
    tables += [ClassTable.of_feature(j, (), sizes) for j in range(CLASS + 1, len(sizes))]
    layout = TableLayout(tuple(tables), Views(tuple(sizes)))
    divided, fold = rows.split(min(_FOLDS, len(units(rows.weights)[0])), 0)
    seen, posterior = Rows.of(layout, divided), np.empty((len(fold), sizes[CLASS]))
    for k in range(int(fold.max()) + 1):
        train = seen.select(fold != k)
        start = train.independence(Laplace())
        problem = Problem(train, ConditionalLoss(), start, _PENALTY)
        found = climb(
            problem, start, max_iterations=_STEPS, tolerance=_TOLERANCE, checkpoint=checkpoint
        )
        joint = seen.select(fold == k).log_joint(layout.log_theta(found.beta))
        posterior[fold == k] = soft_maximum(joint)[1]
    return divided, posterior


@_jit
def _pair_sums(codes, cards, i, residual, variance, sums, terms):  # type: ignore[no-untyped-def]
    """Sums and numbers of r^2 / v over the cells of feature i with each later one."""
    n_classes = residual.shape[1]
    for j in range(i + 1, len(cards)):
        size = cards[i] * cards[j]
        r, v = np.zeros((size, n_classes)), np.zeros((size, n_classes))
        for u in range(codes.shape[1]):
            cell = codes[i, u] * cards[j] + codes[j, u]
            for c in range(n_classes):
                r[cell, c] += residual[u, c]
                v[cell, c] += variance[u, c]
        total, number = 0.0, 0
        for cell in range(size):
            for c in range(n_classes):
                if v[cell, c] > 0.5:
                    total += r[cell, c] * r[cell, c] / v[cell, c]
                    number += 1
        sums[i, j], terms[i, j] = total, number
