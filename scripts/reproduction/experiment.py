"""A table or figure of a publication: what is computed for it, and how it is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from reproduction.options import Options
from reproduction.report import Report
from reproduction.runs import Group, Key, Measure, folds, measure_all, parts, run_parts


@dataclass(frozen=True)
class Experiment:
    """One entry of the list.

    Attributes
    ----------
    title
        What it reproduces.
    sets
        Its data sets; empty if it draws its own data.
    run
        Computes what is missing; returns all results, and whether everything went well.
    show
        Adds the results to a report.
    """

    title: str
    sets: Sequence[str]
    run: Callable[[str, Options], tuple[pd.DataFrame, bool]]
    show: Callable[[pd.DataFrame, Report], None]


def evaluated(
    title: str,
    sets: Sequence[str],
    groups: Sequence[Group],
    show: Callable[[pd.DataFrame, Report], None],
) -> Experiment:
    """Classifiers on data sets, by the protocol of each."""

    def run(name: str, options: Options) -> tuple[pd.DataFrame, bool]:
        wanted = parts(name, groups, sets, options)
        troubles = run_parts(wanted, options)
        return folds(wanted), not troubles

    return Experiment(title, sets, run, show)


def measured(
    title: str,
    sets: Sequence[str],
    keys: Callable[[Options], Sequence[Key]],
    columns: Sequence[str],
    measure: Measure,
    show: Callable[[pd.DataFrame, Report], None],
) -> Experiment:
    """Single measurements, one row each."""

    def run(name: str, options: Options) -> tuple[pd.DataFrame, bool]:
        file = options.out / name / "measurements.csv"
        wanted = keys(options)
        found = measure_all(file, wanted, columns, measure, options)
        if len(found) < len(wanted):
            print(f"{name}: {len(found)} of {len(wanted)} measurements", file=sys.stderr)
        return found, True

    return Experiment(title, sets, run, show)
