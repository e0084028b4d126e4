"""Learning a GBNC: seconds inside base models against the rest, on one core.

The rest is partitioning rows, scores and pruning, the class network (heuristic, engine, dynamic
programming) and the check of the result. WaterQuality and Rf1 are read from the subfolder `mdc`
of the folder in the environment variable MILPBN_VERIFY_DATA; without it only bundled data sets
are used. Rf1 is learned with at most three parents.
"""

import os
import resource
import time
from pathlib import Path

from milpbn.datasets import load_dataset, read_table
from milpbn.mdc import GBNCClassifier
from milpbn.mdc.base_estimators import make_base

BUNDLED = {"Jura": {}, "Adult": {"max_parents": 1}}
VERIFY = {"WaterQuality": (14, {"max_parents": 2}), "Rf1": (8, {"max_parents": 3})}


def timed(base):
    """A base estimator of the same kind that adds up the seconds spent in it."""

    class Timed(type(base)):
        seconds = 0.0

        def fit(self, X, y):
            began = time.perf_counter()
            try:
                return super().fit(X, y)
            finally:
                Timed.seconds += time.perf_counter() - began

        def predict_proba(self, X):
            began = time.perf_counter()
            try:
                return super().predict_proba(X)
            finally:
                Timed.seconds += time.perf_counter() - began

    return Timed(**base.get_params())


def measure(name, table, parameters):
    n_columns = len(table.numeric)
    base = timed(make_base("logistic:C=1").estimator(n_columns, max(table.targets.nunique()), 0))
    model = GBNCClassifier(base, validation=None, **parameters)
    began = time.perf_counter()
    model.fit(table.features, table.targets)
    total = time.perf_counter() - began
    inside = type(base).seconds
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name:<14}{len(table):>7}{table.targets.shape[1]:>9}{model.training_.base_models:>9}"
        f"{inside:>10.2f}{total - inside:>10.2f}{100 * (1 - inside / total):>9.1f} %{peak:>9.2f}",
        flush=True,
    )


def run() -> None:
    print(
        f"{'data set':<14}{'rows':>7}{'classes':>9}{'models':>9}{'base, s':>10}{'rest, s':>10}",
        end="",
    )
    print(f"{'share':>11}{'GiB':>9}")
    warm_up = load_dataset("Jura")
    GBNCClassifier().fit(warm_up.features, warm_up.targets)  # libraries are loaded here
    for name, parameters in BUNDLED.items():
        measure(name, load_dataset(name), parameters)
    folder = os.environ.get("MILPBN_VERIFY_DATA")
    for name, (d, parameters) in VERIFY.items():
        path = Path(folder or "") / "mdc" / f"{name}.csv.gz"
        if folder is None or not path.exists():
            print(f"{name}: not available; set MILPBN_VERIFY_DATA")
            continue
        table = read_table(path, [f"class_{j}" for j in range(1, d + 1)])
        measure(name, table, parameters)
