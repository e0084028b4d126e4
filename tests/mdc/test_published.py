"""The published folds of data sets that are not bundled, compared with Yang (2022).

The files are read from the folder `mdc` in the one that MILPBN_VERIFY_DATA names. The published
base models stop early (docs/reproduction/yang2022.md); milpbn trains until convergence, which
helps every method. So the published values are a lower bound here, not a number to meet.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from milpbn import evaluate
from milpbn.datasets import read_table
from milpbn.evaluation.protocol import read_folds
from milpbn.mdc import BinaryRelevance, GBNCClassifier

BASE = "logistic:C=1"


def published(name, d):
    folder = Path(os.environ.get("MILPBN_VERIFY_DATA", "")) / "mdc"
    if "MILPBN_VERIFY_DATA" not in os.environ or not (folder / f"{name}.csv.gz").exists():
        pytest.skip(f"the rows of {name} are not at hand: set MILPBN_VERIFY_DATA")
    targets = [f"class_{j}" for j in range(1, d + 1)]
    table = read_table(folder / f"{name}.csv.gz", targets)
    return table, folder / f"{name}.folds.csv.gz"


def test_edm_on_its_published_folds():
    table, folds = published("Edm", 2)
    assert table.features.shape == (154, 16)
    methods = {"gbnc": GBNCClassifier(BASE), "br": BinaryRelevance(BASE)}
    gbnc, relevance = evaluate(table, methods, fold_file=folds).summaries()
    assert gbnc.accuracy > relevance.accuracy
    assert gbnc.accuracy >= 0.570
    assert gbnc.hamming >= 0.736
    assert relevance.accuracy >= 0.475


@pytest.mark.slow
def test_rf1_on_one_published_fold():
    table, folds = published("Rf1", 8)
    assert table.features.shape == (8987, 64)
    test = read_folds(folds, len(table)) == 1
    model = GBNCClassifier(BASE, max_parents=2, n_jobs=2)
    model.fit(table.features[~test], table.targets[~test])
    assert model.optimal_
    exact = model.score(table.features[test], table.targets[test])
    relevance = BinaryRelevance(BASE).fit(table.features[~test], table.targets[~test])
    assert exact > relevance.score(table.features[test], table.targets[test])
    assert exact >= 0.532
    assert np.isfinite(
        model.predict_joint_log_proba(table.features[test], table.targets[test])
    ).all()
