"""Pernkopf & Bilmes (2005), Discriminative versus generative parameter and structure learning."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.compare import beside, by_classifier, claims, summarise, t_tests, wide
from reproduction.data import UCI25
from reproduction.experiment import evaluated
from reproduction.pictures import bars, scatter
from reproduction.printed import printed
from reproduction.report import Report
from reproduction.runs import Group

CL = "cl:method=cg,selection=cross-tuning"
"""Conditional likelihood as published: conjugate gradients, stopped by cross tuning."""

PUBLISHED = {"score": "cr", "smoothing": "epsilon", "class_parents": False}
"""The score, the smoothing and the search space of both publications."""

_STRUCTURES = {
    "NB": "nb",
    "TAN-CMI": "tan-cmi",
    "TAN-EAR": "tan-ear",
    "TAN-CR": "hc",
    "Multinet-CMI": "multinet-cmi",
    "Multinet-EAR": "multinet-ear",
}


def both_parameters(structures: dict[str, str]) -> dict[tuple[str, str], str]:
    """The printed names of structures with ML and with CL parameters."""
    return {
        (method, parameters): f"{name}-{suffix}"
        for name, method in structures.items()
        for parameters, suffix in (("ml", "ML"), (CL, "CL"))
    }


_NAMES = both_parameters(_STRUCTURES)
CLASSIFIERS = tuple(_NAMES.values())
GROUPS = (Group("all", _NAMES, PUBLISHED),)
_CLAIMS = (
    *(("NB-ML", f"{name}-ML") for name in tuple(_STRUCTURES)[1:]),
    *(("TAN-CMI-ML", f"{name}-ML") for name in ("TAN-CR", "Multinet-CMI")),
    *(("TAN-CR-ML", f"{name}-ML") for name in ("Multinet-CMI", "Multinet-EAR")),
    *((f"{name}-ML", f"{name}-CL") for name in _STRUCTURES),
)


def show_accuracy(folds: pd.DataFrame, report: Report) -> None:
    """Tables 2, 3 and 4 and figures 3 and 4."""
    both = beside(summarise(folds), printed("pernkopf2005", 2))
    report.table(wide(both, CLASSIFIERS[:6]), "Table 2: accuracy in per cent")
    report.table(wide(both, CLASSIFIERS[6:]), "Table 2, continued")
    report.table(by_classifier(both, CLASSIFIERS), "Printed values and intervals, by classifier")
    values = both.pivot(index="set", columns="classifier", values="ours")
    values = values[[c for c in CLASSIFIERS if c in values]]
    tests = printed("pernkopf2005", 3)
    report.table(t_tests(values, tests), "Table 3: one-sided paired t-tests over the data sets")
    report.table(claims(both, tests, _CLAIMS), "Claims of the publication with ML parameters")
    if "TAN-CR-ML" in values and len(values.columns) > 1:
        path = report.picture("pernkopf2005-scatter.png", "Error rates against those of TAN-CR-ML")
        scatter(100 - values, "TAN-CR-ML", path)
    _show_sizes(both, report)
    counted = both[both["classifier"] == "TAN-CR-ML"].set_index("set")["evaluations"].dropna()
    if len(counted):
        path = report.picture("pernkopf2005-evaluations.png", "Evaluations of TAN-CR by data set")
        bars(counted, "evaluations of the classification rate", path)


def _show_sizes(both: pd.DataFrame, report: Report) -> None:
    """Table 4: numbers of parameters, with the printed ones in brackets."""
    given = printed("pernkopf2005", 4).set_index(["set", "classifier"])["value"]
    own = both[both["classifier"].str.endswith("-ML")].copy()
    own["structure"] = own["classifier"].str.removesuffix("-ML")
    printed_sizes = [
        given.get(key, np.nan) for key in zip(own["set"], own["structure"], strict=True)
    ]
    own["cell"] = [
        f"{ours:.1f}" + ("" if np.isnan(theirs) else f" ({theirs:.1f})")
        for ours, theirs in zip(own["parameters"], printed_sizes, strict=True)
    ]
    table = own.pivot(index="set", columns="structure", values="cell").reindex(own["set"].unique())
    table = table[[s for s in _STRUCTURES if s in table]].fillna("").reset_index()
    report.table(table.rename_axis(columns=None), "Table 4: average number of parameters")


TABLES = {
    "pernkopf2005-accuracy": evaluated(
        "tables 2, 3 and 4, figures 3 and 4: 25 data sets, ML and CL", UCI25, GROUPS, show_accuracy
    ),
}
