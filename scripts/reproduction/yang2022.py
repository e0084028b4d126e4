"""Yang (2022), Generalized Bayesian network classifiers: several class variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from milpbn import evaluate
from milpbn.evaluation.comparison import compare
from milpbn.mdc import BinaryRelevance, ClassifierChains, ClassPowerset, GBNCClassifier
from milpbn.mdc.rows import TrainingRows
from reproduction.compare import beside, by_classifier, t_interval
from reproduction.data import fold_file
from reproduction.experiment import evaluated
from reproduction.printed import printed
from reproduction.report import Report
from reproduction.runs import Group

SETS = ("Jura", "Edm", "flare2_mdc3", "WaterQuality", "Rf1", "Adult")

# The most class parents; without a limit there would be too many base models.
_PARENTS = {"WaterQuality": 2, "Rf1": 2, "Adult": 1}

BASES = {"": "logistic:C=1", " (SGD)": "sgd"}
"""Base models by the suffix of a method's name."""

METHODS = ("GBNC", "BR", "CC", "CP", "CP of the code")


class NonZeroPowerset(ClassPowerset):
    """Class powerset as in the public code of the publication.

    Rows are keyed by the positions of their non-zero labels, so every label but the first becomes
    1, in training and in predictions.
    """

    def _learn_rows(self, rows: TrainingRows) -> None:
        super()._learn_rows(replace(rows, codes=(rows.codes != 0).astype(rows.codes.dtype)))


def _methods(data: str, base: str, suffix: str) -> dict[str, Any]:
    made = {
        # The publication penalises the likelihood of the training rows.
        "GBNC": GBNCClassifier(base, validation=None, max_parents=_PARENTS.get(data)),
        "BR": BinaryRelevance(base),
        "CC": ClassifierChains(base, n_chains=1 if suffix else 10),
        "CP": ClassPowerset(base),
    }
    if suffix:
        made["CP of the code"] = NonZeroPowerset(base)
    return {f"{name}{suffix}": method for name, method in made.items()}


class Estimators(Group):
    """Classifiers for several class variables, with one kind of base models."""

    def evaluate(self, table: Any, **arguments: Any) -> bool:
        """Evaluate on the published folds, or on ten."""
        (suffix,) = self.settings["suffix"]
        published = fold_file(table.name) if arguments["folds"] is None else None
        if published is not None:
            arguments["fold_file"] = published
        del arguments["time_limit"]  # base models have none
        found = evaluate(table, _methods(table.name, BASES[suffix], suffix), **arguments)
        return found.complete


def _names(suffix: str) -> list[str]:
    """All methods with one kind of base models; class powerset as in the code has its own kind."""
    return [f"{name}{suffix}" for name in METHODS if suffix or name != METHODS[-1]]


GROUPS = tuple(
    Estimators(
        "sgd" if suffix else "logistic",
        {(name, ""): name for name in _names(suffix)},
        {"suffix": (suffix,)},
    )
    for suffix in BASES
)


def show_scores(folds: pd.DataFrame, report: Report) -> None:
    """Tables 4 to 7: exact match and Hamming score."""
    folds = folds.assign(exact=folds["correct"] / folds["rows"])
    for title, column, tables in (
        ("exact match", "exact", (4, 6)),
        ("Hamming score", "hamming", (5, 7)),
    ):
        given = printed("yang2022", *tables).set_index(["set", "classifier"])
        table = _scores(folds, column, given)
        report.table(table, f"Tables {tables[0]} and {tables[1]}: {title}, mean ± deviation")
        agreement = beside(_intervals(folds, column), _for_every_base(given.reset_index()))
        # Class powerset as in the code is what was printed as class powerset.
        names = [name for suffix in BASES for name in _names(suffix)]
        report.table(by_classifier(agreement, names), f"Printed {title} and intervals, in per cent")


def _intervals(folds: pd.DataFrame, column: str) -> pd.DataFrame:
    """Means in per cent over the folds of each data set, with intervals."""
    lines = []
    for (data, name), group in folds.groupby(["set", "classifier"], sort=False):
        mean, half = t_interval(group[column].to_numpy())
        lines.append({"set": data, "classifier": name, "ours": 100 * mean, "half": 100 * half})
    return pd.DataFrame(lines)


def _for_every_base(given: pd.DataFrame) -> pd.DataFrame:
    """The printed values in per cent, for each method with each kind of base models."""
    code = given[given["classifier"] == "CP"].assign(classifier="CP of the code")
    both = [
        part.assign(classifier=part["classifier"] + suffix)
        for part in (given, code)
        for suffix in BASES
    ]
    return pd.concat(both).assign(value=lambda frame: 100 * frame["value"])


def _scores(folds: pd.DataFrame, column: str, given: pd.DataFrame) -> pd.DataFrame:
    """A line per data set and kind of base models, after the printed one."""
    lines: list[dict[str, str]] = []
    for data, group in folds.groupby("set", sort=False):
        if (data, "GBNC") in given.index:
            cells = {n: _printed_cell(given.loc[(data, n)]) for n in METHODS[:4]}
            lines.append({"set": str(data), "base models": "printed", **cells})
        for suffix, base in BASES.items():
            cells = _own_cells(group, suffix, column)
            if cells:
                lines.append({"set": str(data), "base models": base, **cells})
    return pd.DataFrame(lines, columns=["set", "base models", *METHODS]).fillna("")


def _printed_cell(line: pd.Series) -> str:
    spread = "" if np.isnan(line["spread"]) else f" ± {line['spread']:.3f}"
    return (
        f"{line['value']:.3f}{spread} {line['mark'] if line['mark'] in ('+', '-') else ''}".strip()
    )


def _own_cells(group: pd.DataFrame, suffix: str, column: str) -> dict[str, str]:
    names = _names(suffix)
    values = group.pivot(index="fold", columns="classifier", values=column)
    cells = {}
    for name in names:
        if name in values:
            own = values[name].dropna()
            cells[name.removesuffix(suffix)] = f"{own.mean():.3f} ± {own.std(ddof=1):.3f}" + _mark(
                values, names[0], name
            )
    return cells


def _mark(values: pd.DataFrame, reference: str, name: str) -> str:
    if name == reference or reference not in values:
        return ""
    pair = values[[reference, name]].dropna()
    mark = compare(pair[reference].to_numpy(), pair[name].to_numpy())[1]
    return f" {mark}" if mark else ""


TABLES = {
    "yang2022-scores": evaluated(
        "tables 4 to 7: exact match and Hamming score", SETS, GROUPS, show_scores
    ),
}
