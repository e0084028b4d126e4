"""The default selection next to other classifiers, all of them with the raw columns.

Nested: a fold's training rows choose bins, states, settings, structure and parameters; its test
rows are used for the measures alone, and all of them count. A method that fails on a fold gets the
measures of the majority baseline there.

The sets are the bundled ones of SETS, and all tables in the folder MILPBN_BENCH_PANEL. Each data
set and method has a file of finished folds in build/usefulness/raw, so that runs can be stopped and
continued, and several can run at the same time. MILPBN_BENCH_SETS and MILPBN_BENCH_METHODS
(separated by commas) restrict what is measured and shown; MILPBN_BENCH_SECONDS is the limit of a
fit, MILPBN_BENCH_ROWS the number of rows above which a sample is drawn, and MILPBN_BENCH_OUT
another folder, for example to compare two versions.
"""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.records import Records
from milpbn import BNClassifier, SelectionPlan, load_dataset
from milpbn.datasets import read_table
from milpbn.datasets.bins import FINE
from milpbn.datasets.table import Table
from milpbn.evaluation.comparison import signed_rank
from milpbn.evaluation.measures import mean_log_loss, measure
from milpbn.evaluation.methods import contenders
from milpbn.evaluation.protocol import hold_out
from milpbn.selection.auto import AUTO
from milpbn.selection.validation import Split, part, stratified_folds
from milpbn.words import count

SETS = (
    *("iris", "glass", "glass2", "heart", "cleve", "hepatitis", "diabetes", "vehicle"),
    *("australian", "crx", "german", "breast", "segment", "waveform-21", "spambase", "satimage"),
)
FOLDS = 3
SECONDS = float(os.environ.get("MILPBN_BENCH_SECONDS", "60"))
ROWS = int(os.environ.get("MILPBN_BENCH_ROWS", "3000"))
FOLDER = Path(
    os.environ.get(
        "MILPBN_BENCH_OUT", str(Path(__file__).parents[2] / "build" / "usefulness" / "raw")
    )
)
DOCS = Path(__file__).parents[2] / "docs" / "explanation"
NAME = "usefulness-raw"
"""The results in the manual."""

# The classes of tables whose last column is a feature.
_CLASSES = {"hawks": "Species", "cars93": "Type", "penguins_raw_sex": "Sex"}

# The default of milpbn 0.2 before there were fine bins.
_COARSE_GRIDS = SelectionPlan(
    [
        {"method": ["nb"], "max_parents": [1]},
        {"method": ["tan-cmi"]},
        {
            "score": ["sm"],
            "validation": ["loo"],
            "p": [0.7, 0.95],
            "penalty": [0.0, 0.5, "bic"],
            "max_parents": [2, 3],
            "class_parents": [False],
        },
    ]
)


@dataclass(frozen=True)
class Way:
    """A method of an evaluation with its settings.

    Attributes
    ----------
    label
        The method.
    parameters
        How its parameters are learned.
    table
        Properties of the table that it learns from, in place of those of the data set.
    plan
        What validation chooses from.
    """

    label: str
    parameters: str = "ml"
    table: dict[str, str] | None = None
    plan: SelectionPlan | None = None

    def learn(self, table: Table):
        settings = {"random_state": 0, "time_limit": SECONDS}
        (contender,) = contenders([self.label], [self.parameters], self.plan, settings)
        return contender.learn(replace(table, **(self.table or {})), 0)


# What users of the estimators get, whatever the catalog says about a bundled data set.
_DEFAULT = {"missing": BNClassifier().missing}
_COARSE = {"bins": "mdlp", "missing": "drop"}
METHODS = {
    AUTO: Way(AUTO, table=_DEFAULT),
    "auto-coarse": Way("branch-and-cut", "cl:prior=independence", _COARSE, _COARSE_GRIDS),
    "nb-fine": Way("nb", "cl", {**_DEFAULT, "bins": FINE}),
    "tan-residual": Way("tan-residual", "cl", {**_DEFAULT, "bins": FINE}),
    "logistic": Way("sk:logistic"),
    "svm": Way("sk:svm"),
    "random-forest": Way("sk:random-forest"),
    "boosting": Way("sk:gradient-boosting"),
    "boosting-early": Way("sk:gradient-boosting:early_stopping=yes"),
    "ebm": Way("interpret:ebm"),
}
"""The methods, by the names in the table."""

_FIELDS = (
    *("set", "method", "fold", "train_rows", "test_rows", "incomplete", "accuracy", "log_loss"),
    *("cpu_seconds", "wall_seconds", "selected", "error"),
)
_MEANS = ["accuracy", "log_loss", "cpu_seconds", "wall_seconds"]


def run() -> None:
    for name, read in chosen_sets().items():
        for method in chosen_methods():
            _measure(name, read, method)


def chosen_methods() -> list[str]:
    given = os.environ.get("MILPBN_BENCH_METHODS")
    return given.split(",") if given else list(METHODS)


def chosen_sets() -> dict[str, Callable[[], Table]]:
    """How to read each data set."""
    known: dict[str, Callable[[], Table]] = {
        name: partial(load_dataset, name, missing="auto") for name in SETS
    }
    if panel := os.environ.get("MILPBN_BENCH_PANEL"):
        files = sorted(Path(panel).glob("*.csv.gz"))
        known |= {file.name.removesuffix(".csv.gz"): lambda f=file: _read(f) for file in files}
    given = os.environ.get("MILPBN_BENCH_SETS")
    return {name: known[name] for name in given.split(",")} if given else known


def _read(file: Path) -> Table:
    name = file.name.removesuffix(".csv.gz")
    target = _CLASSES.get(name) or pd.read_csv(file, nrows=0).columns[-1]
    return replace(read_table(file, target), name=name)


def _sample(table: Table, rows: int) -> Table:
    """All rows, or about so many of them, with the same share of every class."""
    table = replace(table, is_train=None)
    if len(table) <= rows:
        return table
    return replace(hold_out(table, rows / len(table)).test(), is_train=None)


def _measure(name: str, read: Callable[[], Table], method: str) -> None:
    """Measure the folds of a method that its file does not have yet."""
    records = Records(FOLDER / f"{name}--{method}.csv", _FIELDS)
    finished = {row["fold"] for row in records.rows()}
    missing = [fold for fold in range(1, FOLDS + 1) if str(fold) not in finished]
    if not missing:
        return
    table = _sample(read(), ROWS)
    splits = list(stratified_folds(FOLDS, 0).split(table.features, table.target))
    _warm_up(method)
    for fold in missing:
        row = _one_fold(METHODS[method], table, splits[fold - 1])
        records.append({"set": name, "method": method, "fold": str(fold), **row})
        print(
            f"{name:<18}{method:<16}{fold}  {100 * float(row['accuracy']):6.2f} % "
            f"{float(row['log_loss']):.4f} {float(row['cpu_seconds']):8.2f} s  {row['error']}",
            flush=True,
        )


@cache
def _warm_up(method: str) -> None:
    """Import and compile what the method needs, so that this is not in the seconds."""
    METHODS[method].learn(_sample(load_dataset("iris"), 45))


def _one_fold(way: Way, table: Table, split: Split) -> dict[str, str]:
    train, test = part(table, split[0]), part(table, split[1])
    began = time.process_time(), time.perf_counter()
    error = ""
    try:
        learned = way.learn(train)
        cpu, wall = time.process_time() - began[0], time.perf_counter() - began[1]
        measures, selected = learned.measure(test, np.sort(split[1]))[0], learned.selected
    except Exception as failure:
        # A crash is a result; Ctrl-C is not.
        cpu, wall = time.process_time() - began[0], time.perf_counter() - began[1]
        measures, selected = _majority(train, test), {}
        error = f"{type(failure).__name__}: {failure}"
    return {
        "train_rows": str(len(train)),
        "test_rows": str(len(test)),
        "incomplete": str(int(test.incomplete.sum())),
        "accuracy": f"{measures.accuracy:.6f}",
        "log_loss": f"{mean_log_loss([measures]):.6f}",
        "cpu_seconds": f"{cpu:.2f}",
        "wall_seconds": f"{wall:.2f}",
        "selected": ", ".join(f"{k}={v}" for k, v in selected.items()),
        "error": error,
    }


def _majority(train: Table, test: Table):
    classes, counts = np.unique(train.target.to_numpy(dtype=str), return_counts=True)
    proba = np.tile(counts / counts.sum(), (len(test), 1))
    return measure(classes.astype(object), proba, test.target.to_numpy())


def _finished(methods: Iterable[str]) -> pd.DataFrame:
    """One line for each data set that all methods have finished, and each method."""
    wanted = [FOLDER / f"{s}--{m}.csv" for s in chosen_sets() for m in methods]
    read = [pd.read_csv(file, keep_default_na=False) for file in wanted if file.exists()]
    if not read:
        return pd.DataFrame()
    folds = pd.concat(read, ignore_index=True)
    folds["failed"] = folds["error"] != ""
    groups = folds.groupby(["set", "method"], sort=False)
    lines = groups[_MEANS].mean()
    for name, column in (("rows", "test_rows"), ("incomplete", "incomplete"), ("failed", "failed")):
        lines[name] = groups[column].sum()
    lines["folds"] = groups.size()
    lines = lines[lines["folds"] == FOLDS].reset_index()
    whole = lines.groupby("set")["method"].transform("size") == len(list(methods))
    return lines[whole][["set", "rows", "incomplete", "method", *_MEANS, "failed"]].round(6)


def summarise() -> None:
    """Write the means of the data sets that are finished as CSV, and the report as Markdown."""
    from reproduction.report import Report
    from reproduction.results import read_results, write_results

    lines = _finished(chosen_methods())
    if lines.empty:
        print("no data set was finished by every method")
        return
    path = FOLDER.parent / f"{NAME}.csv"
    write_results(path, lines, packages=["interpret-core"] if "ebm" in set(lines["method"]) else [])
    report = Report(FOLDER.parent)
    show(*read_results(path), report)
    path.with_suffix(".md").write_text(str(report), encoding="utf-8")
    print(report)


def publish() -> None:
    """Put the last summary into the manual."""
    from reproduction.report import Report, fill_page
    from reproduction.results import read_results

    path = DOCS / "results" / f"{NAME}.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((FOLDER.parent / path.name).read_bytes())
    report = Report(DOCS)
    show(*read_results(path), report)
    fill_page(DOCS / "usefulness.md", {NAME: str(report)})


def show(head: str, lines: pd.DataFrame, report) -> None:
    """The means with tests against the first method, and the table of the data sets."""
    holes = lines["incomplete"] > 0
    for title, group in (
        ("without missing values", lines[~holes]),
        ("with missing values", lines[holes]),
    ):
        if len(group):
            sets = count(group["set"].nunique(), "data set")
            report.table(_means(group), f"Means over {sets} {title}")
    if failed := lines[lines["failed"] > 0].groupby("method")["failed"].sum().to_dict():
        told = ", ".join(f"`{m}` {n}" for m, n in failed.items())
        report.text(f"Fits that failed, and count as the majority class: {told}.")
    report.table(_by_set(lines), "Accuracy in per cent and log-loss by data set")
    report.text(f"Measured {head}.")


def _means(lines: pd.DataFrame) -> pd.DataFrame:
    methods = list(dict.fromkeys(lines["method"]))
    accuracy, loss, cpu = (
        lines.pivot(index="set", columns="method", values=c)
        for c in ("accuracy", "log_loss", "cpu_seconds")
    )
    first = methods[0]
    return pd.DataFrame(
        {
            "method": [f"`{m}`" for m in methods],
            "accuracy": [_best(accuracy.mean(), m, ".2f", 100, max) for m in methods],
            f"wins, ties, losses of `{first}`": [_wins(accuracy, first, m, 1) for m in methods],
            "p": [_p(accuracy, first, m) for m in methods],
            "log-loss": [_best(loss.mean(), m, ".3f", 1, min) for m in methods],
            "wins, ties, losses": [_wins(loss, first, m, -1) for m in methods],
            "p ": [_p(loss, first, m) for m in methods],
            "seconds": [f"{cpu[m].median():.1f}" for m in methods],
        }
    )


def _by_set(lines: pd.DataFrame) -> pd.DataFrame:
    sets = lines.groupby("set", sort=False)[["rows", "incomplete"]].first().reset_index()
    shown = [
        f"{100 * a:.1f}, {b:.3f}" for a, b in zip(lines["accuracy"], lines["log_loss"], strict=True)
    ]
    cells = lines.assign(shown=shown).pivot(index="set", columns="method", values="shown")
    for method in dict.fromkeys(lines["method"]):
        sets[method] = [cells[method][name] for name in sets["set"]]
    return sets.assign(set=[f"`{name}`" for name in sets["set"]]).rename(
        columns={"set": "data set", "incomplete": "with missing values"}
    )


def _best(means: pd.Series, method: str, form: str, factor: float, best: Callable) -> str:
    """A mean, in bold if it is the best."""
    shown = format(factor * means[method], form)
    return f"**{shown}**" if means[method] == best(means) else shown


def _wins(values: pd.DataFrame, first: str, method: str, sign: int) -> str:
    if method == first:
        return ""
    signs = np.sign(np.round(sign * (values[first] - values[method]), 12))
    return ", ".join(str(int((signs == s).sum())) for s in (1, 0, -1))


def _p(values: pd.DataFrame, first: str, method: str) -> str:
    p = signed_rank(values[first].to_numpy(), values[method].to_numpy())
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
