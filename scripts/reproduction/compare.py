"""Means and intervals of milpbn's results, next to the printed numbers.

The interval of a value is its 95 % confidence interval. For one set of test rows and for folds it
is that of Peharz & Pernkopf (2012). Over several random splits the test rows overlap and so do
the training rows; the variance is then corrected as in Nadeau & Bengio (2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pandas as pd
from scipy.stats import norm, t, ttest_rel

from milpbn._types import FloatArray
from milpbn.evaluation.comparison import corrected_t
from milpbn.evaluation.measures import Measures, accuracy_interval

ABOVE, BELOW = "▲", "▼"
WEAK = 5.0
"""An interval of more points than this on either side contains almost any printed value."""


def summarise(folds: pd.DataFrame) -> pd.DataFrame:
    """One line for each data set and classifier: accuracy in per cent, and its interval."""
    lines = []
    for (data, classifier), group in folds.groupby(["set", "classifier"], sort=False):
        mean, half = _interval(group)
        proven = group["status"] == "optimal"
        lines.append(
            {
                "set": data,
                "classifier": classifier,
                "ours": 100 * mean,
                "half": 100 * half,
                "runs": len(group),
                "test_rows": int(
                    group["rows"].mean() if group["split"].any() else group["rows"].sum()
                ),
                "proven": int(proven.sum()),
                "gap": group["gap"].where(~proven, 0.0).max(),
                "parameters": group["parameters"].mean(),
                "evaluations": group["evaluations"].mean(),
                "seconds": group["seconds"].sum(),
            }
        )
    return pd.DataFrame(lines)


def t_interval(values: FloatArray, ratio: float = 0.0) -> tuple[float, float]:
    """The mean, and half the width of its interval; corrected by test rows / training rows."""
    spread = np.sqrt((1 / len(values) + ratio) * values.var(ddof=1))
    return float(values.mean()), float(t.ppf(0.975, len(values) - 1) * spread)


def _interval(group: pd.DataFrame) -> tuple[float, float]:
    if group["split"].nunique() > 1:
        ratio = float((group["rows"] / group["train_rows"]).mean())
        return t_interval((group["correct"] / group["rows"]).to_numpy(), ratio)
    pairs = zip(group["rows"], group["correct"], strict=True)
    return accuracy_interval([Measures(int(rows), int(correct)) for rows, correct in pairs])


def beside(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Our values with the printed ones, and whether these are inside our intervals."""
    both = ours.merge(theirs, on=["set", "classifier"], how="left")
    # A difference of one unit in the last printed digit is rounding.
    both["inside"] = (both["value"] - both["ours"]).abs() <= both["half"] + 0.005
    both["mark"] = np.where(both["ours"] > both["value"], ABOVE, BELOW)
    both.loc[both["inside"] | both["value"].isna(), "mark"] = ""
    return both


def wide(both: pd.DataFrame, classifiers: Sequence[str], digits: int = 2) -> pd.DataFrame:
    """One line per data set: our value with its interval, and the printed one in brackets.

    A printed value of which not all digits can be read has a star.
    """
    lines = []
    for data, group in both.groupby("set", sort=False):
        cells = {"set": data}
        for line in group.itertuples():
            # With spaces at which no line ends.
            shown = (
                f"{line.ours:.{digits}f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{line.half:.{digits}f}"
            )
            star = "*" if getattr(line, "note", "") == "incomplete" else ""
            given = "" if pd.isna(line.value) else f" ({line.value:.{digits}f}{star})"
            cells[line.classifier] = f"{shown}{given} {line.mark}".strip()
        lines.append(cells)
    present = [c for c in classifiers if c in set(both["classifier"])]
    return (
        pd.DataFrame(lines, columns=["set", *present]).dropna(subset=present, how="all").fillna("")
    )


def by_classifier(both: pd.DataFrame, classifiers: Sequence[str]) -> pd.DataFrame:
    """How close each classifier is to the printed numbers, over the data sets."""
    lines = []
    for name in classifiers:
        own = both[(both["classifier"] == name) & both["value"].notna()]
        if len(own):
            difference = own["ours"] - own["value"]
            lines.append(
                {
                    "classifier": name,
                    "sets": len(own),
                    "inside": int(own["inside"].sum()),
                    "of these weak": int((own["inside"] & (own["half"] > WEAK)).sum()),
                    "above": int((own["mark"] == ABOVE).sum()),
                    "below": int((own["mark"] == BELOW).sum()),
                    "ours": f"{own['ours'].mean():.2f}",
                    "printed": f"{own['value'].mean():.2f}",
                    "difference": f"{difference.mean():+.2f}",
                    "median": f"{difference.median():+.2f}",
                }
            )
    return pd.DataFrame(lines)


def t_tests(table: pd.DataFrame, given: pd.DataFrame) -> pd.DataFrame:
    """One-sided paired t-tests over data sets, as in Pernkopf & Bilmes (2005, table 3).

    `table` has a line per data set and a column per classifier. An entry points to the better
    classifier, with a double arrow at the level 0.05: ``⇑`` is the column, ``⇐`` the row. The
    printed value, if `given` has one, is in brackets.
    """
    names = list(table.columns)
    theirs = given.set_index(["classifier", "set"])["value"]
    lines = []
    for k, row in enumerate(names[:-1]):
        cells = {"classifier": row}
        for column in names[k + 1 :]:
            brackets = f" ({theirs[row, column]:g})" if (row, column) in theirs.index else ""
            cells[column] = _arrow(table, row, column) + brackets
        lines.append(cells)
    return pd.DataFrame(lines, columns=["classifier", *names[1:]]).fillna("")


def _arrow(table: pd.DataFrame, row: str, column: str) -> str:
    """The result of one test: which classifier is better, and the p-value."""
    pair = table[[row, column]].dropna()
    if len(pair) < 2 or (pair[row] == pair[column]).all():
        return ""
    p = float(ttest_rel(pair[column], pair[row]).pvalue) / 2
    arrows = ("⇑", "⇐") if p < 0.05 else ("↑", "←")
    return f"{arrows[0] if (pair[column] - pair[row]).mean() > 0 else arrows[1]} {p:.4f}"


def claims(
    both: pd.DataFrame, given: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """What a publication claims about pairs of classifiers, and what is found here.

    For each pair: the printed significance, the test over the printed accuracies, and the test
    over ours, on the data sets with a printed accuracy of both.
    """
    theirs = given.set_index(["classifier", "set"])["value"]
    values = {c: both.pivot(index="set", columns="classifier", values=c) for c in ("value", "ours")}
    lines = []
    for row, column in pairs:
        if not {row, column} <= set(values["ours"]):
            continue
        same = values["value"][[row, column]].notna().all(axis=1)
        gap = (values["ours"][column] - values["ours"][row])[same].mean()
        printed_gap = (values["value"][column] - values["value"][row])[same].mean()
        lines.append(
            {
                "first": row,
                "second": column,
                "sets": int(same.sum()),
                "printed": f"{theirs[row, column]:g}",
                "test of the printed accuracies": _arrow(values["value"][same], row, column),
                "ours": _arrow(values["ours"][same], row, column),
                "printed gain": f"{printed_gap:+.2f}",
                "our gain": f"{gap:+.2f}",
            }
        )
    return pd.DataFrame(lines)


def wins(folds: pd.DataFrame, classifiers: Sequence[str], levels: Sequence[float]) -> pd.DataFrame:
    """How often the row is better than the column, at each level of confidence.

    As in table 3 of Peharz & Pernkopf (2012): one-sided tests for each data set. Folds are
    compared by the paired t-test, one set of test rows by the binomial test for two proportions,
    and random splits by the corrected resampled t-test.
    """
    keys, values = ["set", "split", "fold"], ["rows", "correct", "train_rows"]
    pivot = {c: g.set_index(keys)[values] for c, g in folds.groupby("classifier")}
    names = [c for c in classifiers if c in pivot]
    table = pd.DataFrame("", index=names, columns=names)
    for a, b in permutations(names, 2):
        pair = (pivot[a].add_suffix("_a"), pivot[b].add_suffix("_b"))
        both = pd.concat(pair, axis=1, join="inner")
        tests = [_one_sided(own) for _, own in both.groupby(level="set")]
        table.loc[a, b] = " / ".join(str(sum(p < 1 - level for p in tests)) for level in levels)
    return table.rename_axis("classifier").reset_index()


def _one_sided(pair: pd.DataFrame) -> float:
    """The p-value of the first classifier being better on one data set."""
    a, b = ((pair[f"correct_{k}"] / pair[f"rows_{k}"]).to_numpy() for k in "ab")
    if a.mean() <= b.mean():
        return 1.0
    if len(pair) == 1:
        n = int(pair["rows_a"].iloc[0])
        error = np.sqrt((a[0] * (1 - a[0]) + b[0] * (1 - b[0])) / n)
        return float(norm.sf((a[0] - b[0]) / error)) if error else 0.0
    if pair.index.get_level_values("split").nunique() > 1:
        ratio = float((pair["rows_a"] / pair["train_rows_a"]).mean())
        p = corrected_t(a, b, ratio)
        return 1.0 if p is None else p / 2
    if np.ptp(a - b) == 0:
        return 0.0
    return float(ttest_rel(a, b).pvalue) / 2
