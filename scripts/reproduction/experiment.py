"""A table or figure of a publication: what is computed for it, and how it is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from reproduction.options import Options
from reproduction.report import Report
from reproduction.results import read_results
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
        kept = published(name, options)
        wanted = [p for p in parts(name, groups, sets, options) if not p.is_in(kept)]
        troubles = run_parts(wanted, options)
        finished = sum(part.mark.exists() for part in wanted)
        if finished < len(wanted):
            print(f"{name}: {finished} of {len(wanted)} parts are finished", file=sys.stderr)
        return _joined(kept, folds(wanted), options.chosen(sets)), not troubles

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
        kept = published(name, options, str)
        wanted = [key for key in keys(options) if not _has(kept, key)]
        found = measure_all(file, wanted, columns, measure, options)
        if len(found) < len(wanted):
            print(f"{name}: {len(found)} of {len(wanted)} measurements", file=sys.stderr)
        return pd.concat([kept, found], ignore_index=True), True

    return Experiment(title, sets, run, show)


def published(name: str, options: Options, dtype: type | None = None) -> pd.DataFrame:
    """The results of a table in the manual, if they are not to be computed again."""
    file = options.published / f"{name}.csv" if options.published else None
    return read_results(file, dtype)[1] if file and file.exists() else pd.DataFrame()


def _has(results: pd.DataFrame, key: Key) -> bool:
    """Whether a measurement is among the results."""
    if results.empty:
        return False
    return bool((results[list(key)] == pd.Series(key)).all(axis=1).any())


def _joined(kept: pd.DataFrame, new: pd.DataFrame, sets: Sequence[str]) -> pd.DataFrame:
    """All results in the order of the data sets; new ones replace those of the same folds."""
    found = pd.concat([kept, new], ignore_index=True)
    if found.empty:
        return found
    found = found.drop_duplicates(["set", "split", "fold", "classifier"], keep="last")
    place = {data: position for position, data in enumerate(sets)}
    return found.sort_values("set", key=lambda names: names.map(place), kind="stable")
