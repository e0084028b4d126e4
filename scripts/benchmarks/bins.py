"""How numeric columns are cut: MDLP, quantiles chosen by validation, or several resolutions.

Nested: the rows of a fold's training part choose the cuts, the number of quantile bins, the
structure and the parameters; its test rows are used for the measures alone. Structures maximise
soft margins on held-out rows (leave-one-out) with at most two parents, by local search or, with
``bins:exact``, by branch-and-cut. Parameters maximise the conditional likelihood. With
``bins:selection``, the training rows choose among the default candidates of the selection: naive
Bayes, a tree, and soft margins with several penalties.

Finished folds are kept in build/bench/bins.csv. MILPBN_BENCH_SECONDS sets the limit of a
fit, and MILPBN_BENCH_SETS replaces the data sets.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.new_rows import accuracy_and_loss, complete
from benchmarks.records import OUT, Records
from milpbn import SelectionPlan, load_dataset
from milpbn.datasets.table import Table
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.model import Model
from milpbn.learning.settings import make_settings
from milpbn.selection.auto import AUTO
from milpbn.selection.choose import learn_selected
from milpbn.selection.plan import Grid
from milpbn.selection.validation import part, stratified_folds

SETS = (
    *("iris", "glass", "glass2", "heart", "cleve", "hepatitis", "diabetes", "vehicle"),
    *("australian", "crx", "german", "breast", "segment", "waveform-21", "spambase", "satimage"),
)
FOLDS = 3
SELECTION = "selection"
SECONDS = float(os.environ.get("MILPBN_BENCH_SECONDS", "20"))
FIXED = ("mdlp", "quantile:4", "quantile:6", "quantile:10", "quantile:16")

_KEY = ("set", "bins", "method", "seconds allowed", "fold")
_FIELDS = (*_KEY, "chosen", "accuracy", "log-loss", "parameters", "status", "gap", "seconds")


def run(method: str = "local-search") -> None:
    method = {"exact": "branch-and-cut"}.get(method, method)
    grid: Grid | str = AUTO if method == SELECTION else {}
    engine = "local-search" if method == SELECTION else method
    names = {
        **{"score": "sm", "p": 0.95, "validation": "loo", "class_parents": False},
        **{"parameters": "cl", "method": engine, "time_limit": SECONDS},
    }
    records = Records(OUT / "bins.csv", _FIELDS)
    given = os.environ.get("MILPBN_BENCH_SETS")
    sets = given.split(",") if given else SETS
    for name in sets:
        table = complete(load_dataset(name))
        folds = stratified_folds(FOLDS, 0).split(table.features, table.target)
        for fold, (train, test) in enumerate(folds, 1):
            for bins, learn in _ways(names, grid).items():
                values = (name, bins, method, f"{SECONDS:g}", str(fold))
                key = dict(zip(_KEY, values, strict=True))
                if records.find(key) is None:
                    row = _measured(learn, part(table, train), part(table, test))
                    records.append({**key, **row})
        _show(records, name, method)
    _show_means(records, sets, method)


def _ways(names: dict[str, object], grid: Grid | str) -> dict[str, Callable[[Table], Model]]:
    def learn(table: Table, bins: tuple[str, ...]) -> Model:
        if grid or len(bins) > 1:
            return learn_selected(table, names, SelectionPlan(grid, bins=bins))
        return learn_classifier(replace(table, bins=bins[0]), make_settings(**names))

    ways = {"mdlp": FIXED[:1], "selected": FIXED, "auto": ("auto",)}
    return {way: partial(learn, bins=bins) for way, bins in ways.items()}


def _measured(learn: Callable[[Table], Model], train: Table, test: Table) -> dict[str, str]:
    began = time.perf_counter()
    model = learn(train)
    seconds = time.perf_counter() - began
    accuracy, loss = accuracy_and_loss(model, test)
    gap = model.result.gap_rel
    return {
        "chosen": model.encoder.bins,
        "accuracy": f"{accuracy:.6f}",
        "log-loss": f"{loss:.6f}",
        "parameters": str(model.network.n_parameters),
        "status": str(model.result.status),
        "gap": "" if gap is None else f"{gap:.6f}",
        "seconds": f"{seconds:.2f}",
    }


def _rows(records: Records, name: str, method: str, bins: str) -> list[dict[str, str]]:
    key = {"set": name, "bins": bins, "method": method, "seconds allowed": f"{SECONDS:g}"}
    return [row for row in records.rows() if all(row[k] == v for k, v in key.items())]


def _means(rows: list[dict[str, str]]) -> tuple[float, ...]:
    """Accuracy in per cent, log-loss, parameters, gap in per cent and seconds."""
    names = ("accuracy", "log-loss", "parameters", "gap", "seconds")
    means = (np.mean([float(row[name] or np.nan) for row in rows]) for name in names)
    accuracy, loss, size, gap, seconds = map(float, means)
    return 100 * accuracy, loss, size, 100 * gap, seconds


def _show(records: Records, name: str, method: str) -> None:
    for bins in ("mdlp", "selected", "auto"):
        rows = _rows(records, name, method, bins)
        accuracy, loss, size, gap, seconds = _means(rows)
        shown = "-" if np.isnan(gap) else f"{gap:.2f} %"
        chosen = ", ".join(row["chosen"] for row in rows) if bins == "selected" else ""
        print(
            f"{name:<12}{bins:<10}{accuracy:>7.2f} %{loss:>9.4f}{size:>9.0f}{shown:>10}"
            f"{seconds:>8.1f} s  {chosen}".rstrip(),
            flush=True,
        )


def _show_means(records: Records, sets: tuple[str, ...] | list[str], method: str) -> None:
    print(f"\nmeans over {len(sets)} data sets, {FOLDS} folds each")
    for bins in ("mdlp", "selected", "auto"):
        means = [_means(_rows(records, name, method, bins)) for name in sets]
        accuracy, loss = np.mean([m[:2] for m in means], axis=0)
        print(f"{bins:<10}{accuracy:>7.2f} %{loss:>9.4f}")
