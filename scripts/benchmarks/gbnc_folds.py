"""GBNC with both scores, and the other methods, on the published folds of Yang (2022).

The table has exact match and Hamming score for each method, means over folds with the half width of
Student's 95 % interval, and the paired differences of GBNC and binary relevance. Data sets that are
not bundled, and the folds, are read from the subfolder `mdc` of the folder in the environment
variable MILPBN_VERIFY_DATA; without published folds there are ten random ones. WQplants and
WQanimals are the first and the last seven class variables of WaterQuality. `bash scripts/bench
gbnc_folds:Jura,Edm` selects sets.
"""

import os
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
import scipy

from milpbn.datasets import load_dataset, read_table
from milpbn.evaluation.metrics import exact_match_score, hamming_score
from milpbn.evaluation.protocol import read_folds
from milpbn.mdc import BinaryRelevance, ClassifierChains, ClassPowerset, GBNCClassifier

# Name: file, class variables that are kept of all, folds that are run, the most class parents.
SETS = {
    "Jura": (None, None, 10, None),
    "Edm": ("Edm", slice(0, 2), 10, None),
    "WQplants": ("WaterQuality", slice(0, 7), 10, 1),
    "WQanimals": ("WaterQuality", slice(7, 14), 10, 1),
    "Rf1": ("Rf1", slice(0, 8), 2, 1),
    "Adult": (None, None, 3, 1),
}
_COUNTS = {"Edm": 2, "WaterQuality": 14, "Rf1": 8}
BASE = "logistic:C=1"


def load(name):
    """The table and the test fold of each row; None if the rows are not at hand."""
    file, kept, *_ = SETS[name]
    folder = Path(os.environ.get("MILPBN_VERIFY_DATA", "")) / "mdc"
    if file is None:
        table = load_dataset(name)
    else:
        path = folder / f"{file}.csv.gz"
        if not path.exists():
            return None
        table = read_table(path, [f"class_{j}" for j in range(1, _COUNTS[file] + 1)])
        table = replace(table, targets=table.targets.iloc[:, kept])
    published = folder / f"{name}.folds.csv.gz"
    if published.exists():
        return table, read_folds(published, len(table))
    return table, np.random.default_rng(0).permutation(len(table)) % 10 + 1


def methods(limit):
    return {
        "GBNC": GBNCClassifier(BASE, max_parents=limit),
        "GBNC, penalised": GBNCClassifier(BASE, validation=None, max_parents=limit),
        "BR": BinaryRelevance(BASE),
        "CC": ClassifierChains(BASE, n_chains=10),
        "CP": ClassPowerset(BASE),
    }


def measured(model, test):
    truth, out = test.targets.to_numpy(dtype=object), []
    for loss, measure in (("subset", exact_match_score), ("hamming", hamming_score)):
        if "loss" in model.get_params():
            model.set_params(loss=loss)
        out.append(measure(truth, model.predict(test.features)))
    return out


def interval(values):
    half = scipy.special.stdtrit(len(values) - 1, 0.975) * np.std(values, ddof=1)
    return f"{np.mean(values):.3f} ± {half / np.sqrt(len(values)):.3f}"


def run(only: str = "") -> None:
    for name, (*_, n_folds, limit) in SETS.items():
        if only and name not in only.split(","):
            continue
        found = load(name)
        if found is None:
            print(f"{name}: not available; set MILPBN_VERIFY_DATA")
            continue
        table, folds = found
        values, seconds = {}, {}
        for k in np.unique(folds)[:n_folds]:
            for method, model in methods(limit).items():
                begin = process_time()
                model.fit_table(table.rows(folds != k))
                values.setdefault(method, []).append(measured(model, table.rows(folds == k)))
                seconds[method] = seconds.get(method, 0.0) + process_time() - begin
        results = {method: np.array(own).T for method, own in values.items()}
        for method, (exact, hamming) in results.items():
            print(
                f"| {name} | {len(exact)} | {method} | {interval(exact)} | {interval(hamming)} | "
                f"{seconds[method] / len(exact):.1f} s |",
                flush=True,
            )
        for method in ("GBNC", "GBNC, penalised"):
            apart = [interval(results[method][i] - results["BR"][i]) for i in (0, 1)]
            print(f"| {name} | | {method} minus BR | {apart[0]} | {apart[1]} | |", flush=True)
