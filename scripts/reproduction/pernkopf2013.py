"""Pernkopf & Wohlmayr (2013), Stochastic margin-based structure learning."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from benchmarks.learners import learned

from milpbn import SelectionPlan
from milpbn.search import Learner
from milpbn.search.sa import SimulatedAnnealing
from reproduction.compare import beside, summarise, wide
from reproduction.data import encoded
from reproduction.experiment import evaluated, measured
from reproduction.options import Options
from reproduction.pernkopf2010 import percent_correct
from reproduction.pernkopf2010_figures import missing, missing_keys, show_missing
from reproduction.pictures import boxes
from reproduction.printed import printed
from reproduction.report import Report
from reproduction.runs import Group

SETS = ("spambase",)
_PUBLISHED = {"smoothing": "epsilon", "class_parents": False, "validation": 5}


_MM = "mm:method=cg,penalty=0"
"""Margin parameters as published: conjugate gradients, no prior, lambda by cross-validation."""
_RATE = {
    "NB": "nb:cr",
    "TAN-ST-CMI": "tan-cmi:cr",
    "TAN-HC-CR": "hc-complete:cr",
    "TAN-SA-CR": "sa:cr",
}
_MARGIN = {"TAN-HC-MM": "hc-complete:sm", "TAN-SA-MM": "sa:sm"}
_STRUCTURES = ("NB", "TAN-ST-CMI", "TAN-HC-CR", "TAN-HC-MM", "TAN-SA-CR", "TAN-SA-MM")
_PRIOR = "-MM-prior"
_ML_AND_DEFAULT, _AS_PUBLISHED = {"ml": "-ML", "mm": _PRIOR}, {_MM: "-MM"}


def _names(
    structures: Mapping[str, str], parameters: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    return {
        (method, given): f"{name}{suffix}"
        for name, method in structures.items()
        for given, suffix in parameters.items()
    }


# lambda of the publication is 1 / log(p / (1 - p)).
_LAMBDA = SelectionPlan({"p": [0.6, 0.9, 0.99]}, "accuracy")
GROUPS = (
    Group("rate", _names(_RATE, _ML_AND_DEFAULT), _PUBLISHED),
    Group("margin", _names(_MARGIN, _ML_AND_DEFAULT), _PUBLISHED, _LAMBDA),
    Group("rate-published", _names(_RATE, _AS_PUBLISHED), _PUBLISHED),
    Group("margin-published", _names(_MARGIN, _AS_PUBLISHED), _PUBLISHED, _LAMBDA),
    Group("svm", {("sk:svm:inputs=states", ""): "SVM"}),
)
CLASSIFIERS = (*(f"{s}{p}" for p in ("-ML", "-MM", _PRIOR) for s in _STRUCTURES), "SVM")


def show_accuracy(folds: pd.DataFrame, report: Report) -> None:
    """Tables 1, 2 and 3."""
    given = printed("pernkopf2013", 1, 2)
    # The same printed values stand beside both forms of the parameters.
    again = given[given["classifier"].str.endswith("-MM")]
    again = again.assign(classifier=again["classifier"].str.removesuffix("-MM") + _PRIOR)
    both = beside(summarise(folds), pd.concat([given, again]))
    for data, group in both.groupby("set", sort=False):
        table = wide(group, CLASSIFIERS).drop(columns="set").T.reset_index()
        table.columns = ["classifier", "accuracy (printed)"]
        sizes = group.set_index("classifier")["parameters"]
        table["parameters"] = [
            "" if pd.isna(sizes[name]) else f"{sizes[name]:.0f}" for name in table["classifier"]
        ]
        report.table(table, f"Tables 1 to 3, {data}: accuracy in per cent, free parameters")
    # TAN-HC-MM-ML also ends in -ML, so the kinds are told apart by their last part.
    told = both[both["value"].notna()].assign(
        kind=both["classifier"].map(lambda name: _PRIOR if name.endswith(_PRIOR) else name[-3:])
    )
    shown = {"-ML": "ML", "-MM": "MM as published", _PRIOR: "MM with the prior", "SVM": "SVM"}
    counts = [
        f"{title} {int(own['inside'].sum())} of {len(own)}"
        for kind, title in shown.items()
        if len(own := told[told["kind"] == kind])
    ]
    report.text(f"Printed values inside milpbn's intervals: {', '.join(counts)}.")


COOLING = (0.5, 0.6, 0.7, 0.8, 0.9)
_KEY = ("set", "score", "search", "seed")
_COLUMNS = ("evaluations", "training", "accuracy", "seconds")


def _seed_keys(options: Options) -> list[Mapping[str, str]]:
    seeds = range(options.repeats or 10)
    searches = [("hc", 0), *((f"sa, D = {d}", s) for d in COOLING for s in seeds)]
    return [
        dict(zip(_KEY, (name, score, search, str(seed)), strict=True))
        for name in options.chosen(SETS)
        for score in ("cr", "sm")
        for search, seed in searches
    ]


def one_seed(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """One structure by hill climbing or simulated annealing, with scores over five folds."""
    data = encoded(key["set"], 1, options)
    learner: str | Learner = "hc-complete"
    if key["search"] != "hc":
        learner = SimulatedAnnealing(cooling=float(key["search"].rpartition(" ")[2]))
    result, seconds = learned(data, learner, 2, 5, key["score"], int(key["seed"]))
    return {
        "evaluations": str(result.evaluations),
        "training": f"{result.objective:.4f}",
        "accuracy": f"{percent_correct(result, data):.4f}",
        "seconds": f"{seconds:.2f}",
    }


def show_seeds(runs: pd.DataFrame, report: Report) -> None:
    """Figures 2, 3 and 4."""
    groups = runs.groupby(["set", "score", "search"], sort=False)
    lines = [
        {
            "set": data,
            "score": score,
            "search": search,
            "runs": len(group),
            "median": f"{group['accuracy'].median():.2f}",
            "range": f"{group['accuracy'].min():.2f} to {group['accuracy'].max():.2f}",
            "evaluations": f"{group['evaluations'].median():,.0f}",
            "seconds": f"{group['seconds'].median():.1f}",
        }
        for (data, score, search), group in groups
    ]
    report.table(pd.DataFrame(lines), "Figures 2 to 4: test accuracy over seeds, and evaluations")
    for data, own in runs.groupby("set", sort=False):
        named = own.groupby(["score", "search"], sort=False)["accuracy"]
        spread = {f"{search}, {score}": list(values) for (score, search), values in named}
        path = report.picture(f"pernkopf2013-seeds-{data}.png", f"{data}: accuracy over seeds")
        boxes(spread, "accuracy, % of the test rows", path)


TABLES = {
    "pernkopf2013-accuracy": evaluated(
        "tables 1, 2 and 3: hill climbing and annealing, CR and MM", SETS, GROUPS, show_accuracy
    ),
    "pernkopf2013-seeds": measured(
        "figures 2, 3 and 4: seeds and cooling schedules",
        SETS,
        _seed_keys,
        _COLUMNS,
        one_seed,
        show_seeds,
    ),
    "pernkopf2013-missing": measured(
        "figure 5: missing features",
        SETS,
        missing_keys(SETS, ("nb+ml", "nb+mm", "svm"), 100),
        ("curve",),
        missing,
        show_missing("pernkopf2013-missing"),
    ),
}
