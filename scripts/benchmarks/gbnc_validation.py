"""GBNC on new rows: regularisation and scores, fixed or chosen by validation.

The result is a table of means over folds, in Markdown. Finished folds are kept in
build/bench/gbnc-NAME.jsonl, and another run continues from there. Edm, Rf1 and WaterQuality are
read from the subfolder `mdc` of the folder in the environment variable MILPBN_VERIFY_DATA and
skipped without it. Large sets are reduced to a random sample of rows.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from milpbn import evaluate
from milpbn.datasets import Table, load_dataset, read_table
from milpbn.mdc import BinaryRelevance, GBNCClassifier

FOLDER = Path("build") / "bench"

# Name: number of class variables of a file, folds, rows, parameters of GBNC.
SETS = {
    "Jura": (None, 10, None, {}),
    "Edm": (2, 10, None, {}),
    "flare2_mdc3": (None, 10, None, {}),
    "many-features": (None, 5, None, {}),
    "Rf1": (8, 3, 1600, {"max_parents": 1}),
    "Adult": (None, 3, 2000, {"max_parents": 1}),
    "WaterQuality": (14, 3, None, {"max_parents": 1}),
}


def many_features(n=785, columns=98):
    """The size of Song: many noisy features of few causes, and three dependent classes."""
    rng = np.random.default_rng(0)
    causes, shared = rng.normal(size=(n, 6)), rng.normal(size=n)
    noise = 2.5 * rng.normal(size=(n, columns))
    features = causes @ rng.normal(size=(6, columns)) + noise
    signals = (
        causes[:, 0] + 0.5 * causes[:, 1] + 0.6 * shared + 0.5 * rng.normal(size=n),
        causes[:, 0] - 0.5 * causes[:, 2] + 0.6 * shared + 0.5 * rng.normal(size=n),
        causes[:, 3] + 0.5 * causes[:, 0] + 0.3 * shared + 0.7 * rng.normal(size=n),
    )
    labels = [np.digitize(s, np.quantile(s, [1 / 3, 2 / 3])).astype(str) for s in signals]
    names = [f"x{j}" for j in range(columns)]
    targets = pd.DataFrame(dict(zip("abc", labels, strict=True)))
    return Table("many-features", pd.DataFrame(features, columns=names), targets, tuple(names))


def methods(parameters):
    out = {}
    for strength in ("1", "auto"):
        base = f"logistic:C={strength}"
        out[f"br, C={strength}"] = BinaryRelevance(base)
        for folds in (None, 5):
            rows = "held-out" if folds else "penalised"
            name = f"{rows}, C={strength}"
            out[name] = GBNCClassifier(base, validation=folds, **parameters)
    return out


def load(name, d, rows):
    if name == "many-features":
        return many_features()
    if d is None:
        table = load_dataset(name)
    else:
        path = Path(os.environ.get("MILPBN_VERIFY_DATA", "")) / "mdc" / f"{name}.csv.gz"
        if not path.exists():
            return None
        table = read_table(path, [f"class_{j}" for j in range(1, d + 1)])
    if rows is None:
        return table
    chosen = np.random.default_rng(0).permutation(len(table))[:rows]
    return table.rows(np.isin(np.arange(len(table)), chosen))


def run(only: str = "") -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (d, folds, rows, parameters) in SETS.items():
        if only and name not in only.split(","):
            continue
        table = load(name, d, rows)
        if table is None:
            print(f"{name}: not available; set MILPBN_VERIFY_DATA")
            continue
        kept = FOLDER / f"gbnc-{name}.jsonl"
        found = evaluate(table, methods(parameters), folds=folds, result_file=kept)
        for line in found.summaries():
            print(
                f"| {name} | {line.method} | {line.accuracy:.3f} | {line.hamming:.3f} | "
                f"{line.macro_f1:.3f} | {line.seconds / line.folds:.1f} s |",
                flush=True,
            )
