"""Runs that are kept: evaluations by data set and split, and single measurements.

Evaluations use milpbn's files of finished folds, one for each data set, split and group of
methods. Measurements are rows of a CSV file. Neither is computed twice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks.records import Records
from joblib import delayed

from milpbn import SelectionPlan, evaluate
from milpbn.cluster import results_as_they_come
from milpbn.errors import MilpbnError
from milpbn.evaluation.records import FoldRecord, ResultFile
from reproduction.data import available, load, n_splits
from reproduction.options import Options


@dataclass(frozen=True)
class Group:
    """Classifiers that are evaluated with the same settings.

    Attributes
    ----------
    name
        The folder of its results.
    classifiers
        The printed name of each method with each way to learn parameters.
    settings
        Other arguments of :func:`milpbn.evaluate`.
    select
        Settings that are chosen by validation.
    sets
        The only data sets on which the group is evaluated, if not all.
    """

    name: str
    classifiers: Mapping[tuple[str, str], str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    select: SelectionPlan | None = None
    sets: Sequence[str] | None = None

    def includes(self, data: str) -> bool:
        return self.sets is None or data in self.sets

    def evaluate(self, table: Any, **arguments: Any) -> bool:
        """Evaluate the classifiers on one table; returns whether all folds are finished."""
        methods = list(dict.fromkeys(m for m, _ in self.classifiers))
        parameters = list(dict.fromkeys(p for _, p in self.classifiers if p)) or ["ml"]
        found = evaluate(
            table,
            methods,
            parameters=parameters,
            select=self.select,
            **{**self.settings, **arguments},
        )
        return found.complete


@dataclass(frozen=True)
class Part:
    """One group on one split of one data set."""

    group: Group
    data: str
    split: int
    file: Path

    @property
    def mark(self) -> Path:
        """A file that exists if all folds are finished."""
        return self.file.with_suffix(".finished")

    def is_in(self, results: pd.DataFrame) -> bool:
        """Whether the results have every classifier of the group on this split."""
        if results.empty:
            return False
        here = (results["set"] == self.data) & (results["split"] == self.split)
        return set(self.group.classifiers.values()) <= set(results["classifier"][here])

    def run(self, options: Options) -> str:
        """Evaluate what is not finished yet; return what went wrong, if anything did."""
        if options.is_over:
            return ""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        try:
            table = load(self.data, self.split, options)
            finished = self.group.evaluate(
                table,
                folds=None if table.has_test else options.folds,
                seed=self.split,
                time_limit=options.time_limit,
                result_file=self.file,
                listener=lambda *_: _stop(options),
            )
            if finished:
                self.mark.touch()
        except MilpbnError as error:
            return f"{self.data}, {self.group.name}: {error}"
        return ""


def _stop(options: Options) -> None:
    """After a finished fold: end the evaluation if the time is over."""
    if options.is_over:
        raise KeyboardInterrupt


def parts(table: str, groups: Iterable[Group], sets: Sequence[str], options: Options) -> list[Part]:
    """All parts of a table, group by group."""
    found = []
    at_hand = [data for data in options.chosen(sets) if available(data, options)]
    for group in groups:
        folder = options.out / table / group.name
        for data in filter(group.includes, at_hand):
            for split in range(1, n_splits(data, options) + 1) or [0]:
                name = f"{data}-{split}" if split else data
                found.append(Part(group, data, split, folder / f"{name}.jsonl"))
    return found


def run_parts(wanted: Sequence[Part], options: Options) -> list[str]:
    """Run all parts in parallel; return what went wrong."""
    troubles = []
    results = results_as_they_come([delayed(_run)(p, options) for p in wanted], options.jobs)
    for done, (part, trouble) in enumerate(results, 1):
        split = f", split {part.split}" if part.split else ""
        line = trouble or f"{part.data}{split}, {part.group.name}"
        print(f"{done}/{len(wanted)}  {line}", file=sys.stderr, flush=True)
        if trouble:
            troubles.append(trouble)
    return troubles


def _run(part: Part, options: Options) -> tuple[Part, str]:
    return part, part.run(options)


def folds(wanted: Iterable[Part]) -> pd.DataFrame:
    """One line for every fold of the parts that are finished."""
    lines = []
    for part in wanted:
        if part.mark.exists():
            settings, records = ResultFile.read(part.file)
            limit = (settings or {}).get("time_limit")
            lines += [_line(part, record, limit) for record in records]
    return pd.DataFrame([line for line in lines if line])


def _line(part: Part, record: FoldRecord, limit: float | None) -> dict[str, Any]:
    label = part.group.classifiers.get((record.method, record.parameters))
    if label is None:
        return {}
    return {
        "set": part.data,
        "split": part.split,
        "fold": record.fold,
        "classifier": label,
        "train_rows": record.train_rows,
        "rows": record.measures.rows,
        "correct": record.measures.correct,
        "hamming": record.measures.hamming,
        "parameters": record.n_parameters,
        "status": record.status,
        "gap": record.gap,
        "evaluations": record.evaluations,
        "selected": json.dumps(record.selected) if record.selected else "",
        "seconds": round(record.seconds, 3),
        "limit": limit,
    }


Key = Mapping[str, str]
Measure = Callable[..., Mapping[str, str]]


def measure_all(
    file: Path, keys: Sequence[Key], columns: Sequence[str], measure: Measure, options: Options
) -> pd.DataFrame:
    """Measure what the file does not have yet, in parallel; return all its rows.

    Parameters
    ----------
    file
        The CSV file.
    keys
        What identifies each measurement: the first columns of its row.
    columns
        The names of the columns that `measure` returns.
    measure
        Called with a key and the options.
    options
        The number of processes, and when to stop.
    """
    records = Records(file, (*keys[0], *columns)) if keys else None
    if records is None:
        return pd.DataFrame()
    rows = records.rows()
    finished = {tuple(row[k] for k in keys[0]) for row in rows}
    tasks = [
        delayed(_measure)(measure, key, options)
        for key in keys
        if tuple(key.values()) not in finished
    ]
    for done, row in enumerate(results_as_they_come(tasks, options.jobs), 1):
        if row is None:
            continue
        records.append(row)
        shown = ", ".join(row[k] for k in keys[0])
        print(f"{done}/{len(tasks)}  {shown}", file=sys.stderr, flush=True)
    found = {tuple(row[k] for k in keys[0]): row for row in records.rows()}
    # Processes finish in any order.
    kept = [found[key] for key in (tuple(key.values()) for key in keys) if key in found]
    return pd.DataFrame(kept, columns=list(records.fields))


def _measure(measure: Measure, key: Key, options: Options) -> Mapping[str, str] | None:
    return None if options.is_over else {**key, **measure(key, options)}
