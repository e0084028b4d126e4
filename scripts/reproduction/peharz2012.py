"""Peharz & Pernkopf (2012), Exact maximum margin structure learning of Bayesian networks."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pandas as pd

from milpbn import SelectionPlan, learn_structure
from milpbn.datasets.catalog import entry
from reproduction.compare import beside, by_classifier, summarise, wide, wins
from reproduction.data import UCI25, encoded
from reproduction.experiment import evaluated, measured
from reproduction.options import Options
from reproduction.printed import printed
from reproduction.report import Report
from reproduction.runs import Group

SETS = (*UCI25, "abalone", "adult", "car", "mushroom", "nursery", "spambase")
HARD = ("letter", "satimage", "segment", "soybean-large", "vehicle", "adult", "spambase")
"""The data sets of table 1, on which CPLEX did not finish in two hours."""
PROBABILITIES = (0.501, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
CLASSIFIERS = ("NB", "TAN", "MDL", "SM", "SBM", "SVM", "auto")

_SPACE = {"class_parents": True}
_PLAN = SelectionPlan({"p": list(PROBABILITIES), "max_parents": [1, 2]}, "accuracy")
_SEVERAL_CLASSES = tuple(name for name in SETS if entry(name).classes[0] > 2)

GROUPS = (
    Group("plain", {("nb", "ml"): "NB", ("tan-cmi", "ml"): "TAN"}, {"class_parents": False}),
    Group(
        "mdl",
        {("branch-and-cut:mdl", "ml"): "MDL"},
        {**_SPACE, "augmented": True},
        SelectionPlan({"max_parents": [1, 2]}, "accuracy"),
    ),
    Group("svm", {("sk:svm:inputs=states", ""): "SVM"}),
    Group("sm", {("branch-and-cut:sm", "ml"): "SM"}, _SPACE, _PLAN),
    # With two classes both margins are the same, and so are the results.
    Group("sbm", {("branch-and-cut:sbm", "ml"): "SBM"}, _SPACE, _PLAN, sets=_SEVERAL_CLASSES),
    Group("auto", {("auto", ""): "auto"}, {"class_parents": False}),
)


def _with_sbm(folds: pd.DataFrame) -> pd.DataFrame:
    """The results with those of SM as SBM where there are two classes."""
    same = folds[(folds["classifier"] == "SM") & ~folds["set"].isin(_SEVERAL_CLASSES)]
    return pd.concat([folds, same.assign(classifier="SBM")], ignore_index=True)


def show_accuracy(folds: pd.DataFrame, report: Report) -> None:
    """Tables 2 and 3, and how many fits were proven."""
    folds = _with_sbm(folds)
    both = beside(summarise(folds), printed("peharz2012", 2))
    report.table(wide(both, CLASSIFIERS), "Table 2: accuracy in per cent")
    report.table(by_classifier(both, CLASSIFIERS), "Printed values and intervals, by classifier")
    report.table(_leads(both), "Leads of one classifier over another, in points")
    report.table(wins(folds, CLASSIFIERS, (0.68, 0.95)), "Table 3: how often the row is better")
    report.table(_printed_wins(), "Table 3 as printed, as far as it can be read")
    report.table(_proofs(both), "Fits with a proof, of the final runs")


def _leads(both: pd.DataFrame) -> pd.DataFrame:
    """Mean differences on the data sets where both classifiers have a printed accuracy."""
    ours, theirs = (
        both.pivot(index="set", columns="classifier", values=c) for c in ("ours", "value")
    )
    lines = []
    for a, b in (*((s, o) for s in ("SM", "SBM") for o in CLASSIFIERS[:3]), ("SVM", "SBM")):
        if {a, b} <= set(ours):
            same = theirs[[a, b]].notna().all(axis=1)
            leads = ((v[a] - v[b])[same].mean() for v in (theirs, ours))
            lines.append((a, b, int(same.sum()), *(f"{lead:+.2f}" for lead in leads)))
    return pd.DataFrame(lines, columns=["first", "second", "sets", "printed", "ours"])


def _printed_wins() -> pd.DataFrame:
    given = printed("peharz2012", 3)
    given["cell"] = [f"{v:.0f} / {s:.0f}" for v, s in zip(given.value, given.spread, strict=True)]
    table = given.pivot(index="classifier", columns="set", values="cell")
    names = [c for c in CLASSIFIERS if c in table.index]
    columns = [c for c in CLASSIFIERS if c in table.columns]
    return table.loc[names, columns].fillna("").reset_index()


def _proofs(both: pd.DataFrame) -> pd.DataFrame:
    """For each exact method: proven fits, and the largest gap of the others."""
    lines = []
    for data, group in both[both["classifier"].isin(("MDL", "SM", "SBM"))].groupby(
        "set", sort=False
    ):
        cells = {"set": data}
        for line in group.itertuples():
            gap = "" if line.proven == line.runs else f", gap {100 * line.gap:.2g} %"
            cells[line.classifier] = f"{line.proven}/{line.runs}{gap}"
        lines.append(cells)
    return pd.DataFrame(lines).fillna("")


_RUNS = ("set", "score", "k", "p", "limit")
_MEASURED = ("rows", "status", "objective", "bound", "gap", "nodes", "seconds")


def _keys(names: tuple[str, ...], parents: tuple[int, ...]):
    def keys(options: Options) -> list[Mapping[str, str]]:
        return [
            dict(zip(_RUNS, (n, s, str(k), f"{p:g}", f"{options.time_limit:g}"), strict=True))
            for k in parents
            for n in options.chosen(names)
            for s in (("sm", "sbm") if n in _SEVERAL_CLASSES else ("sm",))
            for p in PROBABILITIES
        ]

    return keys


def solve(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """Solve one program on the training rows: of the published split, or the first ones."""
    data = encoded(key["set"], 1, options)
    began = time.perf_counter()
    result = learn_structure(
        data,
        score=key["score"],
        p=float(key["p"]),
        max_parents=int(key["k"]),
        class_parents=True,
        time_limit=float(key["limit"]),
    )
    return {
        "rows": str(len(data.train())),
        "status": str(result.status),
        "objective": repr(result.objective),
        "bound": repr(result.bound),
        "gap": f"{100 * result.gap_rel:.4f}" if result.gap_rel is not None else "",
        "nodes": str(result.nodes),
        "seconds": f"{time.perf_counter() - began:.2f}",
    }


def show_gaps(runs: pd.DataFrame, report: Report) -> None:
    """Table 1: gaps in per cent for every number of parents and every p."""
    given = printed("peharz2012", 1).set_index(["set", "classifier"])["value"]
    for score, group in runs.groupby("score", sort=False):
        cell = group["gap"].map("{:.2f}".format).where(group["status"] != "optimal", "proven")
        table = group.assign(cell=cell).pivot_table(
            index=["set", "k"], columns="p", values="cell", aggfunc="first", sort=False
        )
        table = table.fillna("").reset_index().rename_axis(columns=None)
        keys = [(data, str(score).upper()) for data in table["set"]]
        table["printed"] = [
            "" if k != 2 or key not in given else f"{given[key]:g}"
            for key, k in zip(keys, table["k"], strict=True)
        ]
        report.table(table, f"{str(score).upper()}: gap in per cent, by p")
    report.table(
        _smaller_gaps(runs, given), "k = 2: data sets with a gap of at most the printed one, by p"
    )


def _smaller_gaps(runs: pd.DataFrame, given: pd.Series) -> pd.DataFrame:
    """For every p, on how many data sets the gap is not above that of CPLEX after two hours."""
    own = runs[runs["k"] == 2].copy()
    own["printed"] = [
        given.get((data, str(score).upper()))
        for data, score in zip(own["set"], own["score"], strict=True)
    ]
    own = own.dropna(subset="printed")
    gap = own["gap"].where(own["status"] != "optimal", 0.0)
    own["smaller"] = gap <= own["printed"]
    lines = []
    for score, group in own.groupby("score", sort=False):
        counts = group.groupby("p")["smaller"].agg(["sum", "size"])
        cells = {f"{p:g}": f"{int(c['sum'])} of {int(c['size'])}" for p, c in counts.iterrows()}
        lines.append({"score": str(score).upper(), **cells})
    return pd.DataFrame(lines).fillna("")


def show_time(runs: pd.DataFrame, report: Report) -> None:
    """Seconds to the proof, or the gap at the limit."""
    for score, group in runs.groupby("score", sort=False):
        seconds = group["seconds"].map("{:.1f} s".format)
        gap = group["gap"].map("{:.2f} %".format)
        cell = seconds.where(group["status"] == "optimal", gap)
        table = group.assign(cell=cell).pivot_table(
            index="set", columns="p", values="cell", aggfunc="first", sort=False
        )
        table = table.fillna("").reset_index().rename_axis(columns=None)
        report.table(table, f"{str(score).upper()}, k = 2: seconds to the proof, or the gap, by p")
    proven = (runs["status"] == "optimal").groupby(runs["set"], sort=False).all()
    report.text(
        f"All programs of {int(proven.sum())} of {len(proven)} data sets were solved to proven",
        "optimality within the limit.",
    )


_OTHERS = tuple(name for name in SETS if name not in HARD)

TABLES = {
    "peharz2012-accuracy": evaluated(
        "tables 2 and 3: accuracies on 31 data sets, significance", SETS, GROUPS, show_accuracy
    ),
    "peharz2012-gaps": measured(
        "table 1: gaps for k = 1, 2, 3 and all p",
        HARD,
        _keys(HARD, (2, 1, 3)),
        _MEASURED,
        solve,
        show_gaps,
    ),
    "peharz2012-time": measured(
        "time to optimality on the other 24 data sets, k = 2, all p",
        _OTHERS,
        _keys(_OTHERS, (2,)),
        _MEASURED,
        solve,
        show_time,
    ),
}
