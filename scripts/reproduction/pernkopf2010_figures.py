"""Pernkopf & Bilmes (2010): the figures. They print no numbers, only curves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.learners import learned
from sklearn.svm import SVC

from milpbn import learn_parameters
from milpbn.datasets.generators import ClassTrees, synthetic_3
from milpbn.encoding import EncodedData, Variable
from milpbn.evaluation.missing_curve import MissingCurve, default_counts
from milpbn.evaluation.protocol import hold_out
from milpbn.families.candidates import CLASS
from milpbn.families.information import JointValues, class_information, pairwise_information
from milpbn.learning.classifier import encode
from milpbn.network.inference import accuracy
from milpbn.search.base import Learner, Search
from milpbn.search.order_based import OMI
from milpbn.search.tan_cmi import training_rows
from reproduction.data import UCI25, encoded, load, n_parts
from reproduction.experiment import measured
from reproduction.options import Options
from reproduction.pernkopf2005 import CL
from reproduction.pernkopf2010 import percent_correct
from reproduction.pictures import lines
from reproduction.report import Report


class MinimumInformation(OMI):
    """The opposite of OMI: each feature is the least informative about the class."""

    name = "minimum-mi"
    title = "order by least mutual information, parents by score"

    def order(self, search: Search) -> list[int]:
        """The least informative pair, then greedily."""
        rows = training_rows(search, self.name)
        features = np.arange(CLASS + 1, search.space.n_variables)
        about = pairwise_information(rows, search.space.cards, search.checkpoint).about_class
        pairs = np.array([(a, b) for a in features for b in features if a < b])
        if len(pairs) == 0:
            return [int(x) for x in features]
        order = [int(x) for x in pairs[np.argmin(about[tuple(pairs.T)])]]
        rest = [int(x) for x in features if x not in order]
        given = JointValues.of(rows, order)
        while rest:
            search.checkpoint()
            order.append(rest.pop(int(np.argmin(class_information(given, rest)))))
            given = given.joined(order[-1])
        return order


SIZES = (20, 50, 100, 200, 500, 1000)
_EXAMPLE = ("NB", "TAN-CMI", "TAN-OMI-CR", "TAN-minimum-MI-CR")
_EXAMPLE_COLUMNS = (*(f"{name}-{p}" for name in _EXAMPLE for p in ("ML", "CL")), "SVM")


def _example_keys(options: Options) -> list[Mapping[str, str]]:
    draws = str(options.repeats or 100)
    return [{"training rows": str(size), "draws": draws} for size in SIZES]


def example(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """Figure 3: mean test accuracy over draws of the three-attribute example."""
    rates: dict[str, list[float]] = {name: [] for name in _EXAMPLE_COLUMNS}
    for draw in range(1, int(key["draws"]) + 1):
        data = encode(synthetic_3(seed=draw, n_train=int(key["training rows"]))).data
        learners = ("nb", "tan-cmi", "omi-cr", MinimumInformation())
        for name, learner in zip(_EXAMPLE, learners, strict=True):
            result, _ = learned(data, learner)
            for suffix, parameters in (("ML", "ml"), ("CL", CL)):
                network, _ = learn_parameters(
                    data, result.structure, parameters=parameters, smoothing="epsilon"
                )
                rates[f"{name}-{suffix}"].append(100 * accuracy(network, data.test()))
        train, test = data.train(), data.test()
        # C* = 3 and sigma = 1, with exp(-|x - y|^2 / (2 sigma^2)).
        machine = SVC(C=3.0, gamma=0.5).fit(train[:, 1:], train[:, 0])
        rates["SVM"].append(100 * machine.score(test[:, 1:], test[:, 0]))
    return {name: f"{np.mean(values):.3f}" for name, values in rates.items()}


def show_example(runs: pd.DataFrame, report: Report) -> None:
    """Figure 3."""
    report.table(runs.drop(columns="draws").round(1), "Figure 3: mean test accuracy in per cent")
    shown = [c for c in _EXAMPLE_COLUMNS if not c.endswith("-CL")]
    curves = {
        name: pd.DataFrame({"x": runs["training rows"], "y": runs[name]}).sort_values("x")
        for name in shown
    }
    path = report.picture("pernkopf2010-example.png", "Accuracy on the three-attribute example")
    lines(curves, ("training rows", "accuracy, % of the test rows"), path, log=True)


def _order_keys(options: Options) -> list[Mapping[str, str]]:
    orders = str(options.repeats or 100)
    return [
        {"set": name, "part": str(number), "orders": orders}
        for name in options.chosen(UCI25)
        for number in range(1, n_parts(name, options) + 1)
    ]


_ORDERS = ("rows", "OMI", "minimum MI", "random", "deviation", "TAN-CMI")


def orders(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """Figure 7: conditional log-likelihood of the training rows, by order."""
    data = encoded(key["set"], int(key["part"]), options)

    def likelihood(learner: str | Learner, seed: int = 0) -> float:
        return learned(data, learner, score_name="cll", seed=seed)[0].objective

    random = [likelihood("ro-cr", seed) for seed in range(int(key["orders"]))]
    values = (
        likelihood("omi-cr"),
        likelihood(MinimumInformation()),
        float(np.mean(random)),
        float(np.std(random)),
        likelihood("tan-cmi"),
    )
    named = zip(_ORDERS[1:], (f"{v:.3f}" for v in values), strict=True)
    return {"rows": str(len(data.train())), **dict(named)}


def show_orders(runs: pd.DataFrame, report: Report) -> None:
    """Figure 7 as a table: per training row, so that data sets can be compared."""
    sums = runs.groupby("set", sort=False)[list(_ORDERS)].sum()
    names = ["OMI", "random", "minimum MI", "TAN-CMI"]
    table = sums[names].div(sums["rows"], axis=0)
    best = (table["OMI"] >= table[["random", "minimum MI"]].max(axis=1) - 1e-9).sum()
    report.table(
        table.round(4).reset_index(),
        "Figure 7: conditional log-likelihood per training row, by order",
    )
    report.text(
        f"OMI has the highest likelihood of the three orders on {best} of {len(table)} data sets",
        "(printed: 22 of the 25 UCI data sets and all six TIMIT tasks).",
    )


VARIABLES = (10, 11, 12, 13, 14)
_LIKELIHOODS = ("NB", "TAN-CMI", "TAN-RO-CL", "TAN-minimum-MI-CL", "TAN-OMI-CL", "TAN-CL")


def _drawn_keys(names: tuple[str, str, str], sizes: Sequence[int], draws: int, rows: int):
    """The keys of drawn data: number of variables, draw and number of rows, by these names."""

    def keys(options: Options) -> list[Mapping[str, str]]:
        return [
            dict(zip(names, (str(n), str(draw), str(options.rows or rows)), strict=True))
            for draw in range(1, (options.repeats or draws) + 1)
            for n in sizes
        ]

    return keys


def distributions(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """Figure 9: conditional log-likelihood per training row of a random distribution."""
    n, draw = int(key["variables"]), int(key["draw"])
    # The publication does not say how distributions are drawn: here all states of n binary
    # variables have uniform weights.
    rng = np.random.default_rng([draw, n])
    weights = rng.random(2**n)
    states = rng.choice(2**n, size=int(key["rows"]), p=weights / weights.sum())
    codes = ((states[:, None] >> np.arange(n)) & 1).astype(np.int32)
    variables = tuple(Variable(f"X{j}", ("0", "1")) for j in range(n))
    data = EncodedData("random", variables, codes, np.ones(len(codes), dtype=bool))
    learners = ("nb", "tan-cmi", "ro-cr", MinimumInformation(), "omi-cr", "hc")
    found = (learned(data, learner, score_name="cll", seed=draw)[0] for learner in learners)
    values = (f"{result.objective / len(states):.6f}" for result in found)
    return dict(zip(_LIKELIHOODS, values, strict=True))


def show_distributions(runs: pd.DataFrame, report: Report) -> None:
    """Figure 9, and in how many draws one method is better than the next one."""
    _show_means(
        runs.groupby("variables")[list(_LIKELIHOODS)],
        "Figure 9: conditional log-likelihood per training row, by number of variables",
        5,
        ("pernkopf2010-distributions.png", "Likelihood on random distributions"),
        ("variables", "conditional log-likelihood per row"),
        report,
    )
    pairs = zip(_LIKELIHOODS[1:], _LIKELIHOODS, strict=False)
    better = [f"{a} > {b}: {100 * (runs[a] > runs[b]).mean():.0f} %" for a, b in pairs]
    report.text(f"Share of all draws in which one is better than another: {'; '.join(better)}.")


def _show_means(
    groups: Any,
    title: str,
    digits: int,
    picture: tuple[str, str],
    labels: tuple[str, str],
    report: Report,
) -> None:
    """Means over the draws of each group as a table, and as curves with deviations."""
    means, deviations = groups.mean(), groups.std(ddof=0)
    table = means.round(digits).reset_index()
    table.insert(1, "draws", groups.size().to_numpy())
    report.table(table, title)
    curves = {
        name: pd.DataFrame({"x": means.index, "y": means[name], "deviation": deviations[name]})
        for name in means
    }
    lines(curves, labels, report.picture(*picture))


FEATURES = (5, 10, 15, 20, 25, 30)
_LEARNERS = ("nb", "tan-cmi", "omi-cr", MinimumInformation(), "hc")
_TREES = ("NB", "TAN-CMI", "TAN-OMI-CR", "TAN-minimum-MI-CR", "TAN-CR", "true model")


def trees(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """Figure 10: classes that are drawn from different trees."""
    # A third of the rows are from the first class, the others from four classes in two halves.
    rows = int(key["training rows"])
    truth = ClassTrees(int(key["draw"]), int(key["features"]), rows // 3, rows // 12)
    data = encode(truth.table()).data
    test = data.test()
    rates = [percent_correct(learned(data, learner)[0], data) for learner in _LEARNERS]
    rates.append(100 * np.mean(truth.likeliest(test[:, 1:]) == test[:, 0]))
    return {name: f"{rate:.3f}" for name, rate in zip(_TREES, rates, strict=True)}


def show_trees(runs: pd.DataFrame, report: Report) -> None:
    """Figure 10."""
    _show_means(
        runs.groupby("features")[list(_TREES)],
        "Figure 10: mean test accuracy in per cent, by number of attributes",
        2,
        ("pernkopf2010-trees.png", "Accuracy on classes with different trees"),
        ("attributes", "accuracy, % of the test rows"),
        report,
    )


def missing_keys(sets: Sequence[str], classifiers: Sequence[str], default: int):
    """The keys of curves: one for each data set and classifier."""

    def keys(options: Options) -> list[Mapping[str, str]]:
        repeats = str(options.repeats or default)
        return [
            {"set": name, "classifier": classifier, "repeats": repeats}
            for name in options.chosen(sets)
            for classifier in classifiers
        ]

    return keys


def missing(key: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """Accuracy with randomly missing features, for one classifier."""
    table = load(key["set"], 1 if key["set"] in options.files else 0, options)
    if not table.has_test:
        table = hold_out(table, 0.3)
    curve = MissingCurve(
        table, [key["classifier"]], smoothing="epsilon", time_limit=options.time_limit
    )
    points = curve.points(default_counts(curve.n_features), int(key["repeats"]))
    shown = [(p.missing, round(100 * p.accuracy, 3), round(100 * p.deviation, 3)) for p in points]
    return {"curve": json.dumps(shown)}


def show_missing(name: str):
    """A report of the curves, with pictures called `name` and the data set."""

    def show(runs: pd.DataFrame, report: Report) -> None:
        for data, group in runs.groupby("set", sort=False):
            curves = {
                _NAMES[line.classifier]: pd.DataFrame(
                    json.loads(line.curve), columns=["x", "y", "deviation"]
                )
                for line in group.itertuples()
            }
            table = pd.concat([c.set_index("x")["y"].rename(n) for n, c in curves.items()], axis=1)
            table = table.round(2).rename_axis("missing").reset_index()
            report.table(table, f"{data}: accuracy in per cent, by number of missing features")
            path = report.picture(f"{name}-{data}.png", f"{data} with missing features")
            lines(curves, ("missing features per test row", "accuracy, % of the test rows"), path)

    return show


_MISSING = ("nb+ml", f"nb+{CL}", "tan-cmi+ml", "omi-cr+ml", "hc+ml")
_NAMES = dict(
    zip(_MISSING, ("NB-ML", "NB-CL", "TAN-CMI-ML", "TAN-OMI-CR-ML", "TAN-CR-ML"), strict=True)
)
_NAMES |= {"nb+mm": "NB-MM", "svm": "SVM"}

TABLES = {
    "pernkopf2010-example": measured(
        "figure 3: the three-attribute example",
        (),
        _example_keys,
        _EXAMPLE_COLUMNS,
        example,
        show_example,
    ),
    "pernkopf2010-orders": measured(
        "figure 7: likelihood by order", UCI25, _order_keys, _ORDERS, orders, show_orders
    ),
    "pernkopf2010-distributions": measured(
        "figure 9: random distributions",
        (),
        _drawn_keys(("variables", "draw", "rows"), VARIABLES, 100, 100_000),
        _LIKELIHOODS,
        distributions,
        show_distributions,
    ),
    "pernkopf2010-trees": measured(
        "figure 10: classes from different trees",
        (),
        _drawn_keys(("features", "draw", "training rows"), FEATURES, 20, 75_000),
        _TREES,
        trees,
        show_trees,
    ),
    "pernkopf2010-missing": measured(
        "figures 11 to 13: missing features",
        ("satimage",),
        missing_keys(("satimage",), _MISSING, 100),
        ("curve",),
        missing,
        show_missing("pernkopf2010-missing"),
    ),
}
