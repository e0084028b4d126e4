"""Pernkopf & Bilmes (2010), Efficient heuristics for discriminative structure learning: tables.

The figures are in :mod:`reproduction.pernkopf2010_figures`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import pandas as pd

from milpbn.anytime import Run, SolveOptions
from milpbn.encoding import EncodedData
from milpbn.families import Epsilon
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.network.inference import accuracy
from milpbn.network.network import fit_network
from milpbn.result import Result
from milpbn.scores import make_score
from milpbn.search import make_learner, run_learner
from reproduction.compare import beside, by_classifier, claims, summarise, t_tests, wide
from reproduction.data import UCI25, encoded, n_parts
from reproduction.experiment import evaluated, measured
from reproduction.options import Options
from reproduction.pernkopf2005 import PUBLISHED, both_parameters
from reproduction.printed import printed
from reproduction.report import Report
from reproduction.runs import Group

_TREES = both_parameters(
    {
        "NB": "nb",
        "TAN-CMI": "tan-cmi",
        "TAN-SuperParent": "superparent",
        "TAN-OMI-CR": "omi-cr",
        "TAN-CR": "hc",
        "TAN-OMI-CR-Ext": "omi-cr-ext",
    }
)
_TWO_TREES = both_parameters(
    {"2-tree-SuperParent": "superparent", "2-tree-OMI-CR": "omi-cr", "2-tree-CR": "hc"}
)
_CRCL = both_parameters({"TAN-OMI-CRCL": "omi-crcl"})
_ORDERS = {("omisp-cr", "ml"): "TAN-OMISP-CR-ML", ("ocr-cr", "ml"): "TAN-OCR-CR-ML"}
# Too large for parameters to be learned for every candidate parent.
_SMALL = tuple(name for name in UCI25 if name not in ("letter", "satimage"))

GROUPS = (
    Group("trees", _TREES, PUBLISHED),
    Group("orders", _ORDERS, PUBLISHED),
    Group("two-trees", _TWO_TREES, {**PUBLISHED, "max_parents": 3, "validation": 5}),
    Group("crcl", _CRCL, PUBLISHED, sets=_SMALL),
)
_PAIRS = (
    *("NB", "TAN-CMI", "TAN-SuperParent", "TAN-OMI-CR", "TAN-OMI-CRCL", "TAN-CR"),
    *("2-tree-SuperParent", "2-tree-OMI-CR", "2-tree-CR", "TAN-OMI-CR-Ext"),
)
CLASSIFIERS = tuple(f"{name}-{suffix}" for name in _PAIRS for suffix in ("ML", "CL"))
_CLAIMS = (
    *(("TAN-CMI-ML", f"TAN-{name}-ML") for name in ("SuperParent", "OMI-CR", "OMI-CRCL", "CR")),
    *(("TAN-CMI-ML", f"2-tree-{name}-ML") for name in ("OMI-CR", "CR")),
    ("TAN-OMI-CR-ML", "TAN-CR-ML"),
    ("2-tree-OMI-CR-ML", "2-tree-CR-ML"),
)
_ML = (*(c for c in CLASSIFIERS if c.endswith("-ML")), *_ORDERS.values())


def show_accuracy(folds: pd.DataFrame, report: Report) -> None:
    """Tables 7, 13 and 5, the averages of table 1, and tables 2 and 4."""
    given = printed("pernkopf2010", 7, 13, 1).drop_duplicates(["set", "classifier"])
    both = beside(summarise(folds), given)
    for k, part in enumerate((CLASSIFIERS[:6], CLASSIFIERS[6:12], CLASSIFIERS[12:18])):
        report.table(wide(both, part), f"Table 7{', continued' * bool(k)}: accuracy in per cent")
    report.table(wide(both, tuple(_ORDERS.values())), "Table 13: other orders")
    everything = (*CLASSIFIERS, *_ORDERS.values())
    report.table(by_classifier(both, everything), "Printed values and intervals, by classifier")
    report.table(_averages(both), "Tables 1, 5 and 11: averages, weighted by the test rows")
    values = both.pivot(index="set", columns="classifier", values="ours")
    values = values[[c for c in _ML if c in values]]
    tests = printed("pernkopf2010", 2)
    report.table(t_tests(values, tests), "Table 2: one-sided paired t-tests over the data sets")
    report.table(claims(both, tests, _CLAIMS), "Claims of the publication")
    report.table(_work(both), "Evaluations relative to TAN-CR")


def _averages(both: pd.DataFrame) -> pd.DataFrame:
    """The means over the UCI data sets, each with its number of test rows, of both values."""
    given = printed("pernkopf2010", 5).set_index("classifier")["value"]
    lines = []
    for name in (*CLASSIFIERS, *_ORDERS.values()):
        own = both[(both["classifier"] == name) & both["set"].isin(UCI25)]
        if len(own):
            ours, theirs = (
                float(np.average(own[c], weights=own["test_rows"])) for c in ("ours", "value")
            )
            if len(own) == len(UCI25) and np.isnan(theirs):
                theirs = given.get(name, np.nan)  # only the average is printed
            shown = "" if np.isnan(theirs) else f"{theirs:.2f}"
            lines.append((name, len(own), f"{ours:.2f}", shown))
    return pd.DataFrame(lines, columns=["classifier", "sets", "ours", "printed"])


_TIME = "printed (running time)"


def _work(both: pd.DataFrame) -> pd.DataFrame:
    """Evaluations with ML parameters, in per cent of TAN-CR on the same data sets."""
    own = {c: g.set_index("set")["evaluations"] for c, g in both.groupby("classifier")}
    found = _relative_to_greedy({name: own[name] for name in _ML if name in own}, "evaluations")
    return found.drop(columns=_TIME)  # the publication prints seconds only


def _relative_to_greedy(own: Mapping[str, pd.Series], column: str) -> pd.DataFrame:
    """Sums over the data sets, in per cent of those of TAN-CR on the same data sets."""
    given = printed("pernkopf2010", 4).set_index("classifier")["value"]
    lines = []
    for name in own:
        if "TAN-CR-ML" in own:
            reference = own["TAN-CR-ML"]
            sets = [s for s in UCI25 if s in own[name].index and s in reference.index]
            if not sets:
                continue
            share = 100 * own[name].loc[sets].sum() / reference.loc[sets].sum()
            short = name.removesuffix("-ML")
            theirs = f"{given[short]:g} %" if short in given else ""
            lines.append((short, len(sets), f"{share:.1f} %", theirs))
    return pd.DataFrame(lines, columns=["classifier", "sets", column, _TIME])


_TIMED = {
    name: method for (method, parameters), name in (_TREES | _ORDERS).items() if parameters == "ml"
}
REPEATS = 3


def _time_keys(options: Options) -> list[Mapping[str, str]]:
    return [
        {"set": name, "classifier": classifier}
        for name in options.chosen(UCI25)
        for classifier in _TIMED
    ]


def structure_seconds(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """Table 4: the shortest time from the states of the training rows to the structure."""
    data = encoded(key["set"], 1, options)
    score = make_score("cr", smoothing="epsilon")
    times = []
    for _ in range(options.repeats or REPEATS):
        began = time.perf_counter()
        objective = build_objective(data, score, SearchSpace(2, class_parents=False))
        run_learner(make_learner(_TIMED[key["classifier"]]), objective, score, Run())
        times.append(time.perf_counter() - began)
    return {"seconds": f"{min(times):.5f}"}


def show_time(runs: pd.DataFrame, report: Report) -> None:
    """Table 4: seconds by data set, and relative to greedy search."""
    own = {str(c): g.set_index("set")["seconds"] for c, g in runs.groupby("classifier", sort=False)}
    report.table(
        _relative_to_greedy(own, "seconds"), "Table 4: seconds of structure learning, of TAN-CR's"
    )
    total = {name.removesuffix("-ML"): f"{seconds.sum():.2f}" for name, seconds in own.items()}
    report.table(pd.DataFrame([total]), "Seconds over all data sets, on the first fold or split")


def percent_correct(result: Result, data: EncodedData) -> float:
    """Per cent of the test rows that are correct, with the publications' smoothing."""
    network = fit_network(result.structure, data.variables, data.train(), Epsilon())
    return 100 * accuracy(network, data.test())


ORDERS = 1000


def _random_keys(options: Options) -> list[Mapping[str, str]]:
    orders = str(options.repeats or ORDERS)
    return [
        {"set": name, "part": str(number), "orders": orders}
        for name in options.chosen(UCI25)
        for number in range(1, n_parts(name, options) + 1)
    ]


def random_orders(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """Table 8: test accuracies over random orders, and those of the extremes in training."""
    data = encoded(key["set"], int(key["part"]), options)
    score = make_score("cr", smoothing="epsilon")
    objective = build_objective(data, score, SearchSpace(2, class_parents=False))
    learner = make_learner("ro-cr")
    runs = (Run(options=SolveOptions(seed=seed)) for seed in range(int(key["orders"])))
    results = [run_learner(learner, objective, score, run) for run in runs]
    rates = np.array([percent_correct(r, data) for r in results])
    training = [r.objective for r in results]
    found = {
        "mean": rates.mean(),
        "deviation": rates.std(),
        "median": np.median(rates),
        "min": rates[int(np.argmin(training))],
        "max": rates[int(np.argmax(training))],
    }
    return {name: f"{value:.4f}" for name, value in found.items()}


_RANDOM = ("mean", "deviation", "median", "min", "max")


def show_random(runs: pd.DataFrame, report: Report) -> None:
    """Table 8: averages over the folds of each data set."""
    given = printed("pernkopf2010", 8).set_index(["set", "classifier"])["value"]
    means = runs.groupby("set", sort=False)[list(_RANDOM)].mean()
    lines = [
        {
            "set": data,
            **{
                f"RO-CR {name}": f"{line[name]:.2f}"
                + (f" ({given[key]:.2f})" if (key := (data, f"RO-CR {name}")) in given else "")
                for name in _RANDOM
            },
        }
        for data, line in means.iterrows()
    ]
    orders = ", ".join(str(n) for n in sorted(set(runs["orders"])))
    report.table(
        pd.DataFrame(lines), f"Table 8: {orders} random orders, printed values in brackets"
    )


TABLES = {
    "pernkopf2010-time": measured(
        "table 4: running time of structure learning alone",
        UCI25,
        _time_keys,
        ("seconds",),
        structure_seconds,
        show_time,
    ),
    "pernkopf2010-accuracy": evaluated(
        "tables 1, 2, 5, 7, 11 and 13: trees and 2-trees, ML and CL",
        UCI25,
        GROUPS,
        show_accuracy,
    ),
    "pernkopf2010-random": measured(
        "table 8: random orders", UCI25, _random_keys, _RANDOM, random_orders, show_random
    ),
}
