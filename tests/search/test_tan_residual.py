"""Arcs by residuals: hidden pairs are found, noise is not."""

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier
from milpbn.datasets.generators import wide


def pairs_found(features, labels):
    model = BNClassifier(method="tan-residual").fit(features, labels)
    names = list(features.columns)
    arcs = [(names.index(p), names.index(c)) for p, c in model.structure_.arcs if p != "class"]
    return {tuple(sorted(arc)) for arc in arcs}


def rows_with_pairs(pairs, n_features, n_rows, seed, size=0.3):
    """The class depends on every feature, and on the product of each pair."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (n_rows, n_features))
    sign = 2 * x - 1
    margin = sum(size * rng.choice([-1, 1]) * sign[:, i] * sign[:, j] for i, j in pairs)
    margin = margin + sign @ rng.normal(size=n_features) * 0.3
    labels = np.where(margin + rng.logistic(size=n_rows) > 0, "yes", "no")
    names = [f"x{j}" for j in range(n_features)]
    return pd.DataFrame(x.astype(str), columns=names), labels


def test_hidden_pairs_are_found_in_a_wide_table():
    hidden = [(2 * k, 2 * k + 1) for k in range(20)]
    found = [
        pairs_found(*rows_with_pairs(hidden, 40, 1500, seed)) & set(hidden) for seed in (1, 2, 4)
    ]
    assert sum(map(len, found)) >= 20


@pytest.mark.parametrize("seed", range(3))
def test_noise_has_no_pairs(seed):
    assert not pairs_found(*rows_with_pairs([], 40, 1500, seed))


def test_the_more_pairs_matter_the_weaker_ones_are_used():
    """With a threshold for the largest of all pairs, there are 24 arcs."""
    table = wide(1, 1000, 60, 4, contrast=0.7)
    assert len(pairs_found(table.features, table.target)) >= 28
